package calls

import (
	"slices"
	"strings"

	"wiebelt/internal/store/history"
)

// search follows the filter.
func (c *window) search() {
	was := c.query
	c.query.Filter = c.filter.Text
	c.list.scroll.Offset.Y = 0
	c.chosen, c.picked = -1, picked{}
	if c.h.state != readingOK || c.start != 0 || !strings.HasPrefix(c.filter.Text, was.Filter) {
		c.begin()
		return
	}
	// A longer filter only leaves out more, so the first of what it finds are
	// among what is here; or all of it, if all was here.
	a := c.got
	whole := a.exact && len(a.entries) == a.count
	var left []history.Entry
	for _, e := range a.entries {
		if e.Fits(c.filter.Text) {
			left = append(left, e)
		}
	}
	c.renew()
	c.put(answer{wish: wish{query: c.query, edition: c.edition}, open: a.open, entries: left, count: len(left), today: today(left, c.d.Now()), exact: whole})
	if !whole {
		c.want(wish{})
	}
}

// begin reads another list from its beginning.
func (c *window) begin() {
	c.renew()
	c.want(wish{})
}

// renew makes what is being read that of another list.
func (c *window) renew() {
	c.stop()
	c.edition.list++
	c.pending, c.asked = nil, nil
}

// want asks for a reading.
func (c *window) want(w wish) {
	w.query, w.edition = c.query, c.edition
	c.pending = &w
	c.d.Kick()
}

// refresh shows what was read last.
func (c *window) refresh() {
	a := c.next
	c.next = nil
	if c.h.state != readingOK || a == nil {
		if len(c.got.entries)+len(c.got.open) == 0 {
			c.draw()
		}
		return // what was read before stays
	}
	c.readAnew(*a)
	c.put(*a)
	if a.exact {
		c.ask()
	}
}

// put takes over what was read. What is on screen stays where it is when calls
// have come above it.
func (c *window) put(a answer) {
	offset := c.list.scroll.Offset.Y
	lead := offset - c.plan.y(a.index+c.plan.work)
	c.got = a
	if n := len(groups(a.open)); n != c.open && c.hasOpen() {
		c.open = n
		c.showViews()
	}
	c.build()
	if offset > 0 && a.place != (history.Place{}) {
		if i := slices.IndexFunc(c.rows, func(r row) bool { return r.place == a.place }); i >= 0 {
			c.list.scroll.Offset.Y = c.plan.y(c.plan.work+c.start+i) + lead
			c.list.show()
		}
	}
}

// row gives a row of the list, false if it is not read.
func (c *window) row(n int) (row, bool) {
	if n >= 0 && n < len(c.work) {
		return c.work[n], true
	}
	if i := n - len(c.work) - c.start; i >= 0 && i < len(c.rows) && n >= len(c.work) {
		return c.rows[i], true
	}
	return row{}, false
}

// around is the wish to read what stands around a call, the others' number at.
func (c *window) around(at int) wish {
	w := wish{index: at}
	if i := at - c.start; i >= 0 && i < len(c.rows) {
		w.place = c.rows[i].place
	} else {
		w.jump = true
	}
	return w
}

// need has the calls around those on screen read before they are.
func (c *window) need(first, last int) {
	const ahead = block / 4
	first, last = first-c.plan.work, last-c.plan.work
	low, high := max(first-ahead, 0), min(last+ahead, c.plan.count-1)
	if last < first || last < 0 || len(c.rows) > 0 && low >= c.start && high < c.start+len(c.rows) {
		return
	}
	at := max(first+(last-first)/2, 0)
	for _, w := range []*wish{c.pending, c.asked} {
		if w != nil && w.edition == c.edition && (w.place != (history.Place{}) || w.jump) && max(w.index-at, at-w.index) < ahead {
			return // on its way
		}
	}
	c.want(c.around(at))
}
