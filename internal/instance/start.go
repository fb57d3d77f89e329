package instance

import (
	"os"
	"os/exec"
)

// StartDetached starts a program that goes on after we have ended, without our
// standard streams and in no terminal. It is not waited for.
func StartDetached(exe string, args ...string) error {
	cmd := exec.Command(exe, args...)
	cmd.Env = os.Environ()
	if err := startDetached(cmd); err != nil {
		return err
	}
	return cmd.Process.Release()
}
