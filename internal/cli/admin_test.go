package cli

import (
	"encoding/json"
	"fmt"
	"os"
	"path/filepath"
	"strings"
	"testing"
	"time"

	"wiebelt/internal/config/settings"
	"wiebelt/internal/testutil/must"
)

// TestSettingsSet: one key of the user's file at a time, with what a person would
// type; what is wrong changes nothing and says what is allowed.
func TestSettingsSet(t *testing.T) {
	dir := t.TempDir()
	for _, c := range [][3]string{{"hub.proxy", "none", "none"}, {"history.days", "30", "30"}, {"card.full_for", "90s", "90s"},
		{"hub.secret_expires", "2027-01-31", "2027-01-31"}, {"phone.internal_prefixes", "8, 9", "8, 9"}, {"lookup.manual", "false", "false"}} {
		if code, out, errOut := run(t, "", "settings", "set", c[0], c[1], "--profile", dir); code != 0 || !strings.Contains(out, c[2]) {
			t.Errorf("%v: exit %d: %s%s", c, code, out, errOut)
		}
	}
	before := snapshot(t, dir)
	for _, args := range [][]string{{"set", "hub.proxy", "ftp://x"}, {"set", "no.such", "1"}, {"set", "history.days", "many"}, {"set", "line", "x"}, {"unset", "no.such"}, {"unset", "softphone"}} {
		if code, _, errOut := run(t, "", append([]string{"settings", "--profile", dir}, args...)...); code != 2 || strings.Count(errOut, "\n") != 1 {
			t.Errorf("%v: exit %d: %s", args, code, errOut)
		}
	}
	if after := snapshot(t, dir); fmt.Sprint(after) != fmt.Sprint(before) {
		t.Error("something changed")
	}
	if code, _, errOut := run(t, "", "settings", "unset", "hub.proxy", "--profile", dir); code != 0 {
		t.Errorf("exit %d: %s", code, errOut)
	}
	code, out, _ := run(t, "", "settings", "hub.proxy", "--json", "--profile", dir)
	var one settingsJSON
	if err := json.Unmarshal([]byte(out), &one); err != nil || code != 0 || len(one.Settings) != 1 || one.Settings[0].Value != "system" || one.Settings[0].Source != "default" {
		t.Errorf("exit %d: %s", code, out)
	}
	if code, _, _ := run(t, "", "settings", "hub.proxi", "--json", "--profile", dir); code != 2 {
		t.Errorf("a key that is none: exit %d", code)
	}
}

// TestSettingsCheck: a policy is examined before anybody has it.
func TestSettingsCheck(t *testing.T) {
	file := filepath.Join(t.TempDir(), "policy.toml")
	for text, want := range map[string]int{
		"[hub]\nbase_url = \"https://hub.example\"\nclient_id = \"office\"\norganisation_code = \"1\"\n[history]\nkeep = \"numbers\"\n": 0,
		"[history]\nkeep = \"nummers\"\n":             1,
		"[histroy]\nkeep = \"numbers\"\n":             1,
		"[hub]\nclient_secret = \"Geheim\"\n":         1,
		"[hub]\nbase_url = \"https://hub.example\"\n": 1,
		"nonsense\n": 1,
	} {
		must.Do(t, os.WriteFile(file, []byte(text), 0o600))
		if code, out, errOut := run(t, "", "settings", "check", file); code != want || strings.Contains(out+errOut, "Geheim") || out == "" && want == 0 {
			t.Errorf("%q: exit %d: %s%s", text, code, out, errOut)
		}
	}
	if code, _, _ := run(t, "", "settings", "check", file+"-none"); code != 1 {
		t.Errorf("no file: exit %d", code)
	}
}

// TestSecretRemove: every kind of secret, where it is kept, and no other.
func TestSecretRemove(t *testing.T) {
	dir, _ := setUp(t)
	must.Do(t, os.WriteFile(filepath.Join(dir, "settings.toml"), append([]byte("[[softphone]]\nkind = \"ari\"\nname = \"centrale\"\naddress = \"https://pbx.example\"\n"), []byte(snapshot(t, dir)[filepath.Join(dir, "settings.toml")])...), 0o600))
	state := func() string {
		_, out, _ := run(t, "", "settings", "--json", "--profile", dir)
		var all settingsJSON
		must.Do(t, json.Unmarshal([]byte(out), &all))
		return fmt.Sprint(all.Secrets)
	}
	do := func(want int, in string, args ...string) {
		t.Helper()
		if code, out, errOut := run(t, in, append(args, "--profile", dir)...); code != want {
			t.Errorf("%v: exit %d: %s%s", args, code, out, errOut)
		}
	}
	do(0, "pbx\n", "provision", "--softphone", "centrale", "--secret-stdin")
	do(3, "", "secret", "remove", "hub", "--client-id", "another")
	if got := state(); got != "[{hub file set} {softphone centrale file set}]" {
		t.Fatal(got)
	}
	do(0, "", "secret", "remove", "link", "centrale")
	do(3, "", "secret", "remove", "link", "centrale")
	if got := state(); got != "[{hub file set} {softphone centrale file not_set}]" {
		t.Error(got)
	}
	do(0, "", "secret", "remove", "hub")
	do(3, "", "secret", "remove", "choices")
	do(2, "", "secret", "remove", "link")
	do(2, "", "secret", "remove", "tokens", "--client-id", "x")
	do(0, "", "settings", "--ways-in") // makes tokens
	do(0, "", "secret", "remove", "tokens")
	do(0, "pbx\n", "provision", "--softphone", "centrale", "--secret-stdin")
	do(0, "", "secret", "remove", "all", "--secret-store", "file")
	if got := state(); got != "[{hub file not_set} {softphone centrale file not_set}]" {
		t.Error(got)
	}
	for path := range snapshot(t, dir) {
		if strings.Contains(path, "secrets") || strings.Contains(path, "tokens") {
			t.Errorf("%s is left", path)
		}
	}
}

// TestProvisionTest: a hub is tried before anything is set, and what is set can be
// tried on its own; a secret of another address does not pass for one of the new.
func TestProvisionTest(t *testing.T) {
	dir, h := setUp(t)
	before := fmt.Sprint(snapshot(t, dir))
	for _, c := range []struct {
		in   string
		args []string
		want int
	}{
		{"", []string{"--test"}, 0},
		{"", []string{"--test", "--test-number", "0698760011"}, 0},
		{"wrong\n", []string{"--client-id", "office", "--secret-stdin", "--test"}, 1},
		{"", []string{"--base-url", h.BaseURL() + "/elsewhere", "--test"}, 1},
		{"", []string{"--client-id", "another", "--test"}, 1}, // has no secret
		{"", []string{"--test-number", "0698760011"}, 2},
	} {
		if code, out, errOut := run(t, c.in, append([]string{"provision", "--profile", dir}, c.args...)...); code != c.want {
			t.Errorf("%v: exit %d: %s%s", c.args, code, out, errOut)
		}
	}
	if fmt.Sprint(snapshot(t, dir)) != before {
		t.Error("a test changed something")
	}
	code, out, errOut := run(t, "", "provision", "--base-url", "https://hub.example", "--profile", dir)
	if code != 0 || !strings.Contains(out, "--secret-stdin") {
		t.Errorf("a hub whose secret is missing: exit %d: %s%s", code, out, errOut)
	}
}

// TestForgetCalls: also those that wait for a Wiebelt that does not run; and what
// is no number is refused.
func TestForgetCalls(t *testing.T) {
	for _, c := range []struct {
		args []string
		want []string // of the numbers, those that are left
	}{
		{[]string{"--all"}, nil},
		{[]string{"--number", "06 98 76 00 11"}, []string{"0698760022"}},
		{[]string{"--older-than", "30d"}, []string{"0698760011"}},
	} {
		dir := t.TempDir()
		inbox := filepath.Join(dir, "run", "inbox")
		must.Do(t, os.MkdirAll(inbox, 0o700))
		for i, number := range []string{"0698760011", "0698760022"} {
			at := time.Now().AddDate(0, 0, -60*i).Format(time.RFC3339Nano)
			must.Do(t, os.WriteFile(filepath.Join(inbox, fmt.Sprintf("%d.call", i)), []byte(`{"way":"command","state":"ringing","number":"`+number+`","at":"`+at+`"}`), 0o600))
		}
		must.Do(t, os.WriteFile(filepath.Join(inbox, "new-1"), []byte(`{"number":"0698`), 0o600))
		if code, _, errOut := run(t, "", "forget", "--number", "abc", "--profile", dir); code != 2 || errOut == "" {
			t.Errorf("no number: exit %d: %s", code, errOut)
		}
		if n := len(snapshot(t, inbox)); n != 3 {
			t.Fatalf("%d files", n)
		}
		must.Do(t, os.WriteFile(filepath.Join(dir, settings.FileName), []byte("[hub]\nsecret_store = \"file\"\n"), 0o600))
		if code, _, errOut := run(t, "", append([]string{"forget", "--profile", dir}, c.args...)...); code != 0 {
			t.Errorf("%v: exit %d: %s", c.args, code, errOut)
		}
		var left []string
		for _, b := range snapshot(t, inbox) {
			for _, number := range []string{"0698760011", "0698760022"} {
				if strings.Contains(b, number) {
					left = append(left, number)
				}
			}
		}
		if fmt.Sprint(left) != fmt.Sprint(c.want) || len(snapshot(t, inbox)) != len(c.want) {
			t.Errorf("%v: left %v of %d files", c.args, left, len(snapshot(t, inbox)))
		}
	}
}
