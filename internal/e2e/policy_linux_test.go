package e2e

import (
	"bytes"
	"encoding/json"
	"errors"
	"fmt"
	"net"
	"os"
	"os/exec"
	"path/filepath"
	"strconv"
	"strings"
	"syscall"
	"testing"
	"time"
)

// seat is a user at a computer without a screen, whose /etc and /run are the
// test's own: programs run in a mount namespace.
type seat struct {
	t        testing.TB
	bin      string
	etc, run string
	home     string
	env      []string
	uid, gid int // of who sits there; 0 is root
}

// newSeat copies what programs need of /etc.
func newSeat(t testing.TB) *seat {
	t.Helper()
	bin, err := binary()
	if err != nil {
		t.Fatal(err)
	}
	dir, err := os.MkdirTemp("", "seat-") // short: sockets lie in it
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { _ = os.RemoveAll(dir) })
	if err := os.Chmod(dir, 0o755); err != nil {
		t.Fatal(err)
	}
	s := &seat{t: t, bin: bin, etc: filepath.Join(dir, "etc"), run: filepath.Join(dir, "run"), home: filepath.Join(dir, "home")}
	for _, d := range []string{s.etc, s.run, s.home} {
		if err := os.Mkdir(d, 0o755); err != nil {
			t.Fatal(err)
		}
	}
	for _, name := range []string{"passwd", "group", "nsswitch.conf", "hosts", "resolv.conf", "localtime", "machine-id", "fonts", "ssl"} {
		if _, err := os.Stat("/etc/" + name); err == nil {
			if out, err := exec.Command("cp", "-aL", "/etc/"+name, s.etc).CombinedOutput(); err != nil {
				t.Fatalf("%v: %s", err, out)
			}
		}
	}
	s.env = []string{"PATH=/usr/sbin:/usr/bin:/sbin:/bin", "HOME=" + s.home, "LANG=en_US.UTF-8"}
	return s
}

// realRoot is the computer's own root, not that of a name space: he can give
// files to others.
const realRoot = -1

// before is the command line that puts a program into the namespace.
func (s *seat) before() []string {
	script := `mount --bind "$0" /etc && mount --bind "` + s.run + `" /run &&`
	switch s.uid {
	case 0:
		return []string{"unshare", "-Urm", "sh", "-c", script + ` exec "$@"`, s.etc}
	case realRoot:
		return []string{"unshare", "-m", "sh", "-c", script + ` exec "$@"`, s.etc}
	}
	return []string{"unshare", "-m", "sh", "-c", script + fmt.Sprintf(` exec setpriv --reuid %d --regid %d --clear-groups "$@"`, s.uid, s.gid), s.etc}
}

// as is the same computer with somebody else at it.
func (s *seat) as(uid, gid int) *seat {
	other := *s
	other.uid, other.gid = uid, gid
	return &other
}

func (s *seat) command(args ...string) *exec.Cmd {
	argv := append(s.before(), s.bin)
	argv = append(argv, args...)
	cmd := exec.CommandContext(s.t.Context(), argv[0], argv[1:]...)
	cmd.Env, cmd.Dir = s.env, "/"
	cmd.SysProcAttr = &syscall.SysProcAttr{Pdeathsig: syscall.SIGKILL}
	return cmd
}

// wiebelt runs a command to its end.
func (s *seat) wiebelt(stdin string, args ...string) (code int, out, errOut string) {
	s.t.Helper()
	cmd := s.command(args...)
	var o, e bytes.Buffer
	cmd.Stdin, cmd.Stdout, cmd.Stderr = strings.NewReader(stdin), &o, &e
	err := cmd.Run()
	var exit *exec.ExitError
	if err != nil && !errors.As(err, &exit) {
		s.t.Fatal(err)
	}
	return cmd.ProcessState.ExitCode(), o.String(), e.String()
}

// must is wiebelt for what has to succeed.
func (s *seat) must(stdin string, args ...string) string {
	s.t.Helper()
	code, out, errOut := s.wiebelt(stdin, args...)
	if code != 0 {
		s.t.Fatalf("wiebelt %s: exit %d: %s%s", strings.Join(args, " "), code, out, errOut)
	}
	return out
}

func (s *seat) policyFile() string { return filepath.Join(s.etc, "wiebelt", "policy.toml") }

// policy puts a policy in place as deployment tools do.
func (s *seat) policy(text string) {
	s.t.Helper()
	if err := os.MkdirAll(filepath.Dir(s.policyFile()), 0o755); err != nil {
		s.t.Fatal(err)
	}
	if err := os.WriteFile(s.policyFile()+".new", []byte(text), 0o644); err != nil {
		s.t.Fatal(err)
	}
	if err := os.Rename(s.policyFile()+".new", s.policyFile()); err != nil {
		s.t.Fatal(err)
	}
}

type effectiveSettings struct {
	Settings []struct {
		Key, Value, Source string
		Locked             bool
	}
	Secrets  []struct{ Name, Store, State string }
	Problems []struct {
		Kind, Source, Key, Message string
		Line                       int
	}
}

func (s *seat) settings(args ...string) (code int, e effectiveSettings) {
	s.t.Helper()
	code, out, errOut := s.wiebelt("", append([]string{"settings", "--json"}, args...)...)
	if err := json.Unmarshal([]byte(out), &e); err != nil {
		s.t.Fatalf("exit %d: %v: %s%s", code, err, out, errOut)
	}
	return code, e
}

func (e effectiveSettings) value(key string) (value, source string) {
	for _, s := range e.Settings {
		if s.Key == key {
			return s.Value, s.Source
		}
	}
	return "", ""
}

const good = "[hub]\nclient_id = \"policy\"\n"

// malformed are settings and policies that somebody could put there by mistake
// or on purpose. The same text stands in for both.
var malformed = []struct {
	text string
	key  string
	line int
	kind string
}{
	{"[hub]\nbase_url = 5\n", "hub.base_url", 2, "wrong_type"},
	{"[hub]\nbase_url = \"http://hub.example\"\n", "hub.base_url", 2, "not_allowed"},
	{"[hub]\nbase_url = \"https://user:canary@hub.example\"\n", "hub.base_url", 2, "not_allowed"},
	{"[hub]\nbase_url = \"http://localhost:1\"\n", "hub.base_url", 2, "not_allowed"},
	{"[hub]\nhub_url = \"file:///etc/passwd\"\n", "hub.hub_url", 2, "not_allowed"},
	{"[hub]\nclient_id = \"a:b\"\n", "hub.client_id", 2, "not_allowed"},
	{"[hub]\nclient_secret = \"canary\"\n", "hub.client_secret", 2, "unknown_key"},
	{"[hub]\nsecret_store = \"cloud\"\n", "hub.secret_store", 2, "not_allowed"},
	{"[hub]\nsecret_expires = \"tomorrow\"\n", "hub.secret_expires", 2, "not_allowed"},
	{"[hub]\nproxy = \"http://u:canary@proxy:1\"\n", "hub.proxy", 2, "not_allowed"},
	{"[hub]\nextra_ca_file = \"../ca.pem\"\n", "hub.extra_ca_file", 2, "not_allowed"},
	{"[hub]\nlookup_timeout = 5\n", "hub.lookup_timeout", 2, "wrong_type"},
	{"[hub]\nlookup_timeout = \"1h\"\n", "hub.lookup_timeout", 2, "not_allowed"},
	{"[hub]\nopen_at_start = \"yes\"\n", "hub.open_at_start", 2, "wrong_type"},
	{"[phone]\ninternal_digits = -1\n", "phone.internal_digits", 2, "not_allowed"},
	{"[phone]\ninternal_digits = 1.5\n", "phone.internal_digits", 2, "wrong_type"},
	{"[phone]\nregion = \"XX\"\n", "phone.region", 2, "not_allowed"},
	{"[phone]\nnever_lookup = \"020\"\n", "phone.never_lookup", 2, "wrong_type"},
	{"[phone]\nnever_lookup = [1, 2]\n", "phone.never_lookup", 2, "wrong_type"},
	{"[phone]\ncall_back = \"{number} canary\"\n", "phone.call_back", 2, "not_allowed"},
	{"[listener]\nport = 0\n", "listener.port", 2, "not_allowed"},
	{"[listener]\nport = 70000\n", "listener.port", 2, "not_allowed"},
	{"[listener]\nport = 99999999999999999999\n", "listener.port", 2, "bad_syntax"},
	{"[listener]\nallowed_origins = [\"*\"]\n", "listener.allowed_origins", 2, "not_allowed"},
	{"[card]\ncorner = \"centre\"\n", "card.corner", 2, "not_allowed"},
	{"[card]\nfields = [\"bsn\"]\n", "card.fields", 2, "not_allowed"},
	{"[card]\nfull_for = \"0s\"\n", "card.full_for", 2, "not_allowed"},
	{"[history]\ndays = 0\n", "history.days", 2, "not_allowed"},
	{"[history]\ndays = \"7\"\n", "history.days", 2, "wrong_type"},
	{"[history]\nkeep = true\n", "history.keep", 2, "wrong_type"},
	{"[ui]\nlanguage = \"fr\"\n", "ui.language", 2, "not_allowed"},
	{"audit = \"file\"\n", "audit", 1, "not_allowed"},
	{"nonsense = 1\n", "nonsense", 1, "unknown_key"},
	{"[nonsense]\nx = 1\n", "nonsense", 1, "unknown_key"},
	{"hub = 1\n", "hub", 1, "wrong_type"},
	{"[[hub]]\nproxy = \"none\"\n", "hub", 1, "wrong_type"},
	{"line = 1\n", "line", 1, "wrong_type"},
	{"[[line]]\nname = \"canary\"\n", "line[1].number", 1, "not_allowed"},
	{"[[softphone]]\nkind = \"skype\"\n", "softphone[1].kind", 2, "not_allowed"},
	{"[[softphone]]\nkind = \"ari\"\npassword = \"canary\"\n", "softphone[1].password", 3, "unknown_key"},
	{"[hub]\nproxy = canary\n", "hub.proxy", 2, "bad_syntax"},
	{"[hub]\nproxy = \"none\n", "hub.proxy", 2, "bad_syntax"},
	{"[hub\nproxy = \"none\"\n", "", 1, "bad_syntax"},
	{"[hub]\nproxy = \"none\"\nproxy = \"none\"\n", "hub.proxy", 3, "bad_syntax"},
	{"[phone]\nnever_lookup = [\"020\",\n", "phone.never_lookup", 2, "bad_syntax"},
	{"[hub]\nproxy = \"\\q\"\n", "hub.proxy", 2, "bad_syntax"},
	{"]\n", "", 1, "bad_syntax"},
	{"x = " + strings.Repeat("[", 30_000), "", 0, "bad_syntax"},
	{"[hub]\nclient_id = \"\xff\"\n", "", 0, "unreadable"},
	{"\xff\xfeh\x00u\x00b\x00", "", 0, "unreadable"},
	{"[hub]\x00\n", "", 0, "unreadable"},
	{strings.Repeat("# 10 MB of nothing\n", 10<<20/19), "", 0, "unreadable"},
	{"[hub]\nclient_id = \"\"\"never closed\n", "hub.client_id", 2, "bad_syntax"},
}

// planted are the same for the file itself. A policy is then ignored whole.
var planted = map[string]func(s *seat, path string) error{
	"another's file":               func(_ *seat, p string) error { return os.Chown(p, nobody, -1) },
	"another's folder":             func(_ *seat, p string) error { return os.Chown(filepath.Dir(p), nobody, -1) },
	"a file that others write":     func(_ *seat, p string) error { return os.Chmod(p, 0o646) },
	"a file that a group writes":   func(_ *seat, p string) error { return os.Chmod(p, 0o664) },
	"a folder that others write":   func(_ *seat, p string) error { return os.Chmod(filepath.Dir(p), 0o757) },
	"a folder that a group writes": func(_ *seat, p string) error { return os.Chmod(filepath.Dir(p), 0o775) },
	"a link to a file of root's": func(s *seat, p string) error {
		return errors.Join(os.Rename(p, p+".real"), os.Symlink("policy.toml.real", p))
	},
	"a link to nowhere": func(_ *seat, p string) error { return errors.Join(os.Remove(p), os.Symlink("/nowhere", p)) },
	"a folder that is a link": func(_ *seat, p string) error {
		return errors.Join(os.Rename(filepath.Dir(p), filepath.Dir(p)+".real"), os.Symlink("wiebelt.real", filepath.Dir(p)))
	},
	"a pipe":                       func(_ *seat, p string) error { return errors.Join(os.Remove(p), syscall.Mkfifo(p, 0o644)) },
	"a folder in the file's place": func(_ *seat, p string) error { return errors.Join(os.Remove(p), os.Mkdir(p, 0o755)) },
	"a device": func(_ *seat, p string) error {
		return errors.Join(os.Remove(p), syscall.Mknod(p, syscall.S_IFCHR|0o644, 1<<8|5))
	},
}

// TestMalformed: whatever stands in the settings or in the policy, the program
// names it by key and line, goes on with the default, and leaves the user's file
// alone.
func TestMalformed(t *testing.T) {
	t.Parallel()
	if os.Getuid() != 0 {
		t.Fatal("only root can give files away; run this test as root")
	}
	s := newSeat(t)
	named := 0
	check := func(name, source, key string, line int, kind string, code int, e effectiveSettings) {
		t.Helper()
		if code != 1 || len(e.Problems) == 0 {
			t.Errorf("%s: %.60q: exit %d, problems %v", source, name, code, e.Problems)
			return
		}
		p := e.Problems[0]
		if p.Source != source || p.Key != key || p.Line != line || p.Kind != kind || p.Message == "" || strings.Contains(fmt.Sprint(e.Problems), "canary") {
			t.Errorf("%s: %.60q: %+v", source, name, p)
			return
		}
		named++
	}
	for _, m := range malformed {
		// As the user's settings. Nothing is lost, not even by a command that writes.
		profile := t.TempDir()
		path := filepath.Join(profile, "settings.toml")
		if err := os.WriteFile(path, []byte(m.text), 0o600); err != nil {
			t.Fatal(err)
		}
		code, e := s.settings("--profile", profile)
		check(m.text, "user", m.key, m.line, m.kind, code, e)
		if b, err := os.ReadFile(path); err != nil || string(b) != m.text {
			t.Errorf("user: %.60q: the file has changed: %v", m.text, err)
		}
		if m.kind == "bad_syntax" || m.kind == "unreadable" {
			code, _, errOut := s.wiebelt("", "provision", "--client-id", "new", "--profile", profile)
			if b, err := os.ReadFile(path); code != 1 || err != nil || string(b) != m.text {
				t.Errorf("user: %.60q: exit %d: written over: %v %s", m.text, code, err, errOut)
			}
		}

		// As the policy, over settings of the user's that are right.
		if err := os.WriteFile(path, []byte("[hub]\nclient_id = \"mine\"\n"), 0o600); err != nil {
			t.Fatal(err)
		}
		s.policy(m.text)
		code, e = s.settings("--profile", profile)
		check(m.text, "policy", m.key, m.line, m.kind, code, e)
		if v, source := e.value("hub.client_id"); v != "mine" || source != "user" {
			t.Errorf("policy: %.60q: the user's own settings are gone: %q from %s", m.text, v, source)
		}
		if err := os.Remove(s.policyFile()); err != nil {
			t.Fatal(err)
		}
	}
	for name, plant := range planted {
		s := newSeat(t)
		s.policy(good)
		if _, e := s.settings("--profile", t.TempDir()); len(e.Problems) > 0 {
			t.Fatalf("a right policy: %v", e.Problems)
		} else if v, source := e.value("hub.client_id"); v != "policy" || source != "policy" {
			t.Fatalf("a right policy is not obeyed: %q from %s", v, source)
		}
		if err := plant(s, s.policyFile()); err != nil {
			t.Fatalf("%s: %v", name, err)
		}
		code, e := s.settings("--profile", t.TempDir())
		check(name, "policy", "", 0, "untrusted", code, e)
		if v, _ := e.value("hub.client_id"); v != "" {
			t.Errorf("%s: obeyed all the same", name)
		}
	}
	t.Logf("%d of %d malformed settings and policies were named", named, 2*len(malformed)+len(planted))
	if named < 60 {
		t.Error("too few")
	}
}

// TestPolicyIsFollowed: a policy that changes while the program runs holds within
// 15 seconds, one that somebody else could have written does not hold, and
// nothing is started anew.
func TestPolicyIsFollowed(t *testing.T) {
	t.Parallel()
	s := newSeat(t)
	first, other := ownPort(t), ownPort(t)
	o := prepare(t, "[listener]\nport = "+strconv.Itoa(first))
	o.start(s.before()...)
	pid := o.at().PID
	port := func() int {
		b, err := os.ReadFile(o.announced())
		var a struct{ Port int }
		if err != nil || json.Unmarshal(b, &a) != nil {
			return 0
		}
		return a.Port
	}
	follows := func(what string, want func(int) bool) {
		t.Helper()
		began := time.Now()
		o.Until(what, func() bool { return want(port()) })
		took := time.Since(began)
		t.Logf("%s: after %v", what, took.Round(100*time.Millisecond))
		if took > 15*time.Second {
			t.Errorf("%s: after %v", what, took)
		}
	}
	s.policy("[listener]\nport = " + strconv.Itoa(other) + "\n")
	follows("a policy", func(p int) bool { return p == other })
	if err := os.Chmod(s.policyFile(), 0o666); err != nil {
		t.Fatal(err)
	}
	follows("a policy that anybody may write", func(p int) bool { return p == first })
	if err := os.Chmod(s.policyFile(), 0o644); err != nil {
		t.Fatal(err)
	}
	follows("the policy again", func(p int) bool { return p == other })
	taken, err := net.Listen("tcp", net.JoinHostPort("127.0.0.1", strconv.Itoa(first)))
	if err != nil {
		t.Fatal(err)
	}
	if err := os.Remove(s.policyFile()); err != nil {
		t.Fatal(err)
	}
	follows("no policy, and the port is another's", func(p int) bool { return p == 0 })
	if err := taken.Close(); err != nil {
		t.Fatal(err)
	}
	follows("the port given back", func(p int) bool { return p == first })
	if o.at().PID != pid {
		t.Error("another process")
	}
}
