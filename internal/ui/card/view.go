package card

import (
	"image"
	"image/color"
	"slices"
	"time"

	"fyne.io/fyne/v2"
	"fyne.io/fyne/v2/canvas"

	"wiebelt/internal/core/contact"
	"wiebelt/internal/core/engine"
	"wiebelt/internal/core/phone"
	"wiebelt/internal/native/screenreader"
	"wiebelt/internal/text"
	"wiebelt/internal/ui/offscreen"
	"wiebelt/internal/ui/theme"
)

// Sizes of the card in units (design: spacing in steps of 4).
const (
	cardWidth   = 380
	stateEdge   = 5
	textLeft    = 20 // of everything but the coloured edge
	textRight   = 363
	textWidth   = textRight - textLeft
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
	lineHeight  = 28
	gap         = 8
)

// Look is everything but the call that decides how a card looks.
type Look struct {
	Language     text.Language
	Dark         bool
	HighContrast bool
	LessMotion   bool   // no animations
	FileWord     string // setting ui.file_word
	Support      string // setting support.contact
	// Fields lists the fields of a contact in order; nil means all in the default order, an empty list none.
	Fields  []string
	Privacy Privacy
	// Hover is under the pointer, Focus is what Enter activates, Copied was just copied; zero means none.
	Hover, Focus, Copied Effect
	CopyFailed           bool // Copied did not reach the clipboard
	Keyboard             bool // keys go to this card
	Typing               bool // typed letters go into the filter
	RowsState            RowsState
	Rows                 int // how many rows fit; 0 means the default
	MoreCount            int // if not 0: only counts the calls without a card
}

// RowsState is the state of the rows of several matches.
type RowsState struct {
	First  int // row at the top
	Filter string
	Open   bool // for a general number: the rows are shown
}

// Effect is the effect of a click: an action of the engine, text to copy, or something local
// to this card. Comparable; two are equal only if they concern the same person. The
// zero value does nothing.
type Effect struct {
	Action   engine.Action   // if it is about a card
	Caller   phone.Number    // who was on the card
	Contact  contact.Contact // the contact the action is about, if any
	Copy     string          // text for the clipboard
	Scroll   int             // rows to scroll by
	Search   bool            // open the rows and take the keyboard focus for their filter
	Disabled bool            // a button that is disabled now
	FullText string          // a cut text: hovering shows it in full
}

// requests reports whether a click has the engine do that; cards are counted from one.
func (d Effect) requests(do engine.ActionKind) bool { return d.Action.Card != 0 && d.Action.Kind == do }

// isNone reports whether a click does nothing.
func (d Effect) isNone() bool { return d == Effect{} || d.Disabled || d.FullText != "" }

type area struct {
	x, y, w, h float32
	effect     Effect
	main       bool // the card's main button

	name        string // for screen readers
	role        screenreader.Role
	row         int // the row it is in, counted from 1
	textsBefore int // number of texts before it

	rect         image.Rectangle // on the desktop, in pixels
	placedSince  time.Time       // since when exactly this has been exactly there
	enabledSince time.Time       // since when the action has been available
}

// view is the layout of a card: its size, what to draw and what can be clicked.
type view struct {
	size         fyne.Size
	background   color.NRGBA
	content      *fyne.Container
	areas        []area
	texts        []placedText
	rows         []row
	headline     int      // index of the large text in words, counted from 1
	spokenState  []string // what a screen reader says first: state of the call, the line called
	spokenCaller []string // followed by what it says about the caller
	clock        *clock   // nil for none, like bar
	bar          *bar
}

type placedText struct {
	full, shown string
	x, y        float32
	room, width float32
	font        font
	color       color.Color
	ownText     bool // our own text, which must never be cut
	inControl   bool // belongs to something that has it as its name
}

type row struct {
	y        float32
	position [2]int    // position and total: 2 of 5
	texts    [4]string // its texts
}

type clock struct {
	text  *canvas.Text
	since time.Time // start of the count
	end   float32   // right edge; 0: there is text before it
	font  font
}

// bar is the progress of a lookup towards the moment when it counts as failed.
type bar struct {
	rect  *canvas.Rectangle
	width float32 // at full length
	since time.Time
}

// paint draws the card on a surface and returns the parts that have changed.
func (v *view) paint(on *offscreen.Surface, scale float32) []image.Rectangle {
	return on.Render(offscreen.Size(v.size, scale), scale, v.background, []fyne.CanvasObject{v.content}, nil)
}

func (v *view) tick(now time.Time) {
	if c := v.clock; c != nil {
		c.text.Text = clockText(now.Sub(c.since))
		w := width(c.text.Text, c.font)
		if c.end > 0 {
			c.text.Move(fyne.NewPos(c.end-w, c.text.Position().Y))
		}
		c.text.Resize(fyne.NewSize(w, c.text.Size().Height))
	}
	if b := v.bar; b != nil {
		b.rect.Resize(fyne.NewSize(b.width*min(1, max(0.04, float32(now.Sub(b.since))/float32(barFull))), 3))
	}
}

// areaAt returns the topmost area at a position, one without an effect if there is none.
func (v *view) areaAt(x, y float32) area {
	for _, a := range slices.Backward(v.areas) {
		if x >= a.x && x < a.x+a.w && y >= a.y && y < a.y+a.h {
			return a
		}
	}
	return area{}
}

// find returns the first area of a kind, nil if there is none.
func (v *view) find(is func(*area) bool) *area {
	for i := range v.areas {
		if a := &v.areas[i]; is(a) {
			return a
		}
	}
	return nil
}

// areaFor returns the area with an effect, nil if there is none.
func (v *view) areaFor(e Effect) *area { return v.find(func(a *area) bool { return a.effect == e }) }

type painter struct {
	v        *view
	l        Look
	tooltips bool // a full card: hovering a cut text shows it in full
	// inControl is set while drawing text that belongs to a button or row; row is
	// that row, counted from 1.
	inControl bool
	row       int
	c         theme.Colours
	lg        text.Language
}

func newPainter(l Look) *painter {
	p := &painter{l: l, c: theme.Pick(l.Dark, l.HighContrast), lg: l.Language}
	if l.Fields == nil {
		p.l.Fields = usualFields
	}
	p.v = &view{content: &fyne.Container{Objects: make([]fyne.CanvasObject, 0, 32)}, background: p.c.Background,
		areas: make([]area, 0, 4), texts: make([]placedText, 0, 8)} // enough for most cards
	return p
}

func (p *painter) finish(height float32, state color.NRGBA) *view {
	p.v.size = fyne.NewSize(cardWidth, height)
	border := []fyne.CanvasObject{
		box(p.c.Line, 0, 0, cardWidth, 1), box(p.c.Line, 0, height-1, cardWidth, 1),
		box(p.c.Line, cardWidth-1, 0, 1, height),
		box(state, 0, 0, stateEdge, height),
	}
	p.v.content.Objects = slices.Insert(p.v.content.Objects, 0, border...)
	p.tooltip()
	if p.l.Keyboard {
		frame := box(color.Transparent, 0, 0, cardWidth, height)
		frame.StrokeColor, frame.StrokeWidth = p.c.Accent, 2
		p.add(frame)
	}
	if a := p.v.areaFor(p.l.Focus); a != nil && !p.l.Focus.isNone() {
		p.focusRing(a)
	}
	p.v.content.Resize(p.v.size)
	return p.v
}

// focusRing marks what Enter activates: two units of accent around it.
func (p *painter) focusRing(a *area) {
	const off, apart = 3, 4 // distance from the card's frame
	x, y := max(a.x-off, stateEdge+1), max(a.y-off, apart)
	w, h := min(a.x+a.w+off, cardWidth-apart)-x, min(a.y+a.h+off, p.v.size.Height-apart)-y
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
	p.v.content.Objects = append(p.v.content.Objects, o...)
}

// clock adds a running clock with its line box at (x, y), or one that ends at end.
func (p *painter) clock(x, y, end float32, f font, since time.Time) {
	words := clockText(0)
	if end > 0 {
		x = end - width(words, f)
	}
	t := line(words, x, y, f, p.c.Muted)[0]
	p.v.clock = &clock{t, since, end, f}
	p.add(t)
}

// withinControl draws text that belongs to a control or a row.
func (p *painter) withinControl(draw func()) {
	was := p.inControl
	p.inControl = true
	draw()
	p.inControl = was
}

func (p *painter) area(x, y, w, h float32, name string, do Effect) *area {
	p.v.areas = append(p.v.areas, area{x: x, y: y, w: w, h: h, effect: do, name: name, row: p.row, textsBefore: len(p.v.texts)})
	return &p.v.areas[len(p.v.areas)-1]
}
