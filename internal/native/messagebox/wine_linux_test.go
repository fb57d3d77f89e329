package messagebox

import (
	"testing"

	"wiebelt/internal/testutil/winetest"
)

// TestWindows runs this package's Windows test under wine.
func TestWindows(t *testing.T) { winetest.New(t).Test(winetest.BuildTests(t), 1) }
