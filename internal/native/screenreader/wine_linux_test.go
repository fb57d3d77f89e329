package screenreader

import (
	"os"
	"os/exec"
	"path/filepath"
	"testing"

	"wiebelt/internal/testutil/winetest"
)

// TestWindows runs this package's tests of UI Automation under wine.
func TestWindows(t *testing.T) {
	exe := filepath.Join(t.TempDir(), "tests.exe")
	cmd := exec.Command("go", "test", "-c", "-o", exe, ".")
	cmd.Env = append(os.Environ(), "GOOS=windows", "GOARCH=amd64", "CGO_ENABLED=0")
	if out, err := cmd.CombinedOutput(); err != nil {
		t.Fatalf("%v: %s", err, out)
	}
	p := winetest.New(t)
	run := p.Command(exe, "-test.v")
	out, err := run.CombinedOutput()
	t.Logf("%s", out)
	if err != nil {
		t.Error(err)
	}
	t.Setenv("WIEBELT_SERVE", "1")
}
