package tray

import (
	"fmt"
	"image"
	"image/png"
	"os"
	"path/filepath"
	"testing"

	"wiebelt/assets"
	"wiebelt/internal/testutil/must"
	"wiebelt/internal/testutil/xtest"
)

// far returns how much a picture of the panel differs from the icon of a state.
func far(t *testing.T, got *image.RGBA, s State) float64 {
	t.Helper()
	return xtest.IconDistance(t, got, assets.Icons, "icons/tray-"+s.String()+iconSuffix)
}

// TestRealPanel checks that a real panel draws the icon of every state,
// that a click on any line of its menu works, and that a panel that was
// killed and restarted shows everything again.
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
				f := must.Get(os.Create(filepath.Join(shots, fmt.Sprintf("panel-%s-%s.png", round, st))))(t)
				if err := png.Encode(f, s.Crop(panel.Bar())); err != nil {
					t.Error(err)
				}
				_ = f.Close()
			}
		}
		for line, id := range []string{"", "one", "calls", "pause", "quit"} {
			if id == "" {
				continue // this line only shows the state
			}
			r := panel.Lines(func() int { return 5 })[line]
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
