package card

import (
	"image/color"
	"math"

	"fyne.io/fyne/v2"
	"fyne.io/fyne/v2/canvas"

	"wiebelt/internal/core/contact"
	"wiebelt/internal/core/engine"
	"wiebelt/internal/text"
)

func (p *painter) fill(x, y, w, h float32, c color.NRGBA, radius float32) {
	r := box(c, x, y, w, h)
	r.CornerRadius = radius
	if p.c.Edge.A > 0 {
		r.StrokeColor, r.StrokeWidth = p.c.Edge, 1
	}
	p.add(r)
}

// button draws a button; a disabled one has muted text and does nothing.
func (p *painter) button(s string, x, y, w float32, primary, on bool, do Effect) {
	fill, ink, f := p.c.Soft, p.c.Ink, buttonFont
	if primary {
		f = buttonBold
		if on {
			fill, ink = p.c.Accent, p.c.OnAccent
		}
	}
	switch {
	case !on:
		ink, do = p.c.Muted, Effect{Disabled: true}
	case do == p.l.Hover:
		fill = p.c.UnderPointer(fill)
	}
	p.fill(x, y, w, buttonH, fill, 4)
	if width(s, f) > w-6 { // a long word set by the office
		f.size--
	}
	p.centre(s, x+3, y+(buttonH-f.line)/2, w-6, f, ink)
	p.area(x, y, w, buttonH, s, do).main = primary && on
}

// open draws the quiet "open" at the end of a row or strip.
func (p *painter) open(s string, x, y, w, h float32, filled, on bool, do Effect) {
	ink := p.c.Accent
	fill := p.c.Soft
	hover := on && do == p.l.Hover
	switch {
	case !on:
		ink, do = p.c.Muted, Effect{Disabled: true}
	case hover:
		fill, ink = p.c.Accent, p.c.OnAccent
	}
	if filled || hover {
		p.fill(x, y, w, h, fill, 4)
	}
	p.centre(s, x+2, y+(h-openFont.line)/2, w-4, openFont, ink)
	p.area(x, y, w, h, s, do)
}

// link draws a small clickable word; ours means that it contains no external text.
func (p *painter) link(s string, x, y, room float32, c color.NRGBA, ours bool, do Effect) {
	f := stateFont
	_, w := fit(s, room, f)
	if do == p.l.Hover {
		p.fill(x-5, y-2, w+10, footH+4, p.c.UnderPointer(p.c.Background), 4)
	}
	p.withinControl(func() { p.drawText(s, x, y, room, f, c, ours) })
	p.area(x-5, y-4, w+10, footH+8, s, do)
}

func (p *painter) strokes(c color.Color, w, x, y float32, lines ...[4]float32) {
	for _, s := range lines {
		l := canvas.NewLine(c)
		l.StrokeWidth = w
		l.Position1, l.Position2 = fyne.NewPos(x+s[0], y+s[1]), fyne.NewPos(x+s[2], y+s[3])
		p.add(l)
	}
}

// cross draws the × around (x, y). It comes after all else, as it does for the keys and screen readers.
func (p *painter) cross(x, y float32, of engine.Card) {
	do, ink := cardEffect(of, engine.ActionClose), p.c.Muted
	if do == p.l.Hover {
		p.fill(x-11, y-11, 22, 22, p.c.UnderPointer(p.c.Background), 4)
		ink = p.c.Ink
	}
	const d = 3.5
	p.strokes(ink, 1.5, x, y, [4]float32{-d, -d, d, d}, [4]float32{-d, d, d, -d})
	p.area(x-12, y-12, 24, 24, p.lg.T(text.CardClose), do)
}

// mark draws the shape of the state: a ring while ringing, a dot in a call,
// a bar after the end.
func (p *painter) mark(x, y float32, of engine.Card, c color.NRGBA) {
	if of.Rank() == engine.RankEnded {
		p.add(box(c, x, y+4, 10, 3))
		return
	}
	o := canvas.NewCircle(color.Transparent)
	o.StrokeColor, o.StrokeWidth = c, 2
	if of.Phase == engine.PhaseAnswered {
		o.FillColor, o.StrokeWidth = c, 0
	}
	o.Move(fyne.NewPos(x, y))
	o.Resize(fyne.NewSize(10, 10))
	p.add(o)
}

// copyIcon draws two sheets at (x, y), or after use a tick with a word if there is room.
// It returns the width used.
func (p *painter) copyIcon(x, y, room float32, do Effect) float32 {
	const size = 12
	x = float32(math.Round(float64(x))) // sharp edges need whole units
	if do == p.l.Hover && do != p.l.Copied {
		p.fill(x-5, y-5, 22, 22, p.c.UnderPointer(p.c.Background), 4)
	}
	took := float32(size)
	switch {
	case do == p.l.Copied && p.l.CopyFailed:
		took += p.copiedWord(x, y, room)
	case do == p.l.Copied:
		p.strokes(p.c.InCall, 2, x, y, [4]float32{1, 6, 4.5, 9.5}, [4]float32{4.5, 9.5, 11, 2.5})
		took += p.copiedWord(x+size+5, y, room-size-5)
	default:
		for i, o := range [][2]float32{{0, 0}, {4, 4}} {
			r := box(p.c.Background, x+o[0], y+o[1], 8, 8)
			if i == 0 {
				r.FillColor = color.Transparent
			}
			r.StrokeColor, r.StrokeWidth, r.CornerRadius = p.c.Accent, 1.5, 1.5
			p.add(r)
		}
	}
	name := p.lg.T(text.CardButtonCopy)
	if do == p.l.Copied {
		name, _ = p.copiedText()
	} else if do.Contact != (contact.Contact{}) {
		name = p.lg.T(text.CardCopyRelation)
	}
	p.area(x-6, y-6, 24, 24, name, do)
	return took
}

func (p *painter) copiedWord(x, y, room float32) float32 {
	s, c := p.copiedText()
	if width(s, stateFont) > room {
		return 0
	}
	p.withinControl(func() { room = p.label(s, x, y-2, room, stateFont, c) })
	return room
}

// copiedText returns the text shown for a moment after copying.
func (p *painter) copiedText() (string, color.NRGBA) {
	if p.l.CopyFailed {
		return p.lg.T(text.CardCopyFailed), p.c.Trouble
	}
	return p.lg.T(text.CardButtonCopied), p.c.InCall
}
