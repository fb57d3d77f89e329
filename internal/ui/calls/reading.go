package calls

import (
	"strings"

	"wiebelt/internal/deskapi"
	"wiebelt/internal/history"
)

// search follows the filter.
func (c *window) search() {
	was := c.query
	c.query.Filter = c.filter.Text
	c.list.scroll.Offset.Y = 0
	c.chosen, c.picked = -1, 0
	if c.h.state != readingOK || c.start != 0 || !strings.HasPrefix(c.filter.Text, was.Filter) {
		c.begin()
		return
	}
	// A longer filter only leaves out more, so the first of what it finds are
	// among what is here; or all of it, if all was here.
	whole := c.exact && len(c.all) == c.plan.count
	var left []history.Entry
	for _, e := range c.all {
		if e.Fits(c.filter.Text) {
			left = append(left, e)
		}
	}
	c.renew()
	c.put(answer{wish: wish{query: c.query, edition: c.edition}, entries: left, count: len(left), today: today(left, c.d.Now()), exact: whole})
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
	switch {
	case c.h.state != readingOK:
		if a == nil || len(c.all) == 0 {
			c.draw()
		}
		return // what was read before stays
	case a == nil:
		all := c.h.entries
		a = &answer{entries: all, count: len(all), today: today(all, c.d.Now()), exact: true}
	}
	c.put(*a)
	if a.exact {
		c.d.Send(deskapi.KindCallsAsk, nil)
	}
}

// put takes over a run of calls. What is on screen stays where it is when calls
// have come above it.
func (c *window) put(a answer) {
	offset := c.list.scroll.Offset.Y
	var anchor history.Place
	lead := float32(0)
	if offset > 0 && a.place != (history.Place{}) {
		anchor = a.place
		lead = offset - c.plan.y(a.index)
	}
	now := c.d.Now()
	c.all, c.start, c.exact, c.long = a.entries, a.start, a.exact, a.long
	c.plan = plan{count: max(a.count, a.start+len(a.entries)), today: a.today}
	c.rows, c.places = make([]row, len(a.entries)), make([]history.Place, len(a.entries))
	chosen := -1
	for i, e := range a.entries {
		c.rows[i], c.places[i] = rowOf(c.d.Lang, e, now), e.Place()
		if e.ID == c.picked {
			chosen = a.start + i
		}
		if anchor != (history.Place{}) && e.Place() == anchor {
			c.list.scroll.Offset.Y = c.plan.y(a.start+i) + lead
			anchor = history.Place{}
		}
	}
	switch {
	case chosen >= 0:
		c.chosen = chosen
	case c.chosen >= c.plan.count:
		c.choose(c.plan.count - 1)
	case c.chosen >= 0: // what was chosen has gone: the one in its place
		c.choose(c.chosen)
	}
	c.draw()
}

// row gives a call of the list, false if it is not read.
func (c *window) row(n int) (row, bool) {
	if i := n - c.start; i >= 0 && i < len(c.rows) {
		return c.rows[i], true
	}
	return row{}, false
}

// need has the calls around those on screen read before they are.
func (c *window) need(first, last int) {
	const ahead = block / 4
	low, high := max(first-ahead, 0), min(last+ahead, c.plan.count-1)
	if last < first || len(c.rows) > 0 && low >= c.start && high < c.start+len(c.rows) {
		return
	}
	at := first + (last-first)/2
	for _, w := range []*wish{c.pending, c.asked} {
		if w != nil && w.edition == c.edition && (w.place != (history.Place{}) || w.jump) && max(w.index-at, at-w.index) < ahead {
			return // on its way
		}
	}
	w := wish{index: at}
	if i := at - c.start; i >= 0 && i < len(c.places) {
		w.place = c.places[i]
	} else {
		w.jump = true
	}
	c.want(w)
}
