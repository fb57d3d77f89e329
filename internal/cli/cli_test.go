package cli

import (
	"bytes"
	"context"
	"encoding/json"
	"io"
	"os"
	"path/filepath"
	"strings"
	"testing"

	"wiebelt/internal/core/contact"
	"wiebelt/internal/localhub"
	"wiebelt/internal/testutil/must"
)

func run(t *testing.T, in string, args ...string) (code int, out, errOut string) {
	t.Helper()
	var o, e bytes.Buffer
	code = Main(Build{Version: "test"}, append([]string{"wiebelt"}, args...), strings.NewReader(in), &o, &e)
	return code, o.String(), e.String()
}

type said struct {
	t        *testing.T
	args     []string
	out, err string
}

// exits runs a command that must end with exit code want.
func exits(t *testing.T, want int, in string, args ...string) said {
	t.Helper()
	code, out, errOut := run(t, in, args...)
	if code != want {
		t.Errorf("%q: exit %d, want %d: %s%s", args, code, want, out, errOut)
	}
	return said{t, args, out, errOut}
}

func (s said) says(parts ...string) said {
	s.t.Helper()
	for _, p := range parts {
		if !strings.Contains(s.out, p) {
			s.t.Errorf("%q says no %q: %s%s", s.args, p, s.out, s.err)
		}
	}
	return s
}

// complains checks that standard error contains parts.
func (s said) complains(parts ...string) said {
	s.t.Helper()
	for _, p := range parts {
		if !strings.Contains(s.err, p) {
			s.t.Errorf("%q complains of no %q: %s%s", s.args, p, s.out, s.err)
		}
	}
	return s
}

func (s said) hides(parts ...string) said {
	s.t.Helper()
	for _, p := range parts {
		if strings.Contains(s.out+s.err, p) {
			s.t.Errorf("%q says %q: %s%s", s.args, p, s.out, s.err)
		}
	}
	return s
}

func (s said) json(into any) said {
	s.t.Helper()
	if err := json.Unmarshal([]byte(s.out), into); err != nil {
		s.t.Fatalf("%q: %v: %s%s", s.args, err, s.out, s.err)
	}
	return s
}

// setUp creates a profile provisioned for a local hub.
func setUp(t *testing.T) (dir string, h *localhub.Hub) {
	t.Helper()
	h = must.Get(localhub.Start(context.Background(), localhub.Config{Synthetic: 50, Demo: true}))(t)
	t.Cleanup(func() { _ = h.Close() })
	must.Get(h.AddInvented(t.Context(), localhub.Record{Numbers: []string{"0698760011"},
		Contact: contact.Contact{RelationNumber: "100200", Initials: "J.", Prefix: "de", FamilyName: "Vries"}}))(t)
	const awkward = "p@ss+/=% canary"
	must.Do(t, h.SetClientSecret(t.Context(), "office", "1234", awkward))
	dir = t.TempDir()
	exits(t, 0, "\ufeff"+awkward+"\r\n", "provision", "--profile", dir, "--base-url", h.BaseURL(), "--hub-url", h.HubURL(),
		"--client-id", "office", "--organisation-code", "1234", "--secret-store", "file", "--secret-stdin")
	return dir, h
}

func TestLookup(t *testing.T) {
	dir, h := setUp(t)
	for number, want := range map[string]int{"0698760011": 0, "+31 6 9876 0011": 0, "T 06-98760011 (mobiel)": 0, "06-98760011 / 020 765 00 22": 2, "0655550000": 3, "101": 3, "anonymous": 3, "hello": 2} {
		exits(t, want, "", "lookup", "--profile", dir, number)
	}
	var a lookupAnswer
	s := exits(t, 0, "", "lookup", "--json", "--profile", dir, "0698760011").json(&a)
	if a.Outcome != "found" || len(a.Contacts) != 1 || a.Contacts[0].Achternaam != "Vries" || !a.Contacts[0].LinkOK ||
		a.Number != "+31698760011" {
		t.Errorf("%s", s.out)
	}
	// A link that would not be opened is not printed on a terminal either.
	k := lookupContact{Link: "https://hub.example/\x1b]0;title\x07", Achternaam: "Vries"}
	var said strings.Builder
	if err := (&lookupCmd{}).print(&env{out: &said, err: io.Discard}, lookupAnswer{Outcome: "found", Contacts: []lookupContact{k}}); err != nil || !strings.Contains(said.String(), "Vries") || strings.ContainsAny(said.String(), "\x1b\x07") {
		t.Errorf("%q %v", said.String(), err)
	}
	// A foreign number is only possibly this person's, and a contact
	// without an address gets no comma for it.
	must.Get(h.AddInvented(t.Context(), localhub.Record{Numbers: []string{"+3225550171"}, Contact: contact.Contact{RelationNumber: "171", FamilyName: "Maes"}}))(t)
	exits(t, 0, "", "lookup", "--profile", dir, "--language", "nl", "+32 2 555 01 71").says("Mogelijk: ", "\n171, Maes").hides(" ,")
	h.Faults().RefuseCredentials(true)
	s = exits(t, 1, "", "lookup", "--json", "--profile", dir, "0698760011").json(&a)
	if a.Outcome != "failed" || a.Error == nil || a.Error.Code != "credentials_refused" {
		t.Errorf("%s", s.out)
	}
	exits(t, 1, "", "lookup", "--json", "--profile", t.TempDir(), "0698760011").says(`"not_set_up"`)
}

// TestSecretIsShownNowhere checks that no command and no readable file reveals the
// secret, except its own file with mode 0600.
func TestSecretIsShownNowhere(t *testing.T) {
	dir, _ := setUp(t)
	exits(t, 0, "", "settings", "--profile", dir).says("set").hides("canary")
	for path, content := range snapshot(t, dir) {
		if info := must.Get(os.Lstat(path))(t); strings.Contains(content, "canary") && info.Mode().Perm() != 0o600 {
			t.Errorf("%s holds the secret with mode %v", filepath.Base(path), info.Mode())
		}
	}
}

// TestSecretStaysWithItsAddress checks that another address requires the secret again.
func TestSecretStaysWithItsAddress(t *testing.T) {
	dir, _ := setUp(t)
	other := must.Get(localhub.Start(context.Background(), localhub.Config{Synthetic: 5, Demo: true}))(t)
	defer other.Close()
	exits(t, 0, "", "provision", "--profile", dir, "--base-url", other.BaseURL())
	exits(t, 1, "", "lookup", "--profile", dir, "0698760011")
	if n := other.Stats().Tokens; n != 0 {
		t.Errorf("%d token requests with the old secret reached the other address", n)
	}
}

func TestProvisionRefuses(t *testing.T) {
	dir := t.TempDir()
	for _, c := range map[string]struct {
		in   string
		args []string
		want int
	}{
		"nothing":          {"", nil, 2},
		"plain http":       {"s\n", []string{"--base-url", "http://hub.example", "--client-id", "c", "--secret-stdin"}, 2},
		"localhost name":   {"s\n", []string{"--base-url", "http://localhost:1", "--client-id", "c", "--secret-stdin"}, 2},
		"empty secret":     {"\n", []string{"--base-url", "https://hub.example", "--client-id", "c", "--secret-store", "file", "--secret-stdin"}, 1},
		"two lines":        {"one\ntwo\n", []string{"--base-url", "https://hub.example", "--client-id", "c", "--organisation-code", "1234", "--secret-store", "file", "--secret-stdin"}, 1},
		"UTF-16 secret":    {"s\x00e\x00", []string{"--base-url", "https://hub.example", "--client-id", "c", "--secret-store", "file", "--secret-stdin"}, 1},
		"colon in client":  {"s\n", []string{"--base-url", "https://hub.example", "--client-id", "a:b", "--secret-store", "file", "--secret-stdin"}, 2},
		"secret as a flag": {"", []string{"--secret", "x"}, 2},
	} {
		exits(t, c.want, c.in, append([]string{"provision", "--profile", dir}, c.args...)...).complains("wiebelt: ")
	}
	if len(snapshot(t, dir)) != 0 {
		t.Error("something was written")
	}
}

func TestUsage(t *testing.T) {
	for _, help := range [][]string{{"--help"}, {"help"}} {
		exits(t, 0, "", help...).says("Every day", "Trying and testing")
	}
	for _, args := range [][]string{{"nonsense"}, {"lookup"}, {"ring", "--state", "dancing", "--", "1"}, {"open-url"}, {"--no-such"}, {"forget"},
		{"window"}, {"window", "unheard-of"}} {
		if s := exits(t, 2, "", args...); strings.Count(s.err, "\n") != 1 {
			t.Errorf("%v: %q", args, s.err)
		}
	}
	t.Setenv("DISPLAY", "")
	t.Setenv("WAYLAND_DISPLAY", "")
	exits(t, 1, "", "window", "settings", "--profile", t.TempDir(), "--language", "nl").complains("wiebelt: Er kan geen venster")
	for _, version := range []string{"version", "--version"} {
		exits(t, 0, "", version).says("wiebelt test")
	}
}

// TestOutputThatIsLost checks that any command whose output cannot be written fails.
func TestOutputThatIsLost(t *testing.T) {
	dir, _ := setUp(t)
	full := must.Get(os.OpenFile("/dev/full", os.O_WRONLY, 0))(t)
	defer full.Close()
	for _, args := range [][]string{{"lookup", "0698760011"}, {"version"}, {"--help"}, {"settings"}, {"settings", "--json"}, {"settings", "--help-keys"},
		{"recipe"}, {"recipe", "any-url"}, {"forget", "--all"}, {"simulate", "--list"}, {"deliver", "list"}, {"deliver", "service", "systemd"},
		{"provision", "--organisation-code", "1234"}, {"teams-page", "-"}} {
		var said bytes.Buffer
		code := Main(Build{Version: "test"}, append(append([]string{"wiebelt"}, args...), "--profile", dir), strings.NewReader(""), full, &said)
		if code != 1 || !strings.Contains(said.String(), "the output could not be written") && !strings.Contains(said.String(), "the disk is full") {
			t.Errorf("%v: exit %d: %s", args, code, said.String())
		}
	}
}

func TestSourcesIn(t *testing.T) {
	dir := t.TempDir()
	exits(t, 0, "", "settings", "--ways-in", "--profile", dir).
		says("http://127.0.0.1:27471/v1/call/", "token.", ` --profile "`+dir+`" --state ringing -- `)
}

// TestShownLogTellsNothing checks that the log on standard error
// contains no more than the one on disk.
func TestShownLogTellsNothing(t *testing.T) {
	var said bytes.Buffer
	(&env{err: &said}).logger("info").Info("call of 0698760011", "token", "abc")
	if got := said.String(); !strings.HasSuffix(got, "msg=\"call of [number]\" token=[secret]\n") {
		t.Error(got)
	}
}
