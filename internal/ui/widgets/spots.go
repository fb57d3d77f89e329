package widgets

import (
	"fyne.io/fyne/v2"
	"fyne.io/fyne/v2/driver/desktop"
	"fyne.io/fyne/v2/widget"
)

// Pointed is what widgets have in common that show where the pointer is.
type Pointed struct {
	widget.BaseWidget
	Over   int  // which of their spots the pointer is on, -1 none
	Locked bool // none can be chosen

	at func(fyne.Position) int
}

var (
	_ desktop.Hoverable  = (*Pointed)(nil)
	_ desktop.Cursorable = (*Pointed)(nil)
)

// Extend has it belong to a widget; at gives the spot at a place, nil for the only one.
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

// Spots is Pointed for widgets on which one of a few spots is chosen: they mark by
// themselves that they have the keyboard.
type Spots struct {
	Pointed
	Focused bool
}

// ShowsFocus says that it marks by itself what has the focus.
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
