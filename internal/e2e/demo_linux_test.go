package e2e

import (
	"os"
	"os/exec"
	"path/filepath"
	"strings"
	"testing"
	"time"

	"wiebelt/internal/testutil/logtest"
	"wiebelt/internal/testutil/must"
	"wiebelt/internal/testutil/xtest"
)

// TestDemo plays every call of the demo once, without any setup; the program itself
// compares every card with the screen, and removes what a killed demo has left. Then a button
// in the demo's window makes a call, its card appears, and the demo ends with its window.
func TestDemo(t *testing.T) {
	t.Parallel()
	bin := must.Get(binary())(t)
	s := xtest.Start(t, "openbox", xtest.Options{Width: width, Height: height, Env: []string{"LANG=nl_NL.UTF-8"}})
	pictures := filepath.Join(t.TempDir(), "pictures")
	tmp := t.TempDir()
	killed, before := filepath.Join(tmp, "wiebelt-demo-killed"), time.Now().Add(-time.Hour)
	must.Do(t, os.Mkdir(killed, 0o700), os.Chtimes(killed, before, before))
	demo := func(args ...string) *exec.Cmd {
		cmd := s.Command(bin, append([]string{"demo"}, args...)...)
		cmd.Env = append(cmd.Env, "TMPDIR="+tmp)
		return cmd
	}
	empty := func() {
		t.Helper()
		if left, _ := filepath.Glob(filepath.Join(tmp, "*")); len(left) != 0 {
			t.Errorf("left behind: %v", left)
		}
	}
	out, err := demo("--play", "--hold", "100ms", "--pictures", pictures).CombinedOutput()
	if err != nil {
		t.Fatalf("%v: %s", err, out)
	}
	t.Logf("%s", out)
	if n := strings.Count(string(out), "painted "); n != 9+2 { // a line a call, and two medians
		t.Errorf("%d lines", n)
	}
	if all, _ := filepath.Glob(filepath.Join(pictures, "*.png")); len(all) != 9 {
		t.Errorf("%d pictures", len(all))
	}
	empty()

	cmd := demo()
	var log logtest.Buffer
	cmd.Stdout, cmd.Stderr, cmd.WaitDelay = &log, &log, time.Second
	must.Do(t, cmd.Start())
	ended := make(chan error, 1)
	go func() { ended <- cmd.Wait() }()
	t.Cleanup(func() { _ = cmd.Process.Kill() })
	id := s.FindWindow("^Demo")
	s.Until("a card after a click on the first button", func() bool {
		s.Run("xdotool", "mousemove", "--window", id, "119", "149", "mousemove", "--window", id, "120", "150", "click", "1")
		return foundOnScreen(s.Screenshot())
	})
	// The window manager may notice the focus only after the keys arrive; while the window
	// stays, press them again.
	over := false
	s.Until("the demo ends with its window", func() bool {
		_ = s.Command("xdotool", "windowfocus", id, "key", "alt+F4").Run() // fails once the window is gone
		select {
		case err := <-ended:
			if over = true; err != nil {
				t.Errorf("%v: %s", err, &log)
			}
		case <-time.After(500 * time.Millisecond):
		}
		return over
	}, func() []any { return []any{&log} })
	empty()
}
