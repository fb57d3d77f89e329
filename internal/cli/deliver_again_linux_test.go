package cli

import (
	"fmt"
	"os"
	"os/exec"
	"path/filepath"
	"strings"
	"testing"

	"wiebelt/internal/testutil/logtest"
	"wiebelt/internal/testutil/must"
	"wiebelt/internal/testutil/processtest"
)

// TestDeliverWatchAgain checks that a service that watches a folder says that another version of
// the program does not run, and that it continues in one that does, as the same process and with
// the same arguments.
func TestDeliverWatchAgain(t *testing.T) {
	s := newSender(t)
	dir := t.TempDir()
	exe, next := filepath.Join(dir, "wiebelt"), filepath.Join(dir, "next")
	must.Do(t, os.WriteFile(exe, must.Get(os.ReadFile(must.Get(os.Executable())(t)))(t), 0o700))
	must.Do(t, os.WriteFile(next, []byte("#!/bin/sh\ncase $1 in\nversion) printf 'wiebelt 2\\ncommit b\\nfor you\\n' ;;\n*) echo $$ \"$@\" ;;\nesac\n"), 0o700))
	watch := exec.CommandContext(t.Context(), exe, "deliver", "--watch", s.in, "--profile", s.profile)
	watch.Env = append(os.Environ(), processtest.RoleEnv+"=wiebelt")
	var out, errOut logtest.Buffer
	watch.Stdout, watch.Stderr = &out, &errOut
	must.Do(t, watch.Start())
	s.file("a.zip")
	s.there("sent/a.zip")
	broken := put(t, filepath.Join(dir, "broken"), []byte("#!/bin/sh\nexit 3\n"))
	must.Do(t, os.Chmod(broken, 0o700), os.Rename(broken, exe))
	eventually(t, "word of a version that does not run", func() bool {
		return strings.Contains(errOut.String(), "start niet (exit status 3)")
	})
	must.Do(t, os.Rename(next, exe))
	must.Do(t, watch.Wait())
	if want := fmt.Sprintln(watch.Process.Pid, "deliver --watch", s.in, "--profile", s.profile); !strings.HasSuffix(out.String(), want) {
		t.Errorf("said %q, want %q", out.String(), want)
	}
}
