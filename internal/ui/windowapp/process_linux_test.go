package windowapp

import (
	"bytes"
	"context"
	"errors"
	"log/slog"
	"os"
	"os/exec"
	"path/filepath"
	"slices"
	"strings"
	"testing"
	"time"

	"wiebelt/internal/config/profile"
	"wiebelt/internal/core/call"
	"wiebelt/internal/instance"
	"wiebelt/internal/instance/windowapi"
	nativewindow "wiebelt/internal/native/window"
	"wiebelt/internal/testutil/instancetest"
	"wiebelt/internal/testutil/must"
	"wiebelt/internal/testutil/xtest"
)

const windowsEnv = "WIEBELT_TEST_IS_WINDOWS"

// build is the build of these tests' resident and windows.
const build = "t"

// TestMain also runs the windows' process: its arguments are the resident's folder
// and the window to open.
func TestMain(m *testing.M) {
	if os.Getenv(windowsEnv) == "" {
		os.Exit(m.Run())
	}
	log := slog.New(slog.NewTextHandler(os.Stderr, nil))
	dirs, err := profile.Find(filepath.Dir(os.Args[1]))
	if err != nil {
		log.Error("no profile", "why", err)
		os.Exit(1)
	}
	err = Run(context.Background(), Config{Window: os.Args[2], Dirs: dirs, Log: log, Connect: func(ctx context.Context) (Conn, error) {
		c, _, err := instance.Connect(ctx, instance.Config{RunDir: os.Args[1], Version: build, Build: build, Log: log}, instance.RoleWindows)
		return c, err
	}})
	if err != nil {
		log.Error("no windows", "why", err)
		os.Exit(1)
	}
}

// resident is the windows' peer, over the real connection.
type resident struct {
	t       *testing.T
	welcome windowapi.Welcome
	met     chan struct{} // closed when there is a conn
	conn    *instance.Conn
	got     chan string // kinds of messages; closed when the connection ended
	process *exec.Cmd
	done    chan error
	err     *bytes.Buffer
}

// Ring implements instance.Handler.
func (r *resident) Ring(call.Event) error { return errors.New("not this one") }

// Peer implements instance.Handler.
func (r *resident) Peer(_ context.Context, hello instance.Hello, c *instance.Conn) {
	defer close(r.got)
	if hello.Role != instance.RoleWindows {
		r.t.Errorf("it came as %q", hello.Role)
	}
	if kind, _, err := c.Receive(); kind != windowapi.KindShow {
		r.t.Errorf("it began with %q, %v", kind, err)
	}
	if err := c.Send(windowapi.KindWelcome, r.welcome); err != nil {
		r.t.Error(err)
	}
	r.conn = c
	close(r.met)
	for {
		kind, _, err := c.Receive()
		if err != nil {
			return
		}
		r.got <- kind
	}
}

// startWindows starts the windows' process and its resident.
func startWindows(t *testing.T, s *xtest.Server, w windowapi.Welcome) *resident {
	t.Helper()
	dir := t.TempDir()
	dirs, err := profile.Find(dir)
	must.Do(t, err)
	must.Do(t, dirs.Make())
	r := &resident{t: t, welcome: w, met: make(chan struct{}), got: make(chan string, 64), done: make(chan error, 1), err: &bytes.Buffer{}}
	instancetest.Serve(t, instance.Config{RunDir: dirs.Run, Version: build, Build: build}, r)
	r.process = exec.Command(os.Args[0], dirs.Run, w.Window)
	r.process.Env = append(s.Env(), windowsEnv+"=1")
	r.process.Stderr = r.err
	must.Do(t, r.process.Start())
	go func() { r.done <- r.process.Wait() }()
	t.Cleanup(func() { _ = r.process.Process.Kill() }) // it may have exited already
	select {
	case <-r.met:
	case <-time.After(xtest.Patience):
		t.Fatalf("it did not come: %s", r.err)
	}
	return r
}

// wait waits for a message.
func (r *resident) wait(kind string) {
	r.t.Helper()
	select {
	case got, ok := <-r.got:
		if !ok || got != kind {
			r.t.Fatalf("got %q, want %q: %s", got, kind, r.err)
		}
	case <-time.After(xtest.Patience):
		r.t.Fatalf("no %q came: %s", kind, r.err)
	}
}

func (r *resident) ended(wantCode int) {
	r.t.Helper()
	select {
	case <-r.done:
	case <-time.After(xtest.Patience):
		r.t.Fatal("the windows' process did not end")
	}
	if code := r.process.ProcessState.ExitCode(); code != wantCode {
		r.t.Errorf("exit code %d, want %d: %s", code, wantCode, r.err)
	}
	if strings.Contains(r.err.String(), "Error in Fyne call thread") {
		r.t.Errorf("Fyne was called on a wrong thread:\n%s", r.err)
	}
}

// TestLeavesNothing checks that nothing of ours is left in the user's folders.
func TestLeavesNothing(t *testing.T) {
	s := xtest.Start(t, "openbox", xtest.Options{Env: []string{"LANG=nl_NL.UTF-8"}})
	before := files(t, s.Dir) // the window manager's
	r := startWindows(t, s, windowapi.Welcome{Language: "nl", Theme: "light", Window: windowapi.WindowDemo})
	r.wait(windowapi.KindPainted)
	must.Do(t, r.conn.Send(windowapi.KindQuit, nil))
	r.ended(0)
	for _, p := range files(t, s.Dir) {
		// The font index is the machine's own cache.
		if !slices.Contains(before, p) && !strings.Contains(p, "font_index") {
			t.Errorf("left behind: %s", strings.TrimPrefix(p, s.Dir))
		}
	}
}

// files returns the files in and below a folder.
func files(t *testing.T, dir string) (all []string) {
	t.Helper()
	err := filepath.Walk(dir, func(p string, fi os.FileInfo, err error) error {
		if err == nil && !fi.IsDir() {
			all = append(all, p)
		}
		return err
	})
	if err != nil {
		t.Error(err)
	}
	return all
}

// TestWithoutScreen checks that there is no application without a screen.
func TestWithoutScreen(t *testing.T) {
	t.Setenv("DISPLAY", "")
	t.Setenv("WAYLAND_DISPLAY", "")
	if _, err := newApp(); !errors.Is(err, nativewindow.ErrNoDisplay) {
		t.Errorf("%v", err)
	}
}
