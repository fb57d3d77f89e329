package widgets

import (
	"fyne.io/fyne/v2"
	"fyne.io/fyne/v2/canvas"
	"fyne.io/fyne/v2/widget"

	"wiebelt/internal/ui/theme"
)

// ruler is a thin line that follows the theme.
type ruler struct {
	widget.BaseWidget
	line *canvas.Rectangle
}

// CreateRenderer implements fyne.Widget.
func (r *ruler) CreateRenderer() fyne.WidgetRenderer {
	x := &rulerRenderer{r}
	x.Refresh()
	return x
}

// NewRule is a thin line that follows the theme, drawn with line.
func NewRule(line *canvas.Rectangle) *ruler {
	r := &ruler{line: line}
	r.ExtendBaseWidget(r)
	return r
}

type rulerRenderer struct{ r *ruler }

func (x *rulerRenderer) Destroy() {}

func (x *rulerRenderer) MinSize() fyne.Size { return fyne.NewSize(0, 1) }

func (x *rulerRenderer) Objects() []fyne.CanvasObject { return []fyne.CanvasObject{x.r.line} }

func (x *rulerRenderer) Layout(size fyne.Size) { x.r.line.Resize(fyne.NewSize(size.Width, 1)) }

func (x *rulerRenderer) Refresh() {
	x.r.line.FillColor = x.r.Theme().Color(theme.ColorLine, fyne.CurrentApp().Settings().ThemeVariant())
	x.r.line.Refresh()
}
