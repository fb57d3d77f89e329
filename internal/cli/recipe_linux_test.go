package cli

import (
	"os"
	"os/exec"
	"path/filepath"
	"testing"

	"wiebelt/internal/guide"
	"wiebelt/internal/softphone/linphone"
	"wiebelt/internal/testutil/must"
	"wiebelt/internal/text"
)

// TestRecipeLinphone: linphone-daemon, started as the recipe says, makes its socket where the
// recipe's settings look for it. Versions before 5.2 make it in /tmp, later ones where they run.
func TestRecipeLinphone(t *testing.T) {
	r, _ := guide.Find(text.Dutch, "linphone")
	command, set := r.Blocks()[0].Text, r.Blocks()[1].Text
	p := must.Get(linphone.New(between(set, `address = "`, `"`)))(t)
	dir := t.TempDir()
	t.Setenv("PATH", dir+":"+os.Getenv("PATH"))
	for version, folder := range map[string]string{"5.1": "/tmp/", "5.2": "$PWD/"} {
		must.Do(t, os.WriteFile(filepath.Join(dir, "linphone-daemon"), []byte("#!/bin/sh\nprintf %s "+folder+"$2\n"), 0o700))
		shell := exec.CommandContext(t.Context(), "sh", "-c", command)
		shell.Dir = dir
		if got := string(must.Get(shell.Output())(t)); got != p.Traits().Source.Conn {
			t.Errorf("%s: its socket is %s, the link connects to %s", version, got, p.Traits().Source.Conn)
		}
	}
}
