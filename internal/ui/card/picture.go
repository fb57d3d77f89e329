package card

import (
	"image"
	"time"

	"wiebelt/internal/companion"
	"wiebelt/internal/ui/offscreen"
	"wiebelt/internal/ui/theme"
)

// Picture paints a card as it looks at l.Now, without any window: for pictures
// in documents and for tests. Not for use beside a running Cards.
func Picture(c companion.Card, l Look, scale float32) *image.RGBA {
	return picture(layout, c, l, scale)
}

func picture[T any](lay func(T, Look) *face, what T, l Look, scale float32) *image.RGBA {
	offscreen.Start(theme.New("light"))
	cs := &Cards{small: offscreen.NewCanvas(), now: time.Now}
	cs.monitor.Scale = scale
	s := &slot{canvas: offscreen.NewCanvas(), face: lay(what, l)}
	for r := others.wanted.Load(); r != 0; r = others.wanted.Load() {
		findFont(r)
		others.wanted.Store(0)
		s.face = lay(what, l)
	}
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
