//go:build unix

package profile

import (
	"fmt"
	"io/fs"
	"os"
	"path/filepath"
	"strconv"
	"strings"
	"syscall"
)

// local: on Unix every folder name is one of this computer.
func local(string) bool { return true }

func userID() string { return strconv.Itoa(os.Geteuid()) }

// trusted refuses a folder in which somebody else could put files: owned by
// another user than us or root, or writable by everybody.
func trusted(dir string, info fs.FileInfo) error {
	if !info.IsDir() {
		return fmt.Errorf("%s: not a folder: %w", dir, ErrUnsafe)
	}
	if s, ok := info.Sys().(*syscall.Stat_t); ok && os.Geteuid() != 0 && int(s.Uid) != os.Geteuid() && s.Uid != 0 {
		return fmt.Errorf("%s: belongs to another user: %w", dir, ErrUnsafe)
	}
	if info.Mode().Perm()&0o002 != 0 {
		return fmt.Errorf("%s: writable by everybody: %w", dir, ErrUnsafe)
	}
	return nil
}

// closed makes sure that only we can enter dir.
func closed(dir string, info fs.FileInfo) error {
	if s, ok := info.Sys().(*syscall.Stat_t); ok && int(s.Uid) != os.Geteuid() {
		return fmt.Errorf("%s: belongs to another user: %w", dir, ErrUnsafe)
	}
	if info.Mode().Perm()&0o077 != 0 {
		return os.Chmod(dir, 0o700)
	}
	return nil
}

func rename(from, to string) error { return os.Rename(from, to) }

func syncDir(dir string) error {
	d, err := os.Open(dir)
	if err != nil {
		return err
	}
	err = d.Sync()
	d.Close()
	return err
}

var globQuote = strings.NewReplacer(`\`, `\\`, `*`, `\*`, `?`, `\?`, `[`, `\[`).Replace

// base is the value of an XDG variable, or the fallback below home. Relative
// values are invalid and count as unset.
func base(value, home string, fallback ...string) (string, error) {
	if filepath.IsAbs(value) {
		return value, nil
	}
	if !filepath.IsAbs(home) {
		return "", ErrNoHome
	}
	return filepath.Join(append([]string{home}, fallback...)...), nil
}
