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
	return picture(layout, c, l, time.Now(), scale)
}

func picture[T any](lay func(T, Look) *view, what T, l Look, now time.Time, scale float32) *image.RGBA {
	offscreen.Start(theme.New("light"))
	v := lay(what, l)
	for r := systemFonts.missing.Load(); r != 0; r = systemFonts.missing.Load() {
		findFont(r)
		systemFonts.missing.Store(0)
		v = lay(what, l)
	}
	v.tick(now)
	var s offscreen.Surface
	v.paint(&s, scale)
	return s.Image()
}
