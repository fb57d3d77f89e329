package fromsettings

import (
	"os"
	"path/filepath"
	"testing"

	"wiebelt/internal/testutil/must"
)

// TestRingProgram checks that phones get the program that stays in place, if there is one.
func TestRingProgram(t *testing.T) {
	dir := t.TempDir()
	own := filepath.Join(dir, "1.2.3")
	must.Do(t, os.Mkdir(own, 0o700))
	exe := filepath.Join(own, "wiebelt")
	for _, want := range []string{exe, filepath.Join(own, "wiebelt-ring"), filepath.Join(dir, "wiebelt-ring")} {
		if want != exe {
			must.Do(t, os.WriteFile(want, nil, 0o700))
		}
		if got := RingProgram(exe); got != want {
			t.Errorf("%s, want %s", got, want)
		}
	}
}
