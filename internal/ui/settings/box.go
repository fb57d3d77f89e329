package settings

import (
	"image/color"

	"fyne.io/fyne/v2"
	"fyne.io/fyne/v2/container"
	"fyne.io/fyne/v2/layout"
	base "fyne.io/fyne/v2/theme"
	"fyne.io/fyne/v2/widget"

	"wiebelt/internal/ui/theme"
	"wiebelt/internal/ui/widgets"
)

// checkTheme draws the box of a check that is off so that it can be seen.
type checkTheme struct{ fyne.Theme }

// Color implements fyne.Theme.
func (t checkTheme) Color(name fyne.ThemeColorName, v fyne.ThemeVariant) color.Color {
	if name == base.ColorNameInputBorder {
		name = theme.ColorQuiet
	}
	return t.Theme.Color(name, v)
}

// onGrid is a check without its padding at the left.
func onGrid(c *widget.Check) fyne.CanvasObject {
	return container.New(layout.NewCustomPaddedLayout(-4, -4, -4, 0), container.NewThemeOverride(c, checkTheme{fyne.CurrentApp().Settings().Theme()}))
}

// marked is a mark and what it stands for, the mark on the first line.
func marked(m widgets.Mark, o fyne.CanvasObject) fyne.CanvasObject {
	return container.NewBorder(nil, nil, container.New(layout.NewCustomPaddedLayout(4, 0, 0, 4), container.NewVBox(widgets.NewShape(m))), nil, o)
}

// good is a sentence with the mark of what works.
func good(s string) fyne.CanvasObject {
	return marked(widgets.MarkDot, widgets.Plain(s, theme.SizeHint, widget.SuccessImportance))
}

// lockedLine says who set something.
func lockedLine(s string) fyne.CanvasObject {
	return marked(widgets.MarkQuiet, widgets.Plain(s, theme.SizeHint, widget.LowImportance))
}

// lockedValue is a value that cannot be changed here.
func lockedValue(s string) fyne.CanvasObject {
	label := widget.NewLabel(s)
	label.Wrapping = fyne.TextWrapWord
	label.Selectable = true
	return widgets.NewSoftBox(label)
}

// muted is a line of small muted text that wraps.
func muted(s string) fyne.CanvasObject {
	return widgets.Plain(s, base.SizeNameCaptionText, widget.LowImportance)
}

// field is a line to type into that tells when it got the keyboard.
type field struct {
	widget.Entry
	gained func()
}

func (w *window) newField() *field {
	f := &field{}
	f.gained = func() { w.reveal(f) }
	f.ExtendBaseWidget(f)
	return f
}

// newSecretField is a field that shows dots.
func (w *window) newSecretField() *field {
	f := w.newField()
	f.Password = true
	return f
}

// newLinesField is a field of several lines.
func (w *window) newLinesField() *field {
	f := w.newField()
	f.MultiLine = true
	return f
}

// FocusGained implements fyne.Focusable.
func (f *field) FocusGained() {
	f.Entry.FocusGained()
	f.gained()
}

// TypedKey implements fyne.Focusable.
func (f *field) TypedKey(e *fyne.KeyEvent) {
	if e.Name == fyne.KeyEscape {
		widgets.PassEscape(f, e)
		return
	}
	f.Entry.TypedKey(e)
}

// wheel lies over a page and takes the wheel, which fields would keep for
// themselves; everything else goes through it.
type wheel struct {
	widget.BaseWidget
	turned func(*fyne.ScrollEvent)
}

var _ fyne.Scrollable = (*wheel)(nil)

func newWheel(turned func(*fyne.ScrollEvent)) *wheel {
	w := &wheel{turned: turned}
	w.ExtendBaseWidget(w)
	return w
}

// Scrolled implements fyne.Scrollable.
func (w *wheel) Scrolled(e *fyne.ScrollEvent) { w.turned(e) }

// CreateRenderer implements fyne.Widget.
func (w *wheel) CreateRenderer() fyne.WidgetRenderer {
	return widget.NewSimpleRenderer(container.NewWithoutLayout())
}
