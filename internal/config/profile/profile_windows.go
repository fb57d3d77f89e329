package profile

import (
	"os"
	"path/filepath"
	"time"
)

// platformDirs: settings roam with the user, the rest stays on this computer.
func platformDirs(env func(string) string) (Dirs, error) {
	roaming, here := env("APPDATA"), env("LOCALAPPDATA")
	if !filepath.IsAbs(roaming) || !filepath.IsAbs(here) {
		return Dirs{}, ErrNoHome
	}
	d := Dirs{Config: filepath.Join(roaming, "Wiebelt"), State: filepath.Join(here, "Wiebelt")}
	d.Run = filepath.Join(d.State, "run")
	return d, nil
}

// rename tries for a second: a virus scanner or a reader may hold the old file
// open for a moment, and then Windows refuses to replace it.
func rename(from, to string) error {
	var err error
	for wait := 5 * time.Millisecond; wait < 700*time.Millisecond; wait *= 2 {
		if err = os.Rename(from, to); err == nil {
			return nil
		}
		time.Sleep(wait)
	}
	return err
}

// globQuote: Windows patterns have no escape, and file names no * and ?.
func globQuote(s string) string { return s }
