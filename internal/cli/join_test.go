package cli

import (
	"os"
	"path/filepath"
	"strings"
	"testing"

	"wiebelt/internal/config/fromsettings"
	"wiebelt/internal/config/profile"
	"wiebelt/internal/config/settings"
	"wiebelt/internal/relay/users"
	"wiebelt/internal/softphone/link"
	"wiebelt/internal/testutil/linktest"
	"wiebelt/internal/testutil/must"
	"wiebelt/internal/testutil/relaytest"
)

// TestJoin checks that a code gives a computer a link to the relay in addition to existing links,
// and that nothing changes without a code. A setup file contains all that is needed.
func TestJoin(t *testing.T) {
	r := relaytest.Start(t, nil)
	address, fingerprint, code := r.Address, r.Fingerprint, r.Invite(users.Entry{User: "anna"})
	dir := t.TempDir()
	file := filepath.Join(dir, settings.FileName)
	const before = "[hub]\nsecret_store = \"file\"\n\n[[softphone]]\nkind = \"baresip\"\nname = \"mine\"\n"
	must.Do(t, os.WriteFile(file, []byte(before), 0o600))
	join := func(want int, code, fingerprint string) said {
		t.Helper()
		return exits(t, want, "", "join", address, code, "--fingerprint", fingerprint, "--profile", dir, "--language", "en")
	}
	for wrong, print := range map[string]string{"2222-2222-2222-2222": fingerprint, code: strings.Repeat("0", 64)} {
		if s := join(exitFailed, wrong, print); s.out != "" || strings.Count(s.err, "\n") != 1 {
			t.Errorf("%s%s", s.out, s.err)
		}
	}
	if b, err := os.ReadFile(file); err != nil || string(b) != before {
		t.Errorf("%s, %v", b, err)
	}
	if s := join(exitDone, strings.ToLower(code), fingerprint).says("has joined"); s.err != "" {
		t.Fatal(s.err)
	}
	d := must.Get(profile.Find(dir))(t)
	s, problems := settings.Load(d)
	if len(problems) > 0 || len(s.Softphones) != 2 || s.Softphones[1].Kind != "relay" || s.Softphones[1].Address != address {
		t.Fatalf("%+v, %v", s.Softphones, problems)
	}
	p := must.Get(fromsettings.Softphone(d, s.Hub.SecretStore, s.Softphones[1]))(t)
	linktest.Run(t, p).Until(link.Connected)
	join(exitFailed, code, fingerprint).complains("used already")

	for _, set := range [][]string{{"relay.url", address}, {"relay.fingerprint", fingerprint}} {
		exits(t, exitDone, "", "settings", "set", set[0], set[1], "--profile", dir)
	}
	exits(t, exitDone, "", "settings", "unset", "hub.client_id", "--profile", dir).hides("--secret-stdin") // the relay has it
	exits(t, exitDone, "", "provision", "--hub-url", "https://hub.example", "--profile", dir, "--language", "en").says("relay looks numbers up")
	exits(t, exitFailed, "", "lookup", "0201234567", "--profile", dir, "--language", "en").complains("wiebelt-relay doctor")
	setup, another := filepath.Join(t.TempDir(), "bob.wiebelt"), t.TempDir()
	phrase := exits(t, exitDone, "", "provision", "--export", setup, "--join-code", r.Invite(users.Entry{User: "bob"}), "--profile", dir).out
	take := func(want int, to string) said {
		t.Helper()
		return exits(t, want, phrase, "provision", "--import", setup, "--passphrase-stdin", "--secret-store", "file", "--profile", to, "--language", "en")
	}
	take(exitDone, another).hides("--softphone")
	d = must.Get(profile.Find(another))(t)
	if s, _ = settings.Load(d); !s.HasRelayLink() || len(s.Softphones) != 2 || s.Relay.URL != address {
		t.Fatalf("%+v", s.Softphones)
	}
	p = must.Get(fromsettings.Softphone(d, s.Hub.SecretStore, s.Softphones[1]))(t)
	linktest.Run(t, p).Until(link.Connected)
	third := t.TempDir()
	if take(exitFailed, third).complains("used already"); len(snapshot(t, third)) > 0 {
		t.Errorf("the same file once more: %v", snapshot(t, third))
	}
	exits(t, exitDone, "", "join", r.Invite(users.Entry{User: "carla"}), "--profile", dir)
	exits(t, exitUsage, "", "provision", "--join-code", code, "--profile", dir)
}
