package history

import (
	"bytes"
	"os"
	"path/filepath"
	"slices"
	"testing"
	"time"

	"wiebelt/internal/testutil/must"
)

// TestLookingLeavesNothing checks that looking leaves no
// file behind, whether or not the file is being written.
func TestLookingLeavesNothing(t *testing.T) {
	dir := t.TempDir()
	path := filepath.Join(dir, "history.db")
	s, err := Open(path, KeepFull, 7, time.Now)
	must.Do(t, err)
	put := func(name string) {
		t.Helper()
		must.Get(s.Put(t.Context(), Entry{Rang: time.Now(), Number: "+31201234567", Name: name}))(t)
	}
	names := func() []string {
		t.Helper()
		if err := CheckFile(t.Context(), path); err != nil {
			t.Error(err)
		}
		found, err := People(t.Context(), path, 10)
		if must.Do(t, err); len(found) != 2 {
			t.Errorf("more than name and number: %q", found)
		}
		return found["name"]
	}
	put("J. Jansen")
	if got := names(); !slices.Equal(got, []string{"J. Jansen"}) {
		t.Errorf("while it is written: %q", got)
	}
	put("P. Pietersen")
	must.Do(t, s.Close())
	if got := names(); !slices.Equal(got, []string{"P. Pietersen", "J. Jansen"}) {
		t.Errorf("%q", got)
	}
	if left, _ := os.ReadDir(dir); len(left) != 1 {
		t.Errorf("%v", left)
	}
	must.Do(t, os.WriteFile(path, bytes.Repeat([]byte("not a database\n"), 500), 0o600))
	if err := CheckFile(t.Context(), path); err == nil {
		t.Error("a damaged file is taken for a sound one")
	}
}
