package calls

import (
	"context"
	"slices"

	"fyne.io/fyne/v2"
	"fyne.io/fyne/v2/widget"

	"wiebelt/internal/instance/windowapi"
	"wiebelt/internal/store/callactions"
	"wiebelt/internal/store/history"
	"wiebelt/internal/text"
	"wiebelt/internal/ui/widgets"
)

// choose moves the focus to a row of the list and scrolls to it.
func (c *window) choose(i int) {
	if c.plan.total() == 0 {
		c.pick(-1)
		return
	}
	c.pick(min(max(i, 0), c.plan.total()-1))
	c.list.reveal(c.chosen)
	c.list.again()
}

// pick moves the keyboard focus to a visible row.
func (c *window) pick(i int) {
	c.chosen, c.picked = i, picked{}
	if r, known := c.row(i); known {
		c.picked = picked{r.id, r.person}
	}
}

// hold picks a row by pointer: the list takes the focus without showing a ring.
func (c *window) hold(i int) {
	c.pick(i)
	c.win.Canvas().Focus(c.list)
	c.list.keys = false
	c.list.again()
}

// withChosen runs do on the call that has the keyboard focus.
func (c *window) withChosen(do func(row)) {
	if r, known := c.row(c.chosen); known {
		do(r)
	}
}

// run runs do for a call off the UI thread and reports failures; id is 0 if it is
// for no call.
func (c *window) run(id int64, do func(context.Context) error) {
	c.runThen(id, do, func(*window, error) {})
}

// runThen is like run, and also passes the result to then if the window is open.
func (c *window) runThen(id int64, do func(context.Context) error, then func(now *window, err error)) {
	h := c.h
	h.host.Go(func(ctx context.Context) {
		err := do(ctx)
		h.host.Post(func() {
			if h.calls == nil {
				return
			}
			then(h.calls, err)
			if err != nil {
				h.calls.didNot(id, err)
			}
		})
		h.host.ReadHistory() // after do: a reading drops what was taken back
	})
}

// didNot reports that an action on a call failed.
func (c *window) didNot(id int64, err error) {
	if c.looking == id {
		c.looking = -1
	}
	if c.copied == id {
		c.copied = 0
	}
	c.list.again()
	c.fail(callactions.Describe(c.host.Lang, err))
}

// act performs a row's default action: it takes back what was just removed, opens a file,
// or shows the people to choose from.
func (c *window) act(r row) {
	switch {
	case r.undo:
		c.takeBack(r.id)
	case r.person > 0:
		if r.openable { // this person, whoever is in its place by now
			c.run(r.id, func(ctx context.Context) error { return c.h.do.OpenPerson(ctx, r.id, r.who) })
		}
	case r.several && c.people.Entry == r.id:
		c.fold()
	case r.several:
		c.lookAgain(r)
	default:
		c.openFile(r)
	}
}

// fold hides the people to choose from.
func (c *window) fold() {
	c.picked.person = 0
	c.people = callactions.LookedUp{}
	c.build()
}

func (c *window) openFile(r row) {
	if r.openable {
		c.run(r.id, func(ctx context.Context) error { return c.h.do.Open(ctx, r.id) })
	}
}

func (c *window) callBack(r row) {
	if r.dial && c.state.CallBack {
		c.run(r.id, func(ctx context.Context) error { return c.h.do.CallBack(ctx, r.id) })
	}
}

func (c *window) copy(r row) {
	if r.number {
		c.copying(r, false)
	}
}

func (c *window) copying(r row, relation bool) {
	c.run(r.id, func(ctx context.Context) error { return c.h.do.Copy(ctx, r.id, relation) })
	widgets.Shortly(c.host, widgets.CopiedFor, &c.copied, r.id, c.list.again)
}

// lookAgain has the hub look the number up again.
func (c *window) lookAgain(r row) {
	e, known := c.entry(r.id)
	if !r.again || !known {
		return
	}
	c.failed = ""
	c.showNote()
	c.looking = r.id
	c.list.again()
	c.about = e
	c.seq++
	c.host.Send(windowapi.KindLookup, windowapi.Lookup{Seq: c.seq, Entry: e.ID, Text: e.Number})
	seq := c.seq
	c.host.Later(widgets.SilentIn, func() {
		if now := c.h.calls; now != nil && now.looking == r.id && now.seq == seq {
			now.looking = -1
			now.list.again()
			now.fail(now.host.Lang.T(text.LookupSilent))
		}
	})
}

// entry returns a call as it was read.
func (c *window) entry(id int64) (history.Entry, bool) {
	for _, all := range [][]history.Entry{c.got.open, c.got.entries} {
		if i := slices.IndexFunc(all, func(e history.Entry) bool { return e.ID == id }); i >= 0 {
			return all[i], true
		}
	}
	return history.Entry{}, false
}

// found stores the result of a lookup.
func (c *window) found(m windowapi.Found) {
	h, l, about := c.h, c.host.Lang, c.about
	var got callactions.LookedUp
	c.runThen(about.ID, func(ctx context.Context) (err error) {
		got, err = h.do.LookedUp(ctx, l, about, m)
		return err
	}, func(now *window, err error) {
		if err == nil && now.looking == got.Entry {
			now.looked(got)
		}
	})
}

// looked shows it. If the user has to choose, the people appear below the row.
func (c *window) looked(m callactions.LookedUp) {
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
	var was []history.Entry // set by the removal, used to restore
	c.takeAway(r, text.CallsRemoved, func(ctx context.Context, ids []int64) (gone []int64, err error) {
		was, err = c.h.do.Remove(ctx, ids...)
		for _, e := range was {
			gone = append(gone, e.ID)
		}
		return gone, err
	}, func(ctx context.Context, _ []int64) error { return c.h.do.Restore(ctx, was...) })
}

func (c *window) tick(r row) {
	if r.open {
		c.takeAway(r, text.CallsHandled, func(ctx context.Context, ids []int64) ([]int64, error) {
			return nil, c.h.do.Tick(ctx, ids...) // calls ticked off anyway can be found and reopened
		}, c.reopen)
	}
}

func (c *window) reopen(ctx context.Context, ids []int64) error { return c.h.do.Reopen(ctx, ids...) }

// takeAway removes the calls of a row; its place stays for a while, during which
// they can be restored.
func (c *window) takeAway(r row, said text.Key, away takes, back func(context.Context, []int64) error) {
	if r.person != 0 || r.undo && r.said != "" {
		return
	}
	on := c.picked == picked{r.id, 0}
	c.leave(r, c.host.Lang.T(said), false, away, back)
	c.build()
	if on { // focus the next one that still exists
		for i := c.chosen + 1; i < c.plan.total(); i++ {
			if n, known := c.row(i); known && n.said == "" {
				c.choose(i)
				return
			}
		}
	}
}

func (c *window) notThis(r row) {
	var was history.Entry
	c.leave(r, "", true, func(ctx context.Context, _ []int64) (gone []int64, err error) {
		if was, err = c.h.do.NotThis(ctx, r.id); was.ID != 0 {
			gone = []int64{r.id}
		}
		return gone, err
	}, func(ctx context.Context, _ []int64) error { return c.h.do.RestorePerson(ctx, was) })
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
	l := c.host.Lang
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
	add(r.openable, c.host.OpenWords(), func() { c.act(r) })
	if r.person != 0 {
		return items
	}
	add(r.several, l.T(text.CallsMenuPeople), func() { c.act(r) })
	add(r.open, l.T(text.CallsMenuTick), func() { c.tick(r) })
	add(r.handled, l.T(text.CallsMenuReopen), func() {
		c.run(r.id, func(ctx context.Context) error { return c.reopen(ctx, []int64{r.id}) })
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
