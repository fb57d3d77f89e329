package desk

import (
	"fyne.io/fyne/v2"
	"fyne.io/fyne/v2/container"
	"fyne.io/fyne/v2/layout"
	base "fyne.io/fyne/v2/theme"
	"fyne.io/fyne/v2/widget"

	"wiebelt/internal/ui/theme"
)

// textWidth is how wide running text may get.
const textWidth = 440

// emptyPage says what will appear here and how to try it. button may be nil.
func emptyPage(title string, button *widget.Button, sentences ...string) fyne.CanvasObject {
	lines := container.New(layout.NewCustomPaddedVBoxLayout(8),
		newWords(title, theme.SizeStart, base.ColorNameForeground, true).cutting())
	for _, s := range sentences {
		lines.Add(paragraph(s))
	}
	if button != nil {
		lines.Add(gap(0))
		lines.Add(container.NewHBox(button))
	}
	return container.New(layout.NewCustomPaddedLayout(24, 24, edge, edge), container.New(atMost{textWidth}, lines))
}

// paragraph is muted text that wraps. A label keeps an inner padding around its
// text, which is taken off so that it stands on the grid.
func paragraph(s string) fyne.CanvasObject {
	label := widget.NewLabel(s)
	label.SizeName = theme.SizeHint
	label.Importance = widget.LowImportance // muted in our theme
	label.Wrapping = fyne.TextWrapWord
	return container.New(layout.NewCustomPaddedLayout(-8, -8, -8, -8), label)
}

// atMost is a layout that makes its one object no wider than a width.
type atMost struct{ width float32 }

func (a atMost) MinSize(objects []fyne.CanvasObject) fyne.Size { return objects[0].MinSize() }

func (a atMost) Layout(objects []fyne.CanvasObject, size fyne.Size) {
	objects[0].Resize(fyne.NewSize(min(size.Width, a.width), size.Height))
	objects[0].Move(fyne.NewPos(0, 0))
}

// able makes a button one that can be pressed or not. Doing so costs a drawing,
// so only what differs is done.
func able(b *widget.Button, on bool) {
	switch {
	case on && b.Disabled():
		b.Enable()
	case !on && !b.Disabled():
		b.Disable()
	}
}
