package card

import (
	"os"
	"os/exec"
	"path/filepath"
	"strings"
	"testing"

	"wiebelt/internal/testutil/winetest"
)

// TestWindowsExplored runs TestCardsExplored under wine.
func TestWindowsExplored(t *testing.T) {
	exe := filepath.Join(t.TempDir(), "card.test.exe")
	build := exec.Command("go", "test", "-c", "-tags", "migrated_fynedo,no_emoji", "-o", exe, ".")
	build.Env = append(os.Environ(), "GOOS=windows", "GOARCH=amd64", "CGO_ENABLED=0")
	if out, err := build.CombinedOutput(); err != nil {
		t.Fatalf("%v: %s", err, out)
	}
	run := winetest.New(t).Command(exe, "-test.v", "-test.run", "^TestCardsExplored$", "-test.timeout", "1h")
	run.Env = append(run.Env, "SOAK="+os.Getenv("SOAK"))
	out, err := run.CombinedOutput()
	if t.Logf("%s", out); err != nil || !strings.Contains(string(out), "--- PASS: TestCardsExplored") {
		t.Error(err)
	}
}
