package twinkle

import (
	"errors"
	"fmt"
	"strings"
	"testing"

	"wiebelt/internal/core/call"
)

func env(lines ...string) func(string) string {
	m := map[string]string{}
	for _, l := range lines {
		k, v, _ := strings.Cut(l, "=")
		m[k] = v
	}
	return func(k string) string { return m[k] }
}

func TestRead(t *testing.T) {
	in := []string{`SIP_FROM="J. \"de\" Vriés" <sip:+31612345678@127.0.0.1:5070>;tag=25326SIPpTag001`, "SIP_FROM_USER=+31612345678",
		"SIP_FROM_HOST=127.0.0.1", "SIP_CALL_ID=1-25326@127.0.0.1", "SIP_TO=<sip:103@127.0.0.1:5064>", "SIP_TO_USER=103"}
	with := func(trigger string, more ...string) []string {
		return append(append([]string{"TWINKLE_TRIGGER=" + trigger}, in...), more...)
	}
	for _, c := range []struct {
		name string
		env  []string
		want string
	}{
		{"rings", with("in_call"), `ringing incoming "sip:+31612345678@127.0.0.1:5070" "J. \"de\" Vriés" 103 1-25326@127.0.0.1 `},
		{"answered", with("in_call_answered", "SIPSTATUS_CODE=200"), `answered incoming "sip:+31612345678@127.0.0.1:5070" "J. \"de\" Vriés" 103 1-25326@127.0.0.1 `},
		{"given up", with("in_call_failed", "SIPSTATUS_CODE=487"), `ended incoming "sip:+31612345678@127.0.0.1:5070" "J. \"de\" Vriés" 103 1-25326@127.0.0.1 `},
		{"refused", with("in_call_failed", "SIPSTATUS_CODE=486"), `ended incoming "sip:+31612345678@127.0.0.1:5070" "J. \"de\" Vriés" 103 1-25326@127.0.0.1 rejected`},
		{"hung up there", with("remote_release"), `ended unknown "" "" 1-25326@127.0.0.1 completed`},
		{"hung up here", []string{"TWINKLE_TRIGGER=local_release", "SIP_FROM=<sip:103@127.0.0.1:5064>;tag=x", "SIP_CALL_ID=c"}, `ended unknown "" "" c completed`},
		{"a tel: caller", []string{"TWINKLE_TRIGGER=in_call", "SIP_FROM=<tel:+31-6-1234-5678;ext=12>;tag=x", "SIP_FROM_USER=", "SIP_FROM_HOST=+31-6-1234-5678", "SIP_CALL_ID=c"}, `ringing incoming "tel:+31-6-1234-5678;ext=12" "" c `},
		{"withheld", []string{"TWINKLE_TRIGGER=in_call", `SIP_FROM="Anonymous" <sip:anonymous@anonymous.invalid>;tag=x`, "SIP_CALL_ID=c"}, `ringing incoming "sip:anonymous@anonymous.invalid" "Anonymous" c `},
		{"no From", []string{"TWINKLE_TRIGGER=in_call", "SIP_FROM_USER=0201234567"}, `ringing incoming "0201234567" "" `},
		{"we call", []string{"TWINKLE_TRIGGER=out_call", "SIP_FROM_USER=103", "SIP_TO=<sip:0201234567@pbx>", "SIP_CALL_ID=c"}, `ringing outgoing "sip:0201234567@pbx" "" 103 c `},
	} {
		e, ok, err := Read(env(c.env...))
		got := strings.Join(strings.Fields(fmt.Sprintf("%v %v %q %q %s %s %v", e.State, e.Direction, e.Number, e.Name, e.Line, e.ID, e.Reason)), " ")
		if want := strings.TrimSpace(c.want); err != nil || !ok || got != want {
			t.Errorf("%s: %s, %v %v\nwant %s", c.name, got, ok, err, want)
		}
	}
	if _, ok, err := Read(env("TWINKLE_TRIGGER=registration")); ok || err != nil {
		t.Errorf("not about a call: %v %v", ok, err)
	}
	if _, _, err := Read(env()); !errors.Is(err, ErrNotTwinkle) {
		t.Errorf("not Twinkle: %v", err)
	}
}

func FuzzRead(f *testing.F) {
	f.Add("in_call", `"J. \"x" <sip:1@h>;tag=1`, "1", "c")
	f.Add("in_call", `\`, `"\`, "")
	f.Add("in_call", "1", "1", strings.Repeat("0", 126)+" 娉") // cut after the space
	f.Fuzz(func(t *testing.T, trigger, from, user, id string) {
		e, _, _ := Read(env("TWINKLE_TRIGGER="+trigger, "SIP_FROM="+from, "SIP_FROM_USER="+user, "SIP_CALL_ID="+id))
		if e != e.Clean() || len(e.Number) > call.MaxNumber {
			t.Fatalf("%+v", e)
		}
	})
}
