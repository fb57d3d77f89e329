package calls

import (
	"slices"
	"testing"
	"time"

	"wiebelt/internal/store/history"
	"wiebelt/internal/ui/uitest"
)

// TestManyCalls: however many calls there are, only those on screen have views;
// scrolling finds each at its position, and reads each part once on the way.
func TestManyCalls(t *testing.T) {
	const n = 100_000
	b, answers := long(t, n)
	answers()
	c := b.calls
	if len(c.list.views) > 20 || len(c.rows) > block {
		t.Errorf("%d views and %d rows for one window", len(c.list.views), len(c.rows))
	}
	at := func(y float32) {
		t.Helper()
		c.list.scrollTo(y)
		answers()
		first := c.listLayout.at(c.list.scroll.Offset.Y)
		for _, v := range c.list.views {
			if v.Visible() && (!v.known || v.row.id != int64(n-v.n)) {
				t.Fatalf("at %v call %d shows %+v (known %v)", y, v.n, v.row.id, v.known)
			}
		}
		if v := views(b)[int64(n-first)]; v == nil {
			t.Fatalf("at %v the first call %d is not shown", y, first)
		}
	}
	before := answers()
	for y := float32(0); y < 1000*rowHeight; y += 37 {
		at(y)
	}
	if k := answers() - before; k < 4 || k > 20 {
		t.Errorf("a thousand calls took %d readings", k)
	}
	for _, y := range []float32{5e6, 1e5, 0, c.listLayout.y(n), 3e6, 3e6 + 7} {
		at(y)
	}
	// While the target of a jump is being read, its rows are empty and show no other calls.
	c.list.scrollTo(4e6)
	for _, v := range c.list.views {
		if v.Visible() && v.known {
			t.Errorf("call %d shows %d before it was read", v.n, v.row.id)
		}
	}
	answers()
}

// TestFilterShowsAtOnce: a letter in the filter takes effect at once
// on the loaded calls; those of the whole history appear once read.
func TestFilterShowsAtOnce(t *testing.T) {
	b, answers := long(t, 5000)
	answers()
	c := b.calls
	some := slices.Clone(c.result.entries)
	for i := range some {
		if i%100 == 7 {
			some[i].Name = "Q. Zeldzaam"
		}
	}
	b.storeResult(readResult{readRequest: b.nextRequest(), entries: some, count: 5000, today: 721, exact: true})
	b.HistoryReads = 0
	c.filter.SetText("z")
	if c.listLayout.count != 3 || c.result.exact || b.HistoryReads != 1 {
		t.Fatalf("%d calls, exact %v, %d readings asked for", c.listLayout.count, c.result.exact, b.HistoryReads)
	}
	if v := views(b)[some[7].ID]; v == nil || !v.Visible() {
		t.Error("what is here is not shown")
	}
	w := b.nextRequest()
	if w.query.Filter != "z" || w.index != 0 {
		t.Errorf("wants %+v", w)
	}
	var found []history.Entry
	for i := range 5 {
		found = append(found, some[7])
		found[i].ID, found[i].Rang = int64(900-i), uitest.Noon.Add(-time.Duration(i)*time.Hour)
	}
	b.storeResult(readResult{readRequest: w, entries: found, count: 5, today: 5, exact: true})
	if c.listLayout.count != 5 {
		t.Errorf("%d calls after the whole was read", c.listLayout.count)
	}
	b.HistoryReads = 0
	c.filter.SetText("zeld") // all results are loaded now
	if c.listLayout.count != 5 || !c.result.exact || b.HistoryReads != 0 {
		t.Errorf("%d calls, exact %v, %d readings asked for", c.listLayout.count, c.result.exact, b.HistoryReads)
	}
	c.filter.SetText("ze") // these too, but that cannot be known
	if b.HistoryReads != 1 {
		t.Errorf("%d readings asked for", b.HistoryReads)
	}
	c.filter.SetText("06 2")
	b.storeResult(readResult{readRequest: b.nextRequest(), exact: true})
	b.HistoryReads = 0
	c.filter.SetText("06 2e") // now a number and a word, which matches other calls than 062
	if b.HistoryReads != 1 {
		t.Errorf("%d readings asked for where a number became a word", b.HistoryReads)
	}
}

// TestStaysWhereItIs: new calls are added above those read. What
// is on screen stays in place; at the top, the new ones appear.
func TestStaysWhereItIs(t *testing.T) {
	b, answers := long(t, 5000)
	answers()
	c := b.calls
	c.list.scrollTo(c.listLayout.y(2000) + 13)
	answers()
	seen := c.listLayout.at(c.list.scroll.Offset.Y)
	id := views(b)[int64(5000-seen)].row.id
	w := b.nextRequest() // the history has changed
	if w.index != seen {
		t.Fatalf("wants %+v", w)
	}
	a := readResult{readRequest: w, start: c.result.start + 3, entries: slices.Clone(c.result.entries), count: 5003, today: 724, exact: true}
	b.storeResult(a)
	v := views(b)[id]
	if v == nil {
		t.Fatal("what was on screen is not any more")
	}
	if got := v.Position().Y - c.list.scroll.Offset.Y; got != -13 {
		t.Errorf("the first call stands at %v, want -13", got)
	}
	// An answer for another filter is ignored.
	old := b.nextRequest()
	c.filter.SetText("anders")
	b.storeResult(readResult{readRequest: old, entries: a.entries, count: 1, exact: true})
	if c.listLayout.count == 1 {
		t.Error("an answer of the list before was shown")
	}
	if old.ctx.Err() == nil {
		t.Error("its reading goes on")
	}
	c.filter.SetText("")
	answers()
	c.list.scrollTo(1000)
	if c.show(history.ViewElsewhere); c.list.scroll.Offset.Y != 0 {
		t.Errorf("another view begins at %v", c.list.scroll.Offset.Y)
	}
}
