// Package profile knows where the files of a run live, makes the folders, and
// writes files so that whoever reads them finds the old or the new contents and
// never half of either. It starts no goroutines; everything in it is safe for
// concurrent use.
package profile

import (
	"errors"
	"fmt"
	"os"
	"path/filepath"
	"strings"

	"wiebelt/internal/filetrust"
)

// Dirs are the folders of one run, absolute. With a profile folder they are
// DIR, DIR and DIR/run.
type Dirs struct {
	Config string // what a person or administrator sets: settings.toml
	State  string // what the program keeps: history, secrets, tokens, logs
	Run    string // what lives as long as the program runs: socket, listener.json, inbox
}

// Errors of this package.
var (
	// ErrNoHome: there is no home folder, as for a service account. Only an
	// explicit profile folder helps.
	ErrNoHome = errors.New("there is no home folder; use --profile DIR")
	// ErrNotLocal: the profile folder lies on another computer, or is no folder
	// name at all. Such a name can come out of a link.
	ErrNotLocal = errors.New("the profile folder must be a folder on this computer")
)

// Log is the folder of the log.
func (d Dirs) Log() string { return filepath.Join(d.State, "log") }

// Find tells where the files of a run live. profileDir is the value of
// --profile, or "" for the places that the platform has for them. It makes
// nothing.
func Find(profileDir string) (Dirs, error) {
	if profileDir == "" {
		return platformDirs(os.Getenv)
	}
	if strings.ContainsRune(profileDir, 0) || !filetrust.Local(profileDir) {
		return Dirs{}, ErrNotLocal
	}
	dir, err := filepath.Abs(profileDir)
	if err != nil {
		return Dirs{}, fmt.Errorf("profile folder: %w", err)
	}
	if !filetrust.Local(dir) {
		return Dirs{}, ErrNotLocal
	}
	return Dirs{Config: dir, State: dir, Run: filepath.Join(dir, "run")}, nil
}

// Make creates the folders that are missing, readable by nobody else. One that
// is there already and that somebody else could change is a *filetrust.Error; a link
// of the user's own is fine. Modes of folders that were there stay, but for Run,
// which is ours alone.
func (d Dirs) Make() error {
	for _, dir := range []string{d.Config, d.State} {
		if err := filetrust.Make(dir, filetrust.Ours); err != nil {
			return err
		}
	}
	return filetrust.Make(d.Run, filetrust.Alone)
}
