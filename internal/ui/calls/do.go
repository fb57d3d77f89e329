package calls

import (
	"fyne.io/fyne/v2"
	"fyne.io/fyne/v2/widget"

	"wiebelt/internal/deskapi"
	"wiebelt/internal/text"
	"wiebelt/internal/ui/kit"
)

// choose puts the keyboard on a row of the list and shows it.
func (c *window) choose(i int) {
	if c.plan.total() == 0 {
		c.pick(-1)
		return
	}
	c.pick(min(max(i, 0), c.plan.total()-1))
	c.list.reveal(c.chosen)
	c.list.again()
}

// pick puts the keyboard on a row that can be seen.
func (c *window) pick(i int) {
	c.chosen, c.picked = i, picked{}
	if r, known := c.row(i); known {
		c.picked = picked{r.id, r.person}
	}
}

// hold picks a row by the pointer: the list takes the keyboard without a ring.
func (c *window) hold(i int) {
	c.pick(i)
	c.win.Canvas().Focus(c.list)
	c.list.keys = false
	c.list.again()
}

// withChosen does something with the call that the keyboard is on.
func (c *window) withChosen(do func(row)) {
	if r, known := c.row(c.chosen); known {
		do(r)
	}
}

func (c *window) tell(kind string, r row) { c.d.Send(kind, deskapi.CallsEntry{Entry: r.id}) }

// act does what is obvious with a row: it takes back what was just taken away,
// opens a file, or shows the people of whom one has to be chosen.
func (c *window) act(r row) {
	switch {
	case r.undo:
		c.takeBack(r.id)
	case r.person > 0:
		k := c.people.Contacts[r.person-1]
		if k.Link != "" {
			c.d.Send(deskapi.KindCallsPerson, deskapi.CallsPerson{Entry: r.id, Contact: k})
		}
	case r.several && c.people.Entry == r.id:
		c.fold()
	case r.several:
		c.lookAgain(r)
	default:
		c.openFile(r)
	}
}

// fold hides the people again.
func (c *window) fold() {
	c.picked.person = 0
	c.people = deskapi.CallsLooked{}
	c.build()
}

func (c *window) openFile(r row) {
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

// looked takes the answer. Where somebody has to choose, the people stand below
// the row.
func (c *window) looked(m deskapi.CallsLooked) {
	if c.looking != m.Entry {
		return
	}
	c.looking, c.people = -1, m
	c.build()
	if m.Sentence != "" {
		c.fail(m.Sentence)
	}
	if n := len(c.people.Contacts); n > 0 {
		if at := c.find(picked{m.Entry, n}, -1); at >= 0 {
			c.list.reveal(at)
		}
		if at := c.find(picked{m.Entry, 0}, -1); at >= 0 {
			c.choose(at)
		}
	}
}

func (c *window) remove(r row) {
	c.takeAway(r, deskapi.KindCallsRemove, deskapi.KindCallsUndo, text.CallsRemoved)
}

func (c *window) tick(r row) {
	if r.open {
		c.takeAway(r, deskapi.KindCallsTick, deskapi.KindCallsReopen, text.CallsHandled)
	}
}

// takeAway takes the calls of a row away; its place stays for a while, in which
// they can come back.
func (c *window) takeAway(r row, kind, back string, said text.Key) {
	if r.person != 0 || r.undo && r.said != "" {
		return
	}
	c.d.Send(kind, deskapi.CallsEntries{Entries: c.callsOf(r)})
	on := c.picked == picked{r.id, 0}
	c.leave(r, c.d.Lang.T(said), back)
	c.build()
	if on { // the next one that is still there
		for i := c.chosen + 1; i < c.plan.total(); i++ {
			if n, known := c.row(i); known && n.said == "" {
				c.choose(i)
				return
			}
		}
	}
}

func (c *window) notThis(r row) {
	c.tell(deskapi.KindCallsNotThis, r)
	c.leave(r, "", deskapi.KindCallsThis)
	c.build()
}

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
	if r.undo {
		add(true, l.T(text.CallsUndo), func() { c.takeBack(r.id) })
		if r.said != "" {
			return items
		}
	}
	add(r.openable, c.d.OpenWords(), func() { c.act(r) })
	if r.person != 0 {
		return items
	}
	add(r.several, l.T(text.CallsMenuPeople), func() { c.act(r) })
	add(r.open, l.T(text.CallsMenuTick), func() { c.tick(r) })
	add(r.handled, l.T(text.CallsMenuReopen), func() {
		c.d.Send(deskapi.KindCallsReopen, deskapi.CallsEntries{Entries: []int64{r.id}})
	})
	add(r.dial && c.state.CallBack, l.T(text.CallsMenuCall), func() { c.callBack(r) })
	line()
	add(r.number, l.T(text.CallsMenuCopy), func() { c.copy(r) })
	add(r.relation, l.T(text.CallsMenuCopyRelation), func() { c.copying(r, true) })
	line()
	add(r.again && !r.several, l.T(text.CallsMenuAgain), func() { c.lookAgain(r) })
	add(r.contact, l.T(text.CallsMenuNotthis), func() { c.notThis(r) })
	line()
	add(true, l.T(text.CallsMenuRemove), func() { c.remove(r) })
	return items
}
