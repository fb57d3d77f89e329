package desk

import (
	"image/color"

	"fyne.io/fyne/v2"
	"fyne.io/fyne/v2/canvas"
	base "fyne.io/fyne/v2/theme"
	"fyne.io/fyne/v2/widget"
)

// mark is the shape in front of a result; with its word beside it nothing
// depends on a colour.
type mark uint8

const (
	markNone    mark = iota
	markRing         // open ring in accent: rings now, or nobody took it
	markDot          // full dot: was or is taken here
	markTarget       // ring with a dot in it: somebody else took it
	markQuiet        // grey ring: not taken here, or dealt with since
	markDash         // grey dash: not known
	markTrouble      // ring in the colour of trouble
)

// colourOf is the colour in which a mark and its word are written.
func colourOf(m mark) fyne.ThemeColorName {
	switch m {
	case markRing:
		return base.ColorNamePrimary
	case markDot:
		return base.ColorNameSuccess
	case markTrouble:
		return base.ColorNameWarning
	}
	return base.ColorNamePlaceHolder
}

// shape draws a mark in a square of 10 units.
type shape struct {
	widget.BaseWidget
	mark mark
}

func (s *shape) set(m mark) {
	if s.mark != m {
		s.mark = m
		s.Refresh()
	}
}

// CreateRenderer implements fyne.Widget.
func (s *shape) CreateRenderer() fyne.WidgetRenderer {
	r := &shapeRenderer{s: s, outer: canvas.NewCircle(nil), inner: canvas.NewCircle(nil), dash: canvas.NewRectangle(nil)}
	r.dash.CornerRadius = 1
	r.Refresh()
	return r
}

const shapeSize = 10

func newShape(m mark) *shape {
	s := &shape{mark: m}
	s.ExtendBaseWidget(s)
	return s
}

type shapeRenderer struct {
	s            *shape
	outer, inner *canvas.Circle
	dash         *canvas.Rectangle
}

func (r *shapeRenderer) Destroy() {}

func (r *shapeRenderer) MinSize() fyne.Size { return fyne.NewSquareSize(shapeSize) }

func (r *shapeRenderer) Objects() []fyne.CanvasObject {
	return []fyne.CanvasObject{r.outer, r.inner, r.dash}
}

func (r *shapeRenderer) Layout(size fyne.Size) {
	x, y := (size.Width-shapeSize)/2, (size.Height-shapeSize)/2
	r.outer.Resize(fyne.NewSquareSize(shapeSize))
	r.outer.Move(fyne.NewPos(x, y))
	r.inner.Resize(fyne.NewSquareSize(4))
	r.inner.Move(fyne.NewPos(x+3, y+3))
	r.dash.Resize(fyne.NewSize(shapeSize, 2))
	r.dash.Move(fyne.NewPos(x, y+4))
}

func (r *shapeRenderer) Refresh() {
	m := r.s.mark
	c := r.s.Theme().Color(colourOf(m), fyne.CurrentApp().Settings().ThemeVariant())
	r.outer.Hidden = m == markNone || m == markDash
	r.inner.Hidden = m != markTarget
	r.dash.Hidden = m != markDash
	r.outer.StrokeColor, r.outer.StrokeWidth, r.outer.FillColor = c, 2, color.Transparent
	if m == markDot {
		r.outer.FillColor = c
	}
	r.inner.FillColor, r.dash.FillColor = c, c
	r.Layout(r.s.Size())
	r.outer.Refresh()
	r.inner.Refresh()
	r.dash.Refresh()
}
