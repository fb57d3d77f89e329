//go:build linux

package settings

import (
	"os"
	"path/filepath"
	"syscall"
	"testing"

	"wiebelt/internal/testutil/must"
)

func pipe(path string) error { return syscall.Mkfifo(path, 0o600) }

func linkNowhere(path string) error { return os.Symlink("/nowhere", path) }

func TestSetThroughALink(t *testing.T) {
	real := filepath.Join(t.TempDir(), "mine.toml")
	must.Do(t, os.WriteFile(real, []byte("[ui]\n"), 0o640))
	d := dirs(t, "")
	must.Do(t, os.Symlink(real, Path(d)))
	must.Do(t, Set(d, map[string]any{"ui.theme": "dark"}))
	if got := read(t, real); got != "[ui]\ntheme = \"dark\"\n" {
		t.Errorf("%q", got)
	}
	if info, _ := os.Lstat(Path(d)); info.Mode()&os.ModeSymlink == 0 {
		t.Error("the link is gone")
	}
}
