package secret

import (
	"os"
	"os/exec"
	"path/filepath"
	"strings"
	"testing"

	"wiebelt/internal/testutil/winetest"
)

// TestWindowsStores runs this package's tests of the Credential Manager and of
// the computer's own store under wine.
func TestWindowsStores(t *testing.T) {
	t.Parallel()
	exe := filepath.Join(t.TempDir(), "secret.test.exe")
	build := exec.Command("go", "test", "-c", "-o", exe, ".")
	build.Env = append(os.Environ(), "GOOS=windows", "GOARCH=amd64", "CGO_ENABLED=0")
	if out, err := build.CombinedOutput(); err != nil {
		t.Fatalf("%v: %s", err, out)
	}
	out, err := winetest.New(t).Command(exe, "-test.v", "-test.run", "^(TestMachineStore|TestRealStore|TestNoSession)$").CombinedOutput()
	if err != nil || strings.Count(string(out), "--- PASS") != 3 {
		t.Errorf("%v: %s", err, out)
	}
}
