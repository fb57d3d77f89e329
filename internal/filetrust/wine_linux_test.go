package filetrust

import (
	"testing"

	"wiebelt/internal/testutil/winetest"
)

// TestWindows runs this package's tests of Windows access lists under wine.
func TestWindows(t *testing.T) {
	t.Parallel()
	winetest.New(t).Test(winetest.BuildTests(t), 2)
}
