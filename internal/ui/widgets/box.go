package widgets

import (
	"image/color"

	"fyne.io/fyne/v2"
	"fyne.io/fyne/v2/canvas"
	base "fyne.io/fyne/v2/theme"
	"fyne.io/fyne/v2/widget"

	"wiebelt/internal/ui/theme"
)

// Box is content on a background, with or without a border.
type Box struct {
	widget.BaseWidget
	back    *canvas.Rectangle
	fill    fyne.ThemeColorName
	content fyne.CanvasObject
}

// NewSoftBox returns content on the soft background.
func NewSoftBox(content fyne.CanvasObject) *Box {
	b := newBox(content, theme.ColorSoft)
	b.back.CornerRadius = 4
	return b
}

// NewFrame returns content on the window's background, with or without a border.
func NewFrame(content fyne.CanvasObject, lined bool) *Box {
	b := newBox(content, base.ColorNameBackground)
	if lined {
		b.back.CornerRadius, b.back.StrokeWidth = 4, 1
	}
	return b
}

// Framed separates an object with fields: they would be invisible on the soft background.
func Framed(o fyne.CanvasObject) fyne.CanvasObject {
	return NewFrame(Padded(12, 12, 12, 12, o), true)
}

// Square makes a box's corners square, for one that touches the window's
// edge or frames a picture.
func (b *Box) Square() *Box {
	b.back.CornerRadius = 0
	return b
}

func newBox(content fyne.CanvasObject, fill fyne.ThemeColorName) *Box {
	b := &Box{back: canvas.NewRectangle(nil), fill: fill, content: content}
	b.ExtendBaseWidget(b)
	return b
}

// CreateRenderer implements fyne.Widget.
func (b *Box) CreateRenderer() fyne.WidgetRenderer {
	return Draw(b, Drawing{Parts: []fyne.CanvasObject{b.back, b.content}, Least: b.content.MinSize,
		Arrange: func(size fyne.Size) {
			b.back.Resize(size)
			b.content.Resize(size)
		},
		Paint: func(colour func(fyne.ThemeColorName) color.Color) {
			b.back.FillColor, b.back.StrokeColor = colour(b.fill), colour(theme.ColorLine)
			b.content.Refresh()
		}})
}

// Boxed sets an object apart.
func Boxed(o fyne.CanvasObject) fyne.CanvasObject {
	return NewSoftBox(Padded(10, 10, 12, 12, o))
}
