package calls

import (
	"slices"

	"wiebelt/internal/store/history"
)

func (c *window) search() {
	was := c.query
	c.query.Filter = c.filter.Text
	c.list.scroll.Offset.Y = 0
	c.focusIndex, c.focusKey = -1, rowKey{}
	if c.h.state != readingOK || c.result.start != 0 || !history.Narrows(c.filter.Text, was.Filter) {
		c.restartList()
		return
	}
	// The new filter only narrows: its first results are among those here, or all of them,
	// if everything was here.
	a := c.result
	whole := a.exact && len(a.entries) == a.count
	var left []history.Entry
	for _, e := range a.entries {
		if e.Fits(c.filter.Text) {
			left = append(left, e)
		}
	}
	c.invalidateReads()
	c.showResult(readResult{readRequest: readRequest{query: c.query, list: c.listNumber}, open: a.open, entries: left, count: len(left), today: countToday(left, c.host.Now()), exact: whole})
	if !whole {
		c.requestRead(readRequest{})
	}
}

func (c *window) restartList() {
	c.invalidateReads()
	c.requestRead(readRequest{})
}

// invalidateReads starts another list: pending readings no longer apply.
func (c *window) invalidateReads() {
	c.stop()
	c.listNumber++
	c.pending, c.inFlight = nil, nil
}

func (c *window) requestRead(w readRequest) {
	w.query, w.list = c.query, c.listNumber
	c.pending = &w
	c.host.ReadHistory()
}

// showResult takes over what was read. Rows on screen stay in place when calls
// were added above them.
func (c *window) showResult(a readResult) {
	offset := c.list.scroll.Offset.Y
	top := c.listLayout.at(offset)
	lead := offset - c.listLayout.y(top)
	at, known := c.row(top)
	known = known && offset > 0 && top >= c.listLayout.openCount
	c.result = a
	if n := len(groups(a.open)); n != c.openCallers && c.hasOpen() {
		c.openCallers = n
		c.showViews()
	}
	c.build()
	if i := slices.IndexFunc(c.rows, func(r row) bool { return r.id == at.id && r.person == at.person }); known && i >= 0 {
		c.list.scroll.Offset.Y = c.listLayout.y(c.listLayout.openCount+c.result.start+i) + lead
		c.list.show()
	}
}

// row returns a row of the list, false if it has not been read.
func (c *window) row(n int) (row, bool) {
	if n >= 0 && n < len(c.openRows) {
		return c.openRows[n], true
	}
	if i := n - len(c.openRows) - c.result.start; i >= 0 && i < len(c.rows) && n >= len(c.openRows) {
		return c.rows[i], true
	}
	return row{}, false
}

// prefetch requests the calls around those on screen before they become visible.
func (c *window) prefetch(first, last int) {
	const ahead = block / 4
	first, last = first-c.listLayout.openCount, last-c.listLayout.openCount
	low, high := max(first-ahead, 0), min(last+ahead, c.listLayout.count-1)
	if last < first || last < 0 || len(c.rows) > 0 && low >= c.result.start && high < c.result.start+len(c.rows) {
		return
	}
	at := max(first+(last-first)/2, 0)
	for _, w := range []*readRequest{c.pending, c.inFlight} {
		if w != nil && max(w.index-at, at-w.index) < ahead {
			return // already requested
		}
	}
	c.requestRead(readRequest{index: at})
}
