package widgets

import (
	"fyne.io/fyne/v2"
	"fyne.io/fyne/v2/container"
)

// TextWidth is the maximum width of running text.
const TextWidth = 440

// EmptyPage explains what will appear here and how to try it. button may be nil.
func EmptyPage(title string, button *Button, sentences ...string) fyne.CanvasObject {
	lines := Column(8, Subtitle(title))
	for _, s := range sentences {
		lines.Add(Paragraph(s))
	}
	if button != nil {
		lines.Add(Gap(0))
		lines.Add(container.NewHBox(button))
	}
	return container.NewVScroll(Padded(24, 24, Edge, Edge, container.New(AtMost(TextWidth), lines)))
}
