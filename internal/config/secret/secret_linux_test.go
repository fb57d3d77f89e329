package secret

import (
	"errors"
	"os"
	"testing"

	"wiebelt/internal/testutil/must"
)

// TestExposed: a file that others can read or have planted is not used.
func TestExposed(t *testing.T) {
	for name, expose := range map[string]func(path string) error{
		"group can read":    func(p string) error { return os.Chmod(p, 0o640) },
		"a link to nowhere": func(p string) error { return errors.Join(os.Remove(p), os.Symlink("/nowhere", p)) },
	} {
		t.Run(name, func(t *testing.T) {
			d := dirs(t)
			s, ref := newFileStore(d), hub(t, "https://a.example", "c")
			must.Do(t, s.Set(t.Context(), ref, "x"))
			must.Get(EnsureTokens(d))(t)
			for _, p := range []string{s.path(ref), tokenPath(d)} {
				must.Do(t, expose(p))
			}
			if v, err := s.Get(t.Context(), ref); v != "" || !errors.Is(err, ErrExposed) {
				t.Errorf("secret: %v", err)
			}
			if v, err := EnsureTokens(d); v != (Tokens{}) || !errors.Is(err, ErrExposed) {
				t.Errorf("token: %v", err)
			}
		})
	}
}
