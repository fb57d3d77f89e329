package cli

import (
	"os/exec"
	"path/filepath"
	"strings"
	"syscall"
	"testing"

	"wiebelt/internal/testutil/ptytest"
)

func atTerminal(t *testing.T, args ...string) (*ptytest.Terminal, *exec.Cmd) {
	t.Helper()
	cmd := process(t, args...)
	cmd.Env = append(cmd.Env, "LANG=nl_NL.UTF-8")
	return ptytest.Start(t, cmd), cmd
}

// TestSecretAtATerminal checks that the secret is prompted for, not echoed, and ended by
// Enter. Canceling or terminating the prompt changes nothing and restores echo.
func TestSecretAtATerminal(t *testing.T) {
	t.Parallel()
	const value = "p@ss é canary"
	provision := func(dir string) []string {
		return []string{"provision", "--profile", dir, "--base-url", "https://hub.example", "--hub-url", "https://hub.example",
			"--client-id", "office-1", "--organisation-code", "1234", "--secret-store", "file", "--secret-stdin"}
	}
	dir := t.TempDir()
	x, _ := atTerminal(t, provision(dir)...)
	x.Until("Geheim (")
	if !x.Hidden() {
		t.Error("what is typed is shown")
	}
	x.Type("wrong\x7f\x7f\x7f\x7f\x7f" + value + "\r")
	shown, code := x.Wait()
	if code != 0 || strings.Contains(shown, "canary") || strings.Contains(shown, "wrong") || x.Hidden() {
		t.Errorf("exit %d, hidden afterwards %v: %q", code, x.Hidden(), shown)
	}
	kept := ""
	for _, content := range snapshot(t, filepath.Join(dir, "secrets")) {
		kept += content
	}
	if !strings.Contains(kept, `"`+value+`"`) {
		t.Error("another secret was kept")
	}
	for name, end := range map[string]func(*ptytest.Terminal, *exec.Cmd){
		"Ctrl+C":     func(x *ptytest.Terminal, _ *exec.Cmd) { x.Type("half\x03") },
		"Ctrl+D":     func(x *ptytest.Terminal, _ *exec.Cmd) { x.Type("\x04") },
		"only Enter": func(x *ptytest.Terminal, _ *exec.Cmd) { x.Type("\r") },
		"SIGTERM":    func(_ *ptytest.Terminal, cmd *exec.Cmd) { _ = cmd.Process.Signal(syscall.SIGTERM) },
	} {
		dir := t.TempDir()
		x, cmd := atTerminal(t, provision(dir)...)
		x.Until("Geheim (")
		end(x, cmd)
		shown, code := x.Wait()
		if code != 1 || !strings.Contains(shown, "Er is niets veranderd.") || strings.Contains(shown, "half") || x.Hidden() {
			t.Errorf("%s: exit %d, hidden afterwards %v: %q", name, code, x.Hidden(), shown)
		}
		if len(snapshot(t, dir)) != 0 {
			t.Errorf("%s: something was written", name)
		}
	}
}
