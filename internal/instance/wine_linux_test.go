package instance

import (
	"testing"

	"wiebelt/internal/testutil/winetest"
)

// TestWindows runs this package's tests under wine.
func TestWindows(t *testing.T) { winetest.New(t).Test(winetest.BuildTests(t), 19) }
