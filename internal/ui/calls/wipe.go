package calls

import (
	"fyne.io/fyne/v2"
	"fyne.io/fyne/v2/container"
	"fyne.io/fyne/v2/layout"
	base "fyne.io/fyne/v2/theme"
	"fyne.io/fyne/v2/widget"

	"wiebelt/internal/deskapi"
	"wiebelt/internal/text"
	"wiebelt/internal/ui/kit"
)

// moreButton has what concerns all calls at once: rare, and not to be hit by
// mistake.
func (c *window) moreButton() fyne.CanvasObject {
	var b *widget.Button
	b = widget.NewButtonWithIcon("", base.MoreVerticalIcon(), func() {
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
	var ask *widget.PopUp
	stay := widget.NewButton(l.T(text.DeskFyneCancel), func() { ask.Hide() })
	wipe := widget.NewButton(l.T(text.CallsWipeYes), func() {
		ask.Hide()
		c.removed, c.failed = nil, "" // nothing of that can come back
		c.showNote()
		c.d.Send(deskapi.KindCallsWipe, nil)
	})
	wipe.Importance = widget.DangerImportance
	content := container.New(layout.NewCustomPaddedVBoxLayout(16), container.New(kit.AtLeast(320), kit.Running(l.T(text.CallsWipeAsk))),
		container.New(layout.NewCustomPaddedHBoxLayout(8), wipe, stay))
	ask = widget.NewModalPopUp(container.New(layout.NewCustomPaddedLayout(16, 16, 16, 16), content), c.win.Canvas())
	ask.Show()
	c.win.Canvas().Focus(stay)
}
