package resident

import (
	"fmt"
	"log/slog"
	"maps"
	"os"
	"path/filepath"
	"strings"
	"testing"

	"wiebelt/internal/profile"
	"wiebelt/internal/settings"
	"wiebelt/internal/ui/card"
)

func cornersIn(t *testing.T) (profile.Dirs, func() *corners, *settings.Settings) {
	t.Helper()
	d, err := profile.Find(t.TempDir())
	if err != nil {
		t.Fatal(err)
	}
	if err := d.Make(); err != nil {
		t.Fatal(err)
	}
	s, _ := settings.Load(d)
	return d, func() *corners { return openCorners(d, slog.New(slog.DiscardHandler)) }, s
}

// written runs c until all it has to write was written.
func written(c *corners) {
	done := make(chan struct{})
	close(done)
	c.run(done)
}

// TestCornersAreKept: a corner the user dragged cards to holds after a restart,
// for that monitor, until the setting says something else.
func TestCornersAreKept(t *testing.T) {
	_, open, s := cornersIn(t)
	c := open()
	if got := c.of(s); got != nil {
		t.Fatalf("at first %v", got)
	}
	c.moved(s, "DP-1", card.TopLeft)
	c.moved(s, "HDMI-1", card.TopRight)
	c.moved(s, "DP-1", card.BottomLeft)
	written(c)
	want := map[string]card.Corner{"DP-1": card.BottomLeft, "HDMI-1": card.TopRight}
	again := open()
	if got := again.of(s); !maps.Equal(got, want) {
		t.Fatalf("after a restart %v", got)
	}
	other := *s
	other.Card.Corner = "top-left"
	if got := again.of(&other); got != nil {
		t.Fatalf("another setting is obeyed only by monitors nobody touched: %v", got)
	}
	again.moved(&other, "DP-1", card.TopRight)
	written(again)
	if got := open().of(&other); !maps.Equal(got, map[string]card.Corner{"DP-1": card.TopRight}) {
		t.Fatalf("corners of the old setting came back: %v", got)
	}
}

// TestCornersAreBounded: neither names from outside nor a damaged file do harm.
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
		if err := os.WriteFile(path, []byte(content), 0o600); err != nil {
			t.Fatal(err)
		}
		if got := open().of(s); len(got) != 0 {
			t.Errorf("%s: %v", name, got)
		}
	}
	c := open()
	c.moved(s, strings.Repeat("x", 300), card.TopLeft)
	c.moved(s, "", card.TopLeft)
	if got := c.of(s); len(got) != 0 {
		t.Errorf("kept %v", got)
	}
	for i := range 10 * maxMonitors {
		c.moved(s, fmt.Sprint("monitor ", i), card.TopLeft)
	}
	written(c)
	if got := open().of(s); len(got) == 0 || len(got) > maxMonitors {
		t.Errorf("%d monitors are kept", len(got))
	}
	if info, err := os.Stat(path); err != nil || info.Mode().Perm() != 0o600 {
		t.Error(info, err)
	}
}
