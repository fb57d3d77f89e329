package widgets

import (
	"image/color"

	"fyne.io/fyne/v2"
	"fyne.io/fyne/v2/canvas"
	base "fyne.io/fyne/v2/theme"
	"fyne.io/fyne/v2/widget"
)

// Mark is the shape in front of a result; together with its text, nothing
// depends on colour.
type Mark uint8

// The marks.
const (
	MarkNone    Mark = iota
	MarkRing         // open ring in accent: ringing now, or nobody answered
	MarkDot          // full dot: answered here, now or before
	MarkTarget       // ring with a dot in it: somebody else answered
	MarkQuiet        // grey ring: not answered here, or handled since
	MarkDash         // grey dash: not known
	MarkTrouble      // ring in the trouble colour
)

// ColourOf returns the colour of a mark and its text.
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
	outer, inner, dash := canvas.NewCircle(nil), canvas.NewCircle(nil), canvas.NewRectangle(nil)
	outer.StrokeWidth, dash.CornerRadius = 2, 1
	return Draw(s, Drawing{Parts: []fyne.CanvasObject{outer, inner, dash},
		Least: func() fyne.Size { return fyne.NewSquareSize(ShapeSize) },
		Arrange: func(size fyne.Size) {
			at := fyne.NewPos((size.Width-ShapeSize)/2, (size.Height-ShapeSize)/2)
			outer.Resize(fyne.NewSquareSize(ShapeSize))
			outer.Move(at)
			inner.Resize(fyne.NewSquareSize(4))
			inner.Move(at.AddXY(3, 3))
			dash.Resize(fyne.NewSize(ShapeSize, 2))
			dash.Move(at.AddXY(0, 4))
		},
		Paint: func(colour func(fyne.ThemeColorName) color.Color) {
			c := colour(ColourOf(s.mark))
			outer.Hidden = s.mark == MarkNone || s.mark == MarkDash
			inner.Hidden, dash.Hidden = s.mark != MarkTarget, s.mark != MarkDash
			outer.StrokeColor, outer.FillColor = c, Either[color.Color](s.mark == MarkDot, c, color.Transparent)
			inner.FillColor, dash.FillColor = c, c
		}})
}

// ShapeSize is the side of the square.
const ShapeSize = 10

// NewShape returns a shape that draws m.
func NewShape(m Mark) *Shape {
	s := &Shape{mark: m}
	s.ExtendBaseWidget(s)
	return s
}
