package profile

import (
	"path/filepath"
)

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
