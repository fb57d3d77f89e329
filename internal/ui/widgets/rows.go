package widgets

import (
	"fyne.io/fyne/v2"
	"fyne.io/fyne/v2/container"
	"fyne.io/fyne/v2/widget"

	"wiebelt/internal/native/screenreader"
	"wiebelt/internal/ui/explore"
)

// Rows are objects of any height below each other, on a page that scrolls. The arrow
// keys, Home and End go from one to the next, Enter and the space bar do what there is
// to do with it, and Escape is its window's. Only for the UI thread.
type Rows struct {
	widget.BaseWidget
	name    string // for screen readers
	scroll  *container.Scroll
	box     *fyne.Container
	all     []*rowsOne
	at      int
	focused bool
}

// rowsOne is one of them.
type rowsOne struct {
	widget.BaseWidget
	in *Rows
	n  int
	o  fyne.CanvasObject
	do func()
}

// NewRows has none yet. What the keyboard is on is scrolled into sight in scroll.
func NewRows(name string, gap float32, scroll *container.Scroll) *Rows {
	r := &Rows{name: name, scroll: scroll, box: Column(gap)}
	r.ExtendBaseWidget(r)
	return r
}

// Clear takes all of them away.
func (r *Rows) Clear() { r.all, r.box.Objects = nil, nil }

// Add puts one below the others; do is what there is to do with it, nil for nothing.
func (r *Rows) Add(o fyne.CanvasObject, do func()) {
	one := &rowsOne{in: r, n: len(r.all), o: o, do: do}
	one.ExtendBaseWidget(one)
	r.all = append(r.all, one)
	r.box.Add(one)
}

// Len is how many there are.
func (r *Rows) Len() int { return len(r.all) }

// Between puts something below the others that the keyboard passes over.
func (r *Rows) Between(o fyne.CanvasObject) { r.box.Add(o) }

// reach puts the keyboard on another one.
func (r *Rows) reach(i int) {
	if len(r.all) == 0 {
		return
	}
	r.at = min(max(i, 0), len(r.all)-1)
	r.Refresh()
	Reveal(r.scroll, r.all[r.at], 0)
}

// FocusGained implements fyne.Focusable.
func (r *Rows) FocusGained() {
	r.focused = true
	r.reach(r.at)
}

// FocusLost implements fyne.Focusable.
func (r *Rows) FocusLost() {
	r.focused = false
	r.Refresh()
}

// TypedRune implements fyne.Focusable.
func (r *Rows) TypedRune(rune) {}

// TypedKey implements fyne.Focusable.
func (r *Rows) TypedKey(e *fyne.KeyEvent) {
	switch e.Name {
	case fyne.KeyDown:
		r.reach(r.at + 1)
	case fyne.KeyUp:
		r.reach(r.at - 1)
	case fyne.KeyHome:
		r.reach(0)
	case fyne.KeyEnd:
		r.reach(len(r.all) - 1)
	case fyne.KeyReturn, fyne.KeyEnter, fyne.KeySpace:
		if r.at < len(r.all) && r.all[r.at].do != nil {
			r.all[r.at].do()
		}
	default:
		PassEscape(r, e)
	}
}

// CreateRenderer implements fyne.Widget.
func (r *Rows) CreateRenderer() fyne.WidgetRenderer { return widget.NewSimpleRenderer(r.box) }

// Explore implements explore.Speaker.
func (r *Rows) Explore() explore.Said {
	return explore.Said{Role: screenreader.List, State: screenreader.Focusable, Name: r.name}
}

// HasKeyboard tells whether keys act on it.
func (o *rowsOne) HasKeyboard() bool { return o.in.focused && o.in.at == o.n }

// Explore implements explore.Speaker.
func (o *rowsOne) Explore() explore.Said {
	return explore.Said{Role: screenreader.Item, State: screenreader.Focusable, Focused: o.HasKeyboard(), Key: o.n,
		Position: [2]int{o.n + 1, len(o.in.all)}, Press: o.do, Alone: true}
}

// CreateRenderer implements fyne.Widget.
func (o *rowsOne) CreateRenderer() fyne.WidgetRenderer { return widget.NewSimpleRenderer(o.o) }
