package calls

import (
	"encoding/json"
	"testing"
	"time"

	"wiebelt/internal/deskapi"
	"wiebelt/internal/history"
	"wiebelt/internal/text"
	"wiebelt/internal/ui/kittest"
)

// bench is a bench with the calls window and what it reads.
type bench struct {
	*kittest.Bench
	*History
}

func newBench(t testing.TB, w deskapi.Welcome) *bench {
	t.Helper()
	b := &bench{Bench: kittest.New(t, w, nil)}
	b.History = NewHistory(b.Desk)
	b.Openers[deskapi.WindowCalls] = b.Open
	return b
}

// views are the views of the calls that can be seen.
func views(b *bench) map[int64]*rowView {
	all := map[int64]*rowView{}
	for _, v := range b.calls.list.views {
		if v.Visible() && v.known && v.row.person == 0 {
			all[v.row.id] = v
		}
	}
	return all
}

// read is a reading of a history that has these calls.
func (b *bench) read(all []history.Entry, err error) {
	a := answer{exact: err == nil, err: err}
	view := history.ViewAll
	if b.calls != nil {
		a.edition, view = b.calls.edition, b.calls.query.View
	}
	for _, e := range all {
		switch {
		case e.Open():
			a.open = append(a.open, e)
		case view != history.ViewMissed || e.Missed():
			a.entries = append(a.entries, e)
		}
	}
	a.count, a.today = len(a.entries), today(a.entries, b.Clock)
	b.took(a)
}

func (b *bench) state(t *testing.T, s deskapi.CallsState) {
	t.Helper()
	raw, err := json.Marshal(s)
	if err != nil {
		t.Fatal(err)
	}
	b.Handle(deskapi.KindCallsState, raw)
}

// offered are the words of the menu of a call.
func offered(c *window, r row) (all []string) {
	for _, i := range c.items(r) {
		if !i.IsSeparator {
			all = append(all, i.Label)
		}
	}
	return all
}

// notes is what the strip above the list says.
func notes(b *bench) string { return b.calls.noted }

// long is a bench whose readings come from a list of n calls, as the reader would
// give them.
func long(t *testing.T, n int) (*bench, func() int) {
	b := newBench(t, kittest.Greeting(text.Dutch))
	entry := func(i int) history.Entry { // number i from the newest
		e := customer()
		e.ID, e.Rang = int64(n-i), kittest.Noon.Add(-time.Duration(i)*time.Minute)
		return e
	}
	read := 0
	answers := func() int {
		for b.Kicks > 0 {
			b.Kicks = 0
			w := b.wanted()
			a := answer{wish: w, count: n, today: 721, exact: true}
			from := 0
			if w.jump || w.place != (history.Place{}) {
				from = max(w.index-block/2, 0)
			}
			a.start = from
			for i := from; i < min(from+block, n); i++ {
				a.entries = append(a.entries, entry(i))
			}
			read++
			b.took(a)
		}
		return read
	}
	b.Show(deskapi.WindowCalls)
	return b, answers
}
