package instance

import (
	"errors"
	"os/exec"
	"path/filepath"
)

// StartDetached starts a program, named by its full path, that outlives us: without our
// standard streams, terminal or window, with the environment env, or ours if nil. It does
// not wait for the program.
func StartDetached(env []string, exe string, args ...string) error {
	if !filepath.IsAbs(exe) { // never through PATH or the working folder
		return errors.New("a program is started by its whole path only")
	}
	return startDetached(func() *exec.Cmd {
		cmd := exec.Command(exe, args...)
		cmd.Env = env
		return cmd
	})
}
