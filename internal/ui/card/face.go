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
	left        = 20 // of everything but the coloured edge
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
	lineHeight  = 28
	gap         = 8
)

// Look is everything but the call that decides how a card looks.
type Look struct {
	Language     text.Language
	Dark         bool
	HighContrast bool
	Still        bool   // nothing moves by itself
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
	Keyboard             bool // keys go to this card
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
	Action engine.Action
	Engine bool            // Action is meant
	Caller phone.Number    // who was on the card
	Who    contact.Contact // whom the action is about, where it is about one
	Copy   string          // text for the clipboard
	Scroll int             // rows to turn
	Search bool            // open the rows, and take the keyboard for their filter
	Off    bool            // a button that cannot do anything now
	Whole  string          // a text that is cut: the pointer on it shows all of it
}

// opens reports whether a click opens somebody's file.
func (d Do) opens() bool { return d.Engine && d.Action.Do == engine.DoOpen }

// none reports whether a click does nothing.
func (d Do) none() bool { return d == Do{} || d.Off || d.Whole != "" }

// area is a place that can be clicked, in units.
type area struct {
	x, y, w, h float32
	do         Do
	main       bool // the button that the card is for

	name string // for whoever cannot see it
	role screenreader.Role
	item int // the row that it stands in, counted from 1
	word int // how many texts come before it

	rect  image.Rectangle // where it stands on the desktop, in pixels
	there time.Time       // since when just that stands just there
	since time.Time       // since when it can be done at all
}

func (a *area) holds(x, y float32) bool { return x >= a.x && x < a.x+a.w && y >= a.y && y < a.y+a.h }

// face is a card laid out: its size, what to draw and what can be clicked.
type face struct {
	size       fyne.Size
	background color.NRGBA
	content    *fyne.Container
	areas      []area
	words      []wording
	items      []row
	headline   int      // which of the words is the big one, counted from 1
	state      []string // what a screen reader says first: how far the call is, the line called
	news       []string // and what it says of who calls
	clock      *clock   // nil for none, as bar
	bar        *bar
}

// wording is a text as it was laid out, for those who check it.
type wording struct {
	said, shown string
	x, y        float32
	room, width float32
	font        font
	color       color.Color
	ours        bool // our own words, which must never be cut
	part        bool // of something that has it as its name
}

// row is one of several matches.
type row struct {
	y     float32
	which [2]int    // position and total: 2 of 5
	says  [4]string // what stands in it
}

// clock is the running clock.
type clock struct {
	text  *canvas.Text
	since time.Time // what it counts from
	end   float32   // where it ends; 0: words stand in front of it
	font  font
}

// bar is the search's progress towards the moment when it counts as failed.
type bar struct {
	part  *canvas.Rectangle
	width float32 // of the whole
	since time.Time
}

// paint has a surface show the card, and gives the parts of it that have changed.
func (f *face) paint(on *offscreen.Surface, scale float32) []image.Rectangle {
	return on.Frame(offscreen.Size(f.size, scale), scale, f.background, []fyne.CanvasObject{f.content}, nil)
}

// tick brings what changes by itself to now.
func (f *face) tick(now time.Time) {
	if c := f.clock; c != nil {
		c.text.Text = clockText(now.Sub(c.since))
		w := width(c.text.Text, c.font)
		if c.end > 0 {
			c.text.Move(fyne.NewPos(c.end-w, c.text.Position().Y))
		}
		c.text.Resize(fyne.NewSize(w, c.text.Size().Height))
	}
	if b := f.bar; b != nil {
		b.part.Resize(fyne.NewSize(b.width*min(1, max(0.04, float32(now.Sub(b.since))/float32(barFull))), 3))
	}
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
	on bool // it is a whole card: the pointer on a cut text shows all of it
	// inside is set while what is written belongs to a button or row, item while it
	// is that row, counted from 1.
	inside bool
	item   int
	c      theme.Colours
	lg     text.Language
}

func newPainter(l Look) *painter {
	p := &painter{l: l, c: theme.Pick(l.Dark, l.HighContrast), lg: l.Language}
	p.f = &face{content: &fyne.Container{Objects: make([]fyne.CanvasObject, 0, 32)}, background: p.c.Background,
		areas: make([]area, 0, 4), words: make([]wording, 0, 8)} // as many as most cards have
	return p
}

// finish gives the face its size, border, state strip and focus ring.
func (p *painter) finish(height float32, state color.NRGBA) *face {
	p.f.size = fyne.NewSize(cardWidth, height)
	border := []fyne.CanvasObject{
		box(p.c.Line, 0, 0, cardWidth, 1), box(p.c.Line, 0, height-1, cardWidth, 1),
		box(p.c.Line, cardWidth-1, 0, 1, height),
		box(state, 0, 0, stateEdge, height),
	}
	p.f.content.Objects = slices.Insert(p.f.content.Objects, 0, border...)
	p.whole()
	if p.l.Keyboard {
		frame := box(color.Transparent, 0, 0, cardWidth, height)
		frame.StrokeColor, frame.StrokeWidth = p.c.Accent, 2
		p.add(frame)
	}
	if a := p.f.of(p.l.Focus); a != nil && !p.l.Focus.none() {
		p.ring(a)
	}
	p.f.content.Resize(p.f.size)
	return p.f
}

// ring shows what Enter would act on: two units of accent around it.
func (p *painter) ring(a *area) {
	const off, apart = 3, 4 // apart from the frame of the card
	x, y := max(a.x-off, stateEdge+1), max(a.y-off, apart)
	w, h := min(a.x+a.w+off, cardWidth-apart)-x, min(a.y+a.h+off, p.f.size.Height-apart)-y
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

// clock adds a running clock with its line box at (x, y), or one that ends at end.
func (p *painter) clock(x, y, end float32, f font, since time.Time) {
	words := clockText(0)
	if end > 0 {
		x = end - width(words, f)
	}
	t := line(words, x, y, f, p.c.Muted)[0]
	p.f.clock = &clock{t, since, end, f}
	p.add(t)
}

// part draws what is part of something that can be clicked, or of a row.
func (p *painter) part(draw func()) {
	was := p.inside
	p.inside = true
	draw()
	p.inside = was
}

func (p *painter) area(x, y, w, h float32, name string, do Do) *area {
	p.f.areas = append(p.f.areas, area{x: x, y: y, w: w, h: h, do: do, name: name, item: p.item, word: len(p.f.words)})
	return &p.f.areas[len(p.f.areas)-1]
}
