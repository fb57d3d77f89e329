package secret

import (
	"strings"
	"testing"

	"wiebelt/internal/testutil/winetest"
)

// TestWindowsStores runs this package's tests of the Credential Manager and of
// the computer's own store under wine.
func TestWindowsStores(t *testing.T) {
	t.Parallel()
	exe := winetest.BuildTests(t)
	out, err := winetest.New(t).Command(exe, "-test.v", "-test.run", "^(TestMachineStore|TestRealStore|TestNoSession)$").CombinedOutput()
	if err != nil || strings.Count(string(out), "--- PASS") != 3 {
		t.Errorf("%v: %s", err, out)
	}
}
