package card

import (
	"image"

	"wiebelt/internal/native/window"
	"wiebelt/internal/ui/theme"
)

type dragFrame struct {
	frame     window.Card
	frameRect image.Rectangle // empty while hidden
}

// target returns where cards released at p go: the nearest corner.
func (cs *Cards) target(p image.Point) (m window.Monitor, to Corner, ok bool) {
	for _, m := range cs.display.Monitors() {
		if !p.In(m.Area) {
			continue
		}
		to := TopLeft
		switch mid := m.Area.Min.Add(m.Area.Size().Div(2)); {
		case p.X >= mid.X && p.Y >= mid.Y:
			to = BottomRight
		case p.X >= mid.X:
			to = TopRight
		case p.Y >= mid.Y:
			to = BottomLeft
		}
		return usable(m), to, m.Name != cs.monitor.Name || to != cs.corner()
	}
	return m, "", false
}

func (cs *Cards) isDrag(from, to image.Point) bool {
	d := to.Sub(from)
	return max(d.X, -d.X, d.Y, -d.Y) >= cs.px(48)
}

// drag shows where the dragged card will be placed: a frame of its size in
// the corner nearest to p.
func (cs *Cards) drag(s *slot, p image.Point) {
	m, to, ok := cs.target(p)
	if !ok || !cs.isDrag(*s.dragStart, p) {
		cs.hideFrame()
		return
	}
	w, h := int(float32(s.rect.Dx())*m.Scale/cs.monitor.Scale), int(float32(s.rect.Dy())*m.Scale/cs.monitor.Scale)
	off := int(edge * m.Scale)
	r := fromCorner(m.Work, to, off, off, w, h)
	if r == cs.frameRect {
		return
	}
	a := cs.appearance()
	c := theme.Pick(a.Dark, a.HighContrast)
	line := max(2, int(2*m.Scale))
	pic := &window.Picture{W: w, H: h, Pix: make([]byte, 4*w*h)}
	inside := image.Rect(line, line, w-line, h-line)
	for i := range w * h {
		ink := c.Accent
		if image.Pt(i%w, i/w).In(inside) {
			ink = c.Soft
		}
		copy(pic.Pix[4*i:], []byte{ink.B, ink.G, ink.R, 255})
	}
	if err := cs.frame.Show(r, pic); err != nil {
		cs.c.Log.Warn("no frame while dragging", "why", err)
		return
	}
	cs.frameRect = r
}

func (cs *Cards) hideFrame() {
	if !cs.frameRect.Empty() {
		cs.frameRect = image.Rectangle{}
		_ = cs.frame.Hide()
	}
}
