package cli

import (
	"bytes"
	"errors"
	"os"
	"path/filepath"

	"wiebelt/internal/config/profile"
	"wiebelt/internal/instance/installed"
)

// sweepCmd is run by the Windows installer, as the system, in the version that it has
// installed or is about to remove: the versions beside it that nobody runs go.
type sweepCmd struct {
	End   bool // what runs of any version first
	Place bool // the small programs, and nothing else
}

// Run sweeps.
func (c *sweepCmd) Run(*env) error {
	exe, err := os.Executable()
	if err != nil {
		return err
	}
	if c.Place {
		return place(exe)
	}
	if programs, ok := installed.Beside(exe); ok && c.End {
		endPrograms(programs)
	}
	return installed.Sweep(exe)
}

// place copies the small programs of exe's version to where phones and terminals find
// them in every version. Whoever ends us finds the old or the new one there.
func place(exe string) (err error) {
	programs, ok := installed.Beside(exe)
	if !ok {
		return nil
	}
	for _, name := range []string{"wiebelt.exe", "wiebelt-ringw.exe"} {
		program, readErr := os.ReadFile(filepath.Join(filepath.Dir(exe), name))
		if readErr != nil {
			return readErr
		}
		err = errors.Join(err, replace(filepath.Join(programs, name), program))
	}
	return err
}

// replace writes a program, unless it is there. Over one that runs Windows writes it at
// its next start.
func replace(path string, program []byte) error {
	later := path + ".new"
	_ = os.Remove(later) // an older one must not come after us
	was, missing := os.ReadFile(path)
	if missing == nil && bytes.Equal(was, program) {
		return nil
	}
	err := profile.WriteFile(path, program, 0o755)
	if err == nil || missing != nil {
		return err
	}
	return errors.Join(profile.WriteFile(later, program, 0o755), renameAtStart(later, path))
}
