package e2e

import (
	"image"
	"path/filepath"
	"strings"
	"testing"

	"wiebelt/internal/testutil/winetest"
)

// TestWindowsBuild runs the real Windows programs under wine: set up, a lookup that prints and returns its code, a call that is handed
// over while nothing runs, its card on the screen.
func TestWindowsBuild(t *testing.T) {
	t.Parallel()
	dir := windowsPrograms(t)
	h, value := startHub(t)
	p := winetest.New(t)
	exe := filepath.Join(dir, "wiebelt.exe")
	profile := `C:\wiebelt-test`
	set := p.Command(exe, "provision", "--profile", profile, "--base-url", h.BaseURL(), "--hub-url", h.HubURL(), "--client-id", "office",
		"--organisation-code", "1234", "--secret-store", "os", "--secret-stdin")
	set.Stdin = strings.NewReader(value + "\r\n")
	if out, err := set.CombinedOutput(); err != nil {
		t.Fatalf("provision: %v: %s", err, out)
	}
	out, code := p.Run("cmd", "/c", winPath(exe), "lookup", "--profile", profile, "0698760011")
	if code != 0 || !strings.Contains(out, "J. de Vries") {
		t.Errorf("lookup: exit %d: %q", code, out)
	}
	if _, code := p.Run("cmd", "/c", winPath(exe), "lookup", "--profile", profile, "0655550000"); code != 3 {
		t.Errorf("lookup of nobody: exit %d", code)
	}
	if _, code := p.Run(filepath.Join(dir, "wiebeltw.exe"), "ring", "--no-start", "--profile", profile, "--", "0698760011"); code != 4 {
		t.Errorf("ring --no-start: exit %d", code)
	}
	if _, code := p.Run(filepath.Join(dir, "wiebeltw.exe"), "ring", "--profile", profile, "--", "0698760011"); code != 0 {
		t.Fatalf("ring: exit %d", code)
	}
	s := p.Screen
	// The card: its blue edge and its primary button, above whatever wine shows.
	s.Until("the card of the caller", func() bool {
		img := s.Screenshot()
		b := img.Rect
		return has(img, b.Max.X-16-380+2, b.Max.Y-16-100, 0x0B, 0x6B, 0xCB) && has(img, b.Max.X-16-380+60, b.Max.Y-16-54, 0x0B, 0x6B, 0xCB)
	})
}

func has(img *image.RGBA, x, y int, r, g, b uint8) bool {
	c := img.RGBAAt(x, y)
	return c.R == r && c.G == g && c.B == b
}

// winPath is a path as programs under wine see it.
func winPath(p string) string { return "Z:" + strings.ReplaceAll(p, "/", `\`) }
