package calls

import (
	"slices"

	"wiebelt/internal/store/history"
)

// search applies the filter.
func (c *window) search() {
	was := c.query
	c.query.Filter = c.filter.Text
	c.list.scroll.Offset.Y = 0
	c.chosen, c.picked = -1, picked{}
	if c.h.state != readingOK || c.got.start != 0 || !history.Narrows(c.filter.Text, was.Filter) {
		c.begin()
		return
	}
	// The new filter only narrows: its first results are among those here, or all of them,
	// if everything was here.
	a := c.got
	whole := a.exact && len(a.entries) == a.count
	var left []history.Entry
	for _, e := range a.entries {
		if e.Fits(c.filter.Text) {
			left = append(left, e)
		}
	}
	c.renew()
	c.put(answer{wish: wish{query: c.query, list: c.number}, open: a.open, entries: left, count: len(left), today: today(left, c.host.Now()), exact: whole})
	if !whole {
		c.want(wish{})
	}
}

// begin starts reading another list from the top.
func (c *window) begin() {
	c.renew()
	c.want(wish{})
}

// renew starts another list: pending readings no longer apply.
func (c *window) renew() {
	c.stop()
	c.number++
	c.pending, c.asked = nil, nil
}

// want requests a reading.
func (c *window) want(w wish) {
	w.query, w.list = c.query, c.number
	c.pending = &w
	c.host.ReadHistory()
}

// put takes over what was read. Rows on screen stay in place when calls
// were added above them.
func (c *window) put(a answer) {
	offset := c.list.scroll.Offset.Y
	top := c.plan.at(offset)
	lead := offset - c.plan.y(top)
	at, known := c.row(top)
	known = known && offset > 0 && top >= c.plan.work
	c.got = a
	if n := len(groups(a.open)); n != c.open && c.hasOpen() {
		c.open = n
		c.showViews()
	}
	c.build()
	if i := slices.IndexFunc(c.rows, func(r row) bool { return r.id == at.id && r.person == at.person }); known && i >= 0 {
		c.list.scroll.Offset.Y = c.plan.y(c.plan.work+c.got.start+i) + lead
		c.list.show()
	}
}

// row returns a row of the list, false if it has not been read.
func (c *window) row(n int) (row, bool) {
	if n >= 0 && n < len(c.work) {
		return c.work[n], true
	}
	if i := n - len(c.work) - c.got.start; i >= 0 && i < len(c.rows) && n >= len(c.work) {
		return c.rows[i], true
	}
	return row{}, false
}

// need requests the calls around those on screen before they become visible.
func (c *window) need(first, last int) {
	const ahead = block / 4
	first, last = first-c.plan.work, last-c.plan.work
	low, high := max(first-ahead, 0), min(last+ahead, c.plan.count-1)
	if last < first || last < 0 || len(c.rows) > 0 && low >= c.got.start && high < c.got.start+len(c.rows) {
		return
	}
	at := max(first+(last-first)/2, 0)
	for _, w := range []*wish{c.pending, c.asked} {
		if w != nil && max(w.index-at, at-w.index) < ahead {
			return // already requested
		}
	}
	c.want(wish{index: at})
}
