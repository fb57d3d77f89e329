//go:build unix

package secret

import (
	"errors"
	"os"
	"syscall"
)

// openPrivate opens a regular file that is ours and closed to everybody else.
// O_NONBLOCK keeps a planted pipe from holding us up.
func openPrivate(path string) (*os.File, error) {
	f, err := os.OpenFile(path, os.O_RDONLY|syscall.O_NOFOLLOW|syscall.O_NONBLOCK, 0)
	if errors.Is(err, syscall.ELOOP) {
		return nil, ErrExposed
	}
	if err != nil {
		return nil, err
	}
	info, err := f.Stat()
	if err != nil {
		f.Close()
		return nil, err
	}
	s, ok := info.Sys().(*syscall.Stat_t)
	if !info.Mode().IsRegular() || info.Mode().Perm()&0o077 != 0 || ok && int(s.Uid) != os.Geteuid() {
		f.Close()
		return nil, ErrExposed
	}
	return f, nil
}
