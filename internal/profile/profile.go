// Package profile knows where the files of a run live, makes the folders, and
// writes files so that whoever reads them finds the old or the new contents and
// never half of either. It starts no goroutines; everything in it is safe for
// concurrent use.
package profile

import (
	"crypto/sha256"
	"encoding/hex"
	"errors"
	"fmt"
	"io/fs"
	"os"
	"path/filepath"
	"strings"
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
	// ErrUnsafe: somebody else owns or can change a folder that we rely on.
	ErrUnsafe = errors.New("others can change this folder")
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
	if strings.ContainsRune(profileDir, 0) || !local(profileDir) {
		return Dirs{}, ErrNotLocal
	}
	dir, err := filepath.Abs(profileDir)
	if err != nil {
		return Dirs{}, fmt.Errorf("profile folder: %w", err)
	}
	if !local(dir) {
		return Dirs{}, ErrNotLocal
	}
	return Dirs{Config: dir, State: dir, Run: filepath.Join(dir, "run")}, nil
}

// Make creates the folders that are missing, readable by nobody else. It
// returns an error that wraps ErrUnsafe where a folder is there already and
// somebody else could plant files in it. Modes of folders that were there stay,
// but for Run, which is ours alone.
func (d Dirs) Make() error {
	for _, dir := range []string{d.Config, d.State} {
		if err := os.MkdirAll(dir, 0o700); err != nil {
			return err
		}
		info, err := os.Stat(dir) // a link of the user's own is fine
		if err != nil {
			return err
		}
		if err := trusted(dir, info); err != nil {
			return err
		}
	}
	return private(d.Run)
}

// maxSocket is the longest path that a socket gets. The system's limit is 108
// bytes on Linux and 104 on macOS, the closing zero included.
const maxSocket = 100

// SocketPath is where a Unix socket called name belongs: in Run, or, where that
// path is too long for a socket, under a name of fixed length in a folder below
// the temp folder that only we can enter. In that case it makes the folder, and
// refuses one that is not ours.
func (d Dirs) SocketPath(name string) (string, error) {
	path := filepath.Join(d.Run, name)
	if len(path) <= maxSocket {
		return path, nil
	}
	dir := filepath.Join(os.TempDir(), "wiebelt-"+userID())
	if err := private(dir); err != nil {
		return "", err
	}
	sum := sha256.Sum256([]byte(path))
	path = filepath.Join(dir, hex.EncodeToString(sum[:12]))
	if len(path) > maxSocket {
		return "", fmt.Errorf("socket path: the temp folder's name is too long (%d bytes)", len(os.TempDir()))
	}
	return path, nil
}

// private makes dir as a folder that only we can enter, or makes sure that it is
// one: no link, ours, and closed to others.
func private(dir string) error {
	if err := os.MkdirAll(filepath.Dir(dir), 0o700); err != nil {
		return err
	}
	if err := os.Mkdir(dir, 0o700); err != nil && !errors.Is(err, fs.ErrExist) {
		return err
	}
	info, err := os.Lstat(dir)
	if err != nil {
		return err
	}
	if !info.IsDir() {
		return fmt.Errorf("%s: not a folder: %w", dir, ErrUnsafe)
	}
	return closed(dir, info)
}
