package widgets

import (
	"fyne.io/fyne/v2"
	"fyne.io/fyne/v2/canvas"
	base "fyne.io/fyne/v2/theme"
	"fyne.io/fyne/v2/widget"

	"wiebelt/internal/ui/explore"
)

// Button is a button that Enter presses as well as the space bar, with a ring
// around it while the keyboard is on it. A click takes the keyboard off again, so
// whoever uses the pointer never sees the ring.
type Button struct {
	widget.Button
	Of   string // what it is about, for screen readers; "" where its words say that
	ring *canvas.Rectangle
}

// The ring stands off the button, so that it is seen around a primary one too.
const (
	ringOff  = 3
	ringWide = 2
)

// NewButton is a button with a label.
func NewButton(label string, do func()) *Button { return NewButtonWithIcon(label, nil, do) }

// NewButtonWithIcon is a button with an icon and a label.
func NewButtonWithIcon(label string, icon fyne.Resource, do func()) *Button {
	b := &Button{ring: canvas.NewRectangle(nil)}
	b.Text, b.Icon, b.OnTapped = label, icon, do
	b.ring.StrokeWidth, b.ring.CornerRadius = ringWide, 6
	b.ring.Hide()
	b.ExtendBaseWidget(b)
	return b
}

// FocusGained implements fyne.Focusable.
func (b *Button) FocusGained() {
	b.ring.Show()
	b.Refresh()
}

// FocusLost implements fyne.Focusable.
func (b *Button) FocusLost() {
	b.ring.Hide()
	b.Refresh()
}

// TypedKey implements fyne.Focusable.
func (b *Button) TypedKey(e *fyne.KeyEvent) {
	switch e.Name {
	case fyne.KeyReturn, fyne.KeyEnter, fyne.KeySpace:
		if !b.Disabled() && b.OnTapped != nil {
			b.OnTapped() // Tapped would take the keyboard away from whoever uses it
		}
	case fyne.KeyEscape:
		PassEscape(b, e)
	default:
		b.Button.TypedKey(e)
	}
}

// Explore implements explore.Speaker.
func (b *Button) Explore() explore.Said {
	s := explore.Button(&b.Button)
	switch {
	case b.Of != "" && b.Text != "":
		s.Name += ": " + b.Of
	case b.Of != "": // it has an icon alone
		s.Name = b.Of
	}
	return s
}

// CreateRenderer implements fyne.Widget.
func (b *Button) CreateRenderer() fyne.WidgetRenderer {
	b.ring.StrokeColor = Colour(base.ColorNamePrimary)
	return &buttonRenderer{b.Button.CreateRenderer(), b}
}

type buttonRenderer struct {
	fyne.WidgetRenderer
	b *Button
}

func (r *buttonRenderer) Objects() []fyne.CanvasObject {
	all := r.WidgetRenderer.Objects()
	return append(all[:len(all):len(all)], r.b.ring)
}

func (r *buttonRenderer) Layout(size fyne.Size) {
	r.WidgetRenderer.Layout(size)
	r.b.ring.Move(fyne.NewPos(-ringOff, -ringOff))
	r.b.ring.Resize(size.AddWidthHeight(2*ringOff, 2*ringOff))
}

func (r *buttonRenderer) Refresh() {
	r.b.ring.StrokeColor = Colour(base.ColorNamePrimary)
	r.WidgetRenderer.Refresh()
	r.b.ring.Refresh()
}
