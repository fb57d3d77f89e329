package widgets

import (
	"image/color"

	"fyne.io/fyne/v2"
	"fyne.io/fyne/v2/canvas"
	"fyne.io/fyne/v2/driver/desktop"
	base "fyne.io/fyne/v2/theme"
	"fyne.io/fyne/v2/widget"

	"wiebelt/internal/ui/theme"
)

// Option is one of a few choices that exclude each other: a ring with a dot in
// it where it is the chosen one, and its name. The toolkit's own ring is too
// faint to be seen in our colours. Only for the UI thread.
type Option struct {
	widget.BaseWidget
	Label         string
	Chosen        bool
	over, focused bool
	choose        func()
}

var (
	_ fyne.Tappable     = (*Option)(nil)
	_ fyne.Focusable    = (*Option)(nil)
	_ desktop.Hoverable = (*Option)(nil)
)

// Sizes of an option.
const (
	optionHeight = 32
	ringSize     = 16
	ringGap      = 8
)

// NewOption is an option; choose is called when somebody takes it.
func NewOption(label string, chosen bool, choose func()) *Option {
	o := &Option{Label: label, Chosen: chosen, choose: choose}
	o.ExtendBaseWidget(o)
	return o
}

func (o *Option) look(over, focused bool) {
	o.over, o.focused = over, focused
	o.Refresh()
}

// Tapped implements fyne.Tappable.
func (o *Option) Tapped(*fyne.PointEvent) { o.choose() }

// MouseIn implements desktop.Hoverable.
func (o *Option) MouseIn(*desktop.MouseEvent) { o.look(true, o.focused) }

// MouseMoved implements desktop.Hoverable.
func (o *Option) MouseMoved(*desktop.MouseEvent) {}

// MouseOut implements desktop.Hoverable.
func (o *Option) MouseOut() { o.look(false, o.focused) }

// Cursor implements desktop.Cursorable.
func (o *Option) Cursor() desktop.Cursor { return desktop.PointerCursor }

// FocusGained implements fyne.Focusable.
func (o *Option) FocusGained() { o.look(o.over, true) }

// FocusLost implements fyne.Focusable.
func (o *Option) FocusLost() { o.look(o.over, false) }

// TypedRune implements fyne.Focusable.
func (o *Option) TypedRune(rune) {}

// TypedKey implements fyne.Focusable.
func (o *Option) TypedKey(e *fyne.KeyEvent) {
	if e.Name == fyne.KeySpace || e.Name == fyne.KeyReturn || e.Name == fyne.KeyEnter {
		o.choose()
		return
	}
	Hand(o, e)
}

// CreateRenderer implements fyne.Widget.
func (o *Option) CreateRenderer() fyne.WidgetRenderer {
	r := &optionRenderer{o: o, back: canvas.NewRectangle(nil), ring: canvas.NewCircle(nil), dot: canvas.NewCircle(nil), text: canvas.NewText(o.Label, nil)}
	r.back.CornerRadius, r.back.StrokeWidth, r.ring.StrokeWidth = 4, 2, 2
	r.Refresh()
	return r
}

type optionRenderer struct {
	o         *Option
	back      *canvas.Rectangle
	ring, dot *canvas.Circle
	text      *canvas.Text
}

func (r *optionRenderer) Destroy() {}
func (r *optionRenderer) Objects() []fyne.CanvasObject {
	return []fyne.CanvasObject{r.back, r.ring, r.dot, r.text}
}

func (r *optionRenderer) MinSize() fyne.Size {
	return fyne.NewSize(8+ringSize+ringGap+r.text.MinSize().Width+12, optionHeight)
}

func (r *optionRenderer) Layout(size fyne.Size) {
	r.back.Resize(size)
	y := (size.Height - ringSize) / 2
	r.ring.Resize(fyne.NewSquareSize(ringSize))
	r.ring.Move(fyne.NewPos(8, y))
	r.dot.Resize(fyne.NewSquareSize(8))
	r.dot.Move(fyne.NewPos(12, y+4))
	t := r.text.MinSize()
	r.text.Resize(t)
	r.text.Move(fyne.NewPos(8+ringSize+ringGap, (size.Height-t.Height)/2))
}

func (r *optionRenderer) Refresh() {
	th, v := r.o.Theme(), fyne.CurrentApp().Settings().ThemeVariant()
	paint := func(name fyne.ThemeColorName) color.Color { return th.Color(name, v) }
	r.back.FillColor, r.back.StrokeColor = color.Transparent, color.Transparent
	if r.o.over {
		r.back.FillColor = paint(base.ColorNameHover)
	}
	if r.o.focused {
		r.back.StrokeColor = paint(base.ColorNamePrimary)
	}
	r.ring.FillColor, r.ring.StrokeColor = color.Transparent, paint(theme.ColorQuiet)
	r.dot.Hidden = !r.o.Chosen
	if r.o.Chosen {
		r.ring.StrokeColor, r.dot.FillColor = paint(base.ColorNamePrimary), paint(base.ColorNamePrimary)
	}
	r.text.Color, r.text.TextSize = paint(base.ColorNameForeground), th.Size(base.SizeNameText)
	r.text.TextStyle.Bold = r.o.Chosen
	r.Layout(r.o.Size())
	canvas.Refresh(r.o)
}
