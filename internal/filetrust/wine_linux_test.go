package filetrust

import (
	"os"
	"os/exec"
	"path/filepath"
	"strings"
	"testing"

	"wiebelt/internal/testutil/winetest"
)

// TestWindows runs this package's tests of Windows' lists of rights under wine.
func TestWindows(t *testing.T) {
	t.Parallel()
	exe := filepath.Join(t.TempDir(), "trust.test.exe")
	build := exec.Command("go", "test", "-c", "-o", exe, ".")
	build.Env = append(os.Environ(), "GOOS=windows", "GOARCH=amd64", "CGO_ENABLED=0")
	if out, err := build.CombinedOutput(); err != nil {
		t.Fatalf("%v: %s", err, out)
	}
	out, err := winetest.New(t).Command(exe, "-test.v").CombinedOutput()
	if err != nil || strings.Count(string(out), "--- PASS") != 2 {
		t.Errorf("%v: %s", err, out)
	}
}
