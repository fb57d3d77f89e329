package card

import (
	"flag"
	"path/filepath"
	"testing"

	"wiebelt/internal/testutil/shottest"
)

var update = flag.Bool("update", false, "write the golden pictures anew")

// TestGolden compares every card with its reviewed
// picture. With -update, it rewrites the pictures.
func TestGolden(t *testing.T) {
	// Most is zero: a word that moved by a pixel may change only a few, so none may differ by more than Far.
	kept := shottest.Kept{Colours: 256, Far: 0x40, Most: 0, Write: *update, How: "go test -update"}
	all := pictures(t)
	for _, p := range all {
		kept.UpToDate(t, filepath.Join("testdata/golden", p.name+".png"), p.draw())
	}
	if files, err := filepath.Glob("testdata/golden/*.png"); err != nil || len(files) != len(all) {
		t.Errorf("%d golden pictures for %d cards, %v", len(files), len(all), err)
	}
}
