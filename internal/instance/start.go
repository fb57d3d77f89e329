package instance

import (
	"errors"
	"os/exec"
	"path/filepath"
)

// StartDetached starts a program, named by its whole path, that goes on after we
// have ended: without our standard streams, in no terminal and in no window, with
// the environment env, or ours if that is nil. It is not waited for.
func StartDetached(env []string, exe string, args ...string) error {
	if !filepath.IsAbs(exe) { // never by way of PATH or the working folder
		return errors.New("a program is started by its whole path only")
	}
	return startDetached(func() *exec.Cmd {
		cmd := exec.Command(exe, args...)
		cmd.Env = env
		return cmd
	})
}
