package theme

import (
	"image/color"
	"testing"

	"fyne.io/fyne/v2"
	base "fyne.io/fyne/v2/theme"

	"wiebelt/internal/testutil/shottest"
)

// TestContrast checks that every text in a window or on a card has a contrast of at least 4.5 : 1 to
// its background, and of 7 : 1 if the desktop requests high contrast; shapes need less.
func TestContrast(t *testing.T) {
	for name, c := range map[string]Colours{"light": Light, "dark": Dark, "high light": HighLight, "high dark": HighDark} {
		least := 4.5
		if c.Edge.A > 0 {
			least = 7
		}
		hovered, button := c.UnderPointer(c.Background), c.UnderPointer(c.Soft)
		pairs := []struct {
			what   string
			on, bg color.NRGBA
		}{
			{"ink", c.Ink, c.Background}, {"ink on soft", c.Ink, c.Soft},
			{"muted", c.Muted, c.Background}, {"muted on soft", c.Muted, c.Soft},
			{"accent", c.Accent, c.Background}, {"accent on soft", c.Accent, c.Soft}, {"on accent", c.OnAccent, c.Accent},
			{"in call", c.InCall, c.Background}, {"trouble", c.Trouble, c.Background},
			{"refused", c.Refused, c.Background}, {"quiet", c.Quiet, c.Background},
			{"hovered ink", c.Ink, hovered}, {"hovered muted", c.Muted, hovered}, {"hovered link", c.Accent, hovered},
			{"hovered button", c.Ink, button}, {"hovered main button", c.OnAccent, c.UnderPointer(c.Accent)},
		}
		for _, p := range pairs {
			if r := shottest.Contrast(p.on, p.bg); r < least {
				t.Errorf("%s: %s has a contrast of %.2f", name, p.what, r)
			}
		}
		shapes := [][2]color.NRGBA{{c.Accent, button}, {c.Accent, hovered}, {c.InCall, hovered}, {c.Trouble, hovered}, {c.Quiet, hovered}}
		for _, p := range shapes {
			if r := shottest.Contrast(p[0], p[1]); r < least-1.5 {
				t.Errorf("%s: %v has a contrast of %.2f to %v", name, p[0], r, p[1])
			}
		}
	}
}

func TestAppearance(t *testing.T) {
	tests := []struct {
		appearance string
		desktop    fyne.ThemeVariant
		high       bool
		want       Colours
	}{
		{"light", base.VariantDark, false, Light},
		{"light", base.VariantDark, true, HighLight},
		{"dark", base.VariantLight, false, Dark},
		{"dark", base.VariantLight, true, HighDark},
		{"system", base.VariantDark, false, Dark},
		{"system", base.VariantLight, false, Light},
	}
	for _, tt := range tests {
		th := New(tt.appearance).HighContrast(tt.high)
		for name, want := range map[fyne.ThemeColorName]color.Color{
			base.ColorNameBackground: tt.want.Background, base.ColorNameForeground: tt.want.Ink,
			ColorMuted: tt.want.Muted, ColorQuiet: tt.want.Quiet, base.ColorNamePrimary: tt.want.Accent,
		} {
			if got := th.Color(name, tt.desktop); got != want {
				t.Errorf("%q on desktop %v, high %v: %s = %v, want %v", tt.appearance, tt.desktop, tt.high, name, got, want)
			}
		}
	}
}
