package calls

import (
	"cmp"
	"context"
	"slices"
	"strings"
	"time"

	"wiebelt/internal/core/contact"
	"wiebelt/internal/store/callactions"
	"wiebelt/internal/store/history"
	"wiebelt/internal/text"
	"wiebelt/internal/ui/widgets"
)

// undoDuration is how long something removed can be restored, in its
// place. It is kept in memory for as long, and never in a file.
const undoDuration = 10 * time.Second

// repeatPressTime is the time within which a second key press belongs to the first.
const repeatPressTime = time.Second

const maxOpen = 2000

// undo is something just removed: a row whose calls were removed or ticked off keeps
// its place for a while.
type undo struct {
	row
	made        time.Time
	ids         []int64
	wasOpen     bool                                 // it was among those to be called back
	contactOnly bool                                 // its call is still in place: only its contact was removed
	restore     func(context.Context, []int64) error // restores it
	removed     chan struct{}                        // closed once it was removed
	restoring   bool                                 // being restored
	restored    bool                                 // restored; the next reading has it
}

// removeFunc removes calls and returns those that are gone, even if others failed.
type removeFunc func(context.Context, []int64) (gone []int64, err error)

// removeWithUndo removes calls of a row, unless that was done elsewhere, and keeps its place.
func (c *window) removeWithUndo(r row, ids []int64, said string, stays bool, away removeFunc, back func(context.Context, []int64) error) {
	u := &undo{row: r, made: c.host.Now(), ids: ids, wasOpen: r.open, contactOnly: stays, restore: back, removed: make(chan struct{})}
	u.row.undo, u.row.removedText, u.row.open = true, said, false
	c.offer(u)
	if away == nil {
		close(u.removed)
		return
	}
	var gone []int64
	c.runThen(r.id, func(ctx context.Context) (err error) {
		defer close(u.removed)
		gone, err = away(ctx, ids)
		return err
	}, func(now *window, err error) {
		if err == nil {
			return
		}
		if u.ids = gone; len(gone) == 0 {
			now.dropUndo(u)
		}
		now.build()
	})
}

// offer offers an undo for a while.
func (c *window) offer(u *undo) {
	c.undos = append(slices.DeleteFunc(c.undos, func(o *undo) bool { return o.id == u.id }), u)
	c.host.Later(undoDuration, func() {
		if now := c.h.calls; now != nil && slices.Contains(now.undos, u) && !u.restoring {
			now.dropUndo(u)
			now.build()
		}
	})
}

func (c *window) dropUndo(u *undo) {
	c.undos = slices.DeleteFunc(c.undos, func(o *undo) bool { return o == u })
}

// justHandled reports whether a call was dealt with a moment ago: a key
// that is still held, or was pressed twice, is not meant to undo that.
func (c *window) justHandled(id int64) bool {
	return slices.ContainsFunc(c.undos, func(u *undo) bool { return u.id == id && c.host.Now().Sub(u.made) < repeatPressTime })
}

func (c *window) undoRow(id int64) {
	for _, u := range c.undos {
		if u.id != id || u.restoring {
			continue
		}
		u.restoring = true
		ids := u.ids
		c.runThen(id, func(ctx context.Context) error {
			<-u.removed
			return u.restore(ctx, ids)
		}, func(now *window, err error) {
			if u.restored = err == nil; !u.restored && slices.Contains(now.undos, u) {
				again := *u
				again.made, again.restoring = now.host.Now(), false
				now.offer(&again)
				now.build()
			}
		})
		c.build()
		return
	}
}

func (c *window) undoLast() {
	for _, u := range slices.Backward(c.undos) {
		if !u.restoring {
			c.undoRow(u.id)
			return
		}
	}
}

// reconcileUndos drops undos whose calls the reading has again, and keeps the places of callers
// handled elsewhere: by opening the file or calling back.
func (c *window) reconcileUndos(a readResult) {
	c.undos = slices.DeleteFunc(c.undos, func(u *undo) bool { return u.restored })
	open, handled := map[int64]bool{}, map[int64]bool{}
	for _, e := range a.open {
		open[e.ID] = true
	}
	for _, e := range a.entries {
		handled[e.ID] = e.Missed() && !e.Open()
	}
	for _, r := range c.openRows {
		if r.open && handled[r.id] && !slices.ContainsFunc(c.grouped[r.id], func(id int64) bool { return open[id] }) {
			c.removeWithUndo(r, c.callsOf(r), c.host.Lang.T(text.CallsHandled), false, nil, c.reopen)
		}
	}
}

// group holds one caller's missed calls that nobody has handled, newest first. Calls
// without a number are never grouped.
type group []history.Entry

func groups(open []history.Entry) (all []group) {
	at := map[string]int{}
	for _, e := range open {
		i, known := at[e.Number]
		if !known || !e.OneCaller() {
			i = len(all)
			at[e.Number] = i
			all = append(all, nil)
		}
		all[i] = append(all[i], e)
	}
	return all
}

func (c *window) callsOf(r row) []int64 {
	if ids := c.grouped[r.id]; r.open && len(ids) > 0 {
		return ids
	}
	return []int64{r.id}
}

// hasOpen reports whether the view starts with the calls to be called back.
func (c *window) hasOpen() bool {
	return c.query.View != history.ViewElsewhere && c.query.View != history.ViewUnsure
}

func (c *window) build() {
	now := c.host.Now()
	a := &c.result
	gone := map[int64]*undo{}
	for _, u := range c.undos {
		for _, id := range u.ids {
			gone[id] = u
		}
	}
	c.grouped = map[int64][]int64{}
	c.openRows = c.openRows[:0:0]
	if c.hasOpen() {
		c.buildOpen(gone, now)
	}
	rows := make([]row, 0, len(a.entries))
	plan := listLayout{openCount: len(c.openRows), count: max(a.count, a.start+len(a.entries)), today: a.today}
	more := func(r row, n int) {
		plan.count += n
		if r.day == "" {
			plan.today += n
		}
	}
	for _, e := range a.entries {
		r := rowOf(c.host.Lang, e, now)
		if u := gone[e.ID]; u != nil && !u.contactOnly {
			more(r, -1)
			continue
		}
		before := len(rows)
		rows = c.withPeople(append(rows, c.withUndo(r, gone)))
		more(r, len(rows)-before-1)
	}
	for _, u := range c.undos {
		if !u.wasOpen && !u.contactOnly && a.covers(u, rows) {
			rows = putIn(rows, u.row)
			more(u.row, 1)
		}
	}
	if c.query.View == history.ViewMissedHandled {
		plan.oneHeading = true
		plan.shut = !c.unfolded && plan.openCount > 0 && c.query.Filter == ""
	}
	c.rows, c.listLayout = rows, plan
	if c.focusKey != (rowKey{}) {
		c.focusIndex = c.findRow(c.focusKey, c.focusIndex)
	}
	c.draw()
}

// covers reports whether what was removed was among the rows read, or beyond an end of the
// list where nothing more follows.
func (a *readResult) covers(u *undo, rows []row) bool {
	first, last := a.start == 0, a.start+len(a.entries) >= a.count
	if len(rows) == 0 {
		return first && last
	}
	return (first || !isAbove(u.place, rows[0].place)) && (last || !isAbove(rows[len(rows)-1].place, u.place))
}

// buildOpen creates the rows to be called back, one per caller.
func (c *window) buildOpen(gone map[int64]*undo, now time.Time) {
	var open []history.Entry
	for _, e := range c.result.open {
		if u := gone[e.ID]; (u == nil || u.contactOnly) && e.Fits(c.query.Filter) {
			open = append(open, e)
		}
	}
	for _, g := range groups(open) {
		r := rowOf(c.host.Lang, g[0], now)
		if len(g) > 1 {
			r.more = timesOf(c.host.Lang, g, now)
		}
		for _, e := range g {
			c.grouped[r.id] = append(c.grouped[r.id], e.ID)
		}
		c.openRows = c.withPeople(append(c.openRows, c.withUndo(r, gone)))
	}
	for _, u := range c.undos {
		if u.wasOpen && !u.contactOnly {
			c.openRows = putIn(c.openRows, u.row)
		}
	}
}

// findRow returns a row's current index, or where the focus goes if it is gone.
func (c *window) findRow(p rowKey, was int) int {
	is := func(r row) bool {
		return r.person == p.person && (r.id == p.id || r.open && slices.Contains(c.grouped[r.id], p.id))
	}
	if i := slices.IndexFunc(c.openRows, is); i >= 0 {
		return i
	}
	if i := slices.IndexFunc(c.rows, is); i >= 0 {
		return len(c.openRows) + c.result.start + i
	}
	was = min(was, c.listLayout.total()-1)
	c.focusKey = rowKey{}
	if r, known := c.row(was); known {
		c.focusKey = rowKey{r.id, r.person}
	}
	return was
}

func (c *window) withUndo(r row, gone map[int64]*undo) row {
	if u := gone[r.id]; u != nil && u.contactOnly && !u.restoring {
		r.undo = true
	}
	return r
}

// withPeople appends the people to choose from below the last row, unless its call was
// transferred since: they are not the new caller.
func (c *window) withPeople(rows []row) []row {
	r := rows[len(rows)-1]
	if c.people.Entry != r.id || len(c.people.Contacts) == 0 {
		return rows
	}
	if e, known := c.entry(r.id); known && e.Number != c.people.Number {
		c.people = callactions.LookupOutcome{}
		return rows
	}
	for i, k := range c.people.Contacts {
		p := row{id: r.id, person: i + 1, personContact: k, personNumber: c.people.Number, day: r.day, place: r.place, openable: k.Link != "", title: k.Name,
			detail: widgets.Join(contact.GroupDigits(k.Relation), k.Address, k.Producer)}
		p.title = cmp.Or(p.title, c.host.Lang.T(text.CardUnnamed))
		if k.ChosenEarlier {
			p.result = c.host.Lang.T(text.CardEarlier)
		}
		rows = append(rows, p)
	}
	if n := c.people.MoreContacts; n > 0 {
		rows = append(rows, row{id: r.id, person: -1, day: r.day, place: r.place, detail: c.host.Lang.N(text.LookupMore, n)})
	}
	return rows
}

func putIn(rows []row, r row) []row {
	i := slices.IndexFunc(rows, func(o row) bool { return isAbove(r.place, o.place) })
	if i < 0 {
		i = len(rows)
	}
	return slices.Insert(rows, i, r)
}

func isAbove(a, b history.Place) bool {
	return a.Rang.After(b.Rang) || a.Rang.Equal(b.Rang) && a.ID > b.ID
}

// timesOf describes how often somebody called, and when before.
func timesOf(l text.Language, g group, now time.Time) string {
	var times []string
	for _, e := range g[1:min(len(g), 3)] {
		if text.SameDay(e.Rang, now) {
			times = append(times, l.Clock(e.Rang))
		} else {
			times = append(times, l.Day(e.Rang, now))
		}
	}
	s := l.T(text.CallsTimes, len(g), strings.Join(slices.Compact(times), ", "))
	if len(g) > 3 {
		s += " …"
	}
	return s
}
