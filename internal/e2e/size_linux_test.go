package e2e

import (
	"os"
	"path/filepath"
	"testing"

	"wiebelt/internal/testutil/must"
)

// TestProgramsAreSmall limits the size of the programs: all of a program is read from disk,
// at every start or when used. A library that adds a megabyte deserves consideration.
func TestProgramsAreSmall(t *testing.T) {
	t.Parallel()
	path := must.Get(binary())(t)
	for name, most := range map[string]float64{"wiebelt": 38.5, "wiebelt-ring": 4.2} {
		if mb := megabytes(t, filepath.Join(filepath.Dir(path), name)); mb > most {
			t.Errorf("%s is %.1f MB, more than %.1f: go tool nm -size says of what", name, mb, most)
		}
	}
}

func megabytes(t testing.TB, path string) float64 {
	t.Helper()
	info := must.Get(os.Stat(path))(t)
	return float64(info.Size()) / 1e6
}
