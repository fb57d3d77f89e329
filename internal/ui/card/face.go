package card

import (
	"image/color"
	"strings"
	"time"

	"fyne.io/fyne/v2"
	"fyne.io/fyne/v2/canvas"

	"wiebelt/internal/companion"
	"wiebelt/internal/text"
	"wiebelt/internal/ui/theme"
)

// Sizes of the card in units (design: spacing in steps of 4).
const (
	cardWidth   = 380
	stateStrip  = 5
	left        = 21 // of everything but the strip
	right       = 363
	textWidth   = right - left
	labelWidth  = 104
	buttonH     = 36
	bottomPad   = 14
	fieldPitch  = 22
	fieldCount  = 4
	rowPitch    = 54
	rowsShown   = 6
	stripHeight = 56
	moreHeight  = 28
	gap         = 8
)

// Look is everything but the call that decides how a card looks.
type Look struct {
	Language text.Language
	Dark     bool
	FileWord string // setting ui.file_word
	Support  string // setting support.contact
	Now      time.Time
	// Hover is the area under the pointer, Copied the one whose copy button was
	// just used; the zero Do means none.
	Hover, Copied Do
	FirstRow      int // of several matches, when there are more than fit
}

// Do is what a click does: an action of the engine, or text to copy, or a turn
// of the rows. Comparable; the zero value does nothing.
type Do struct {
	Action  companion.Action
	Engine  bool   // Action is meant
	Copy    string // text for the clipboard
	Scroll  int
	Tooltip string // why nothing happens, for areas that are off
}

// none reports whether a click does nothing.
func (d Do) none() bool { return d == Do{} || (d.Tooltip != "" && !d.Engine && d.Copy == "") }

// area is a place that can be clicked, in units.
type area struct {
	x, y, w, h float32
	do         Do
}

// face is a card laid out: its size, what to draw and what can be clicked.
type face struct {
	size       fyne.Size
	background color.NRGBA
	content    *fyne.Container
	areas      []area
	// clock is where the running clock stands; since is what it counts from.
	clock clockFace
	bar   *barFace
}

// clockFace is the running clock, a small canvas of its own so that its tick
// does not repaint the card.
type clockFace struct {
	x, y, w, h float32 // w 0: no clock
	since      time.Time
	color      color.NRGBA
	size       float32
	left       bool // words stand in front of it
}

// barFace is the search's progress towards the moment when it counts as failed.
type barFace struct {
	x, y, w float32
	since   time.Time
}

func (f *face) at(x, y float32) Do {
	for i := len(f.areas) - 1; i >= 0; i-- {
		a := f.areas[i]
		if x >= a.x && x < a.x+a.w && y >= a.y && y < a.y+a.h {
			return a.do
		}
	}
	return Do{}
}

// painter collects the objects of a face.
type painter struct {
	f  *face
	l  Look
	c  theme.Colours
	lg text.Language
}

func newPainter(l Look) *painter {
	return &painter{f: &face{content: &fyne.Container{}}, l: l, c: theme.Of(l.Dark), lg: l.Language}
}

// finish gives the face its size, border and state strip.
func (p *painter) finish(height float32, state color.NRGBA) *face {
	p.f.size = fyne.NewSize(cardWidth, height)
	p.f.background = p.c.Background
	border := []fyne.CanvasObject{
		box(p.c.Line, 0, 0, cardWidth, 1), box(p.c.Line, 0, height-1, cardWidth, 1),
		box(p.c.Line, cardWidth-1, 0, 1, height),
		box(state, 0, 0, stateStrip, height),
	}
	p.f.content.Objects = append(border, p.f.content.Objects...)
	p.f.content.Resize(p.f.size)
	return p.f
}

func box(c color.Color, x, y, w, h float32) *canvas.Rectangle {
	r := canvas.NewRectangle(c)
	r.Move(fyne.NewPos(x, y))
	r.Resize(fyne.NewSize(w, h))
	return r
}

func (p *painter) add(o ...fyne.CanvasObject) {
	p.f.content.Objects = append(p.f.content.Objects, o...)
}

// font is a size, its line height and its weight.
type font struct {
	size, line float32
	bold       bool
}

var (
	stateFont  = font{12, 16, false}
	stateBold  = font{12, 16, true}
	bigFont    = font{22, 28, true}
	lessBig    = font{18, 28, true}
	numberFont = font{15, 22, false}
	fieldFont  = font{13, 19, false}
	fieldBold  = font{13, 19, true}
	rowName    = font{14, 20, true}
	rowDetail  = font{12, 17, false}
	buttonFont = font{14, 20, false}
	buttonBold = font{14, 20, true}
)

// text draws s with its line box at (x, y), cut to max units with an ellipsis,
// and returns the width it took.
func (p *painter) text(s string, x, y, max float32, f font, c color.Color) float32 {
	s, w := fit(s, max, f)
	if s == "" {
		return 0
	}
	p.add(line(s, x, y, f, c))
	return w
}

func (p *painter) textCentre(s string, x, y, w float32, f font, c color.Color) {
	s, tw := fit(s, w, f)
	p.add(line(s, x+(w-tw)/2, y, f, c))
}

func line(s string, x, y float32, f font, c color.Color) *canvas.Text {
	t := canvas.NewText(s, c)
	t.TextSize, t.TextStyle = f.size, fyne.TextStyle{Bold: f.bold}
	m := t.MinSize()
	t.Resize(m)
	t.Move(fyne.NewPos(x, y+(f.line-m.Height)/2))
	return t
}

func width(s string, f font) float32 {
	return fyne.MeasureText(s, f.size, fyne.TextStyle{Bold: f.bold}).Width
}

// fit cuts s to at most max units, with an ellipsis where something was lost.
func fit(s string, max float32, f font) (string, float32) {
	w := width(s, f)
	if w <= max || s == "" {
		return s, w
	}
	r := []rune(s)
	lo, hi := 0, len(r)
	for lo < hi { // the longest start that fits
		mid := (lo + hi + 1) / 2
		if width(string(r[:mid])+"…", f) <= max {
			lo = mid
		} else {
			hi = mid - 1
		}
	}
	s = string(r[:lo]) + "…"
	return s, width(s, f)
}

// wrap breaks s into at most n lines of at most max units; the last is cut.
func wrap(s string, max float32, n int, f font) []string {
	words := strings.Fields(s)
	var lines []string
	cur := ""
	for i, w := range words {
		next := w
		if cur != "" {
			next = cur + " " + w
		}
		if width(next, f) <= max || cur == "" {
			cur = next
			continue
		}
		if len(lines) == n-1 {
			rest := cur
			for _, r := range words[i:] {
				rest += " " + r
			}
			cur, _ = fit(rest, max, f)
			break
		}
		lines = append(lines, cur)
		cur = w
	}
	cur, _ = fit(cur, max, f)
	return append(lines, cur)
}

// button draws a button; one that is off has muted words and does nothing.
func (p *painter) button(s string, x, y, w, h float32, primary, on bool, do Do) {
	fill, ink, f := p.c.Soft, p.c.Ink, buttonFont
	if primary {
		f = buttonBold
		if on {
			fill, ink = p.c.Accent, p.c.OnAccent
		}
	}
	if !on {
		ink = p.c.Muted
	}
	if on && do != (Do{}) && do == p.l.Hover {
		fill = shade(fill, p.c.Ink, 0.08)
	}
	r := box(fill, x, y, w, h)
	r.CornerRadius = 4
	p.add(r)
	p.textCentre(s, x+3, y+(h-f.line)/2, w-6, f, ink)
	if !on {
		do = Do{Tooltip: "off"}
	}
	p.f.areas = append(p.f.areas, area{x, y, w, h, do})
}

// rowButton is the quiet "open" at the end of a row or strip.
func (p *painter) rowButton(s string, x, y, w, h float32, filled, on bool, do Do) {
	ink := p.c.Accent
	if !on {
		ink = p.c.Muted
		do = Do{Tooltip: "off"}
	}
	if filled || on && do == p.l.Hover {
		fill := p.c.Soft
		if on && do == p.l.Hover {
			fill = shade(fill, p.c.Ink, 0.08)
		}
		r := box(fill, x, y, w, h)
		r.CornerRadius = 4
		p.add(r)
	}
	f := font{13, 19, true}
	p.textCentre(s, x+2, y+(h-f.line)/2, w-4, f, ink)
	p.f.areas = append(p.f.areas, area{x, y, w, h, do})
}

// cross draws the × that takes the card away, centred at (x, y).
func (p *painter) cross(x, y float32, do Do) {
	c := p.c.Muted
	if do == p.l.Hover {
		r := box(p.c.Soft, x-11, y-11, 22, 22)
		r.CornerRadius = 4
		p.add(r)
		c = p.c.Ink
	}
	const d = 3.5
	for _, s := range [][4]float32{{-d, -d, d, d}, {-d, d, d, -d}} {
		l := canvas.NewLine(c)
		l.StrokeWidth = 1.5
		l.Position1, l.Position2 = fyne.NewPos(x+s[0], y+s[1]), fyne.NewPos(x+s[2], y+s[3])
		p.add(l)
	}
	p.f.areas = append(p.f.areas, area{x - 14, y - 14, 28, 28, do})
}

// mark draws the state's shape: a ring while it rings, a dot in a call.
func (p *painter) mark(x, y float32, full bool, c color.NRGBA) {
	o := canvas.NewCircle(color.Transparent)
	o.StrokeColor, o.StrokeWidth = c, 2
	if full {
		o.FillColor, o.StrokeWidth = c, 0
	}
	o.Move(fyne.NewPos(x, y))
	o.Resize(fyne.NewSize(10, 10))
	p.add(o)
}

// copyIcon draws two sheets at (x, y), or a tick once it was used.
func (p *painter) copyIcon(x, y float32, do Do) {
	if do == p.l.Hover {
		r := box(p.c.Soft, x-5, y-5, 22, 22)
		r.CornerRadius = 4
		p.add(r)
	}
	if do == p.l.Copied {
		for _, s := range [][4]float32{{1, 6, 4.5, 9.5}, {4.5, 9.5, 11, 2.5}} {
			l := canvas.NewLine(p.c.InCall)
			l.StrokeWidth = 2
			l.Position1, l.Position2 = fyne.NewPos(x+s[0], y+s[1]), fyne.NewPos(x+s[2], y+s[3])
			p.add(l)
		}
	} else {
		for i, o := range [][2]float32{{0, 0}, {4, 4}} {
			r := box(p.c.Background, x+o[0], y+o[1], 8, 8)
			if i == 0 {
				r.FillColor = color.Transparent
			}
			r.StrokeColor, r.StrokeWidth, r.CornerRadius = p.c.Accent, 1.5, 1.5
			p.add(r)
		}
	}
	p.f.areas = append(p.f.areas, area{x - 6, y - 6, 24, 24, do})
}

func shade(c, to color.NRGBA, part float32) color.NRGBA {
	m := func(a, b uint8) uint8 { return uint8(float32(a) + (float32(b)-float32(a))*part) }
	return color.NRGBA{R: m(c.R, to.R), G: m(c.G, to.G), B: m(c.B, to.B), A: 255}
}
