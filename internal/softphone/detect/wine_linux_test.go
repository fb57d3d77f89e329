package detect

import (
	"strings"
	"testing"

	"wiebelt/internal/testutil/winetest"
)

// TestWindows runs the Windows detection under wine.
func TestWindows(t *testing.T) {
	if out, code := winetest.New(t).Run(winetest.BuildTests(t), "-test.v"); code != 0 || strings.Count(out, "--- PASS") != 1 {
		t.Errorf("%d\n%s", code, out)
	}
}
