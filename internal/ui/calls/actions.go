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

// focusRow moves the focus to a row of the list and scrolls to it.
func (c *window) focusRow(i int) {
	if c.listLayout.total() == 0 {
		c.setFocus(-1)
		return
	}
	c.setFocus(min(max(i, 0), c.listLayout.total()-1))
	c.list.reveal(c.focusIndex)
	c.list.repaintRows()
}

func (c *window) setFocus(i int) {
	c.focusIndex, c.focusKey = i, rowKey{}
	if r, known := c.row(i); known {
		c.focusKey = rowKey{r.id, r.person}
	}
}

// focusByPointer picks a row by pointer: the list takes the focus without showing a ring.
func (c *window) focusByPointer(i int) {
	c.setFocus(i)
	c.win.Canvas().Focus(c.list)
	c.list.keyboardUsed = false
	c.list.repaintRows()
}

func (c *window) withChosen(do func(row)) {
	if r, known := c.row(c.focusIndex); known {
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
				h.calls.reportFailure(id, err)
			}
		})
		h.host.ReadHistory() // after do: a reading drops what was taken back
	})
}

func (c *window) reportFailure(id int64, err error) {
	if c.lookupEntry.ID == id {
		c.lookupEntry = history.Entry{}
	}
	if c.copied == id {
		c.copied = 0
	}
	c.list.repaintRows()
	c.fail(callactions.Describe(c.host.Lang, err))
}

// act performs a row's default action: it takes back what was just removed, opens a file,
// or shows the people to choose from.
func (c *window) act(r row) {
	switch {
	case r.undo:
		c.undoRow(r.id)
	case r.person > 0:
		if r.openable { // this person, whoever is in its place by now
			c.run(r.id, func(ctx context.Context) error {
				return c.h.actions.OpenPerson(ctx, r.id, r.personNumber, r.personContact)
			})
		}
	case r.several && c.people.Entry == r.id:
		c.hidePeople()
	case r.several:
		c.lookAgain(r)
	default:
		c.openFile(r)
	}
}

func (c *window) hidePeople() {
	c.focusKey.person = 0
	c.people = callactions.LookupOutcome{}
	c.build()
}

func (c *window) openFile(r row) {
	if r.openable {
		c.run(r.id, func(ctx context.Context) error { return c.h.actions.Open(ctx, r.id) })
	}
}

func (c *window) callBack(r row) {
	if r.callable && c.state.CallBack {
		c.run(r.id, func(ctx context.Context) error { return c.h.actions.CallBack(ctx, r.id) })
	}
}

func (c *window) copy(r row) {
	if r.hasNumber {
		c.copyToClipboard(r, false)
	}
}

func (c *window) copyToClipboard(r row, relation bool) {
	c.run(r.id, func(ctx context.Context) error { return c.h.actions.Copy(ctx, r.id, relation) })
	widgets.ShowFor(c.host, widgets.CopiedFor, &c.copied, r.id, c.list.repaintRows)
}

func (c *window) lookAgain(r row) {
	e, known := c.entry(r.id)
	if !r.canLookUp || !known {
		return
	}
	c.failed = ""
	c.showNote()
	c.lookupEntry = e
	c.list.repaintRows()
	seq := c.host.NextLookup()
	c.lookupSeq = seq
	c.host.Send(windowapi.KindLookup, windowapi.Lookup{Seq: seq, Entry: e.ID, Text: e.Number})
	c.host.Later(widgets.LookupTimeout, func() {
		if now := c.h.calls; now != nil && now.lookupEntry.ID == r.id && now.lookupSeq == seq {
			now.lookupEntry = history.Entry{}
			now.list.repaintRows()
			now.fail(now.host.Lang.T(text.LookupSilent))
		}
	})
}

func (c *window) entry(id int64) (history.Entry, bool) {
	for _, all := range [][]history.Entry{c.result.open, c.result.entries} {
		if i := slices.IndexFunc(all, func(e history.Entry) bool { return e.ID == id }); i >= 0 {
			return all[i], true
		}
	}
	return history.Entry{}, false
}

func (c *window) storeLookup(m windowapi.LookupResult) {
	h, l, about := c.h, c.host.Lang, c.lookupEntry
	var got callactions.LookupOutcome
	c.runThen(about.ID, func(ctx context.Context) (err error) {
		got, err = h.actions.StoreLookup(ctx, l, about, m)
		return err
	}, func(now *window, err error) {
		if err == nil && now.lookupEntry.ID == got.Entry {
			now.showLookup(got)
		}
	})
}

// showLookup shows it. If the user has to choose, the people appear below the row.
func (c *window) showLookup(m callactions.LookupOutcome) {
	c.lookupEntry, c.people = history.Entry{}, m
	c.build()
	if m.Sentence != "" {
		c.fail(m.Sentence)
	}
	if n := len(c.people.Contacts); n > 0 {
		if at := c.findRow(rowKey{m.Entry, n}, -1); at >= 0 {
			c.list.reveal(at)
		}
		if at := c.findRow(rowKey{m.Entry, 0}, -1); at >= 0 {
			c.focusRow(at)
		}
	}
}

// remove removes the calls of a row, which are ids.
func (c *window) remove(r row, ids []int64) {
	var was []history.Entry // set by the removal, used to restore
	c.removeAndFocusNext(r, ids, text.CallsRemoved, func(ctx context.Context, ids []int64) (gone []int64, err error) {
		was, err = c.h.actions.Remove(ctx, ids...)
		for _, e := range was {
			gone = append(gone, e.ID)
		}
		return gone, err
	}, func(ctx context.Context, _ []int64) error { return c.h.actions.Restore(ctx, was...) })
}

// tick ticks off the calls of a row, which are ids.
func (c *window) tick(r row, ids []int64) {
	if r.open {
		c.removeAndFocusNext(r, ids, text.CallsHandled, func(ctx context.Context, ids []int64) ([]int64, error) {
			return nil, c.h.actions.Tick(ctx, ids...) // calls ticked off anyway can be found and reopened
		}, c.reopen)
	}
}

func (c *window) reopen(ctx context.Context, ids []int64) error {
	return c.h.actions.Reopen(ctx, ids...)
}

// removeAndFocusNext removes the calls of a row; its place stays for a while, during which
// they can be restored.
func (c *window) removeAndFocusNext(r row, ids []int64, said text.Key, away removeFunc, back func(context.Context, []int64) error) {
	if r.person != 0 || r.undo && r.removedText != "" {
		return
	}
	on := c.focusKey == rowKey{r.id, 0}
	c.removeWithUndo(r, ids, c.host.Lang.T(said), false, away, back)
	c.build()
	if on { // focus the next one that still exists
		for i := c.focusIndex + 1; i < c.listLayout.total(); i++ {
			if n, known := c.row(i); known && n.removedText == "" {
				c.focusRow(i)
				return
			}
		}
	}
}

func (c *window) removeContact(r row) {
	var was history.Entry
	c.removeWithUndo(r, []int64{r.id}, "", true, func(ctx context.Context, _ []int64) (gone []int64, err error) {
		if was, err = c.h.actions.RemovePerson(ctx, r.id); was.ID != 0 {
			gone = []int64{r.id}
		}
		return gone, err
	}, func(ctx context.Context, _ []int64) error { return c.h.actions.RestorePerson(ctx, was) })
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
	l, ids := c.host.Lang, c.callsOf(r) // those seen: the caller may call again while the menu is open
	var m menu
	if r.undo {
		m.add(true, l.T(text.CallsUndo), func() { c.undoRow(r.id) })
		if r.removedText != "" {
			return m
		}
	}
	m.add(r.openable, c.host.OpenWords(), func() { c.act(r) })
	if r.person != 0 {
		return m
	}
	m.add(r.several, l.T(text.CallsMenuPeople), func() { c.act(r) })
	m.add(r.open, l.T(text.CallsMenuTick), func() { c.tick(r, ids) })
	m.add(r.handled, l.T(text.CallsMenuReopen), func() {
		c.run(r.id, func(ctx context.Context) error { return c.reopen(ctx, []int64{r.id}) })
	})
	m.add(r.callable && c.state.CallBack, l.T(text.CallsMenuCall), func() { c.callBack(r) })
	m.line()
	m.add(r.hasNumber, l.T(text.CallsMenuCopy), func() { c.copy(r) })
	m.add(r.hasRelation, l.T(text.CallsMenuCopyRelation), func() { c.copyToClipboard(r, true) })
	m.line()
	m.add(r.canLookUp && !r.several, l.T(text.CallsMenuAgain), func() { c.lookAgain(r) })
	m.add(r.hasContact, l.T(text.CallsMenuNotThis), func() { c.removeContact(r) })
	m.line()
	m.add(true, l.T(text.CallsMenuRemove), func() { c.remove(r, ids) })
	return m
}

// menu is what a menu offers.
type menu []*fyne.MenuItem

func (m *menu) add(yes bool, label string, do func()) {
	if yes {
		*m = append(*m, fyne.NewMenuItem(label, do))
	}
}

// line separates what follows from what there is so far.
func (m *menu) line() {
	if n := len(*m); n > 0 && !(*m)[n-1].IsSeparator {
		*m = append(*m, fyne.NewMenuItemSeparator())
	}
}
