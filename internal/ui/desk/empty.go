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
	return container.New(layout.NewCustomPaddedLayout(24, 24, edge, edge), container.New(atMost(textWidth), lines))
}
