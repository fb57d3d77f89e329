package settings

import (
	"image/color"

	"fyne.io/fyne/v2"
	"fyne.io/fyne/v2/container"
	base "fyne.io/fyne/v2/theme"
	"fyne.io/fyne/v2/widget"

	"wiebelt/internal/ui/theme"
	"wiebelt/internal/ui/widgets"
)

// checkTheme draws the box of an unchecked check so that it is visible. Everything else
// follows the current theme, which may change while the window is open.
type checkTheme struct{}

// current returns the current theme. While its check is drawn, Fyne's Current
// returns checkTheme.
func (checkTheme) current() fyne.Theme { return fyne.CurrentApp().Settings().Theme() }

// Color implements fyne.Theme.
func (t checkTheme) Color(name fyne.ThemeColorName, v fyne.ThemeVariant) color.Color {
	if name == base.ColorNameInputBorder {
		name = theme.ColorQuiet
	}
	return t.current().Color(name, v)
}

// Font implements fyne.Theme.
func (t checkTheme) Font(s fyne.TextStyle) fyne.Resource { return t.current().Font(s) }

// Icon implements fyne.Theme.
func (t checkTheme) Icon(name fyne.ThemeIconName) fyne.Resource { return t.current().Icon(name) }

// Size implements fyne.Theme.
func (t checkTheme) Size(name fyne.ThemeSizeName) float32 { return t.current().Size(name) }

// withoutPadding returns a check without its left padding.
func withoutPadding(c *widget.Check) fyne.CanvasObject {
	return widgets.Padded(-4, -4, -4, 0, container.NewThemeOverride(c, checkTheme{}))
}

// successLine returns a sentence marked as a success.
func successLine(s string) fyne.CanvasObject {
	return widgets.WithMark(widgets.MarkDot, widgets.HintMarkTop, widgets.Plain(s, theme.SizeHint, widget.SuccessImportance))
}

func lockedLine(s string) fyne.CanvasObject {
	return widgets.WithMark(widgets.MarkQuiet, widgets.HintMarkTop, widgets.Paragraph(s))
}

// lockedValue shows a value that cannot be changed here.
func lockedValue(s string) fyne.CanvasObject {
	label := widget.NewLabel(s)
	label.Wrapping = fyne.TextWrapWord
	label.Selectable = true
	return widgets.NewSoftBox(label)
}

func (w *window) newSecretField() *widgets.Field {
	f := widgets.NewField()
	f.Password = true
	return f
}

// wheelCatcher covers a page and handles the wheel, which fields would consume; everything
// else passes through.
type wheelCatcher struct {
	widget.BaseWidget
	turned func(*fyne.ScrollEvent)
}

var _ fyne.Scrollable = (*wheelCatcher)(nil)

func newWheelCatcher(turned func(*fyne.ScrollEvent)) *wheelCatcher {
	w := &wheelCatcher{turned: turned}
	w.ExtendBaseWidget(w)
	return w
}

// Scrolled implements fyne.Scrollable.
func (w *wheelCatcher) Scrolled(e *fyne.ScrollEvent) { w.turned(e) }

// CreateRenderer implements fyne.Widget.
func (w *wheelCatcher) CreateRenderer() fyne.WidgetRenderer {
	return widget.NewSimpleRenderer(container.NewWithoutLayout())
}
