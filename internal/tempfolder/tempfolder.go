// Package tempfolder makes temporary folders that do not stay when their program is
// killed: the next one removes them.
package tempfolder

import (
	"errors"
	"os"
	"path/filepath"
	"strings"
	"time"

	"github.com/gofrs/flock"

	"wiebelt/internal/filetrust"
)

// Make makes a folder for this user alone, whose name begins with prefix, and first removes
// those whose program was killed. The file lock in it is locked for as long as it is used;
// whoever removes the folder unlocks it before: Windows removes no open file.
func Make(prefix, lock string) (dir string, held *flock.Flock, err error) {
	removeAbandoned(prefix, lock)
	if dir, err = os.MkdirTemp("", prefix); err != nil {
		return "", nil, err
	}
	held, err = TryLock(filepath.Join(dir, lock))
	if err == nil && held == nil {
		err = os.ErrExist // nobody looks into a folder this young
	}
	if err != nil {
		return "", nil, errors.Join(err, os.RemoveAll(dir))
	}
	return dir, held, nil
}

// TryLock returns the lock at path, or nil if another has it.
func TryLock(path string) (*flock.Flock, error) {
	l := flock.New(path, flock.SetPermissions(0o600))
	if taken, err := l.TryLock(); err != nil || !taken {
		return nil, err
	}
	return l, nil
}

// removeAbandoned removes folders that are not used any more. One that has just changed may
// belong to a program that is starting or ending, which holds no lock.
func removeAbandoned(prefix, lock string) {
	temp := os.TempDir()
	entries, _ := os.ReadDir(temp)
	for _, e := range entries {
		dir := filepath.Join(temp, e.Name())
		info, err := e.Info()
		if !strings.HasPrefix(e.Name(), prefix) || err != nil || time.Since(info.ModTime()) < time.Minute ||
			filetrust.CheckFolder(dir, filetrust.Private) != nil { // another user's, or a link
			continue
		}
		if held, err := TryLock(filepath.Join(dir, lock)); err == nil && held != nil {
			_ = errors.Join(held.Unlock(), os.RemoveAll(dir))
		}
	}
}
