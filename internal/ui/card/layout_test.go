package card

import (
	"image/color"
	"math"
	"testing"

	"fyne.io/fyne/v2"
	"fyne.io/fyne/v2/canvas"
	fynetheme "fyne.io/fyne/v2/theme"

	"wiebelt/internal/companion"
	"wiebelt/internal/text"
	"wiebelt/internal/ui/offscreen"
	"wiebelt/internal/ui/theme"
)

// TestNothingSticksOut measures every text and shape of every card: all of it
// lies inside the card, and no two texts lie on each other.
func TestNothingSticksOut(t *testing.T) {
	offscreen.Start(fynetheme.DefaultTheme())
	for name, c := range gallery(t) {
		for _, lang := range []text.Language{text.Dutch, text.English} {
			f := layout(c, Look{Language: lang, Now: now, Support: "Jan (IT), toestel 140"})
			var texts []*canvas.Text
			for _, o := range f.content.Objects {
				p, s := o.Position(), o.Size()
				if l, ok := o.(*canvas.Line); ok {
					p, s = l.Position1, fyne.NewSize(0, 0)
				}
				if p.X < 0 || p.Y < 0 || p.X+s.Width > f.size.Width+0.5 || p.Y+s.Height > f.size.Height+0.5 {
					t.Errorf("%s %s: %T at %v size %v sticks out of %v", name, lang, o, p, s, f.size)
				}
				if x, ok := o.(*canvas.Text); ok {
					if x.MinSize().Width > s.Width+0.5 {
						t.Errorf("%s %s: %q is wider than its place", name, lang, x.Text)
					}
					texts = append(texts, x)
				}
			}
			for i, a := range texts {
				for _, b := range texts[i+1:] {
					// Line boxes may touch; letters may not.
					if overlap(a, b) {
						t.Errorf("%s %s: %q lies on %q", name, lang, a.Text, b.Text)
					}
				}
			}
		}
	}
}

func overlap(a, b *canvas.Text) bool {
	ap, as, bp, bs := a.Position(), a.Size(), b.Position(), b.Size()
	shrink := func(h float32) float32 { return h * 0.25 }
	return ap.X < bp.X+bs.Width-0.5 && bp.X < ap.X+as.Width-0.5 &&
		ap.Y+shrink(as.Height) < bp.Y+bs.Height-shrink(bs.Height) && bp.Y+shrink(bs.Height) < ap.Y+as.Height-shrink(as.Height)
}

// TestNothingMovesWhenTheContactComes: the searching card has exactly the height
// and the buttons of the found card.
func TestNothingMovesWhenTheContactComes(t *testing.T) {
	offscreen.Start(fynetheme.DefaultTheme())
	g := gallery(t)
	l := Look{Language: text.Dutch, Now: now}
	found := layout(g["found"], l)
	for _, name := range []string{"searching-start", "searching", "answered", "opened", "possible", "nolink", "long"} {
		f := layout(g[name], l)
		if f.size != found.size {
			t.Errorf("%s: %v, found card %v", name, f.size, found.size)
		}
		for _, at := range [][2]float32{{100, 230}, {300, 230}} {
			a, b := f.at(at[0], at[1]), found.at(at[0], at[1])
			if !a.none() && a.Engine != b.Engine {
				t.Errorf("%s: another button at %v", name, at)
			}
		}
	}
	// The buttons under the cards without a contact are as far from the lower edge.
	for _, name := range []string{"nobody", "failed", "refused", "offered"} {
		f := layout(g[name], l)
		if f.at(300, f.size.Height-bottomPad-buttonH/2).Copy == "" {
			t.Errorf("%s: no copy button at its place above the lower edge", name)
		}
	}
}

// TestSeveralPreselectNothing: no row looks or acts different from the others.
func TestSeveralPreselectNothing(t *testing.T) {
	offscreen.Start(fynetheme.DefaultTheme())
	c := gallery(t)["several"]
	f := layout(c, Look{Language: text.Dutch})
	seen := map[int]bool{}
	for _, a := range f.areas {
		if a.do.Engine && a.do.Action.Do == companion.DoOpen {
			seen[a.do.Action.Index] = true
		}
	}
	if len(seen) != 3 {
		t.Errorf("%d of 3 contacts can be opened", len(seen))
	}
}

// TestContrast: text has at least 4.5 : 1 against what it stands on.
func TestContrast(t *testing.T) {
	for name, c := range map[string]theme.Colours{"light": theme.Light, "dark": theme.Dark} {
		for what, pair := range map[string][2]color.NRGBA{
			"ink": {c.Ink, c.Background}, "muted": {c.Muted, c.Background}, "accent": {c.Accent, c.Background},
			"on accent": {c.OnAccent, c.Accent}, "in call": {c.InCall, c.Background}, "trouble": {c.Trouble, c.Background},
			"refused": {c.Refused, c.Background}, "ink on soft": {c.Ink, c.Soft}, "accent on soft": {c.Accent, c.Soft}, "muted on soft": {c.Muted, c.Soft},
			"quiet": {c.Quiet, c.Background},
		} {
			if got := contrast(pair[0], pair[1]); got < 4.5 {
				t.Errorf("%s: %s has %.2f : 1", name, what, got)
			}
		}
	}
}

func contrast(a, b color.NRGBA) float64 {
	l := func(c color.NRGBA) float64 {
		f := func(v uint8) float64 {
			s := float64(v) / 255
			if s <= 0.03928 {
				return s / 12.92
			}
			return math.Pow((s+0.055)/1.055, 2.4)
		}
		return 0.2126*f(c.R) + 0.7152*f(c.G) + 0.0722*f(c.B)
	}
	x, y := l(a), l(b)
	if x < y {
		x, y = y, x
	}
	return (x + 0.05) / (y + 0.05)
}
