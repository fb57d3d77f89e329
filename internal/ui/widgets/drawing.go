package widgets

import (
	"image/color"

	"fyne.io/fyne/v2"
)

// Drawing draws a widget from its parts; it is its fyne.WidgetRenderer. Only for
// the UI thread.
type Drawing struct {
	Parts   []fyne.CanvasObject // from below
	Least   func() fyne.Size
	Arrange func(size fyne.Size)
	Paint   func(colour func(fyne.ThemeColorName) color.Color) // gives parts looks and words; may change Parts
	of      fyne.Widget
}

// Draw is the drawing of a widget, painted for the first time.
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

// Refresh paints and arranges the parts. Those that are widgets know themselves
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

// Colour is a colour of the theme as it is now.
func Colour(name fyne.ThemeColorName) color.Color {
	s := fyne.CurrentApp().Settings()
	return s.Theme().Color(name, s.ThemeVariant())
}
