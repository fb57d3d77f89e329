package desk

import (
	"fyne.io/fyne/v2"
	"fyne.io/fyne/v2/canvas"
	"fyne.io/fyne/v2/driver/desktop"
	base "fyne.io/fyne/v2/theme"
	"fyne.io/fyne/v2/widget"
)

const (
	optionPad  = 12 // of a word on both sides
	choiceHigh = 36
)

// choice is a row of words of which one holds, with a line below that one. Click,
// or the arrow keys while it has the keyboard.
type choice struct {
	widget.BaseWidget
	chosen  func(int)
	words   []*words
	now     int
	over    int // what the pointer is on, -1 none
	focused bool
	line    *canvas.Rectangle
	ring    *canvas.Rectangle
}

var (
	_ fyne.Focusable     = (*choice)(nil)
	_ fyne.Tappable      = (*choice)(nil)
	_ desktop.Hoverable  = (*choice)(nil)
	_ desktop.Cursorable = (*choice)(nil)
)

func newChoice(chosen func(int)) *choice {
	c := &choice{chosen: chosen, over: -1, line: canvas.NewRectangle(nil), ring: canvas.NewRectangle(nil)}
	c.ring.StrokeWidth, c.ring.CornerRadius = 2, 4
	c.ExtendBaseWidget(c)
	return c
}

// set takes over the words and which of them holds.
func (c *choice) set(names []string, now int) {
	same := len(names) == len(c.words) && now == c.now
	for i := 0; same && i < len(names); i++ {
		same = c.words[i].text == names[i]
	}
	if same {
		return
	}
	c.words, c.now = nil, now
	for _, n := range names {
		c.words = append(c.words, newWords(n, base.SizeNameText, base.ColorNamePlaceHolder, false))
	}
	c.Refresh()
}

// at is the word at a position.
func (c *choice) at(p fyne.Position) int {
	x := float32(0)
	for i, w := range c.words {
		if x += w.MinSize().Width + 2*optionPad; p.X < x {
			return i
		}
	}
	return len(c.words) - 1
}

func (c *choice) choose(i int) {
	if i >= 0 && i < len(c.words) && i != c.now {
		c.chosen(i)
	}
}

// Tapped implements fyne.Tappable.
func (c *choice) Tapped(e *fyne.PointEvent) { c.choose(c.at(e.Position)) }

// MouseIn implements desktop.Hoverable.
func (c *choice) MouseIn(e *desktop.MouseEvent) { c.MouseMoved(e) }

// MouseMoved implements desktop.Hoverable.
func (c *choice) MouseMoved(e *desktop.MouseEvent) {
	if over := c.at(e.Position); over != c.over {
		c.over = over
		c.Refresh()
	}
}

// MouseOut implements desktop.Hoverable.
func (c *choice) MouseOut() {
	c.over = -1
	c.Refresh()
}

// Cursor implements desktop.Cursorable.
func (c *choice) Cursor() desktop.Cursor { return desktop.PointerCursor }

// FocusGained implements fyne.Focusable.
func (c *choice) FocusGained() { c.focused = true; c.Refresh() }

// FocusLost implements fyne.Focusable.
func (c *choice) FocusLost() { c.focused = false; c.Refresh() }

// TypedRune implements fyne.Focusable.
func (c *choice) TypedRune(rune) {}

// TypedKey implements fyne.Focusable.
func (c *choice) TypedKey(e *fyne.KeyEvent) {
	switch e.Name {
	case fyne.KeyLeft:
		c.choose(c.now - 1)
	case fyne.KeyRight:
		c.choose(c.now + 1)
	}
}

// CreateRenderer implements fyne.Widget.
func (c *choice) CreateRenderer() fyne.WidgetRenderer {
	r := &choiceRenderer{c}
	r.Refresh()
	return r
}

type choiceRenderer struct{ c *choice }

func (r *choiceRenderer) Destroy() {}

func (r *choiceRenderer) Objects() []fyne.CanvasObject {
	o := []fyne.CanvasObject{r.c.ring, r.c.line}
	for _, w := range r.c.words {
		o = append(o, w)
	}
	return o
}

func (r *choiceRenderer) MinSize() fyne.Size {
	s := fyne.NewSize(0, choiceHigh)
	for _, w := range r.c.words {
		s.Width += w.MinSize().Width + 2*optionPad
	}
	return s
}

func (r *choiceRenderer) Layout(size fyne.Size) {
	x := float32(0)
	for i, w := range r.c.words {
		width := w.MinSize().Width
		w.Move(fyne.NewPos(x+optionPad, (size.Height-20)/2))
		w.Resize(fyne.NewSize(width, 20))
		if i == r.c.now {
			r.c.line.Move(fyne.NewPos(x+optionPad, size.Height-4))
			r.c.line.Resize(fyne.NewSize(width, 2))
		}
		x += width + 2*optionPad
	}
	r.c.ring.Move(fyne.NewPos(0, 0))
	r.c.ring.Resize(size)
}

func (r *choiceRenderer) Refresh() {
	c := r.c
	th, variant := c.Theme(), fyne.CurrentApp().Settings().ThemeVariant()
	c.line.FillColor = th.Color(base.ColorNamePrimary, variant)
	c.ring.StrokeColor = th.Color(base.ColorNamePrimary, variant)
	visible(c.ring, c.focused)
	for i, w := range c.words {
		w.say(w.text, either(i == c.now || i == c.over, base.ColorNameForeground, base.ColorNamePlaceHolder))
	}
	r.Layout(c.Size())
	c.line.Refresh()
	c.ring.Refresh()
}
