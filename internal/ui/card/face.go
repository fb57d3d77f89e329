package card

import (
	"image"
	"image/color"
	"math"
	"strings"
	"time"
	"unicode"

	"fyne.io/fyne/v2"
	"fyne.io/fyne/v2/canvas"

	"wiebelt/internal/companion"
	"wiebelt/internal/contact"
	"wiebelt/internal/phone"
	"wiebelt/internal/text"
	"wiebelt/internal/ui/offscreen"
	"wiebelt/internal/ui/theme"
)

// Sizes of the card in units (design: spacing in steps of 4).
const (
	cardWidth   = 380
	stateStrip  = 5
	left        = 20 // of everything but the strip
	right       = 363
	textWidth   = right - left
	labelWidth  = 104
	buttonH     = 36
	primaryW    = 204
	bottomPad   = 14
	footGap     = 8
	footH       = 16
	footPad     = 12
	fieldPitch  = 22
	rowPitch    = 54
	rowsShown   = 6
	pagerH      = 32
	stripHeight = 56
	moreHeight  = 28
	gap         = 8
)

// Look is everything but the call that decides how a card looks.
type Look struct {
	Language     text.Language
	Dark         bool
	HighContrast bool
	FileWord     string // setting ui.file_word
	Support      string // setting support.contact
	Now          time.Time
	// Fields are the fields of a contact in their order (setting card.fields);
	// nil is all of them, in the usual order, an empty list none.
	Fields  []string
	Privacy Privacy
	// Hover is the area under the pointer, Focus the one that Enter would act
	// on, Copied the one that was just copied; the zero Do means none.
	Hover, Focus, Copied Do
	CopyFailed           bool // Copied did not reach the clipboard
	List                 List
	Rows                 int // how many rows there is room for; 0 is the usual number
}

// List is what the user has made of the rows of several matches.
type List struct {
	First  int // row at the top
	Filter string
	Typing bool // letters typed now go into Filter
	Open   bool // of a general number: the rows are wanted
}

// Do is what a click does: an action of the engine, text to copy, or something
// that only this card does. Comparable; two are equal only if they concern the
// same person. The zero value does nothing.
type Do struct {
	Action companion.Action
	Engine bool            // Action is meant
	Caller phone.Number    // who was on the card
	Who    contact.Contact // whom the action is about, where it is about one
	Copy   string          // text for the clipboard
	Scroll int             // rows to turn
	Search bool            // open the rows, and take the keyboard for their filter
	Off    bool            // a button that cannot do anything now
}

// none reports whether a click does nothing.
func (d Do) none() bool { return d == Do{} || d.Off }

// area is a place that can be clicked, in units.
type area struct {
	x, y, w, h float32
	do         Do
	main       bool // the button that the card is for

	rect  image.Rectangle // where it stands on the desktop, in pixels
	there time.Time       // since when just that stands just there
	since time.Time       // since when it can be done at all
}

func (a *area) holds(x, y float32) bool { return x >= a.x && x < a.x+a.w && y >= a.y && y < a.y+a.h }

// face is a card laid out: its size, what to draw and what can be clicked.
type face struct {
	size       fyne.Size
	background color.NRGBA
	line       color.NRGBA
	accent     color.NRGBA
	content    *fyne.Container
	areas      []area
	words      []wording
	// clock is where the running clock stands; since is what it counts from.
	clock clockFace
	bar   *barFace
}

// wording is a text as it was laid out, for those who check it.
type wording struct {
	said, shown string
	x, y        float32
	room, width float32
	font        font
	color       color.Color
	ours        bool // our own words, which must never be cut
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

// find gives the area at a place, nil if there is none.
func (f *face) find(x, y float32) *area {
	for i := len(f.areas) - 1; i >= 0; i-- {
		if a := &f.areas[i]; a.holds(x, y) {
			return a
		}
	}
	return nil
}

func (f *face) at(x, y float32) Do {
	if a := f.find(x, y); a != nil {
		return a.do
	}
	return Do{}
}

// of gives the area that does do, nil if none does.
func (f *face) of(do Do) *area {
	for i := range f.areas {
		if f.areas[i].do == do {
			return &f.areas[i]
		}
	}
	return nil
}

// painter collects the objects of a face.
type painter struct {
	f  *face
	l  Look
	c  theme.Colours
	lg text.Language
}

func newPainter(l Look) *painter {
	p := &painter{l: l, c: theme.Pick(l.Dark, l.HighContrast), lg: l.Language}
	p.f = &face{content: &fyne.Container{}, background: p.c.Background, line: p.c.Line, accent: p.c.Accent}
	return p
}

// finish gives the face its size, border, state strip and focus ring.
func (p *painter) finish(height float32, state color.NRGBA) *face {
	p.f.size = fyne.NewSize(cardWidth, height)
	border := []fyne.CanvasObject{
		box(p.c.Line, 0, 0, cardWidth, 1), box(p.c.Line, 0, height-1, cardWidth, 1),
		box(p.c.Line, cardWidth-1, 0, 1, height),
		box(state, 0, 0, stateStrip, height),
	}
	p.f.content.Objects = append(border, p.f.content.Objects...)
	if a := p.f.of(p.l.Focus); a != nil && !p.l.Focus.none() {
		p.ring(a)
	}
	p.f.content.Resize(p.f.size)
	return p.f
}

// ring shows what Enter would act on: two units of accent around it.
func (p *painter) ring(a *area) {
	const off = 3
	x, y := max(a.x-off, stateStrip+1), max(a.y-off, 1)
	w, h := min(a.x+a.w+off, cardWidth-2)-x, min(a.y+a.h+off, p.f.size.Height-1)-y
	r := box(color.Transparent, x, y, w, h)
	r.StrokeColor, r.StrokeWidth, r.CornerRadius = p.c.Accent, 2, 6
	p.add(r)
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

func (p *painter) area(x, y, w, h float32, do Do) *area {
	p.f.areas = append(p.f.areas, area{x: x, y: y, w: w, h: h, do: do})
	return &p.f.areas[len(p.f.areas)-1]
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
	tagFont    = font{11, 16, false}
	buttonFont = font{14, 20, false}
	buttonBold = font{14, 20, true}
	openFont   = font{13, 19, true}
)

// text draws s, which came from outside, with its line box at (x, y), cut to
// room units with an ellipsis, and returns the width it took.
func (p *painter) text(s string, x, y, room float32, f font, c color.Color) float32 {
	return p.put(s, x, y, room, f, c, false)
}

// say is text for our own words, for which there must be room.
func (p *painter) say(s string, x, y, room float32, f font, c color.Color) float32 {
	return p.put(s, x, y, room, f, c, true)
}

func (p *painter) put(said string, x, y, room float32, f font, c color.Color, ours bool) float32 {
	s, w := fit(said, room, f)
	if s == "" {
		return 0
	}
	p.f.words = append(p.f.words, wording{said, s, x, y, room, w, f, c, ours})
	for _, o := range line(s, x, y, f, c) {
		if ours {
			p.add(offscreen.Kept{Text: o})
		} else {
			p.add(o)
		}
	}
	return w
}

func (p *painter) centre(s string, x, y, room float32, f font, c color.Color) {
	_, w := fit(s, room, f)
	p.put(s, x+(room-w)/2, y, room, f, c, true)
}

// line is s in as many objects as it has pieces, on one base line.
func line(s string, x, y float32, f font, c color.Color) []*canvas.Text {
	style := fyne.TextStyle{Bold: f.bold}
	d := fyne.CurrentApp().Driver()
	usual, base := d.RenderedTextSize(" ", f.size, style, noto(f.bold))
	base += y + (f.line-usual.Height)/2
	ps := pieces(s, f.bold)
	out := make([]*canvas.Text, 0, len(ps))
	for _, part := range ps {
		t := canvas.NewText(part.s, c)
		t.TextSize, t.TextStyle, t.FontSource = f.size, style, part.font
		size, up := d.RenderedTextSize(part.s, f.size, style, part.font)
		t.Resize(size)
		t.Move(fyne.NewPos(x, base-up))
		out = append(out, t)
		x += size.Width
	}
	return out
}

func width(s string, f font) (w float32) {
	if s == "" {
		return 0
	}
	d, style := fyne.CurrentApp().Driver(), fyne.TextStyle{Bold: f.bold}
	for _, part := range pieces(s, f.bold) {
		size, _ := d.RenderedTextSize(part.s, f.size, style, part.font)
		w += size.Width
	}
	return w
}

// fit cuts s to at most room units, with an ellipsis where something was lost.
func fit(s string, room float32, f font) (string, float32) {
	w := width(s, f)
	if w <= room || s == "" {
		return s, w
	}
	iso := strings.ContainsRune(s, isolate)
	r := []rune(s)
	lo, hi := 0, len(r)
	cut := func(n int) string {
		for n > 0 && n < len(r) && clings(r[n]) {
			n--
		}
		s := strings.TrimRightFunc(string(r[:n]), func(r rune) bool { return unicode.IsSpace(r) || strings.ContainsRune(",·-(", r) }) + "…"
		if iso && strings.Count(s, string(isolate)) > strings.Count(s, string(endIso)) {
			s += string(endIso)
		}
		return s
	}
	for lo < hi { // the longest start that fits
		mid := (lo + hi + 1) / 2
		if width(cut(mid), f) <= room {
			lo = mid
		} else {
			hi = mid - 1
		}
	}
	s = cut(lo)
	if w = width(s, f); w > room {
		return "", 0
	}
	return s, w
}

// clings reports whether r belongs to the letter before it.
func clings(r rune) bool {
	return unicode.Is(unicode.M, r) || r >= 0x1F3FB && r <= 0x1F3FF || r == 0x200D
}

// wrap breaks s into at most n lines of at most max units, the first of which
// has less room; the last is cut.
func wrap(s string, first, room float32, n int, f font) []string {
	var lines []string
	cur := ""
	words := strings.Fields(s)
	for i, w := range words {
		next := w
		if cur != "" {
			next = cur + " " + w
		}
		max := room
		if len(lines) == 0 {
			max = first
		}
		if width(next, f) <= max || cur == "" && max == room {
			cur = next
			continue
		}
		if len(lines) == n-1 {
			return append(lines, strings.TrimSpace(cur+" "+strings.Join(words[i:], " ")))
		}
		lines = append(lines, cur) // "" where not even the first word fits beside what stands there
		cur = w
	}
	return append(lines, cur)
}

// sentence draws our words over several lines and returns how many it took. The
// first line begins indent units to the right.
func (p *painter) sentence(s string, indent, y float32, n int, f font, c color.Color) int {
	lines := wrap(s, textWidth-indent, textWidth, n, f)
	for i, s := range lines {
		x := float32(left)
		if i == 0 {
			x += indent
		}
		p.say(s, x, y+float32(i)*f.line, right-x, f, c)
	}
	return len(lines)
}

// fill draws what buttons and tags lie on.
func (p *painter) fill(x, y, w, h float32, c color.NRGBA, radius float32) {
	r := box(c, x, y, w, h)
	r.CornerRadius = radius
	if p.c.Edge.A > 0 {
		r.StrokeColor, r.StrokeWidth = p.c.Edge, 1
	}
	p.add(r)
}

// button draws a button; one that is off has muted words and does nothing.
func (p *painter) button(s string, x, y, w float32, primary, on bool, do Do) {
	fill, ink, f := p.c.Soft, p.c.Ink, buttonFont
	if primary {
		f = buttonBold
		if on {
			fill, ink = p.c.Accent, p.c.OnAccent
		}
	}
	switch {
	case !on:
		ink, do = p.c.Muted, Do{Off: true}
	case do == p.l.Hover:
		fill = p.touched(fill)
	}
	p.fill(x, y, w, buttonH, fill, 4)
	if width(s, f) > w-6 { // a long word of the office's own
		f.size--
	}
	p.centre(s, x+3, y+(buttonH-f.line)/2, w-6, f, ink)
	p.area(x, y, w, buttonH, do).main = primary && on
}

// open is the quiet "open" at the end of a row or strip.
func (p *painter) open(s string, x, y, w, h float32, filled, on bool, do Do) {
	ink := p.c.Accent
	fill := p.c.Soft
	hover := on && do == p.l.Hover
	switch {
	case !on:
		ink, do = p.c.Muted, Do{Off: true}
	case hover:
		fill, ink = p.c.Accent, p.c.OnAccent
	}
	if filled || hover {
		p.fill(x, y, w, h, fill, 4)
	}
	p.centre(s, x+2, y+(h-openFont.line)/2, w-4, openFont, ink)
	p.area(x, y, w, h, do)
}

// link is a small word that can be clicked.
func (p *painter) link(s string, x, y, room float32, c color.NRGBA, do Do) float32 {
	f := stateFont
	_, w := fit(s, room, f)
	if do == p.l.Hover {
		p.fill(x-5, y-2, w+10, footH+4, p.touched(p.c.Background), 4)
	}
	p.text(s, x, y, room, f, c)
	p.area(x-5, y-4, w+10, footH+8, do)
	return w
}

// touched is a colour under the pointer.
func (p *painter) touched(c color.NRGBA) color.NRGBA { return shade(c, p.c.Ink, 0.06) }

func (p *painter) strokes(c color.Color, w, x, y float32, lines ...[4]float32) {
	for _, s := range lines {
		l := canvas.NewLine(c)
		l.StrokeWidth = w
		l.Position1, l.Position2 = fyne.NewPos(x+s[0], y+s[1]), fyne.NewPos(x+s[2], y+s[3])
		p.add(l)
	}
}

// cross draws the × that takes the card away, centred at (x, y).
func (p *painter) cross(x, y float32, do Do) {
	c := p.c.Muted
	if do == p.l.Hover {
		p.fill(x-11, y-11, 22, 22, p.touched(p.c.Background), 4)
		c = p.c.Ink
	}
	const d = 3.5
	p.strokes(c, 1.5, x, y, [4]float32{-d, -d, d, d}, [4]float32{-d, d, d, -d})
	p.area(x-12, y-12, 24, 24, do)
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

// copyIcon draws two sheets at (x, y), or a tick once it was used, and the word
// for that where there is room. It returns what it took.
func (p *painter) copyIcon(x, y, room float32, do Do) float32 {
	const size = 12
	x = float32(math.Round(float64(x))) // sharp edges stand on whole units
	if do == p.l.Hover && do != p.l.Copied {
		p.fill(x-5, y-5, 22, 22, p.touched(p.c.Background), 4)
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
	p.area(x-6, y-6, 24, 24, do)
	return took
}

func (p *painter) copiedWord(x, y, room float32) float32 {
	s, c := p.copied()
	if width(s, stateFont) > room {
		return 0
	}
	return p.say(s, x, y-2, room, stateFont, c)
}

// copied is what is said for a moment where something was copied.
func (p *painter) copied() (string, color.NRGBA) {
	if p.l.CopyFailed {
		return p.lg.T(text.CardCopyFailed), p.c.Trouble
	}
	return p.lg.T(text.CardButtonCopied), p.c.InCall
}

func shade(c, to color.NRGBA, part float32) color.NRGBA {
	m := func(a, b uint8) uint8 { return uint8(float32(a) + (float32(b)-float32(a))*part) }
	return color.NRGBA{R: m(c.R, to.R), G: m(c.G, to.G), B: m(c.B, to.B), A: 255}
}
