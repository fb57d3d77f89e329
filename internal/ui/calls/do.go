package calls

import (
	"fyne.io/fyne/v2"
	"fyne.io/fyne/v2/widget"

	"wiebelt/internal/deskapi"
	"wiebelt/internal/text"
	"wiebelt/internal/ui/kit"
)

// choose puts the keyboard on a call of the list and shows it.
func (c *window) choose(i int) {
	if c.plan.count == 0 {
		c.pick(-1)
		return
	}
	c.pick(min(max(i, 0), c.plan.count-1))
	c.list.reveal(c.chosen)
	c.list.again()
}

// pick puts the keyboard on a call that can be seen.
func (c *window) pick(i int) {
	c.chosen, c.picked = i, 0
	if r, known := c.row(i); known {
		c.picked = r.id
	}
}

// withChosen does something with the call that the keyboard is on.
func (c *window) withChosen(do func(row)) {
	if r, known := c.row(c.chosen); known {
		do(r)
	}
}

func (c *window) tell(kind string, r row) { c.d.Send(kind, deskapi.CallsEntry{Entry: r.id}) }

func (c *window) open(r row) {
	if r.openable {
		c.tell(deskapi.KindCallsOpen, r)
	}
}

func (c *window) callBack(r row) {
	if r.dial && c.state.CallBack {
		c.tell(deskapi.KindCallsCall, r)
	}
}

func (c *window) copy(r row) {
	if r.number {
		c.copying(r, false)
	}
}

func (c *window) copying(r row, relation bool) {
	c.d.Send(deskapi.KindCallsCopy, deskapi.CallsCopy{Entry: r.id, Relation: relation})
	c.copied = r.id
	c.list.again()
	c.d.After(kit.CopiedIs, func() {
		c.d.Post(func() {
			if c.copied == r.id {
				c.copied = 0
				c.list.again()
			}
		})
	})
}

// lookAgain has the hub asked once more who has the number.
func (c *window) lookAgain(r row) {
	if !r.again {
		return
	}
	c.failed = ""
	c.showNote()
	c.looking = r.id
	c.list.again()
	c.tell(deskapi.KindCallsLookup, r)
}

// looked takes the answer. Where somebody has to choose, that is done in the
// window for it.
func (c *window) looked(m deskapi.CallsLooked) {
	if c.looking != m.Entry {
		return
	}
	c.looking = -1
	c.list.again()
	if m.Sentence != "" {
		c.fail(m.Sentence)
	}
	if !m.Several || !c.state.Manual {
		return
	}
	for _, e := range c.all {
		if e.ID == m.Entry {
			c.d.ShowAt(deskapi.WindowLookup, e.Number)
		}
	}
}

func (c *window) remove(r row) { c.tell(deskapi.KindCallsRemove, r) }

// menu shows all that can be done with a call.
func (c *window) menu(r row, at fyne.Position) {
	items := c.items(r)
	if len(items) == 0 {
		return
	}
	m := widget.NewPopUpMenu(fyne.NewMenu("", items...), c.win.Canvas())
	back := c.win.Canvas().Focused()
	dismissed := m.OnDismiss
	m.OnDismiss = func() {
		dismissed()
		if back != nil {
			c.win.Canvas().Focus(back)
		}
	}
	m.ShowAtPosition(at)
}

func (c *window) items(r row) []*fyne.MenuItem {
	l := c.d.Lang
	var items []*fyne.MenuItem
	add := func(yes bool, label string, do func()) {
		if yes {
			items = append(items, fyne.NewMenuItem(label, do))
		}
	}
	line := func() {
		if n := len(items); n > 0 && !items[n-1].IsSeparator {
			items = append(items, fyne.NewMenuItemSeparator())
		}
	}
	add(r.openable, c.d.OpenWords(), func() { c.open(r) })
	add(r.dial && c.state.CallBack, l.T(text.CallsMenuCall), func() { c.callBack(r) })
	line()
	add(r.number, l.T(text.CallsMenuCopy), func() { c.copy(r) })
	add(r.relation, l.T(text.CallsMenuCopyRelation), func() { c.copying(r, true) })
	line()
	add(r.again, l.T(text.CallsMenuAgain), func() { c.lookAgain(r) })
	add(r.person, l.T(text.CallsMenuNotthis), func() { c.tell(deskapi.KindCallsNotThis, r) })
	add(r.open, l.T(text.CallsMenuTick), func() { c.tell(deskapi.KindCallsTick, r) })
	line()
	add(true, l.T(text.CallsMenuRemove), func() { c.remove(r) })
	return items
}
