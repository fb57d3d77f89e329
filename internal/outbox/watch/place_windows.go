package watch

import (
	"errors"
	"io/fs"
	"os"

	"golang.org/x/sys/windows"
)

// A folder takes over the rights of the one it lies in, and a file those of its
// folder.
func (p *place) share(fs.FileInfo) error  { return nil }
func (p *place) shareFile(*os.File) error { return nil }

func hold(f *os.File) error {
	err := windows.LockFileEx(windows.Handle(f.Fd()), windows.LOCKFILE_EXCLUSIVE_LOCK|windows.LOCKFILE_FAIL_IMMEDIATELY, 0, 1, 0, new(windows.Overlapped))
	if errors.Is(err, windows.ERROR_LOCK_VIOLATION) {
		return ErrBusy
	}
	return err
}
