package card

import (
	"os"
	"strings"
	"testing"

	"wiebelt/internal/testutil/winetest"
)

// TestWindowsExplored runs TestCardsExplored under wine.
func TestWindowsExplored(t *testing.T) {
	exe := winetest.BuildTests(t, "-tags", "migrated_fynedo,no_emoji")
	run := winetest.New(t).Command(exe, "-test.v", "-test.run", "^TestCardsExplored$", "-test.timeout", "1h")
	run.Env = append(run.Env, "SOAK="+os.Getenv("SOAK"))
	out, err := run.CombinedOutput()
	if t.Logf("%s", out); err != nil || !strings.Contains(string(out), "--- PASS: TestCardsExplored") {
		t.Error(err)
	}
}
