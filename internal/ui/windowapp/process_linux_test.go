package windowapp

import (
	"context"
	"errors"
	"log/slog"
	"os"
	"os/exec"
	"path/filepath"
	"slices"
	"strings"
	"testing"

	"wiebelt/internal/config/profile"
	"wiebelt/internal/core/call"
	"wiebelt/internal/instance"
	"wiebelt/internal/instance/windowapi"
	nativewindow "wiebelt/internal/native/window"
	"wiebelt/internal/testutil/instancetest"
	"wiebelt/internal/testutil/logtest"
	"wiebelt/internal/testutil/must"
	"wiebelt/internal/testutil/processtest"
	"wiebelt/internal/testutil/xtest"
)

// build is the build of these tests' resident and windows.
const build = "t"

func TestMain(m *testing.M) {
	processtest.Main(processtest.Roles{"windows": windows})
	os.Exit(m.Run())
}

// windows is the windows' process: its arguments are the resident's folder and the window
// to open.
func windows(t must.Test, args []string) {
	log := slog.New(slog.NewTextHandler(os.Stderr, nil))
	dirs := must.Get(profile.Find(filepath.Dir(args[0])))(t)
	must.Do(t, Run(context.Background(), Config{Window: args[1], Dirs: dirs, Log: log, Connect: func(ctx context.Context) (Conn, error) {
		c, _, err := instance.Connect(ctx, instance.Config{RunDir: args[0], Version: build, Build: build, Log: log}, instance.RoleWindows)
		return c, err
	}}))
}

// resident is the windows' peer, over the real connection.
type resident struct {
	t       *testing.T
	welcome windowapi.Welcome
	met     chan struct{} // closed when there is a conn
	conn    *instance.Conn
	got     chan string // kinds of messages; closed when the connection ended
	process *processtest.Process
	err     logtest.Buffer // what it prints as errors
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
	r := &resident{t: t, welcome: w, met: make(chan struct{}), got: make(chan string, 64)}
	instancetest.Serve(t, instance.Config{RunDir: dirs.Run, Version: build, Build: build}, r)
	cmd := processtest.Command(context.Background(), "windows", dirs.Run, w.Window)
	cmd.Env, cmd.Stderr = append(s.Env(), processtest.RoleEnv+"=windows"), &r.err
	t.Cleanup(func() {
		if t.Failed() {
			t.Logf("the windows' process: %s", &r.err)
		}
	})
	r.process = processtest.StartCommand(t, cmd)
	must.Receive(t, r.met, "the windows' process")
	return r
}

// wait waits for a message.
func (r *resident) wait(kind string) {
	r.t.Helper()
	if got := must.Receive(r.t, r.got, kind); got != kind {
		r.t.Fatalf("got %q, want %q: %s", got, kind, &r.err)
	}
}

func (r *resident) ended(wantCode int) {
	r.t.Helper()
	code, err := 0, r.process.Wait()
	if failed, ok := errors.AsType[*exec.ExitError](err); ok {
		code = failed.ExitCode()
	}
	if code != wantCode {
		r.t.Errorf("exit code %d, want %d: %v: %s", code, wantCode, err, &r.err)
	}
	if strings.Contains(r.err.String(), "Error in Fyne call thread") {
		r.t.Errorf("Fyne was called on a wrong thread:\n%s", &r.err)
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
