package cli

import (
	"errors"
	"os"
	"path/filepath"
	"testing"

	"wiebelt/internal/testutil/must"
)

// TestPlaces checks that the small programs are placed beside the version folders as new
// files, not overwritten, and only if they differ.
func TestPlaces(t *testing.T) {
	dir := t.TempDir()
	ring, terminal := filepath.Join(dir, "wiebelt-ringw.exe"), filepath.Join(dir, "wiebelt.exe")
	version := func(number, content string) string {
		of := filepath.Join(dir, number)
		must.Do(t, errors.Join(os.MkdirAll(of, 0o700), os.WriteFile(filepath.Join(of, "wiebelt.exe"), []byte(content), 0o700),
			os.WriteFile(filepath.Join(of, "wiebelt-ringw.exe"), []byte("ring"), 0o700)))
		return filepath.Join(of, "wiebeltw.exe")
	}
	must.Do(t, placePrograms(version("1.0.0", "old")))
	before, was := must.Get(os.Stat(ring))(t), must.Get(os.Open(terminal))(t)
	defer was.Close()
	must.Do(t, os.WriteFile(terminal+".new", nil, 0o600)) // pending until the next start
	must.Do(t, placePrograms(version("1.0.1", "new")))
	if !os.SameFile(before, must.Get(os.Stat(ring))(t)) {
		t.Error("the same program was written once more")
	}
	if b := must.Get(os.ReadFile(terminal))(t); string(b) != "new" {
		t.Errorf("the program is %q", b)
	}
	if os.SameFile(must.Get(was.Stat())(t), must.Get(os.Stat(terminal))(t)) {
		t.Error("it was written over in place")
	}
	if all := must.Get(os.ReadDir(dir))(t); len(all) != 4 {
		t.Errorf("something is left: %v", all)
	}
	must.Do(t, os.Remove(filepath.Join(dir, "1.0.1", "wiebelt.exe")))
	if err := placePrograms(filepath.Join(dir, "1.0.1", "wiebeltw.exe")); err == nil {
		t.Error("there is nothing to place, and no error")
	}
}
