package filetrust

import (
	"strings"
	"testing"

	"wiebelt/internal/testutil/winetest"
)

// TestWindows runs this package's tests of Windows access lists under wine.
func TestWindows(t *testing.T) {
	t.Parallel()
	out, err := winetest.New(t).Command(winetest.BuildTests(t), "-test.v").CombinedOutput()
	if err != nil || strings.Count(string(out), "--- PASS") != 2 {
		t.Errorf("%v: %s", err, out)
	}
}
