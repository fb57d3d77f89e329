package folderwatch

import (
	"errors"
	"io/fs"
	"os"

	"golang.org/x/sys/windows"
)

// A folder inherits the permissions of its parent, and a file those of its folder.
func (p *resultFolder) share(fs.FileInfo) error  { return nil }
func (p *resultFolder) shareFile(*os.File) error { return nil }

// tryLock locks a file until it is closed, or returns ErrBusy.
func tryLock(f *os.File) error {
	const flags = windows.LOCKFILE_EXCLUSIVE_LOCK | windows.LOCKFILE_FAIL_IMMEDIATELY
	err := windows.LockFileEx(windows.Handle(f.Fd()), flags, 0, 1, 0, new(windows.Overlapped))
	if errors.Is(err, windows.ERROR_LOCK_VIOLATION) {
		return ErrBusy
	}
	return err
}
