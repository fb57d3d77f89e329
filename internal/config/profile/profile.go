// Package profile knows the places of a run's files, creates the folders, and writes files
// atomically, so that readers find the old or the new contents but never a mixture. It
// starts no goroutines and is safe for concurrent use.
package profile

import (
	"fmt"
	"os"
	"path/filepath"
	"strings"

	"wiebelt/internal/filetrust"
	"wiebelt/internal/text"
)

// Dirs are the absolute folders of one run. With a profile folder they are
// DIR, DIR and DIR/run.
type Dirs struct {
	Config string // set by users or administrators: settings.toml
	State  string // kept by the program: history, secrets, tokens, logs
	Run    string // lives as long as the program runs: socket, listener.json, inbox
}

// Errors of this package.
var (
	// ErrNoHome reports that there is no home folder, as for a service account. Only an
	// explicit profile folder helps.
	ErrNoHome = text.Errorf(text.ErrorNoHome)
	// ErrNotLocal reports that the profile folder is on another computer, or is not a
	// folder name at all. Such a name can come from a link.
	ErrNotLocal = text.Errorf(text.ErrorNotLocal)
)

// Log returns the folder of the log.
func (d Dirs) Log() string { return filepath.Join(d.State, "log") }

// Find returns the folders of a run. profileDir is the value of --profile, or "" for the
// platform's default. It creates nothing.
func Find(profileDir string) (Dirs, error) {
	if profileDir == "" {
		return platformDirs(os.Getenv)
	}
	if strings.ContainsRune(profileDir, 0) || !filetrust.IsLocal(profileDir) {
		return Dirs{}, ErrNotLocal
	}
	dir, err := filepath.Abs(profileDir)
	if err != nil {
		return Dirs{}, fmt.Errorf("profile folder: %w", err)
	}
	if !filetrust.IsLocal(dir) {
		return Dirs{}, ErrNotLocal
	}
	return Dirs{Config: dir, State: dir, Run: filepath.Join(dir, "run")}, nil
}

// Make creates the missing folders, readable by nobody else. An existing one that somebody
// else could change is a *filetrust.Error; a link of the user's own is accepted. Modes of
// existing folders stay unchanged, except for Run, which is private.
func (d Dirs) Make() error {
	for _, dir := range []string{d.Config, d.State} {
		if err := filetrust.Make(dir, filetrust.UserOwned); err != nil {
			return err
		}
	}
	return filetrust.Make(d.Run, filetrust.Private)
}
