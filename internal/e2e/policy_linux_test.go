package e2e

import (
	"bytes"
	"encoding/json"
	"errors"
	"fmt"
	"net"
	"net/http"
	"net/http/httptest"
	"os"
	"os/exec"
	"path/filepath"
	"strconv"
	"strings"
	"syscall"
	"testing"
	"time"

	"wiebelt/internal/testutil/logtest"
	"wiebelt/internal/testutil/must"
	"wiebelt/internal/testutil/nettest"
)

// machine is a user at a computer without a screen, whose /etc and /run belong to the test:
// programs run in a mount namespace.
type machine struct {
	t        testing.TB
	bin      string
	etc, run string
	home     string
	env      []string
	uid, gid int // of the user at the computer; 0 is root
}

// newMachine copies what programs need from /etc.
func newMachine(t testing.TB) *machine {
	t.Helper()
	bin := must.Get(binary())(t)
	dir := must.Get(os.MkdirTemp("", "machine-"))(t) // short: it contains sockets
	t.Cleanup(func() { _ = os.RemoveAll(dir) })
	must.Do(t, os.Chmod(dir, 0o755))
	s := &machine{t: t, bin: bin, etc: filepath.Join(dir, "etc"), run: filepath.Join(dir, "run"), home: filepath.Join(dir, "home")}
	for _, d := range []string{s.etc, s.run, s.home} {
		must.Do(t, os.Mkdir(d, 0o755))
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

// realRoot is the computer's own root, not a namespace's: it can give files to others.
const realRoot = -1

// before returns the command line that runs a program in the namespace.
func (s *machine) before() []string {
	script := `mount --bind "$0" /etc && mount --bind "` + s.run + `" /run &&`
	switch s.uid {
	case 0:
		return []string{"unshare", "-Urm", "sh", "-c", script + ` exec "$@"`, s.etc}
	case realRoot:
		return []string{"unshare", "-m", "sh", "-c", script + ` exec "$@"`, s.etc}
	}
	return []string{"unshare", "-m", "sh", "-c", script + fmt.Sprintf(` exec setpriv --reuid %d --regid %d --clear-groups "$@"`, s.uid, s.gid), s.etc}
}

// as returns the same computer with another user.
func (s *machine) as(uid, gid int) *machine {
	other := *s
	other.uid, other.gid = uid, gid
	return &other
}

func (s *machine) command(args ...string) *exec.Cmd {
	argv := append(s.before(), s.bin)
	argv = append(argv, args...)
	cmd := exec.CommandContext(s.t.Context(), argv[0], argv[1:]...)
	cmd.Env, cmd.Dir = s.env, "/"
	cmd.SysProcAttr = &syscall.SysProcAttr{Pdeathsig: syscall.SIGKILL}
	return cmd
}

// wiebelt runs a command until it exits.
func (s *machine) wiebelt(stdin string, args ...string) (code int, out, errOut string) {
	s.t.Helper()
	cmd := s.command(args...)
	var o, e bytes.Buffer
	cmd.Stdin, cmd.Stdout, cmd.Stderr = strings.NewReader(stdin), &o, &e
	err := cmd.Run()
	if _, ended := errors.AsType[*exec.ExitError](err); err != nil && !ended {
		s.t.Fatal(err)
	}
	return cmd.ProcessState.ExitCode(), o.String(), e.String()
}

// must is wiebelt for commands that have to succeed.
func (s *machine) must(stdin string, args ...string) string {
	s.t.Helper()
	code, out, errOut := s.wiebelt(stdin, args...)
	if code != 0 {
		s.t.Fatalf("wiebelt %s: exit %d: %s%s", strings.Join(args, " "), code, out, errOut)
	}
	return out
}

// add adds a line to a file of /etc.
func (s *machine) add(name, line string) {
	s.t.Helper()
	f := must.Get(os.OpenFile(filepath.Join(s.etc, name), os.O_APPEND|os.O_WRONLY, 0))(s.t)
	must.Get(fmt.Fprintln(f, line))(s.t)
	must.Do(s.t, f.Close())
}

func (s *machine) policyFile() string { return filepath.Join(s.etc, "wiebelt", "policy.toml") }

// policy installs a policy like deployment tools do.
func (s *machine) policy(text string) {
	s.t.Helper()
	must.Do(s.t, os.MkdirAll(filepath.Dir(s.policyFile()), 0o755))
	must.Do(s.t, os.WriteFile(s.policyFile()+".new", []byte(text), 0o644))
	must.Do(s.t, os.Rename(s.policyFile()+".new", s.policyFile()))
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

func (s *machine) settings(args ...string) (e effectiveSettings) {
	s.t.Helper()
	code, out, errOut := s.wiebelt("", append([]string{"settings", "--json"}, args...)...)
	if err := json.Unmarshal([]byte(out), &e); err != nil {
		s.t.Fatalf("exit %d: %v: %s%s", code, err, out, errOut)
	}
	return e
}

// TestPolicyIsFollowed checks that a policy changed while the program runs takes
// effect within 15 seconds without restarting anything, and that one somebody else
// could have written does not. A new hub address never receives the old one's secret.
func TestPolicyIsFollowed(t *testing.T) {
	t.Parallel()
	s := newMachine(t)
	first, other := nettest.Port(t), nettest.Port(t)
	const value = "old-secret-marker"
	h, _ := startHub(t)
	must.Do(t, h.SetClientSecret(t.Context(), "office", "1234", value))
	got := &logtest.Buffer{}
	elsewhere := httptest.NewServer(http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		_ = r.Write(got)
		w.WriteHeader(http.StatusUnauthorized)
	}))
	t.Cleanup(elsewhere.Close)
	o := prepareAt(t, h, h.BaseURL(), value, "[listener]\nport = "+strconv.Itoa(first))
	o.start(s.before()...)
	pid := o.at().PID
	o.handOver("1", "0698760011")
	o.Until("a call with its name", func() bool { c := callsOf(t, o); return len(c) == 1 && c[0].Name != "" })
	s.policy("[hub]\nbase_url = \"" + elsewhere.URL + "\"\n")
	o.Until("the policy holds", func() bool { return strings.Contains(o.log.String(), "settings are in effect") })
	o.handOver("2", "0698760011")
	o.Until("a second call", func() bool { return len(callsOf(t, o)) == 2 })
	if len(hits(got.String(), []string{value})) > 0 || callsOf(t, o)[0].Name != "" {
		t.Error("the secret went to another address")
	}
	follows := func(what string, want func(int) bool) {
		t.Helper()
		began := time.Now()
		o.Until(what, func() bool { return want(o.now().Port) })
		must.Within(t, began, 15*time.Second)
	}
	s.policy("[listener]\nport = " + strconv.Itoa(other) + "\n")
	follows("a policy", func(p int) bool { return p == other })
	taken := must.Get(net.Listen("tcp", net.JoinHostPort("127.0.0.1", strconv.Itoa(first))))(t)
	must.Do(t, os.Chmod(s.policyFile(), 0o666))
	follows("a policy that anybody may write, and the port of before is another's", func(p int) bool { return p == 0 })
	must.Do(t, taken.Close())
	follows("the port given back", func(p int) bool { return p == first })
	if o.at().PID != pid {
		t.Error("another process")
	}
}
