package secret

import (
	"testing"

	"wiebelt/internal/testutil/winetest"
)

// TestWindowsStores runs this package's tests of the Credential Manager and of
// the computer's own store under wine.
func TestWindowsStores(t *testing.T) {
	t.Parallel()
	winetest.New(t).Test(winetest.BuildTests(t), 3, "-test.run", "^(TestMachineStore|TestRealStore|TestNoSession)$")
}
