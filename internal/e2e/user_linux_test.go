package e2e

import (
	"bufio"
	"encoding/json"
	"errors"
	"fmt"
	"io/fs"
	"net"
	"net/http"
	"os"
	"os/exec"
	"path/filepath"
	"strings"
	"syscall"
	"testing"
	"time"

	"github.com/gorilla/websocket"

	"wiebelt/internal/simulate"
)

// nobody is a user who has nothing to do with Wiebelt.
const nobody = 65534

// errand is what the tests' own program does as another user, given in its
// environment; report is what came of it.
type errand struct {
	Port          int
	Socket, Inbox string
	Files         []string // every file and folder of the profile
	PID           int
}

type report struct {
	UID      int
	Tried    map[string]int
	Accepted []string
}

const errandKey = "WIEBELT_TEST_ERRAND"

func init() {
	raw := os.Getenv(errandKey)
	if raw == "" {
		return
	}
	var e errand
	if err := json.Unmarshal([]byte(raw), &e); err != nil {
		fmt.Fprintln(os.Stderr, err)
		os.Exit(1)
	}
	if err := json.NewEncoder(os.Stdout).Encode(e.run()); err != nil {
		os.Exit(1)
	}
	os.Exit(0)
}

func (e errand) run() report {
	r := report{UID: os.Getuid(), Tried: map[string]int{}}
	try := func(source string, what string, ok bool) {
		r.Tried[source]++
		if ok {
			r.Accepted = append(r.Accepted, source+": "+what)
		}
	}
	at := fmt.Sprintf("127.0.0.1:%d", e.Port)
	guess := strings.Repeat("A", 43)
	client := &http.Client{Timeout: 5 * time.Second, Transport: &http.Transport{DisableKeepAlives: true}}
	for n := range 100 {
		// The listener, by every road.
		var status int
		switch n % 4 {
		case 0, 1:
			d := websocket.Dialer{HandshakeTimeout: 5 * time.Second, Subprotocols: []string{"wiebelt.v1"}}
			h := http.Header{}
			if n%4 == 1 {
				h.Set("Authorization", "Bearer "+guess)
			}
			c, resp, err := d.Dial("ws://"+at+"/v1/events", h)
			if err == nil {
				_ = c.Close()
			}
			if resp != nil {
				status = resp.StatusCode
			}
		case 2:
			status = get(client, "http://"+at+"/v1/call/"+guess+"?number=0698760011", "")
		case 3:
			status = get(client, "http://"+at+"/v1/call?number=0698760011", guess)
		}
		try("listener", fmt.Sprint("status ", status), status != http.StatusUnauthorized)
	}
	for n := range 100 {
		reached, answered := speak(e.Socket)
		try("socket", "answered", answered)
		if reached {
			r.Tried["socket reached"]++
		}
		name := filepath.Join(e.Inbox, fmt.Sprintf("%020d-%d.call", time.Now().UnixNano(), n))
		call := fmt.Sprintf(`{"way":"command","state":"ringing","direction":"incoming","number":"0698760011","at":%q}`, time.Now().Format(time.RFC3339Nano))
		try("inbox", name, os.WriteFile(name, []byte(call), 0o666) == nil)
	}
	for _, f := range e.Files {
		if f == "" {
			continue
		}
		for source, flag := range map[string]int{"read": os.O_RDONLY, "write": os.O_WRONLY} {
			file, err := os.OpenFile(f, flag, 0)
			if err == nil {
				_ = file.Close()
			}
			try(source, f, err == nil)
		}
		try("remove", f, os.Remove(f) == nil)
	}
	for _, f := range []string{"environ", "mem", "maps", "cwd", "exe"} {
		name := fmt.Sprintf("/proc/%d/%s", e.PID, f)
		_, err := os.ReadFile(name)
		try("process", name, err == nil)
	}
	return r
}

func get(c *http.Client, address, bearer string) int {
	r, err := http.NewRequest(http.MethodGet, address, nil)
	if err != nil {
		return 0
	}
	if bearer != "" {
		r.Header.Set("Authorization", "Bearer "+bearer)
	}
	resp, err := c.Do(r)
	if err != nil {
		return 0
	}
	_ = resp.Body.Close()
	return resp.StatusCode
}

// speak hands a call over as "wiebelt ring" does, and tells whether the socket
// could be reached and whether anything came back.
func speak(socket string) (reached, answered bool) {
	c, err := net.DialTimeout("unix", socket, 5*time.Second)
	if err != nil {
		return false, false
	}
	defer c.Close()
	_ = c.SetDeadline(time.Now().Add(5 * time.Second))
	_, _ = fmt.Fprintf(c, `{"kind":"hello","msg":{"version":"dev","build":"","role":"ring"}}`+"\n"+
		`{"kind":"ring","msg":{"way":"command","state":"ringing","direction":"incoming","number":"0698760011","at":%q}}`+"\n", time.Now().Format(time.RFC3339Nano))
	line, _ := bufio.NewReader(c).ReadString('\n')
	return true, line != ""
}

// asNobody is a program run by the other user; an open file is executed, since
// the folders around ours are closed to him.
func asNobody(t *testing.T, program string, args ...string) *exec.Cmd {
	t.Helper()
	if os.Getuid() != 0 {
		t.Fatal("only root can be another user for a moment; run this test as root")
	}
	f, err := os.Open(program)
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { _ = f.Close() })
	cmd := exec.CommandContext(t.Context(), "/proc/self/fd/3", args...)
	cmd.ExtraFiles = []*os.File{f}
	cmd.Dir = "/"
	cmd.Env = []string{"PATH=/usr/bin:/bin", "HOME=/nonexistent"}
	cmd.SysProcAttr = &syscall.SysProcAttr{Credential: &syscall.Credential{Uid: nobody, Gid: nobody}, Pdeathsig: syscall.SIGKILL}
	return cmd
}

// tell sends the other user on the errand.
func (e errand) tell(t *testing.T) report {
	t.Helper()
	raw, err := json.Marshal(e)
	if err != nil {
		t.Fatal(err)
	}
	cmd := asNobody(t, "/proc/self/exe")
	cmd.Env = append(cmd.Env, errandKey+"="+string(raw))
	cmd.Stderr = os.Stderr
	out, err := cmd.Output()
	var r report
	if err != nil || json.Unmarshal(out, &r) != nil || r.UID != nobody {
		t.Fatalf("as another user: %v: %.200s", err, out)
	}
	return r
}

// TestAnotherUser: somebody else on the same computer can neither report calls
// nor read or change anything of ours.
func TestAnotherUser(t *testing.T) {
	t.Parallel()
	o := newOffice(t, "")
	// A first call, so that every file is there.
	p := dial(o)
	if err := p.Ring(t.Context(), simulate.Call{ID: "1", Number: "0698760012"}); err != nil {
		t.Fatal(err)
	}
	o.Until("the call in the history", func() bool { return len(callsOf(t, o)) == 1 })
	if err := p.End(t.Context(), simulate.Call{ID: "1"}, "missed"); err != nil {
		t.Fatal(err)
	}
	o.Until("no card", o.empty)
	before := o.hub.Stats().Lookups

	// The tests' folders are closed; only what Wiebelt closes itself may count.
	for dir := filepath.Dir(o.profile); dir != os.TempDir() && dir != "/"; dir = filepath.Dir(dir) {
		if err := os.Chmod(dir, 0o755); err != nil {
			t.Fatal(err)
		}
	}
	run := filepath.Join(o.profile, "run")
	e := errand{Port: o.at().Port, Socket: filepath.Join(run, "wiebelt.sock"), Inbox: filepath.Join(run, "inbox"), PID: o.resident.Process.Pid}
	err := filepath.WalkDir(o.profile, func(path string, d fs.DirEntry, err error) error {
		if err == nil && path != o.profile && d.Name() != "wiebelt.sock" {
			e.Files = append(e.Files, path)
		}
		return err
	})
	if err != nil {
		t.Fatal(err)
	}
	for _, must := range []string{"settings.toml", "tokens.json", "history.db", "run/listener.json", "run/inbox"} {
		if _, err := os.Stat(filepath.Join(o.profile, must)); err != nil {
			t.Error(err)
		}
	}
	r := e.tell(t)
	t.Logf("another user tried %v", r.Tried)
	if r.Tried["listener"] != 100 || r.Tried["socket"] != 100 || r.Tried["socket reached"] != 0 || r.Tried["inbox"] != 100 || r.Tried["read"] < 5 {
		t.Errorf("tried only %v", r.Tried)
	}
	for _, a := range r.Accepted {
		t.Errorf("another user is let in: %s", a)
	}

	// The program that hands calls over, on our profile.
	cmd := asNobody(t, o.bin, "ring", "--profile", o.profile, "--", "0698760011")
	out, err := cmd.CombinedOutput()
	var exit *exec.ExitError
	if !errors.As(err, &exit) {
		t.Errorf("wiebelt ring by another user: %v: %s", err, out)
	}

	// Were the folder open by mistake, the kernel still says who speaks.
	for _, name := range []string{run, e.Socket} {
		if err := os.Chmod(name, 0o777); err != nil {
			t.Fatal(err)
		}
	}
	e.Files = nil
	r = e.tell(t)
	if r.Tried["socket reached"] != 100 {
		t.Errorf("with an open folder: tried %v", r.Tried)
	}
	for _, a := range r.Accepted {
		t.Errorf("with an open folder: another user is let in: %s", a)
	}
	if err := os.Chmod(run, 0o700); err != nil {
		t.Fatal(err)
	}

	if !o.empty() {
		t.Error("a card came up")
	}
	if n := o.hub.Stats().Lookups; n != before {
		t.Errorf("%d lookups", n-before)
	}
	if n := len(callsOf(t, o)); n != 1 {
		t.Errorf("%d calls in the history", n)
	}
	if n := residents(o); n != 1 {
		t.Errorf("%d residents", n)
	}
	// And we ourselves get through, by each road.
	if err := dial(o).Ring(t.Context(), simulate.Call{ID: "2", Number: "0698760011"}); err != nil {
		t.Fatal(err)
	}
	o.shows("a card", foundCard(t, "0698760011", "", vries.Contact))
	if out, err := o.wiebelt("ring", "--", "0698760012").CombinedOutput(); err != nil {
		t.Errorf("ring: %v: %s", err, out)
	}
	o.Until("both in the history", func() bool { return len(callsOf(t, o)) == 3 })
}
