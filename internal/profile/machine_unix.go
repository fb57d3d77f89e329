//go:build unix

package profile

import (
	"fmt"
	"io"
	"io/fs"
	"os"
	"path/filepath"

	"golang.org/x/sys/unix"
)

// machineOwner is who owns what an administrator wrote. Tests stand in for root.
var machineOwner uint32 = 0

// ReadMachine reads a file of the machine's administrator, at most limit bytes.
// It counts only if the file and its own folder belong to root, are no links,
// and nobody else may write them (ErrNotTheirs). A missing file is
// fs.ErrNotExist. What was checked is what is read: both are opened once.
func ReadMachine(path string, limit int64) ([]byte, error) {
	const flags = unix.O_RDONLY | unix.O_NOFOLLOW | unix.O_CLOEXEC | unix.O_NONBLOCK
	dir, err := unix.Open(filepath.Dir(path), flags|unix.O_DIRECTORY, 0)
	if err != nil {
		return nil, machineError(err)
	}
	defer unix.Close(dir)
	if err := theirs(dir, unix.S_IFDIR); err != nil {
		return nil, fmt.Errorf("its folder: %w", err)
	}
	fd, err := unix.Openat(dir, filepath.Base(path), flags, 0)
	if err != nil {
		return nil, machineError(err)
	}
	f := os.NewFile(uintptr(fd), "policy")
	defer f.Close()
	if err := theirs(fd, unix.S_IFREG); err != nil {
		return nil, err
	}
	b, err := io.ReadAll(io.LimitReader(f, limit+1))
	if err == nil && int64(len(b)) > limit {
		err = ErrTooLarge
	}
	if err != nil {
		return nil, err
	}
	return b, nil
}

// machineError keeps the path out of the error, and calls a link what it is.
func machineError(err error) error {
	switch err {
	case unix.ENOENT:
		return fs.ErrNotExist
	case unix.ELOOP, unix.ENOTDIR:
		return fmt.Errorf("it is a link: %w", ErrNotTheirs)
	}
	return err
}

func theirs(fd int, kind uint32) error {
	var s unix.Stat_t
	if err := unix.Fstat(fd, &s); err != nil {
		return err
	}
	switch {
	case uint32(s.Mode)&unix.S_IFMT != kind:
		return fmt.Errorf("it is not what it should be: %w", ErrNotTheirs)
	case s.Uid != machineOwner:
		return fmt.Errorf("it belongs to another user: %w", ErrNotTheirs)
	case s.Mode&0o022 != 0:
		return fmt.Errorf("others may write it: %w", ErrNotTheirs)
	}
	return nil
}
