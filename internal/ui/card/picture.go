package card

import (
	"image"
	"time"

	fynetheme "fyne.io/fyne/v2/theme"

	"wiebelt/internal/companion"
	"wiebelt/internal/ui/offscreen"
)

// Picture paints a card as it looks at l.Now, without any window: for pictures
// in documents and for tests. Not for use beside a running Cards.
func Picture(c companion.Card, l Look, scale float32) *image.RGBA {
	offscreen.Start(fynetheme.DefaultTheme())
	cs := &Cards{c: Config{Appearance: Light}, small: offscreen.NewCanvas(), now: time.Now}
	if l.Dark {
		cs.c.Appearance = Dark
	}
	cs.monitor.Scale = scale
	s := &slot{canvas: offscreen.NewCanvas(), face: layout(c, l)}
	s.canvas.Set(s.face.content, s.face.size, scale)
	s.w, s.h, s.pic = s.canvas.Paint(s.face.background, s.pic)
	now := l.Now
	if now.IsZero() {
		now = time.Now()
	}
	cs.paintClock(s, now, false)
	cs.paintBar(s, now, false)
	return s.picture()
}
