package doctor

import (
	"path/filepath"
	"testing"

	"wiebelt/internal/config/settings"
)

// underPolicy is a computer with these settings of an administrator.
func underPolicy(src string) func(*testing.T, *exam) {
	return func(t *testing.T, e *exam) {
		path := filepath.Join(t.TempDir(), "policy.toml")
		write(t, path, src)
		e.Settings, _ = settings.CheckPolicy(path)
	}
}
