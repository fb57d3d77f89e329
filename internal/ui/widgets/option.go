package widgets

import (
	"image/color"

	"fyne.io/fyne/v2"
	"fyne.io/fyne/v2/canvas"
	base "fyne.io/fyne/v2/theme"

	"wiebelt/internal/native/screenreader"
	"wiebelt/internal/ui/explore"
	"wiebelt/internal/ui/theme"
)

// Option is one of several exclusive choices: a ring, with a dot if chosen, and its name.
// The toolkit's own ring is too faint in our colours. Only for the UI thread.
type Option struct {
	FocusableSpots
	Label  string
	Chosen bool
	choose func()
}

var (
	_ fyne.Tappable  = (*Option)(nil)
	_ fyne.Focusable = (*Option)(nil)
)

// Sizes of an option.
const (
	optionHeight = 32
	ringSize     = 16
	ringGap      = 8
)

// NewOption returns an option; choose is called when the user selects it.
func NewOption(label string, chosen bool, choose func()) *Option {
	o := &Option{Label: label, Chosen: chosen, choose: choose}
	o.Extend(o, nil)
	return o
}

// Tapped implements fyne.Tappable.
func (o *Option) Tapped(*fyne.PointEvent) { o.choose() }

// TypedKey implements fyne.Focusable.
func (o *Option) TypedKey(e *fyne.KeyEvent) {
	if e.Name == fyne.KeySpace || e.Name == fyne.KeyReturn || e.Name == fyne.KeyEnter {
		o.choose()
		return
	}
	PassEscape(o, e)
}

// Describe implements explore.Describer.
func (o *Option) Describe() explore.Description {
	s := explore.Description{Role: screenreader.Radio, State: screenreader.Focusable, Name: o.Label, Leaf: true}
	if o.Chosen {
		s.State |= screenreader.Checked
	}
	return s
}

// CreateRenderer implements fyne.Widget.
func (o *Option) CreateRenderer() fyne.WidgetRenderer {
	back, ring, dot, text := canvas.NewRectangle(nil), canvas.NewCircle(nil), canvas.NewCircle(nil), canvas.NewText(o.Label, nil)
	back.CornerRadius, back.StrokeWidth, ring.StrokeWidth, ring.FillColor = 4, 2, 2, color.Transparent
	return Draw(o, Drawing{Parts: []fyne.CanvasObject{back, ring, dot, text},
		Least: func() fyne.Size {
			return fyne.NewSize(8+ringSize+ringGap+text.MinSize().Width+12, optionHeight)
		},
		Arrange: func(size fyne.Size) {
			back.Resize(size)
			y := (size.Height - ringSize) / 2
			ring.Resize(fyne.NewSquareSize(ringSize))
			ring.Move(fyne.NewPos(8, y))
			dot.Resize(fyne.NewSquareSize(8))
			dot.Move(fyne.NewPos(12, y+4))
			t := text.MinSize()
			text.Resize(t)
			text.Move(fyne.NewPos(8+ringSize+ringGap, (size.Height-t.Height)/2))
		},
		Paint: func(colour func(fyne.ThemeColorName) color.Color) {
			primary := colour(base.ColorNamePrimary)
			back.FillColor = Either[color.Color](o.Hover(), colour(base.ColorNameHover), color.Transparent)
			back.StrokeColor = Either[color.Color](o.Focused, primary, color.Transparent)
			ring.StrokeColor = Either(o.Chosen, primary, colour(theme.ColorQuiet))
			dot.FillColor, dot.Hidden = primary, !o.Chosen
			text.Color, text.TextSize = colour(base.ColorNameForeground), o.Theme().Size(base.SizeNameText)
			text.TextStyle.Bold = o.Chosen
		}})
}
