package widgets

import (
	"fyne.io/fyne/v2"
	"fyne.io/fyne/v2/container"
	"fyne.io/fyne/v2/widget"
)

// questionWide fits about as many characters as are comfortable to read.
const questionWide = 320

// Ask shows a question over a window, with its answers in a row. The last one gets the
// focus: it is the one that loses nothing. Every answer must hide the question.
func Ask(c fyne.Canvas, question string, answers ...*Button) *widget.PopUp {
	row := Buttons()
	for _, b := range answers {
		row.Add(b)
	}
	content := Column(16, container.New(AtLeast(questionWide), BodyText(question)), row)
	// Bordered: its background is that of the window below.
	asking := widget.NewModalPopUp(NewFrame(Padded(16, 16, 16, 16, content), true), c)
	asking.Show()
	c.Focus(answers[len(answers)-1])
	return asking
}
