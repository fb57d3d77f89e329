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
	kept := shottest.Kept{Colours: 256, Far: 0x40, Write: *update, How: "go test -update"} // not one pixel more: a moved word is a few
	all := pictures(t)
	for _, p := range all {
		kept.UpToDate(t, filepath.Join("testdata/golden", p.name+".png"), p.draw())
	}
	if files, err := filepath.Glob("testdata/golden/*.png"); err != nil || len(files) != len(all) {
		t.Errorf("%d golden pictures for %d cards, %v", len(files), len(all), err)
	}
}
