package calls

import (
	"fyne.io/fyne/v2"
	base "fyne.io/fyne/v2/theme"
	"fyne.io/fyne/v2/widget"

	"wiebelt/internal/instance/windowapi"
	"wiebelt/internal/text"
	"wiebelt/internal/ui/widgets"
)

// moreButton returns the menu with everything the icon's menu has, and the actions that
// affect all calls: they are rare and should not be hit by mistake.
func (c *window) moreButton() fyne.CanvasObject {
	var b *widgets.Button
	b = widgets.NewButtonWithIcon(c.host.Lang.T(text.CallsMenu), base.MenuIcon(), func() {
		m := widget.NewPopUpMenu(fyne.NewMenu("", c.menuItems()...), c.win.Canvas())
		at := fyne.CurrentApp().Driver().AbsolutePositionForObject(b)
		m.ShowAtPosition(at.AddXY(b.Size().Width-m.MinSize().Width, b.Size().Height+4))
	})
	return b
}

func (c *window) menuItems() []*fyne.MenuItem {
	l, demo := c.host.Lang, len(c.host.Welcome.Demo) > 0
	var m menu
	add := func(yes bool, window string, words text.Key) {
		m.add(yes && c.host.Has(window), l.T(words), func() { c.host.Show(window) })
	}
	add(c.state.Manual, windowapi.WindowLookup, text.StatusMenuSearch)
	add(c.state.Delivery, windowapi.WindowDelivery, text.StatusMenuMessages)
	add(demo, windowapi.WindowDemo, text.StatusMenuDemo)
	m.line()
	// The demo's port and tokens do not outlive it.
	add(!demo, windowapi.WindowTest, text.StatusMenuTest)
	add(!demo, windowapi.WindowRecipes, text.RecipesMenu)
	add(!demo, windowapi.WindowSettings, text.StatusMenuSettings)
	add(!demo, windowapi.WindowDoctor, text.DoctorWindowMenu)
	add(!demo, windowapi.WindowHelp, text.StatusMenuHelp)
	m.line()
	m.add(true, l.T(text.CallsWipe), c.askWipe)
	m.line()
	m.add(true, l.T(text.StatusMenuQuit), func() { c.host.Send(windowapi.KindQuit, nil) })
	return m
}

// askWipe asks whether to delete everything about callers: that cannot be undone.
func (c *window) askWipe() {
	l := c.host.Lang
	stay := widgets.NewButton(l.T(text.WindowFyne("Cancel")), c.closeQuestion)
	wipe := widgets.NewButton(l.T(text.CallsWipeYes), func() {
		c.closeQuestion()
		c.undos, c.failed = nil, "" // nothing of it can be restored
		c.showNote()
		c.run(0, c.h.actions.Wipe)
	})
	wipe.Importance = widget.DangerImportance
	c.question = widgets.Ask(c.win.Canvas(), l.T(text.CallsWipeAsk), wipe, stay)
}

func (c *window) closeQuestion() {
	c.question.Hide()
	c.question = nil
}
