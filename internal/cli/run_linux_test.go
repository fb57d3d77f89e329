package cli

import (
	"io"
	"os"
	"path/filepath"
	"strings"
	"testing"

	"wiebelt/internal/testutil/must"
	"wiebelt/internal/testutil/xtest"
)

// TestFailsOnScreen checks that a failed start is shown on screen if the desktop started
// us, and only logged if a phone or the log-on did.
func TestFailsOnScreen(t *testing.T) {
	address := xtest.NoScreen(t).PlainBus()
	n := xtest.ServeNotices(t, xtest.Connect(t, address), "actions")
	n.Click()
	dir := t.TempDir()
	must.Do(t, os.WriteFile(filepath.Join(dir, "run"), nil, 0o600)) // where a folder should be
	fails := func(stderr io.Writer, args ...string) (said string) {
		t.Helper()
		cmd := process(t, args...)
		cmd.Env = append(cmd.Env, "LANG=nl_NL.UTF-8", "DBUS_SESSION_BUS_ADDRESS="+address)
		cmd.Stderr = stderr
		if err := cmd.Run(); cmd.ProcessState.ExitCode() < 1 {
			t.Errorf("%v: %v", args, err)
		}
		select {
		case shown := <-n.Shown:
			said = shown.Body
		default:
		}
		return said
	}
	unread := must.Get(os.Create(filepath.Join(t.TempDir(), "session-errors")))(t)
	defer unread.Close()
	if got := fails(unread, "open-file", "--", "kantoor.txt"); !strings.Contains(got, ".wiebelt") {
		t.Errorf("open-file: %q", got)
	}
	if got := fails(unread, "--profile", dir, "run"); got == "" {
		t.Error("run: nothing is said")
	}
	if got := fails(unread, "--profile", dir, "run", "--background"); got != "" {
		t.Errorf("run --background: %q", got)
	}
	if got := fails(new(strings.Builder), "--profile", dir, "run"); got != "" {
		t.Errorf("where a program reads it: %q", got)
	}
	kept := ""
	for _, content := range snapshot(t, filepath.Join(dir, "log")) {
		kept += content
	}
	if strings.Count(kept, "Wiebelt does not run") != 3 {
		t.Errorf("the log: %q", kept)
	}
}
