package profile

import (
	"errors"
	"os"

	"golang.org/x/sys/unix"
)

// TryLockFile locks a file until it is closed, or returns ErrLocked. It does not wait.
func TryLockFile(f *os.File) error {
	err := unix.Flock(int(f.Fd()), unix.LOCK_EX|unix.LOCK_NB)
	if errors.Is(err, unix.EWOULDBLOCK) {
		return ErrLocked
	}
	return err
}

// lockFile is TryLockFile, but waits.
func lockFile(f *os.File) error {
	fd := int(f.Fd())
	for {
		if err := unix.Flock(fd, unix.LOCK_EX); !errors.Is(err, unix.EINTR) {
			return err
		}
	}
}
