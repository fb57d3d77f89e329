package assets

import (
	"fmt"
	"image"
	"image/color"
	"image/png"
	"testing"

	"wiebelt/internal/testutil/must"
)

var (
	states = []string{"ready", "not-set-up", "doubt", "link-lost", "hub-gone", "credentials", "paused"}
	sizes  = []int{16, 22, 24, 32, 48} // of panels at common scales
)

func icon(t *testing.T, state string, size int) *image.NRGBA {
	t.Helper()
	f, err := Icons.Open(fmt.Sprintf("icons/tray-%s-%d.png", state, size))
	must.Do(t, err)
	defer f.Close()
	img, err := png.Decode(f)
	if err != nil || img.Bounds() != image.Rect(0, 0, size, size) {
		t.Fatalf("%s at %d: %v", state, size, err)
	}
	out := image.NewNRGBA(img.Bounds())
	for i := range size * size {
		x, y := i%size, i/size
		out.SetNRGBA(x, y, color.NRGBAModel.Convert(img.At(x, y)).(color.NRGBA))
	}
	return out
}

// TestApart checks that no two states look alike without their
// colours, as brightness on a dark and on a light panel.
func TestApart(t *testing.T) {
	for _, size := range sizes {
		for _, panel := range []int{0x20, 0xF0} {
			for i, a := range states {
				for _, b := range states[:i] {
					if d := apart(icon(t, a, size), icon(t, b, size), panel); d < 0.06 {
						t.Errorf("%s and %s at %d pixels on %#x: only %.1f%% apart", a, b, size, panel, 100*d)
					}
				}
			}
		}
	}
}

// apart returns the mean difference in brightness, where 1 is that between black and white.
func apart(a, b *image.NRGBA, panel int) float64 {
	sum := 0
	for i := 0; i < len(a.Pix); i += 4 {
		x, y := brightness(a.Pix[i:], panel), brightness(b.Pix[i:], panel)
		sum += max(x-y, y-x)
	}
	return float64(sum) / 255 / float64(len(a.Pix)/4)
}

func brightness(p []uint8, panel int) int {
	v := (299*int(p[0]) + 587*int(p[1]) + 114*int(p[2])) / 1000
	return (v*int(p[3]) + panel*(255-int(p[3]))) / 255
}

// TestSeen checks that every picture stands out from a dark and from a light panel.
func TestSeen(t *testing.T) {
	for _, s := range states {
		for _, panel := range []int{0x20, 0xF0} {
			img, n := icon(t, s, 16), 0
			for i := 0; i < len(img.Pix); i += 4 {
				if d := brightness(img.Pix[i:], panel) - panel; d > 60 || d < -60 {
					n++
				}
			}
			if n < 40 {
				t.Errorf("%s on %#x: only %d of 256 pixels stand out", s, panel, n)
			}
		}
	}
}
