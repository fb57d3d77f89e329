package widgets

import (
	"fyne.io/fyne/v2"
	"fyne.io/fyne/v2/container"
	"fyne.io/fyne/v2/widget"
)

// questionWide is about as many characters as are read at ease.
const questionWide = 320

// Ask lays a question over a window, with its answers in a row. The last one has
// the keyboard: it is the one that loses nothing. Whoever answers hides it.
func Ask(c fyne.Canvas, question string, answers ...*Button) *widget.PopUp {
	row := Buttons()
	for _, b := range answers {
		row.Add(b)
	}
	content := Column(16, container.New(AtLeast(questionWide), Running(question)), row)
	// With a line around it: its background is that of the window below.
	asking := widget.NewModalPopUp(NewFrame(Padded(16, 16, 16, 16, content), true), c)
	asking.Show()
	c.Focus(answers[len(answers)-1])
	return asking
}
