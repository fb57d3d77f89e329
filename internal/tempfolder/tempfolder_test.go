package tempfolder

import (
	"errors"
	"os"
	"os/exec"
	"path/filepath"
	"runtime"
	"testing"
	"time"

	"wiebelt/internal/testutil/must"
)

// TestMake checks that a new folder is locked, and that the folders of programs that were
// killed are gone, and nothing else: none that is used, that somebody is about to use or
// that is another user's, nothing that is reached by a link and nothing of another name.
func TestMake(t *testing.T) {
	temp, elsewhere := t.TempDir(), t.TempDir()
	t.Setenv("TMPDIR", temp)
	t.Setenv("TMP", temp)
	folder := func(parent, name string, age time.Duration) string {
		dir := filepath.Join(parent, name)
		must.Do(t, os.Mkdir(dir, 0o700), os.WriteFile(filepath.Join(dir, "file"), nil, 0o600))
		must.Do(t, os.Chtimes(dir, time.Time{}, time.Now().Add(-age)))
		return dir
	}
	gone := []string{folder(temp, "some-killed", time.Hour), folder(temp, "some-without-lock", time.Hour)}
	must.Do(t, os.WriteFile(filepath.Join(gone[0], "lock"), nil, 0o600), os.Chtimes(gone[0], time.Time{}, time.Now().Add(-time.Hour)))
	used, held, err := Make("some-", "lock")
	must.Do(t, err, os.Chtimes(used, time.Time{}, time.Now().Add(-time.Hour)))
	linked := folder(elsewhere, "some-linked", time.Hour)
	kept := []string{used, linked, folder(temp, "some-starts", 0), folder(temp, "another-program", time.Hour)}
	if runtime.GOOS != "windows" {
		link := filepath.Join(temp, "some-link")
		must.Do(t, os.Symlink(linked, link))
		must.Do(t, exec.Command("touch", "-h", "-d", "1 hour ago", link).Run())
		others := folder(temp, "some-others", time.Hour)
		must.Do(t, os.Chown(others, 65534, -1))
		kept = append(kept, link, others)
	}
	next, other, err := Make("some-", "lock")
	must.Do(t, err)
	for _, dir := range gone {
		if _, err := os.Stat(dir); !errors.Is(err, os.ErrNotExist) {
			t.Errorf("%s is left behind", filepath.Base(dir))
		}
	}
	for _, dir := range append(kept, next) {
		if _, err := os.Stat(dir); err != nil {
			t.Errorf("%s: %v", filepath.Base(dir), err)
		}
	}
	must.Do(t, held.Unlock(), other.Unlock())
}
