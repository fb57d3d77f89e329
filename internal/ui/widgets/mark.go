package widgets

import (
	"image/color"

	"fyne.io/fyne/v2"
	"fyne.io/fyne/v2/canvas"
	base "fyne.io/fyne/v2/theme"
	"fyne.io/fyne/v2/widget"
)

// Mark is the shape in front of a result; with its word beside it nothing
// depends on a colour.
type Mark uint8

// The marks.
const (
	MarkNone    Mark = iota
	MarkRing         // open ring in accent: rings now, or nobody took it
	MarkDot          // full dot: was or is taken here
	MarkTarget       // ring with a dot in it: somebody else took it
	MarkQuiet        // grey ring: not taken here, or dealt with since
	MarkDash         // grey dash: not known
	MarkTrouble      // ring in the colour of trouble
)

// ColourOf is the colour in which a mark and its word are written.
func ColourOf(m Mark) fyne.ThemeColorName {
	switch m {
	case MarkRing:
		return base.ColorNamePrimary
	case MarkDot:
		return base.ColorNameSuccess
	case MarkTrouble:
		return base.ColorNameWarning
	}
	return base.ColorNamePlaceHolder
}

// Shape draws a mark in a square of 10 units.
type Shape struct {
	widget.BaseWidget
	mark Mark
}

// Set draws another mark.
func (s *Shape) Set(m Mark) {
	if s.mark != m {
		s.mark = m
		s.Refresh()
	}
}

// CreateRenderer implements fyne.Widget.
func (s *Shape) CreateRenderer() fyne.WidgetRenderer {
	r := &shapeRenderer{s: s, outer: canvas.NewCircle(nil), inner: canvas.NewCircle(nil), dash: canvas.NewRectangle(nil)}
	r.dash.CornerRadius = 1
	r.Refresh()
	return r
}

// ShapeSize is the side of the square.
const ShapeSize = 10

// NewShape is a shape that draws m.
func NewShape(m Mark) *Shape {
	s := &Shape{mark: m}
	s.ExtendBaseWidget(s)
	return s
}

type shapeRenderer struct {
	s            *Shape
	outer, inner *canvas.Circle
	dash         *canvas.Rectangle
}

func (r *shapeRenderer) Destroy() {}

func (r *shapeRenderer) MinSize() fyne.Size { return fyne.NewSquareSize(ShapeSize) }

func (r *shapeRenderer) Objects() []fyne.CanvasObject {
	return []fyne.CanvasObject{r.outer, r.inner, r.dash}
}

func (r *shapeRenderer) Layout(size fyne.Size) {
	x, y := (size.Width-ShapeSize)/2, (size.Height-ShapeSize)/2
	r.outer.Resize(fyne.NewSquareSize(ShapeSize))
	r.outer.Move(fyne.NewPos(x, y))
	r.inner.Resize(fyne.NewSquareSize(4))
	r.inner.Move(fyne.NewPos(x+3, y+3))
	r.dash.Resize(fyne.NewSize(ShapeSize, 2))
	r.dash.Move(fyne.NewPos(x, y+4))
}

func (r *shapeRenderer) Refresh() {
	m := r.s.mark
	c := r.s.Theme().Color(ColourOf(m), fyne.CurrentApp().Settings().ThemeVariant())
	r.outer.Hidden = m == MarkNone || m == MarkDash
	r.inner.Hidden = m != MarkTarget
	r.dash.Hidden = m != MarkDash
	r.outer.StrokeColor, r.outer.StrokeWidth, r.outer.FillColor = c, 2, color.Transparent
	if m == MarkDot {
		r.outer.FillColor = c
	}
	r.inner.FillColor, r.dash.FillColor = c, c
	r.Layout(r.s.Size())
	r.outer.Refresh()
	r.inner.Refresh()
	r.dash.Refresh()
}
