package secret

import (
	"errors"
	"os"
	"path/filepath"
	"syscall"
	"testing"

	"wiebelt/internal/testutil/must"
)

// TestExposed: a file that others can read or have planted is not used.
func TestExposed(t *testing.T) {
	for name, expose := range map[string]func(path string) error{
		"group can read":    func(p string) error { return os.Chmod(p, 0o640) },
		"everybody can":     func(p string) error { return os.Chmod(p, 0o604) },
		"others can write":  func(p string) error { return os.Chmod(p, 0o602) },
		"a link":            func(p string) error { return errors.Join(os.Rename(p, p+".real"), os.Symlink(p+".real", p)) },
		"a pipe":            func(p string) error { return errors.Join(os.Remove(p), syscall.Mkfifo(p, 0o600)) },
		"a folder":          func(p string) error { return errors.Join(os.Remove(p), os.Mkdir(p, 0o700)) },
		"a link to nowhere": func(p string) error { return errors.Join(os.Remove(p), os.Symlink("/nowhere", p)) },
	} {
		t.Run(name, func(t *testing.T) {
			d := dirs(t)
			s, ref := newFileStore(d), hub(t, "https://a.example", "c")
			must.Do(t, s.Set(t.Context(), ref, "x"))
			must.Get(Token(d))(t)
			for _, p := range []string{s.path(ref), tokenPath(d)} {
				must.Do(t, expose(p))
			}
			if v, err := s.Get(t.Context(), ref); v != "" || !errors.Is(err, ErrExposed) {
				t.Errorf("secret: %v", err)
			}
			if v, err := Token(d); v != (Tokens{}) || !errors.Is(err, ErrExposed) {
				t.Errorf("token: %v", err)
			}
		})
	}
}

func TestModes(t *testing.T) {
	d := dirs(t)
	old := syscall.Umask(0)
	defer syscall.Umask(old)
	s, ref := newFileStore(d), hub(t, "https://a.example", "c")
	must.Do(t, s.Set(t.Context(), ref, "x"))
	must.Get(Token(d))(t)
	for path, want := range map[string]os.FileMode{s.path(ref): 0o600, tokenPath(d): 0o600, filepath.Dir(s.path(ref)): 0o700} {
		if info, err := os.Stat(path); err != nil || info.Mode().Perm() != want {
			t.Errorf("%s: %v %v", filepath.Base(path), info.Mode().Perm(), err)
		}
	}
}
