package tray

import (
	"bytes"
	"fmt"
	"image"
	"image/color"
	"image/png"
	"io/fs"
	"os"
	"path/filepath"
	"testing"

	"wiebelt/assets"
	"wiebelt/internal/native/xtest"
)

// far is how far a picture of the panel is from the icon of a state: the mean
// difference of its pixels, at the place where they fit best.
func far(t *testing.T, got *image.RGBA, s State) float64 {
	t.Helper()
	b, err := fs.ReadFile(assets.Icons, "icons/tray-"+s.String()+iconSuffix)
	if err != nil {
		t.Fatal(err)
	}
	icon, err := png.Decode(bytes.NewReader(b))
	if err != nil {
		t.Fatal(err)
	}
	const size = 24 // the panel's
	want := image.NewRGBA(image.Rect(0, 0, size, size))
	n := icon.Bounds().Dx() / size
	for y := range size {
		for x := range size {
			var sum [3]int
			for i := range n * n {
				c := color.NRGBAModel.Convert(icon.At(x*n+i%n, y*n+i/n)).(color.NRGBA)
				for k, v := range [3]uint8{c.R, c.G, c.B} {
					sum[k] += (int(v)*int(c.A) + 255*(255-int(c.A))) / 255
				}
			}
			want.SetRGBA(x, y, color.RGBA{uint8(sum[0] / n / n), uint8(sum[1] / n / n), uint8(sum[2] / n / n), 255})
		}
	}
	best := 255.0
	for top := got.Rect.Min.Y; top <= got.Rect.Max.Y-size; top++ {
		for left := got.Rect.Min.X; left < got.Rect.Min.X+12; left++ {
			sum := 0
			for y := range size {
				for x := range size {
					a, b := got.RGBAAt(left+x, top+y), want.RGBAAt(x, y)
					for _, d := range [3]int{int(a.R) - int(b.R), int(a.G) - int(b.G), int(a.B) - int(b.B)} {
						sum += max(d, -d)
					}
				}
			}
			best = min(best, float64(sum)/(size*size*3))
		}
	}
	return best
}

// TestRealPanel: a real panel draws the icon of every state, every line of the
// menu acts when it is clicked there, and a panel that was killed and comes back
// has all of it again.
func TestRealPanel(t *testing.T) {
	s := xtest.Start(t, "openbox", xtest.Options{Width: 800, Height: 600})
	address := s.Bus()
	panel := s.Panel()
	kid := start(t, busVar+"="+address)
	m := Model{Items: []Item{{ID: "status", Title: "Klaar.", Disabled: true}, {Separator: true}, {ID: "one", Title: "09:42 · 06 12 34 56 78"},
		{Separator: true}, {ID: "calls", Title: "Oproepen…"}, {ID: "pause", Title: "1 uur pauzeren"}, {Separator: true}, {ID: "quit", Title: "Wiebelt afsluiten"}}}
	shots := os.Getenv("WIEBELT_SHOTS")
	look := func(round string) {
		for st := Ready; st <= Doubt; st++ {
			m.State, m.Sentence = st, st.String()
			kid.set(m)
			var seen map[State]float64
			s.Until(round+": the icon "+st.String(), func() bool {
				img := panel.Icon()
				seen = map[State]float64{}
				for other := Ready; other <= Doubt; other++ {
					seen[other] = far(t, img, other)
				}
				for other, d := range seen {
					if other != st && d <= seen[st]*1.5 {
						return false
					}
				}
				return seen[st] < 8
			}, func() []any { return []any{seen} })
			next := 255.0
			for other, d := range seen {
				if other != st {
					next = min(next, d)
				}
			}
			t.Logf("%s: %-12s differs by %.1f, the next state by %.1f (of 255)", round, st, seen[st], next)
			if shots != "" {
				f, err := os.Create(filepath.Join(shots, fmt.Sprintf("panel-%s-%s.png", round, st)))
				if err != nil {
					t.Fatal(err)
				}
				if err := png.Encode(f, s.Crop(panel.Bar())); err != nil {
					t.Error(err)
				}
				_ = f.Close()
			}
		}
		for line, id := range []string{"", "one", "calls", "pause", "quit"} {
			if id == "" {
				continue // says how things are
			}
			lines := panel.Lines()
			if len(lines) != 5 {
				t.Fatalf("%s: the menu has %d lines: %v", round, len(lines), lines)
			}
			r := lines[line]
			s.Click(r.Min.X+20, (r.Min.Y+r.Max.Y)/2, 1)
			kid.says("chosen " + id)
		}
		at := panel.Shown()
		s.Click((at.Min.X+at.Max.X)/2, (at.Min.Y+at.Max.Y)/2, 1)
		kid.says("open")
	}
	look("first")
	panel.Kill()
	s.Until("no icon any more", func() bool { return panel.Shown().Empty() })
	panel.Start()
	look("restarted")
}
