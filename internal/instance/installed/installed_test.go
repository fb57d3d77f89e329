package installed

import (
	"os"
	"path/filepath"
	"testing"

	"wiebelt/internal/testutil/must"
)

// TestNewest compares versions by number, not by letter, and counts
// only complete ones; older ones are swept.
func TestNewest(t *testing.T) {
	dir := t.TempDir()
	write := func(path ...string) {
		t.Helper()
		at := filepath.Join(append([]string{dir}, path...)...)
		must.Do(t, os.MkdirAll(filepath.Dir(at), 0o700))
		must.Do(t, os.WriteFile(at, nil, 0o600))
	}
	old := filepath.Join(dir, "0.9.0", "w")
	write("0.9.0", "w")
	if path := Newest(dir, "w"); path != "" {
		t.Errorf("half of a version: %s", path)
	}
	if got := NewestOf(old); got != old {
		t.Errorf("alone: %s", got)
	}
	write("0.9.0", CompleteMarker)
	write("0.10.0", "w")
	for _, name := range []string{"bin", "0.11", "0.11.x", "1.0.0.0", "-1.0.0", "0.12.0"} {
		write(name, CompleteMarker)
	}
	if path := Newest(dir, "w"); path != old {
		t.Errorf("while the next one is written: %s", path)
	}
	write("0.10.0", CompleteMarker)
	if got, want := NewestOf(old), filepath.Join(dir, "0.10.0", "w"); got != want {
		t.Errorf("%s, want %s", got, want)
	}
	for _, exe := range []string{filepath.Join(dir, "bin", "w"), filepath.Join(dir, "w")} {
		if got := NewestOf(exe); got != exe {
			t.Errorf("%s, want %s", got, exe)
		}
	}
	must.Do(t, Sweep(filepath.Join(dir, "0.10.0", "w")))
	if left, _ := filepath.Glob(filepath.Join(dir, "*")); len(left) != 7 || isRegular(old) {
		t.Errorf("swept: %q are left", left) // other folders stay; the older version does not
	}
}
