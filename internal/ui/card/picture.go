package card

import (
	"image"
	"time"

	"wiebelt/internal/core/engine"
	"wiebelt/internal/ui/offscreen"
	"wiebelt/internal/ui/theme"
)

// Picture paints a card as it looks now, without any window: for pictures
// in documents and for tests. Not for use while Cards runs.
func Picture(c engine.Card, l Look, scale float32) *image.RGBA {
	return picture(c, l, time.Now(), scale)
}

func picture(c engine.Card, l Look, now time.Time, scale float32) *image.RGBA {
	offscreen.Start(theme.New("light"))
	v := layout(c, l)
	for r := systemFonts.missing.Load(); r != 0; r = systemFonts.missing.Load() {
		findFont(r)
		systemFonts.missing.Store(0)
		v = layout(c, l)
	}
	v.tick(now)
	var s offscreen.Surface
	v.paint(&s, scale)
	return s.Image()
}
