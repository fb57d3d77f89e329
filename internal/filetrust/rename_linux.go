package filetrust

import (
	"errors"
	"io/fs"

	"golang.org/x/sys/unix"
)

// rename moves a file between the two open folders without replacing anything.
func (s *Shared) rename(name string, to *Shared, as string) error {
	from, err := s.root.Open(".")
	if err != nil {
		return err
	}
	defer from.Close()
	dest, err := to.root.Open(".")
	if err != nil {
		return err
	}
	defer dest.Close()
	err = unix.Renameat2(int(from.Fd()), name, int(dest.Fd()), as, unix.RENAME_NOREPLACE)
	if errors.Is(err, unix.EINVAL) || errors.Is(err, unix.ENOSYS) { // some network file systems
		return s.replace(name, to, as)
	}
	if err != nil {
		return &fs.PathError{Op: "rename", Path: name, Err: err}
	}
	return nil
}
