package widgets

import (
	"fyne.io/fyne/v2"
	"fyne.io/fyne/v2/driver/desktop"
	"fyne.io/fyne/v2/widget"
)

// Pointed is the base of widgets that react to the pointer's position.
type Pointed struct {
	widget.BaseWidget
	Over   int  // the spot under the pointer, -1 for none
	Locked bool // none can be chosen

	at func(fyne.Position) int
}

var (
	_ desktop.Hoverable  = (*Pointed)(nil)
	_ desktop.Cursorable = (*Pointed)(nil)
)

// Extend attaches it to a widget; at returns the spot at a position, nil
// if there is only one.
func (p *Pointed) Extend(of fyne.Widget, at func(fyne.Position) int) {
	if at == nil {
		at = func(fyne.Position) int { return 0 }
	}
	p.Over, p.at = -1, at
	p.ExtendBaseWidget(of)
}

// Hover reports whether the pointer is on the widget.
func (p *Pointed) Hover() bool { return p.Over >= 0 }

// MouseIn implements desktop.Hoverable.
func (p *Pointed) MouseIn(e *desktop.MouseEvent) { p.MouseMoved(e) }

// MouseMoved implements desktop.Hoverable.
func (p *Pointed) MouseMoved(e *desktop.MouseEvent) {
	if over := p.at(e.Position); over != p.Over && !p.Locked {
		p.Over = over
		p.Refresh()
	}
}

// MouseOut implements desktop.Hoverable.
func (p *Pointed) MouseOut() {
	p.Over = -1
	p.Refresh()
}

// Cursor implements desktop.Cursorable.
func (p *Pointed) Cursor() desktop.Cursor {
	return Either[desktop.Cursor](p.Locked, desktop.DefaultCursor, desktop.PointerCursor)
}

// Spots is Pointed for widgets with a choice of spots that draw their own focus.
type Spots struct {
	Pointed
	Focused bool
}

// ShowsFocus marks the widget as drawing its own focus.
func (*Spots) ShowsFocus() {}

// FocusGained implements fyne.Focusable.
func (s *Spots) FocusGained() { s.focus(true) }

// FocusLost implements fyne.Focusable.
func (s *Spots) FocusLost() { s.focus(false) }

func (s *Spots) focus(has bool) {
	s.Focused = has
	s.Refresh()
}

// TypedRune implements fyne.Focusable.
func (*Spots) TypedRune(rune) {}
