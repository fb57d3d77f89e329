package cli

import (
	"fmt"
	"maps"
	"os"
	"path/filepath"
	"strings"
	"testing"
	"time"

	"wiebelt/internal/config/profile"
	"wiebelt/internal/config/settings"
	"wiebelt/internal/testutil/must"
)

// TestSettingsSet sets one key of the user's file at a time with what a person would type;
// an invalid value changes nothing and reports what is allowed.
func TestSettingsSet(t *testing.T) {
	dir := t.TempDir()
	for _, c := range [][3]string{{"hub.proxy", "none", "none"}, {"history.days", "30", "30"}, {"card.full_for", "90s", "90s"},
		{"hub.secret_expires", "2027-01-31", "2027-01-31"}, {"phone.internal_prefixes", "8, 9", "8, 9"}, {"lookup.manual", "false", "false"}} {
		exits(t, 0, "", "settings", "set", c[0], c[1], "--profile", dir).says(c[2])
	}
	before := snapshot(t, dir)
	for _, args := range [][]string{{"set", "hub.proxy", "ftp://x"}, {"set", "no.such", "1"}, {"set", "history.days", "many"}, {"set", "line", "x"}, {"unset", "no.such"}, {"unset", "softphone"}} {
		if s := exits(t, 2, "", append([]string{"settings", "--profile", dir}, args...)...); strings.Count(s.err, "\n") != 1 {
			t.Errorf("%v: %s", args, s.err)
		}
	}
	if !maps.Equal(snapshot(t, dir), before) {
		t.Error("something changed")
	}
	exits(t, 0, "", "settings", "unset", "hub.proxy", "--profile", dir)
	var one settingsJSON
	exits(t, 0, "", "settings", "hub.proxy", "--json", "--profile", dir).json(&one)
	if len(one.Settings) != 1 || one.Settings[0].Value != "system" || one.Settings[0].Source != "default" {
		t.Errorf("%+v", one)
	}
	exits(t, 2, "", "settings", "hub.proxi", "--json", "--profile", dir)
}

// TestSettingsCheck checks a policy before it is deployed.
func TestSettingsCheck(t *testing.T) {
	file := filepath.Join(t.TempDir(), "policy.toml")
	for text, want := range map[string]int{
		"[hub]\nbase_url = \"https://hub.example\"\nhub_url = \"https://hub.example\"\nclient_id = \"office\"\norganisation_code = \"1\"\n[history]\nkeep = \"numbers\"\n": 0,
		"[hub]\nbase_url = \"https://hub.example\"\nclient_id = \"office\"\norganisation_code = \"1\"\n":                                                                   1, // no user could open a file
		"[history]\nkeep = \"nummers\"\n":             1,
		"[histroy]\nkeep = \"numbers\"\n":             1,
		"[hub]\nclient_secret = \"Geheim\"\n":         1,
		"[hub]\nbase_url = \"https://hub.example\"\n": 1,
		"nonsense\n": 1,
	} {
		must.Do(t, os.WriteFile(file, []byte(text), 0o600))
		if s := exits(t, want, "", "settings", "check", file).hides("Geheim"); s.out == "" && want == 0 {
			t.Errorf("%q: nothing is said", text)
		}
	}
	exits(t, 1, "", "settings", "check", file+"-none").complains("-none: does not exist")
}

// TestSecretRemove removes every kind of secret, wherever it is kept, and no other.
func TestSecretRemove(t *testing.T) {
	dir, _ := setUp(t)
	must.Do(t, os.WriteFile(filepath.Join(dir, "settings.toml"), append([]byte("[[softphone]]\nkind = \"ari\"\nname = \"centrale\"\naddress = \"https://pbx.example\"\n"), []byte(snapshot(t, dir)[filepath.Join(dir, "settings.toml")])...), 0o600))
	state := func() string {
		var all settingsJSON
		exits(t, 0, "", "settings", "--json", "--profile", dir).json(&all)
		return fmt.Sprint(all.Secrets)
	}
	do := func(want int, in string, args ...string) {
		t.Helper()
		exits(t, want, in, append(args, "--profile", dir)...)
	}
	do(0, "pbx\n", "provision", "--softphone", "centrale", "--secret-stdin")
	do(2, "pbx\n", "provision", "--softphone", "centrale", "--secret-stdin", "--secret-store", "os")
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
	do(0, "", "settings", "--ways-in") // creates tokens
	do(0, "", "secret", "remove", "tokens")
	do(0, "pbx\n", "provision", "--softphone", "centrale", "--secret-stdin")
	do(2, "", "secret", "remove", "all", "--secret-store", "machine") // shared by all users
	do(0, "", "secret", "remove", "all", "--secret-store", "file")
	if got := state(); got != "[{hub file not_set} {softphone centrale file not_set}]" {
		t.Error(got)
	}
	for path := range snapshot(t, dir) {
		if strings.Contains(path, "secrets") || strings.Contains(path, "tokens") {
			t.Errorf("%s is left", path)
		}
	}
	t.Setenv("DBUS_SESSION_BUS_ADDRESS", "unix:path=/nowhere") // no vault here, as for a cron job
	damaged := filepath.Join(t.TempDir(), "not-a-folder")      // nothing can be removed from it
	must.Do(t, os.WriteFile(damaged, nil, 0o600))
	exits(t, 1, "", "secret", "remove", "all", "--profile", damaged, "--language", "en").
		complains("tokens.json: ", "secret-tool clear service ", "cannot be read or kept: ")
	do(0, "", "settings", "set", "hub.secret_store", "machine")
	exits(t, 0, "", "secret", "remove", "all", "--secret-store", "file", "--profile", dir).says("secret remove hub")
}

// TestProvisionTest tests a hub before anything is set, and tests existing settings on
// their own; a secret for another address is not used for the new one.
func TestProvisionTest(t *testing.T) {
	dir, h := setUp(t)
	before := snapshot(t, dir)
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
		exits(t, c.want, c.in, append([]string{"provision", "--profile", dir}, c.args...)...)
	}
	if !maps.Equal(snapshot(t, dir), before) {
		t.Error("a test changed something")
	}
	exits(t, 0, "", "provision", "--base-url", "https://hub.example", "--profile", dir).says("--secret-stdin") // it is missing now
}

// TestProvisionIsSeen checks that a new secret alone makes a running Wiebelt check again.
func TestProvisionIsSeen(t *testing.T) {
	dir := newSender(t).profile
	dirs := must.Get(profile.Find(dir))(t)
	before := settings.Fingerprint(dirs)
	exits(t, 0, "another\n", "provision", "--profile", dir, "--secret-stdin")
	if settings.Fingerprint(dirs) == before {
		t.Error("nothing is seen of a new secret")
	}
	exits(t, 0, "", "settings", "--profile", dir).says("hub.intermediary")
}

// TestForgetCalls also forgets calls waiting for a Wiebelt
// that is not running, and refuses anything but a number.
func TestForgetCalls(t *testing.T) {
	exits(t, 0, "", "forget", "--all", "--profile", t.TempDir())
	for _, c := range []struct {
		args []string
		want []string // numbers left
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
		exits(t, 2, "", "forget", "--number", "abc", "--profile", dir)
		exits(t, 2, "", "forget", "--older-than", "9000d", "--profile", "") // not the user's own
		exits(t, 2, "", "forget", "--older-than", "x", "--profile", dir)
		for _, empty := range []string{"--number=", "--older-than=", "--user="} { // else all withheld ones
			exits(t, 2, "", "forget", empty, "--profile", dir)
		}
		if n := len(snapshot(t, inbox)); n != 3 {
			t.Fatalf("%d files", n)
		}
		must.Do(t, os.WriteFile(filepath.Join(dir, settings.FileName), []byte("[hub]\nsecret_store = \"file\"\n"), 0o600))
		exits(t, 0, "", append([]string{"forget", "--profile", dir}, c.args...)...)
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
