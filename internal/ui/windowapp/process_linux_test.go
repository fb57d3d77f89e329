package windowapp

import (
	"context"
	"errors"
	"io"
	"log/slog"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"testing"

	"wiebelt/internal/config/profile"
	"wiebelt/internal/instance/windowapi"
	nativewindow "wiebelt/internal/native/window"
	"wiebelt/internal/testutil/must"
	"wiebelt/internal/testutil/processtest"
	"wiebelt/internal/testutil/xtest"
)

func TestMain(m *testing.M) {
	processtest.Main(processtest.Roles{"windows": showDemo})
	os.Exit(m.Run())
}

// showDemo shows a window with the profile in its argument, until its input ends.
func showDemo(t must.Test, args []string) {
	ctx, cancel := context.WithCancel(context.Background())
	go func() {
		_, _ = io.Copy(io.Discard, os.Stdin)
		cancel()
	}()
	dirs := must.Get(profile.Find(args[0]))(t)
	welcome := windowapi.Welcome{Language: "nl", Theme: "light", Window: windowapi.WindowDemo}
	must.Do(t, Run(ctx, Config{Window: welcome.Window, Dirs: dirs, Log: slog.Default(), Connect: func(context.Context) (Conn, error) {
		return NewLocalConn(welcome)
	}}))
}

// TestLeavesNothing checks that nothing of ours is left in the user's folders.
func TestLeavesNothing(t *testing.T) {
	s := xtest.Start(t, "openbox", xtest.Options{Env: []string{"LANG=nl_NL.UTF-8"}})
	before := files(t, s.Dir) // the window manager's
	cmd := processtest.Command(t.Context(), "windows", t.TempDir())
	cmd.Env, cmd.Stderr = append(s.Env(), processtest.RoleEnv+"=windows"), os.Stderr
	p := processtest.StartCommand(t, cmd)
	s.FindWindow("– Wiebelt$")
	must.Do(t, p.Input.Close())
	must.Do(t, p.Wait())
	for _, path := range files(t, s.Dir) {
		// The font index is the machine's own cache.
		if !slices.Contains(before, path) && !strings.Contains(path, "font_index") {
			t.Errorf("left behind: %s", strings.TrimPrefix(path, s.Dir))
		}
	}
}

// files returns the files in and below a folder.
func files(t *testing.T, dir string) (all []string) {
	t.Helper()
	must.Do(t, filepath.WalkDir(dir, func(path string, d os.DirEntry, err error) error {
		if err == nil && !d.IsDir() {
			all = append(all, path)
		}
		return err
	}))
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
