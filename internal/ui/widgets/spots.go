package widgets

import (
	"fyne.io/fyne/v2"
	"fyne.io/fyne/v2/driver/desktop"
	"fyne.io/fyne/v2/widget"
)

// PointerWidget is the base of widgets that react to the pointer's position.
type PointerWidget struct {
	widget.BaseWidget
	HoveredSpot int  // the spot under the pointer, -1 for none
	Locked      bool // none can be chosen

	spotAt func(fyne.Position) int
}

var (
	_ desktop.Hoverable  = (*PointerWidget)(nil)
	_ desktop.Cursorable = (*PointerWidget)(nil)
)

// Extend attaches it to a widget; at returns the spot at a position, nil
// if there is only one.
func (p *PointerWidget) Extend(of fyne.Widget, at func(fyne.Position) int) {
	if at == nil {
		at = func(fyne.Position) int { return 0 }
	}
	p.HoveredSpot, p.spotAt = -1, at
	p.ExtendBaseWidget(of)
}

// Hover reports whether the pointer is on the widget.
func (p *PointerWidget) Hover() bool { return p.HoveredSpot >= 0 }

// MouseIn implements desktop.Hoverable.
func (p *PointerWidget) MouseIn(e *desktop.MouseEvent) { p.MouseMoved(e) }

// MouseMoved implements desktop.Hoverable.
func (p *PointerWidget) MouseMoved(e *desktop.MouseEvent) {
	if over := p.spotAt(e.Position); over != p.HoveredSpot && !p.Locked {
		p.HoveredSpot = over
		p.Refresh()
	}
}

// MouseOut implements desktop.Hoverable.
func (p *PointerWidget) MouseOut() {
	p.HoveredSpot = -1
	p.Refresh()
}

// Cursor implements desktop.Cursorable.
func (p *PointerWidget) Cursor() desktop.Cursor {
	return Either[desktop.Cursor](p.Locked, desktop.DefaultCursor, desktop.PointerCursor)
}

// FocusableSpots is a PointerWidget for widgets with a choice of spots that draw their own focus.
type FocusableSpots struct {
	PointerWidget
	Focused bool
}

// ShowsFocus marks the widget as drawing its own focus.
func (*FocusableSpots) ShowsFocus() {}

// FocusGained implements fyne.Focusable.
func (s *FocusableSpots) FocusGained() { s.focus(true) }

// FocusLost implements fyne.Focusable.
func (s *FocusableSpots) FocusLost() { s.focus(false) }

func (s *FocusableSpots) focus(has bool) {
	s.Focused = has
	s.Refresh()
}

// TypedRune implements fyne.Focusable.
func (*FocusableSpots) TypedRune(rune) {}
