package instance

import (
	"errors"
	"fmt"
	"net"
	"os"
	"os/exec"
	"path/filepath"
	"strings"
	"testing"
	"time"

	"wiebelt/internal/testutil/must"
	"wiebelt/internal/testutil/processtest"
)

func init() { roles["stranger"] = stranger }

// stranger prints how many of its connections are answered.
func stranger(_ must.Test, args []string) {
	answered := 0
	for range 100 {
		c, err := net.Dial("unix", filepath.Join(args[0], SocketName))
		if err != nil {
			continue
		}
		_, _ = c.Write([]byte(`{"kind":"hello","msg":{"role":"ring"}}` + "\n"))
		_ = c.SetReadDeadline(time.Now().Add(5 * time.Second))
		if n, _ := c.Read(make([]byte, 10)); n > 0 {
			answered++
		}
		_ = c.Close()
	}
	fmt.Println(answered)
}

// TestOtherUser checks that another user of the machine gets
// nowhere, even with the socket open to all.
func TestOtherUser(t *testing.T) {
	if os.Getuid() != 0 {
		t.Fatal("this test needs root to become another user")
	}
	dir := t.TempDir()
	e := &testHandler{}
	serve(t, dir, e)
	for _, p := range []string{filepath.Join(dir, SocketName), dir, filepath.Dir(dir)} { // the test owns all three
		must.Do(t, os.Chmod(p, 0o777))
	}
	exe := must.Get(os.ReadFile(os.Args[0]))(t)
	program := filepath.Join(dir, "stranger")
	must.Do(t, os.WriteFile(program, exe, 0o755))
	cmd := exec.Command("setpriv", "--reuid=65534", "--regid=65534", "--clear-groups", program, dir)
	cmd.Env = append(os.Environ(), processtest.RoleEnv+"=stranger")
	cmd.Dir = "/"
	out, err := cmd.CombinedOutput()
	if err != nil {
		t.Fatalf("%v: %s", err, out)
	}
	if got := strings.TrimSpace(string(out)); got != "0" {
		t.Errorf("%s of 100 connections of another user were answered", got)
	}
}

// TestFolderRemoved: one whose runtime folder somebody removes is found again, and stays the
// only one, unless another one was faster.
func TestFolderRemoved(t *testing.T) {
	dir := filepath.Join(t.TempDir(), "run")
	e := &testHandler{news: make(chan struct{}, 1)}
	serve(t, dir, e)
	for range 2 {
		must.Get(writeCall(config(dir), encodeEvent(command("1"))))(t)
		must.Receive(t, e.news, "what waits in the inbox")
		must.Do(t, errors.Join(os.Remove(config(dir).socket()), os.Remove(filepath.Join(dir, LockName)), os.RemoveAll(inboxDir(config(dir)))))
		waitFor(t, "way to it", func() bool { return residentAnswers(config(dir)) })
		if _, err := Acquire(config(dir)); !errors.Is(err, ErrRunning) {
			t.Fatalf("a second one: %v", err)
		}
	}
	dir = filepath.Join(t.TempDir(), "run")
	first := must.Get(Acquire(config(dir)))(t)
	must.Do(t, os.RemoveAll(dir))
	serve(t, dir, e)
	if _, err := first.reacquire(); !errors.Is(err, ErrRunning) || first.Close() == nil || !residentAnswers(config(dir)) {
		t.Errorf("another one was faster: %v", err)
	}
}

// TestLongPath checks that a socket whose path is too long for the system is still in its
// folder, and not in a place somebody else could have taken.
func TestLongPath(t *testing.T) {
	dir := filepath.Join(t.TempDir(), strings.Repeat("x", 150))
	temp := t.TempDir()
	t.Setenv("TMPDIR", temp)
	e := &testHandler{news: make(chan struct{}, 1)}
	serve(t, dir, e)
	must.Do(t, deliver(t.Context(), config(dir), encodeEvent(command("1")), settleTime))
	<-e.news
	if info, err := os.Stat(filepath.Join(dir, SocketName)); err != nil || info.Mode() != os.ModeSocket|0o600 {
		t.Errorf("%v %v", info, err)
	}
	if left, _ := os.ReadDir(temp); len(left) != 0 {
		t.Errorf("in the temp folder: %v", left)
	}
}

// TestInboxFollowsNoLink checks that a link in the inbox is removed unread.
func TestInboxFollowsNoLink(t *testing.T) {
	dir := t.TempDir()
	must.Do(t, os.MkdirAll(filepath.Join(dir, "inbox"), 0o700))
	elsewhere := must.Get(writeCall(config(t.TempDir()), encodeEvent(command("1"))))(t)
	must.Do(t, os.Symlink(elsewhere, filepath.Join(dir, "inbox", "1.call")))
	e := &testHandler{}
	newInbox(config(dir), &receiver{h: e}).read()
	if files, _ := os.ReadDir(filepath.Join(dir, "inbox")); len(e.got) != 0 || len(files) != 0 {
		t.Errorf("heard %+v; %d files left", e.got, len(files))
	}
}

// TestQuitLastsUntilTheNextLogOn checks that a note from another boot or session has expired.
func TestQuitLastsUntilTheNextLogOn(t *testing.T) {
	t.Setenv("XDG_SESSION_ID", "7")
	dir := t.TempDir()
	cfg := config(dir)
	for _, c := range []struct {
		session string
		quit    bool
	}{{"7", true}, {"", true}, {"8", false}} {
		t.Setenv("XDG_SESSION_ID", "7")
		must.Do(t, MarkQuit(cfg))
		t.Setenv("XDG_SESSION_ID", c.session)
		if got := wasQuit(cfg); got != c.quit {
			t.Errorf("in session %q: %v", c.session, got)
		}
	}
	must.Do(t, os.WriteFile(quitFile(cfg), []byte("another boot\n7\n"), 0o600))
	t.Setenv("XDG_SESSION_ID", "7")
	if wasQuit(cfg) {
		t.Error("quit before the computer was started")
	}
}

func TestInboxInAFolderOfOthers(t *testing.T) {
	dir := t.TempDir()
	must.Do(t, os.Chmod(dir, 0o777))
	if err := HandOver(t.Context(), config(dir), command("1"), func() error { return nil }); err == nil {
		t.Error("wrote where others can write")
	}
}

func TestStartDetached(t *testing.T) {
	if err := StartDetached(nil, "sh", "-c", "true"); err == nil {
		t.Error("found by way of PATH")
	}
	mark := filepath.Join(t.TempDir(), "mark")
	must.Do(t, StartDetached(nil, "/bin/sh", "-c", `ps -o sid=,tty= -p $$ > "$0.new" && echo $$ >> "$0.new" && mv "$0.new" "$0"`, mark))
	var f []string
	waitFor(t, "the program", func() bool {
		b, err := os.ReadFile(mark)
		f = strings.Fields(string(b))
		return err == nil
	})
	if len(f) != 3 || f[0] != f[2] || f[1] != "?" {
		t.Errorf("session, terminal, process: %q", f)
	}
}
