package widgets

import (
	"image/color"

	"fyne.io/fyne/v2"
)

// Drawing draws a widget from its parts; it is the widget's fyne.WidgetRenderer.
// Only for the UI thread.
type Drawing struct {
	Parts   []fyne.CanvasObject // from bottom to top
	Least   func() fyne.Size
	Arrange func(size fyne.Size)
	Paint   func(colour func(fyne.ThemeColorName) color.Color) // sets parts' looks and texts; may change Parts
	of      fyne.Widget
}

// Draw returns the drawing of a widget, painted once.
func Draw(of fyne.Widget, d Drawing) *Drawing {
	d.of = of
	d.Refresh()
	return &d
}

// Destroy, Objects, MinSize, Layout and Refresh implement fyne.WidgetRenderer.
func (d *Drawing) Destroy()                     {}
func (d *Drawing) Objects() []fyne.CanvasObject { return d.Parts }
func (d *Drawing) MinSize() fyne.Size           { return d.Least() }
func (d *Drawing) Layout(size fyne.Size)        { d.Arrange(size) }

// Refresh paints and arranges the parts. Parts that are widgets know themselves
// what has changed.
func (d *Drawing) Refresh() {
	d.Paint(Colour)
	d.Arrange(d.of.Size())
	for _, p := range d.Parts {
		if _, ok := p.(fyne.Widget); !ok {
			p.Refresh()
		}
	}
}

// Colour returns a colour of the current theme.
func Colour(name fyne.ThemeColorName) color.Color {
	s := fyne.CurrentApp().Settings()
	return s.Theme().Color(name, s.ThemeVariant())
}
