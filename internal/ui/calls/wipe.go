package calls

import (
	"fyne.io/fyne/v2/widget"

	"wiebelt/internal/text"
	"wiebelt/internal/ui/widgets"
)

// askWipe asks whether to delete everything about callers: that cannot be undone.
func (c *window) askWipe() {
	l := c.host.Lang
	stay := widgets.NewButton(l.T(text.WindowFyneCancel), c.unask)
	wipe := widgets.NewButton(l.T(text.CallsWipeYes), func() {
		c.unask()
		c.undos, c.failed = nil, "" // nothing of it can be restored
		c.showNote()
		c.run(row{}, c.h.do.Wipe)
	})
	wipe.Importance = widget.DangerImportance
	c.asking = widgets.Ask(c.win.Canvas(), l.T(text.CallsWipeAsk), wipe, stay)
}

// unask removes the question.
func (c *window) unask() {
	c.asking.Hide()
	c.asking = nil
}
