package calls

import (
	"fyne.io/fyne/v2"
	base "fyne.io/fyne/v2/theme"
	"fyne.io/fyne/v2/widget"

	"wiebelt/internal/deskapi"
	"wiebelt/internal/text"
	"wiebelt/internal/ui/kit"
)

// moreButton has what concerns all calls at once: rare, and not to be hit by
// mistake.
func (c *window) moreButton() fyne.CanvasObject {
	var b *kit.Button
	b = kit.NewButtonWithIcon("", base.MoreVerticalIcon(), func() {
		m := widget.NewPopUpMenu(fyne.NewMenu("", fyne.NewMenuItem(c.d.Lang.T(text.CallsWipe), c.askWipe)), c.win.Canvas())
		at := fyne.CurrentApp().Driver().AbsolutePositionForObject(b)
		m.ShowAtPosition(at.AddXY(b.Size().Width-m.MinSize().Width, b.Size().Height+4))
	})
	b.Importance = widget.LowImportance
	return b
}

// askWipe asks whether everything about callers is to be deleted: that cannot be
// undone.
func (c *window) askWipe() {
	l := c.d.Lang
	stay := kit.NewButton(l.T(text.DeskFyneCancel), c.unask)
	wipe := kit.NewButton(l.T(text.CallsWipeYes), func() {
		c.unask()
		c.removed, c.failed = nil, "" // nothing of that can come back
		c.showNote()
		c.d.Send(deskapi.KindCallsWipe, nil)
	})
	wipe.Importance = widget.DangerImportance
	c.asking = kit.Ask(c.win.Canvas(), l.T(text.CallsWipeAsk), wipe, stay)
}

// unask takes the question away.
func (c *window) unask() {
	c.asking.Hide()
	c.asking = nil
}
