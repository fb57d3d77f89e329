package filetrust

import (
	"errors"
	"io/fs"
	"os"
	"syscall"

	"golang.org/x/sys/unix"
)

// nonBlocking prevents blocking on a planted pipe.
const nonBlocking = syscall.O_NONBLOCK

// fileFault returns why something is not a file that somebody put there: moving another hard
// link to one of our own files would affect that file.
func fileFault(info fs.FileInfo) Fault {
	s, ok := info.Sys().(*syscall.Stat_t)
	switch {
	case info.Mode()&fs.ModeSymlink != 0:
		return FaultLink
	case !info.Mode().IsRegular():
		return FaultKind
	case ok && s.Nlink > 1 && int(s.Uid) == os.Geteuid():
		return FaultLink
	}
	return ""
}

func checkSubfolder(f *os.File, path string) error {
	t, err := inspectFile(f, UserOwned)
	if err != nil {
		return err
	}
	return t.fault(path, UserOwned, true)
}

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
