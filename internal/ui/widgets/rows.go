package widgets

import (
	"fyne.io/fyne/v2"
	"fyne.io/fyne/v2/container"
	"fyne.io/fyne/v2/widget"

	"wiebelt/internal/native/screenreader"
	"wiebelt/internal/ui/explore"
)

// Rows is a column of objects of any height on a scrolling page. The arrow keys, Home and
// End move between them, Enter and the space bar perform an object's action, and Escape is
// passed to the window. Only for the UI thread.
type Rows struct {
	widget.BaseWidget
	name    string // for screen readers
	scroll  *container.Scroll
	box     *fyne.Container
	all     []*rowsItem
	at      int
	focused bool
}

type rowsItem struct {
	widget.BaseWidget
	in *Rows
	n  int
	o  fyne.CanvasObject
	do func()
}

// NewRows returns empty Rows. The row with the focus is scrolled into view in scroll.
func NewRows(name string, gap float32, scroll *container.Scroll) *Rows {
	r := &Rows{name: name, scroll: scroll, box: Column(gap)}
	r.ExtendBaseWidget(r)
	return r
}

// Clear removes all rows.
func (r *Rows) Clear() { r.all, r.box.Objects = nil, nil }

// Add appends a row; do is its action, nil for none.
func (r *Rows) Add(o fyne.CanvasObject, do func()) {
	one := &rowsItem{in: r, n: len(r.all), o: o, do: do}
	one.ExtendBaseWidget(one)
	r.all = append(r.all, one)
	r.box.Add(one)
}

// Len returns the number of rows.
func (r *Rows) Len() int { return len(r.all) }

// AddUnfocusable appends an object that the focus skips.
func (r *Rows) AddUnfocusable(o fyne.CanvasObject) { r.box.Add(o) }

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

// Describe implements explore.Describer.
func (r *Rows) Describe() explore.Description {
	return explore.Description{Role: screenreader.List, State: screenreader.Focusable, Name: r.name}
}

// HasKeyboard reports whether keys act on it.
func (o *rowsItem) HasKeyboard() bool { return o.in.focused && o.in.at == o.n }

// Describe implements explore.Describer.
func (o *rowsItem) Describe() explore.Description {
	return explore.Description{Role: screenreader.Item, State: screenreader.Focusable, Focused: o.HasKeyboard(), Key: o.n,
		Position: [2]int{o.n + 1, len(o.in.all)}, Press: o.do, Leaf: true}
}

// CreateRenderer implements fyne.Widget.
func (o *rowsItem) CreateRenderer() fyne.WidgetRenderer { return widget.NewSimpleRenderer(o.o) }
