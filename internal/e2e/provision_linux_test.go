package e2e

import (
	"bytes"
	"encoding/base64"
	"fmt"
	"io"
	"net"
	"net/http"
	"net/http/httptest"
	"net/url"
	"os"
	"os/exec"
	"path/filepath"
	"strings"
	"sync"
	"testing"
	"time"

	"wiebelt/internal/config/profile"
	"wiebelt/internal/config/settings"
	"wiebelt/internal/localhub"
)

// provision is what sets a profile up for a hub.
func provision(base, hubURL string, more ...string) []string {
	return append([]string{"provision", "--base-url", base, "--hub-url", hubURL, "--client-id", "office", "--organisation-code", "1234", "--secret-stdin"}, more...)
}

// TestProvisionToLookup: on a computer without a screen, from nothing to the
// first look-up within two seconds.
func TestProvisionToLookup(t *testing.T) {
	t.Parallel()
	s := newSeat(t)
	h, value := startHub(t)
	begin := time.Now()
	s.must(value+"\n", provision(h.BaseURL(), h.HubURL(), "--secret-store", "file")...)
	out := s.must("", "lookup", "0698760011")
	took := time.Since(begin)
	t.Logf("provision and lookup: %v", took.Round(time.Millisecond))
	if !strings.Contains(out, "Vries") || took > 2*time.Second {
		t.Errorf("%q after %v", out, took)
	}
}

// TestManyProfiles: a script sets many profiles up from one file.
func TestManyProfiles(t *testing.T) {
	t.Parallel()
	s := newSeat(t)
	h, value := startHub(t)
	s.must(value+"\n", provision(h.BaseURL(), h.HubURL(), "--secret-store", "file")...)
	file := filepath.Join(s.home, "office.wiebelt")
	phrase := strings.TrimSpace(s.must("", "provision", "--export", file))
	script := `for n in $(seq 10); do
	printf '%s\n' "$2" | "$1" provision --import "$3" --passphrase-stdin --secret-store file --profile "$4/$n" >/dev/null || exit 1
	"$1" lookup --profile "$4/$n" 0698760011 || exit 1
done`
	argv := append(s.before(), "sh", "-c", script, "sh", s.bin, phrase, file, t.TempDir())
	cmd := exec.CommandContext(t.Context(), argv[0], argv[1:]...)
	cmd.Env = s.env
	begin := time.Now()
	out, err := cmd.CombinedOutput()
	t.Logf("ten profiles: %v", time.Since(begin).Round(time.Millisecond))
	if err != nil || bytes.Count(out, []byte("Vries")) != 10 {
		t.Errorf("%v: %d look-ups: %s", err, bytes.Count(out, []byte("Vries")), out)
	}
}

// tappedWire notes every byte that comes in, and refuses whoever speaks HTTP.
type tappedWire struct {
	net.Listener
	mu  sync.Mutex
	got bytes.Buffer
	n   int
}

func tapped(t *testing.T) *tappedWire {
	t.Helper()
	l, err := net.Listen("tcp", "127.0.0.1:0")
	if err != nil {
		t.Fatal(err)
	}
	w := &tappedWire{Listener: l}
	var all sync.WaitGroup
	all.Go(func() {
		for {
			c, err := l.Accept()
			if err != nil {
				return
			}
			w.mu.Lock()
			w.n++
			w.mu.Unlock()
			all.Go(func() {
				defer c.Close()
				_ = c.SetDeadline(time.Now().Add(2 * time.Second))
				_, _ = io.WriteString(c, "HTTP/1.1 401 Unauthorized\r\nContent-Length: 0\r\n\r\n")
				b := make([]byte, 4096)
				for {
					n, err := c.Read(b)
					w.mu.Lock()
					w.got.Write(b[:n])
					w.mu.Unlock()
					if err != nil {
						return
					}
				}
			})
		}
	})
	t.Cleanup(func() { _ = l.Close(); all.Wait() })
	return w
}

func (w *tappedWire) base() string { return "http://" + w.Addr().String() }

// holds reports whether a secret came in, in any of the forms it could have.
func (w *tappedWire) holds(value string) bool {
	w.mu.Lock()
	defer w.mu.Unlock()
	for _, form := range []string{value, url.QueryEscape(value), url.PathEscape(value),
		base64.StdEncoding.EncodeToString([]byte("office:" + value)), base64.StdEncoding.EncodeToString([]byte("office:" + url.QueryEscape(value)))} {
		if bytes.Contains(w.got.Bytes(), []byte(form)) {
			return true
		}
	}
	return false
}

// TestSecretStaysHome: the address of the hub changes, in every way there is, and
// the new address gets nothing of the old one's secret.
func TestSecretStaysHome(t *testing.T) {
	t.Parallel()
	const value, theirs = "old-secret-canary", "their-secret-canary"
	h, _ := startHub(t)
	if err := h.SetClientSecret(t.Context(), "office", "1234", value); err != nil {
		t.Fatal(err)
	}
	set := func(s *seat, text string) {
		path := filepath.Join(s.home, ".config", "wiebelt", "settings.toml")
		b, err := os.ReadFile(path)
		if err != nil {
			t.Fatal(err)
		}
		b = bytes.Replace(b, []byte(h.BaseURL()), []byte(text), 1) // base_url comes first
		if err := os.WriteFile(path, b, 0o600); err != nil {
			t.Fatal(err)
		}
	}
	for name, change := range map[string]func(s *seat, w *tappedWire){
		"settings file": func(s *seat, w *tappedWire) { set(s, w.base()) },
		"settings.Set, as windows save": func(s *seat, w *tappedWire) {
			if err := settings.Set(profile.Dirs{Config: filepath.Join(s.home, ".config", "wiebelt"), State: t.TempDir()}, map[string]any{"hub.base_url": w.base()}); err != nil {
				t.Fatal(err)
			}
		},
		"a path behind the address": func(s *seat, w *tappedWire) { set(s, w.base()+"/x/"+h.BaseURL()[len("http://"):]) },
		"policy":                    func(s *seat, w *tappedWire) { s.policy("[hub]\nbase_url = \"" + w.base() + "\"\n") },
		"provision":                 func(s *seat, w *tappedWire) { s.must("", "provision", "--base-url", w.base()) },
		"environment": func(s *seat, w *tappedWire) {
			dir := filepath.Join(s.home, "other", "wiebelt")
			if err := os.MkdirAll(dir, 0o700); err != nil {
				t.Fatal(err)
			}
			b, err := os.ReadFile(filepath.Join(s.home, ".config", "wiebelt", "settings.toml"))
			if err != nil {
				t.Fatal(err)
			}
			if err := os.WriteFile(filepath.Join(dir, "settings.toml"), bytes.ReplaceAll(b, []byte(h.BaseURL()), []byte(w.base())), 0o600); err != nil {
				t.Fatal(err)
			}
			s.env = append(s.env, "XDG_CONFIG_HOME="+filepath.Dir(dir))
		},
		"a proxy in the environment": func(s *seat, w *tappedWire) {
			for _, v := range []string{"HTTP_PROXY", "http_proxy", "HTTPS_PROXY", "https_proxy", "ALL_PROXY", "all_proxy"} {
				s.env = append(s.env, v+"="+w.base())
			}
		},
		"a proxy in the settings": func(s *seat, w *tappedWire) { s.policy("[hub]\nproxy = \"" + w.base() + "\"\n") },
		"another port, same host": func(s *seat, w *tappedWire) { set(s, w.base()) },
		"another client": func(s *seat, w *tappedWire) {
			s.must("", "provision", "--base-url", w.base(), "--client-id", "office2")
		},
		"import": func(s *seat, w *tappedWire) {
			// Somebody sends a file whose hub takes whatever it is given.
			evil := httptest.NewServer(http.HandlerFunc(func(rw http.ResponseWriter, r *http.Request) {
				w.mu.Lock()
				defer w.mu.Unlock()
				w.n++
				_ = r.Write(&w.got)
				fmt.Fprint(rw, `{"access_token":"t","expires_in":300,"contacten":[]}`)
			}))
			t.Cleanup(evil.Close)
			away := newSeat(t)
			away.must(theirs+"\n", provision(evil.URL, h.HubURL(), "--secret-store", "file")...)
			file := filepath.Join(s.home, "office.wiebelt")
			phrase := away.must("", "provision", "--export", file)
			out := s.must(phrase, "provision", "--import", file, "--passphrase-stdin")
			if !strings.Contains(out, evil.URL) || !strings.Contains(out, h.BaseURL()) {
				t.Errorf("old and new address are not shown: %s", out)
			}
			if !w.holds(theirs) {
				t.Error("import: the file's own secret was not used")
			}
		},
	} {
		t.Run(name, func(t *testing.T) {
			s, w := newSeat(t), tapped(t)
			s.must(value+"\n", provision(h.BaseURL(), h.HubURL(), "--secret-store", "file")...)
			// A second secret waits too.
			s.must(value+"-next\n", provision(h.BaseURL(), h.HubURL())...)
			change(s, w)
			code, out, errOut := s.wiebelt("", "lookup", "0698760011")
			_, _, _ = s.wiebelt("", "settings")
			_, _, _ = s.wiebelt("", "lookup", "--json", "0655550000")
			if w.holds(value) || w.holds(value+"-next") {
				t.Errorf("the secret went to another address: exit %d: %s%s", code, out, errOut)
			}
			w.mu.Lock()
			defer w.mu.Unlock()
			t.Logf("%d connections, %d bytes, exit %d", w.n, w.got.Len(), code)
			if !strings.HasPrefix(name, "a proxy") && name != "import" && (code == 0 || w.got.Len() > 0) {
				t.Errorf("exit %d, and %d bytes went to an address without a secret", code, w.got.Len())
			}
		})
	}
}

// TestSecretStaysHomeLive: the same while the program runs.
func TestSecretStaysHomeLive(t *testing.T) {
	t.Parallel()
	const value = "old-secret-canary"
	h, _ := startHub(t)
	if err := h.SetClientSecret(t.Context(), "office", "1234", value); err != nil {
		t.Fatal(err)
	}
	s, w := newSeat(t), tapped(t)
	o := prepareAt(t, h, h.BaseURL(), value, 0, "")
	o.start(s.before()...)
	ring := func(id string) {
		t.Helper()
		for _, state := range []string{"ringing", "ended"} {
			if out, err := o.wiebelt("ring", "--id", id, "--state", state, "--", "0698760011").CombinedOutput(); err != nil {
				t.Fatalf("ring: %v: %s", err, out)
			}
		}
	}
	ring("1")
	o.Until("a call with its name", func() bool { c := callsOf(t, o); return len(c) == 1 && c[0].Name != "" })
	s.policy("[hub]\nbase_url = \"" + w.base() + "\"\n")
	o.Until("the policy holds", func() bool { return strings.Contains(o.log.String(), "settings are in effect") })
	ring("2")
	o.Until("a second call", func() bool { return len(callsOf(t, o)) == 2 })
	if w.holds(value) || callsOf(t, o)[0].Name != "" {
		t.Error("the secret went to another address")
	}
}

// TestTwoSecrets: a new secret is tried, and the old one kept until it works.
func TestTwoSecrets(t *testing.T) {
	t.Parallel()
	s := newSeat(t)
	h, old := startHub(t)
	s.must(old+"\n", provision(h.BaseURL(), h.HubURL(), "--secret-store", "file")...)
	state := func() string {
		_, e := s.settings()
		return e.Secrets[0].State
	}
	if got := state(); got != "set" {
		t.Errorf("%s", got)
	}
	const next = "the-new-secret"
	if out := s.must(next+"\n", "provision", "--secret-stdin"); !strings.Contains(out, "The old secret stays") || state() != "waiting" {
		t.Errorf("%s: %s", state(), out)
	}
	// The hub still has the old one.
	if out := s.must("", "lookup", "0698760011"); !strings.Contains(out, "Vries") || state() != "waiting" {
		t.Errorf("%s: %s", state(), out)
	}
	if err := h.SetClientSecret(t.Context(), "office", "1234", next); err != nil {
		t.Fatal(err)
	}
	if out := s.must("", "lookup", "0698760011"); !strings.Contains(out, "Vries") || state() != "set" {
		t.Errorf("%s: %s", state(), out)
	}
	if err := h.SetClientSecret(t.Context(), "office", "1234", old); err != nil {
		t.Fatal(err)
	}
	if code, _, _ := s.wiebelt("", "lookup", "0698760011"); code != 1 {
		t.Error("the old secret is still there")
	}
}

// TestMachineSecret: an administrator sets one secret for the whole computer, and
// everybody in the group looks people up with it.
func TestMachineSecret(t *testing.T) {
	t.Parallel()
	const group = 4711
	root := newSeat(t)
	groups, err := os.OpenFile(filepath.Join(root.etc, "group"), os.O_APPEND|os.O_WRONLY, 0)
	if err != nil {
		t.Fatal(err)
	}
	if _, err := fmt.Fprintf(groups, "wiebelt:x:%d:\n", group); err != nil {
		t.Fatal(err)
	}
	if err := groups.Close(); err != nil {
		t.Fatal(err)
	}
	admin := root.as(realRoot, 0)
	h, value := startHub(t)
	profile := func(uid int) string {
		dir := filepath.Join(root.home, fmt.Sprint(uid))
		if err := os.MkdirAll(dir, 0o700); err != nil {
			t.Fatal(err)
		}
		if err := os.Chown(dir, uid, -1); err != nil {
			t.Fatal(err)
		}
		return dir
	}
	member, stranger := root.as(nobody, group), root.as(nobody-1, nobody)
	root.policy(fmt.Sprintf("[hub]\nbase_url = %q\nhub_url = %q\nclient_id = \"office\"\norganisation_code = \"1234\"\nsecret_store = \"machine\"\n", h.BaseURL(), h.HubURL()))

	if code, out, errOut := member.wiebelt(value+"\n", "provision", "--secret-stdin", "--profile", profile(nobody)); code != 1 || !strings.Contains(errOut, "administrator") {
		t.Errorf("set by a user: exit %d: %s%s", code, out, errOut)
	}
	admin.must(value+"\n", "provision", "--secret-stdin", "--profile", t.TempDir())
	for path, want := range map[string]string{"wiebelt/secrets": "0 4711 drwxr-s---", "wiebelt": "0 0 drwxr-xr-x"} {
		out, err := exec.Command("stat", "-c", "%u %g %A", filepath.Join(root.etc, path)).Output()
		if err != nil || strings.TrimSpace(string(out)) != want {
			t.Errorf("%s: %s, not %s", path, out, want)
		}
	}
	if out := member.must("", "lookup", "--profile", profile(nobody), "0698760011"); !strings.Contains(out, "Vries") {
		t.Errorf("%s", out)
	}
	_, e := member.settings("--profile", profile(nobody))
	if len(e.Problems) > 0 || e.Secrets[0].State != "set" || e.Secrets[0].Store != "machine" {
		t.Errorf("%+v %+v", e.Problems, e.Secrets)
	}
	if _, e := stranger.settings("--profile", profile(nobody-1)); e.Secrets[0].State != "no_right" {
		t.Errorf("outside of the group: %+v", e.Secrets)
	}
	if code, _, errOut := stranger.wiebelt("", "lookup", "--profile", profile(nobody-1), "0698760011"); code != 1 || !strings.Contains(errOut, "wiebelt)") || strings.Contains(errOut, "not set up") {
		t.Errorf("outside of the group: exit %d: %s", code, errOut)
	}
	// What the policy decides stays, and the rest of a set-up file for the same hub is
	// taken over; a secret for another hub is for nothing here.
	file := filepath.Join(root.home, "office.wiebelt")
	same := newSeat(t)
	same.must(value+"\n", provision(h.BaseURL(), "https://hub.other.example", "--secret-store", "file")...)
	phrase := same.must("", "provision", "--export", file)
	here := t.TempDir()
	if out := admin.must(phrase, "provision", "--import", file, "--passphrase-stdin", "--profile", here); !strings.Contains(out, "hub.hub_url") {
		t.Errorf("what stays is not said: %s", out)
	}
	if out := admin.must("", "provision", "--hub-url", "https://hub.other.example", "--profile", here); !strings.Contains(out, "hub.hub_url") {
		t.Errorf("what stays is not said: %s", out)
	}
	if _, e := admin.settings("--profile", here); strings.Contains(fmt.Sprint(e), "hub.other.example") {
		t.Error("the policy was written over")
	}
	if code, _, _ := admin.wiebelt("x\n", "provision", "--base-url", "https://hub.other.example", "--client-id", "office", "--secret-stdin", "--profile", here); code != 1 {
		t.Errorf("a secret for another hub: exit %d", code)
	}
}

// TestSecretMessages: absent, locked and full are told apart, in both languages,
// within two seconds.
func TestSecretMessages(t *testing.T) {
	t.Parallel()
	for lang, want := range map[string][2]string{"nl_NL.UTF-8": {"geen sleutelbos", "te lang"}, "en_US.UTF-8": {"no vault", "too long"}} {
		s := newSeat(t)
		s.env = append(s.env, "LANG="+lang, "DBUS_SESSION_BUS_ADDRESS=unix:path="+filepath.Join(s.home, "none"))
		for value, words := range map[string]string{"x": want[0], strings.Repeat("x", 2561): want[1]} {
			begin := time.Now()
			code, out, errOut := s.wiebelt(value+"\n", provision("https://hub.example", "https://hub.example")...)
			if took := time.Since(begin); code != 1 || !strings.Contains(errOut, words) || took > 2*time.Second {
				t.Errorf("%s: exit %d after %v: %s%s", lang, code, took, out, errOut)
			}
		}
	}
}

// TestAudit: a look-up leaves one record in the journal, without number or name.
func TestAudit(t *testing.T) {
	t.Parallel()
	s := newSeat(t)
	journal := journalOf(t, s)
	h, value := startHub(t)
	s.must(value+"\n", provision(h.BaseURL(), h.HubURL(), "--secret-store", "file")...)
	s.must("", "lookup", "0698760011") // audit is off
	s.policy("audit = \"eventlog\"\n")
	s.must("", "lookup", "0698760011")
	_, _, _ = s.wiebelt("", "lookup", "0655550000")
	h.Faults().Set(localhub.AtLookup, localhub.Fault{Status: 500})
	_, _, _ = s.wiebelt("", "lookup", "0698760011")
	b := make([]byte, 4096)
	for _, want := range []string{"found", "none", "hub_error"} {
		_ = journal.SetReadDeadline(time.Now().Add(5 * time.Second))
		n, err := journal.Read(b)
		if err != nil {
			t.Fatal(err)
		}
		got := string(b[:n])
		if !strings.Contains(got, "WIEBELT_OUTCOME="+want+"\n") || !strings.Contains(got, "MESSAGE_ID=9f1c52a07be94d3fae6d10c8b3a47e51\n") ||
			strings.Contains(got, "98760011") || strings.Contains(got, "Vries") {
			t.Errorf("%q, want %s", got, want)
		}
	}
	_ = journal.SetReadDeadline(time.Now().Add(100 * time.Millisecond))
	if n, err := journal.Read(b); err == nil {
		t.Errorf("one more: %q", b[:n])
	}
}

// TestResidentForAdmins: while the program runs, look-ups and warnings go into the
// journal, and a new secret that the hub does not know yet stops nothing.
func TestResidentForAdmins(t *testing.T) {
	t.Parallel()
	s := newSeat(t)
	journal := journalOf(t, s)
	next := func(want string) {
		t.Helper()
		b := make([]byte, 4096)
		_ = journal.SetReadDeadline(time.Now().Add(10 * time.Second))
		n, err := journal.Read(b)
		if got := string(b[:n]); err != nil || !strings.Contains(got, want+"\n") || strings.Contains(got, "98760011") || strings.Contains(got, "Vries") {
			t.Errorf("%v: %q, want %s", err, got, want)
		}
	}
	s.policy("audit = \"eventlog\"\n[hub]\nsecret_expires = \"2020-01-31\"\n")
	h, value := startHub(t)
	o := prepareAt(t, h, h.BaseURL(), value, 0, "")
	waits := o.wiebelt("provision", "--secret-stdin")
	waits.Stdin = strings.NewReader("not known yet\n")
	if out, err := waits.CombinedOutput(); err != nil || !strings.Contains(string(out), "oude geheim blijft") {
		t.Fatalf("%v: %s", err, out)
	}
	o.start(s.before()...)
	next("WIEBELT_EVENT_ID=201")
	for i, outcome := range []string{"found", "none"} {
		number := []string{"0698760011", "0655550000"}[i]
		if out, err := o.wiebelt("ring", "--id", outcome, "--", number).CombinedOutput(); err != nil {
			t.Fatalf("ring: %v: %s", err, out)
		}
		next("WIEBELT_OUTCOME=" + outcome)
	}
}

// TestForgetUser: an administrator deletes what another user has on the disk, and
// is told what lies out of reach.
func TestForgetUser(t *testing.T) {
	t.Parallel()
	s := newSeat(t)
	jan := filepath.Join(s.home, "jan")
	for _, f := range []string{"passwd:jan:x:4712:4712::" + jan + ":/bin/sh"} {
		name, line, _ := strings.Cut(f, ":")
		file, err := os.OpenFile(filepath.Join(s.etc, name), os.O_APPEND|os.O_WRONLY, 0)
		if err != nil {
			t.Fatal(err)
		}
		fmt.Fprintln(file, line)
		if err := file.Close(); err != nil {
			t.Fatal(err)
		}
	}
	fill := func(store string) {
		t.Helper()
		for path, text := range map[string]string{".config/wiebelt/settings.toml": "[hub]\nsecret_store = \"" + store + "\"\n", ".local/state/wiebelt/history.db": "x",
			".local/state/wiebelt/log/wiebelt.log": "x", ".config/other/settings.toml": "x"} {
			if err := os.MkdirAll(filepath.Dir(filepath.Join(jan, path)), 0o700); err != nil {
				t.Fatal(err)
			}
			if err := os.WriteFile(filepath.Join(jan, path), []byte(text), 0o600); err != nil {
				t.Fatal(err)
			}
		}
		run := filepath.Join(s.run, "user", "4712", "wiebelt")
		if err := os.MkdirAll(run, 0o700); err != nil {
			t.Fatal(err)
		}
	}
	gone := func() {
		t.Helper()
		for _, path := range []string{filepath.Join(jan, ".config/wiebelt"), filepath.Join(jan, ".local/state/wiebelt"), filepath.Join(s.run, "user", "4712", "wiebelt")} {
			if _, err := os.Lstat(path); err == nil {
				t.Errorf("%s is left", path)
			}
		}
		if _, err := os.Stat(filepath.Join(jan, ".config/other/settings.toml")); err != nil {
			t.Error("another program's file is gone")
		}
	}
	fill("file")
	if out := s.must("", "forget", "--user", "jan"); strings.Count(out, "deleted:") != 3 {
		t.Errorf("%s", out)
	}
	gone()
	if out := s.must("", "forget", "--user", "jan"); !strings.Contains(out, "no files") {
		t.Errorf("%s", out)
	}
	fill("os")
	if code, out, errOut := s.wiebelt("", "forget", "--user", "jan"); code != 1 || !strings.Contains(out, "secret-tool clear service nl.wiebelt.companion/") {
		t.Errorf("exit %d: %s%s", code, out, errOut)
	}
	gone()

	// A link that would lead root elsewhere.
	fill("file")
	precious := filepath.Join(s.home, "precious", "wiebelt")
	if err := os.MkdirAll(precious, 0o700); err != nil {
		t.Fatal(err)
	}
	if err := os.RemoveAll(filepath.Join(jan, ".config")); err != nil {
		t.Fatal(err)
	}
	if err := os.Symlink("../precious", filepath.Join(jan, ".config")); err != nil {
		t.Fatal(err)
	}
	if code, out, _ := s.wiebelt("", "forget", "--user", "jan"); code != 1 || !strings.Contains(out, "left: "+filepath.Join(jan, ".config/wiebelt")) {
		t.Errorf("exit %d: %s", code, out)
	}
	if _, err := os.Stat(precious); err != nil {
		t.Error("root was led to delete something else")
	}
	if code, _, _ := s.wiebelt("", "forget", "--user", "no-such-user"); code != 2 {
		t.Errorf("nobody's files: exit %d", code)
	}
	if code, _, errOut := s.as(nobody, nobody).wiebelt("", "forget", "--user", "jan"); code != 1 || !strings.Contains(errOut, "administrator") {
		t.Errorf("by a user: exit %d: %s", code, errOut)
	}
}
