package command

import (
	"os/exec"
	"strings"
	"syscall"
	"testing"

	"wiebelt/internal/config/profile"
	"wiebelt/internal/config/settings"
	"wiebelt/internal/testutil/must"
	"wiebelt/internal/testutil/processtest"
	"wiebelt/internal/testutil/ptytest"
)

// TestSecretAtATerminal: a terminal prompts for the secret and does not echo it.
// Cancelling, or ending the program, changes nothing and leaves the terminal with echo on.
func TestSecretAtATerminal(t *testing.T) {
	t.Parallel()
	o := newOffice(t)
	for name, end := range map[string]func(*ptytest.Terminal, *exec.Cmd){
		"Ctrl+C":  func(x *ptytest.Terminal, _ *exec.Cmd) { x.Type("half\x03") },
		"SIGTERM": func(_ *ptytest.Terminal, cmd *exec.Cmd) { _ = cmd.Process.Signal(syscall.SIGTERM) },
	} {
		cmd := processtest.Command(t.Context(), "relay", "secret", "hub", "--base-url", "https://hub.example",
			"--client-id", "office-1", "--data", o.dir, "--language", "en")
		x := ptytest.Start(t, cmd)
		x.Until("Client secret:")
		if !x.Hidden() {
			t.Errorf("%s: what is typed is shown", name)
		}
		end(x, cmd)
		shown, code := x.Wait()
		if code != 1 || !strings.Contains(shown, "Nothing was changed.") || strings.Contains(shown, "half") || x.Hidden() {
			t.Errorf("%s: exit %d, hidden afterwards %v: %q", name, code, x.Hidden(), shown)
		}
		if s, _ := settings.Load(must.Get(profile.Find(o.dir))(t)); s.Hub.BaseURL != "" {
			t.Errorf("%s: settings were written", name)
		}
	}
}
