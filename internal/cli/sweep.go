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
// installed or is about to remove. It removes the other versions that are not running.
type sweepCmd struct {
	End   bool // first end the running programs of any version
	Place bool // only install the small programs
}

// Run removes the other versions; with Place, it only places the small programs.
func (c *sweepCmd) Run(*env) error {
	exe, err := os.Executable()
	if err != nil {
		return err
	}
	if c.Place {
		return placePrograms(exe)
	}
	if programs, ok := installed.VersionsFolder(exe); ok && c.End {
		endPrograms(programs)
	}
	return installed.Sweep(exe)
}

// placePrograms copies the small programs of exe's version to where phones and terminals
// find those of every version. If it is interrupted, either the old or the new one is there.
func placePrograms(exe string) (err error) {
	programs, ok := installed.VersionsFolder(exe)
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

// replace writes a program, unless it is there already. If it is running, Windows
// replaces it at its next start.
func replace(path string, program []byte) error {
	later := path + ".new"
	_ = os.Remove(later) // an older one must not replace ours later
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
