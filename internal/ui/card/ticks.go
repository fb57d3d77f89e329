package card

import (
	"image"
	"time"

	"fyne.io/fyne/v2"

	"wiebelt/internal/native/window"
)

// nextTick is how long until something on screen must change by itself; 0 if
// nothing will.
func (cs *Cards) nextTick(now time.Time) time.Duration {
	var next time.Duration
	soon := func(d time.Duration) {
		if d = max(d, time.Millisecond); next == 0 || d < next {
			next = d
		}
	}
	if !cs.left.IsZero() && cs.anyUp() {
		soon(cs.untouched())
	}
	for _, at := range []time.Time{cs.again, cs.looks, cs.rests} {
		if !at.IsZero() {
			soon(at.Sub(now))
		}
	}
	for _, s := range cs.slots {
		if !s.up || s.face == nil {
			continue
		}
		if c := s.face.clock; c.w > 0 {
			soon(time.Second - now.Sub(c.since)%time.Second)
		}
		if b := s.face.bar; b != nil && now.Sub(b.since) < barFull {
			soon(barTick)
		}
		if s.copied != (Do{}) {
			soon(s.until.Sub(now))
		}
	}
	return next
}

func (cs *Cards) ticked(now time.Time) {
	cs.listenAgain(now)
	cs.rest(now)
	if !cs.looks.IsZero() && !now.Before(cs.looks) {
		cs.show()
	}
	if !cs.left.IsZero() && cs.untouched() == 0 {
		cs.left = time.Time{}
		cs.place()
	}
	for _, s := range cs.slots {
		if !s.up || s.face == nil {
			continue
		}
		if s.copied != (Do{}) && !now.Before(s.until) {
			s.copied = Do{}
			cs.refresh(s)
			continue
		}
		cs.paintClock(s, now, true)
		cs.paintBar(s, now, true)
	}
}

// paintClock paints the clock of a slot into its picture and, where asked, on
// the screen.
func (cs *Cards) paintClock(s *slot, now time.Time, onScreen bool) {
	c := s.face.clock
	if c.w == 0 {
		return
	}
	words := clockText(now.Sub(c.since))
	if words == s.tick {
		return
	}
	s.tick = words
	f := font{c.size, c.h, false}
	x := float32(0)
	if !c.left { // right-aligned unless words stand before it
		x = c.w - width(words, f)
	}
	cs.paintSmall(s, []fyne.CanvasObject{line(words, x, 0, f, c.color)[0]}, c.x, c.y, c.w, c.h, onScreen)
}

// paintBar paints how far the search is on its way to "does not answer".
func (cs *Cards) paintBar(s *slot, now time.Time, onScreen bool) {
	b := s.face.bar
	if b == nil {
		return
	}
	part := min(1, max(0.04, float32(now.Sub(b.since))/float32(barFull)))
	if part == s.bar {
		return
	}
	s.bar = part
	bars := []fyne.CanvasObject{box(s.face.line, 0, 0, b.w, 3), box(s.face.accent, 0, 0, b.w*part, 3)}
	cs.paintSmall(s, bars, b.x, b.y, b.w, 3, onScreen)
}

// paintSmall paints objects into the rectangle of a slot's picture, whole pixels
// outwards.
func (cs *Cards) paintSmall(s *slot, objects []fyne.CanvasObject, x, y, w, h float32, onScreen bool) {
	scale := cs.monitor.Scale
	cs.small.Set(&fyne.Container{Objects: objects}, fyne.NewSize(w, h), scale)
	var pw, ph int
	pw, ph, cs.smallPx = cs.small.Paint(s.face.background, cs.smallPx)
	at := image.Pt(int(x*scale+0.5), int(y*scale+0.5))
	r := image.Rectangle{Min: at, Max: at.Add(image.Pt(pw, ph))}.Intersect(image.Rect(0, 0, s.w, s.h))
	if r.Empty() {
		return
	}
	part := &window.Picture{W: r.Dx(), H: r.Dy(), Pix: make([]byte, 4*r.Dx()*r.Dy())}
	for row := range r.Dy() {
		src := cs.smallPx[4*row*pw : 4*(row*pw+r.Dx())]
		copy(s.pic[4*((r.Min.Y+row)*s.w+r.Min.X):], src)
		copy(part.Pix[4*row*r.Dx():], src)
	}
	if onScreen {
		if err := s.win.Update(r.Min, part); err != nil {
			cs.c.Log.Warn("clock not painted", "why", err)
		}
	}
}
