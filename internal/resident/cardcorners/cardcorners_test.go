package cardcorners

import (
	"fmt"
	"log/slog"
	"maps"
	"os"
	"path/filepath"
	"strings"
	"testing"

	"go.uber.org/goleak"

	"wiebelt/internal/config/profile"
	"wiebelt/internal/config/settings"
	"wiebelt/internal/testutil/must"
	"wiebelt/internal/ui/card"
)

func TestMain(m *testing.M) { goleak.VerifyTestMain(m) }

func cornersIn(t *testing.T) (profile.Dirs, func() *Corners, *settings.Settings) {
	t.Helper()
	d := must.Get(profile.Find(t.TempDir()))(t)
	must.Do(t, d.Make())
	s, _ := settings.Load(d)
	return d, func() *Corners { return Open(d, slog.New(slog.DiscardHandler)) }, s
}

// written runs c until everything pending is written.
func written(c *Corners) {
	done := make(chan struct{})
	close(done)
	c.Run(done)
}

// TestCornersAreKept checks that the corner the user dragged cards to survives a restart,
// per monitor, until the setting changes, and never overrides a policy.
func TestCornersAreKept(t *testing.T) {
	d, open, s := cornersIn(t)
	c := open()
	if got := c.Effective(s); got != nil {
		t.Fatalf("at first %v", got)
	}
	c.Moved(s, "DP-1", card.TopLeft)
	c.Moved(s, "HDMI-1", card.BottomRight)
	c.Moved(s, "DP-1", card.BottomLeft)
	policy := filepath.Join(d.State, "policy.toml")
	must.Do(t, os.WriteFile(policy, []byte("[card]\ncorner = \"bottom-right\"\n"), 0o600))
	locked, _ := settings.CheckPolicy(policy)
	c.Moved(locked, "DP-1", card.TopLeft)
	if got := c.Effective(locked); got != nil {
		t.Errorf("against a policy %v", got)
	}
	want := map[string]card.Corner{"DP-1": card.BottomLeft, "HDMI-1": card.BottomRight}
	written(c)
	again := open()
	if got := again.Effective(s); !maps.Equal(got, want) {
		t.Fatalf("after a restart %v", got)
	}
	other := *s
	other.Card.Corner = "top-left"
	if got := again.Effective(&other); got != nil {
		t.Fatalf("another setting is obeyed only by monitors nobody touched: %v", got)
	}
	again.Moved(&other, "DP-1", card.TopRight)
	written(again)
	if got := open().Effective(&other); !maps.Equal(got, map[string]card.Corner{"DP-1": card.TopRight}) {
		t.Fatalf("corners of the old setting came back: %v", got)
	}
}

// TestCornersAreBounded checks that neither outside names nor a damaged file do harm.
func TestCornersAreBounded(t *testing.T) {
	d, open, s := cornersIn(t)
	path := filepath.Join(d.State, cornersName)
	for name, content := range map[string]string{
		"no JSON":      "{",
		"a newer one":  `{"version":2,"setting":"bottom-right","monitors":{"A":"top-left"}}`,
		"no corner":    `{"version":1,"setting":"bottom-right","monitors":{"A":"middle"}}`,
		"a long name":  `{"version":1,"setting":"bottom-right","monitors":{"` + strings.Repeat("x", 300) + `":"top-left"}}`,
		"a large file": `{"version":1,"setting":"bottom-right","monitors":{"A":"top-left"}}` + strings.Repeat(" ", maxCornersFile),
	} {
		must.Do(t, os.WriteFile(path, []byte(content), 0o600))
		if got := open().Effective(s); len(got) != 0 {
			t.Errorf("%s: %v", name, got)
		}
	}
	c := open()
	c.Moved(s, strings.Repeat("x", 300), card.TopLeft)
	c.Moved(s, "", card.TopLeft)
	if got := c.Effective(s); len(got) != 0 {
		t.Errorf("kept %v", got)
	}
	for i := range 10 * maxMonitors {
		c.Moved(s, fmt.Sprint("monitor ", i), card.TopLeft)
	}
	written(c)
	if got := open().Effective(s); len(got) == 0 || len(got) > maxMonitors {
		t.Errorf("%d monitors are kept", len(got))
	}
	if info, err := os.Stat(path); err != nil || info.Mode().Perm() != 0o600 {
		t.Error(info, err)
	}
}
