package widgets

import (
	"fyne.io/fyne/v2"
	"fyne.io/fyne/v2/canvas"
	"fyne.io/fyne/v2/container"
	"fyne.io/fyne/v2/layout"
	base "fyne.io/fyne/v2/theme"
	"fyne.io/fyne/v2/widget"

	"wiebelt/internal/ui/theme"
)

// Box is a content on a background, with a line around it or without.
type Box struct {
	widget.BaseWidget
	back    *canvas.Rectangle
	fill    fyne.ThemeColorName
	content fyne.CanvasObject
}

// NewSoftBox is a content on the soft background.
func NewSoftBox(content fyne.CanvasObject) *Box {
	b := newBox(content, theme.ColorSoft)
	b.back.CornerRadius = 4
	return b
}

// NewFrame is a content on the window's background, with a line around it or
// without.
func NewFrame(content fyne.CanvasObject, lined bool) *Box {
	b := newBox(content, base.ColorNameBackground)
	if lined {
		b.back.CornerRadius, b.back.StrokeWidth = 4, 1
	}
	return b
}

// Framed sets something with fields apart: on the soft background they could not
// be seen.
func Framed(o fyne.CanvasObject) fyne.CanvasObject {
	return NewFrame(container.New(layout.NewCustomPaddedLayout(12, 12, 12, 12), o), true)
}

// Square makes the corners of a box square, for one that ends at a window's border
// or frames a picture.
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
	r := &boxRenderer{b}
	r.Refresh()
	return r
}

type boxRenderer struct{ b *Box }

func (r *boxRenderer) Destroy()           {}
func (r *boxRenderer) MinSize() fyne.Size { return r.b.content.MinSize() }
func (r *boxRenderer) Objects() []fyne.CanvasObject {
	return []fyne.CanvasObject{r.b.back, r.b.content}
}

func (r *boxRenderer) Layout(size fyne.Size) {
	r.b.back.Resize(size)
	r.b.content.Resize(size)
}

func (r *boxRenderer) Refresh() {
	th, v := r.b.Theme(), fyne.CurrentApp().Settings().ThemeVariant()
	r.b.back.FillColor = th.Color(r.b.fill, v)
	if r.b.back.StrokeWidth > 0 {
		r.b.back.StrokeColor = th.Color(theme.ColorLine, v)
	}
	r.b.back.Refresh()
	r.b.content.Refresh()
}

// Boxed sets something apart.
func Boxed(o fyne.CanvasObject) fyne.CanvasObject {
	return NewSoftBox(container.New(layout.NewCustomPaddedLayout(10, 10, 12, 12), o))
}
