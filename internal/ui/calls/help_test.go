package calls

import (
	"context"
	"fmt"
	"slices"
	"strings"
	"testing"
	"time"

	"wiebelt/internal/instance/windowapi"
	"wiebelt/internal/store/callactions"
	"wiebelt/internal/store/history"
	"wiebelt/internal/text"
	"wiebelt/internal/ui/uitest"
)

// harness is a Harness with the calls window and its data.
type harness struct {
	*uitest.Harness
	*History
	on *disk
}

// disk holds the calls, and records what is done with them.
type disk struct {
	did   []string
	state callactions.State
	got   callactions.LookupOutcome // of the next lookup
	fail  error
	half  int // how many calls are removed before the error
}

func (d *disk) note(what string, m ...any) error {
	d.did = append(d.did, strings.TrimSpace(what+" "+strings.TrimSuffix(fmt.Sprintln(m...), "\n")))
	return d.fail
}

func (d *disk) State(context.Context) callactions.State { return d.state }
func (d *disk) Open(_ context.Context, id int64) error  { return d.note("open", id) }
func (d *disk) OpenPerson(_ context.Context, id int64, _ string, k windowapi.Contact) error {
	return d.note("open", id, k.ID)
}
func (d *disk) CallBack(_ context.Context, id int64) error { return d.note("call", id) }
func (d *disk) Copy(_ context.Context, id int64, relation bool) error {
	return d.note("copy", id, relation)
}
func (d *disk) StoreLookup(_ context.Context, _ text.Language, e history.Entry,
	f windowapi.LookupResult) (callactions.LookupOutcome, error) {
	d.got.Entry, d.got.Number = e.ID, e.Number
	return d.got, d.note("looked", e.ID, f.Outcome)
}
func (d *disk) Tick(_ context.Context, ids ...int64) error   { return d.note("tick", ids) }
func (d *disk) Reopen(_ context.Context, ids ...int64) error { return d.note("reopen", ids) }
func (d *disk) Remove(_ context.Context, ids ...int64) (was []history.Entry, err error) {
	for i, id := range ids {
		if d.fail == nil || i < d.half {
			was = append(was, history.Entry{ID: id})
		}
	}
	return was, d.note("remove", ids)
}
func (d *disk) Restore(_ context.Context, was ...history.Entry) error {
	var ids []int64
	for _, e := range was {
		ids = append(ids, e.ID)
	}
	return d.note("restore", ids)
}
func (d *disk) RemovePerson(_ context.Context, id int64) (history.Entry, error) {
	return history.Entry{ID: id}, d.note("not this", id)
}
func (d *disk) RestorePerson(_ context.Context, was history.Entry) error {
	return d.note("this", was.ID)
}
func (d *disk) Wipe(context.Context) error { return d.note("wipe") }

// did returns what was done, and sent to the resident, since the last time.
func (b *harness) did() []string {
	did := b.on.did
	b.on.did = nil
	for _, m := range b.DrainSent() {
		did = append(did, fmt.Sprintf("%s %+v", m.Kind, m.M))
	}
	return did
}

// wantDid checks what was done since the last time.
func (b *harness) wantDid(t *testing.T, what string, want ...string) {
	t.Helper()
	if got := b.did(); !slices.Equal(got, want) {
		t.Errorf("%s did %q, want %q", what, got, want)
	}
}

func newHarness(t testing.TB, w windowapi.Welcome) *harness {
	t.Helper()
	b := &harness{Harness: uitest.New(t, w, nil)}
	b.History = NewHistory(b.Host)
	b.on = &disk{}
	b.actions = b.on
	b.Openers[windowapi.WindowCalls] = b.Open
	return b
}

// opened is a harness whose window shows these calls.
func opened(t testing.TB, all ...history.Entry) *harness {
	t.Helper()
	b := newHarness(t, uitest.Greeting(text.Dutch))
	b.read(all, nil)
	b.Show(windowapi.WindowCalls)
	return b
}

// remove removes the row of a call.
func (b *harness) remove(id int64) {
	r := views(b)[id].row
	b.calls.remove(r, b.calls.callsOf(r))
}

// views returns the views of the visible calls.
func views(b *harness) map[int64]*rowView {
	all := map[int64]*rowView{}
	for _, v := range b.calls.list.views {
		if v.Visible() && v.known && v.row.person == 0 {
			all[v.row.id] = v
		}
	}
	return all
}

// read delivers a reading of a history with these calls.
func (b *harness) read(all []history.Entry, err error) {
	a := readResult{exact: err == nil, err: err}
	view := history.ViewAll
	if b.calls != nil {
		a.list, view = b.calls.listNumber, b.calls.query.View
	}
	for _, e := range all {
		switch {
		case e.Open():
			a.open = append(a.open, e)
		case view != history.ViewMissedHandled || e.Missed():
			a.entries = append(a.entries, e)
		}
	}
	a.count, a.today = len(a.entries), countToday(a.entries, b.Clock)
	b.storeResult(a)
}

// state sets the state besides the calls.
func (b *harness) state(s callactions.State) {
	b.on.state = s
	b.calls.readState()
}

// say makes the resident report the state of the history.
func (b *harness) say(t *testing.T, fault, notice string) {
	t.Helper()
	s := b.Welcome.Status
	s.Fault, s.Notice = fault, notice
	b.SendFromResident(t, windowapi.KindStatus, s)
}

// wantNote checks what is said above the list.
func (b *harness) wantNote(t *testing.T, want string) {
	t.Helper()
	if got := b.calls.note.ContentName; got != want {
		t.Errorf("says %q, want %q", got, want)
	}
}

// wantView checks which calls are read next.
func (b *harness) wantView(t *testing.T, want history.View) {
	t.Helper()
	if got := b.nextRequest().query.View; got != want {
		t.Errorf("reads view %v, want %v", got, want)
	}
}

// offered returns the labels of a call's menu.
func offered(c *window, r row) (all []string) {
	for _, i := range c.items(r) {
		if !i.IsSeparator {
			all = append(all, i.Label)
		}
	}
	return all
}

// long returns a harness whose readings come from a list of n calls, like
// those of the reader.
func long(t *testing.T, n int) (*harness, func() int) {
	b := newHarness(t, uitest.Greeting(text.Dutch))
	entry := func(i int) history.Entry { // number i from the newest
		e := customer()
		e.ID, e.Rang = int64(n-i), uitest.Noon.Add(-time.Duration(i)*time.Minute)
		return e
	}
	read := 0
	answers := func() int {
		for b.HistoryReads > 0 {
			b.HistoryReads = 0
			w := b.nextRequest()
			a := readResult{readRequest: w, count: n, today: 721, exact: true}
			from := max(w.index-block/2, 0)
			a.start = from
			for i := from; i < min(from+block, n); i++ {
				a.entries = append(a.entries, entry(i))
			}
			read++
			b.storeResult(a)
		}
		return read
	}
	b.Show(windowapi.WindowCalls)
	return b, answers
}
