package recorder

import (
	"context"
	"fmt"
	"log/slog"
	"path/filepath"
	"strings"
	"testing"
	"testing/synctest"
	"time"

	"go.uber.org/goleak"

	"wiebelt/internal/core/call"
	"wiebelt/internal/core/contact"
	"wiebelt/internal/core/engine"
	"wiebelt/internal/core/phone"
	"wiebelt/internal/store/history"
	"wiebelt/internal/testutil/logtest"
	"wiebelt/internal/testutil/must"
)

func TestMain(m *testing.M) { goleak.VerifyTestMain(m) }

// open opens a history until the test ends.
func open(t *testing.T) *history.Store {
	store := must.Get(history.Open(filepath.Join(t.TempDir(), "history.db"), history.KeepFull, 7, time.Now))(t)
	t.Cleanup(func() { _ = store.Close() })
	return store
}

// lines returns the lines of a log.
func lines(l *logtest.Buffer) []string { return strings.Split(strings.TrimSpace(l.String()), "\n") }

// TestLeftOutCallsAreCounted checks that a flood logs one line with a count every ten
// seconds, not one per call; the same holds for calls that cannot be written.
func TestLeftOutCallsAreCounted(t *testing.T) {
	store := open(t)
	log := &logtest.Buffer{}
	written := make(chan struct{}, 2*maxQueue)
	r := New(store, func() { written <- struct{}{} }, slog.New(slog.NewTextHandler(log, nil)))
	waits, over := make(chan time.Duration, 8), make(chan time.Time)
	r.after = func(d time.Duration) <-chan time.Time { waits <- d; return over }
	flood := func(n int) {
		for i := range n {
			r.Enqueue(engine.Entry{Call: call.ID(i + 1), Card: engine.Card{Rang: time.Now()}})
		}
	}
	tell := func() {
		t.Helper()
		if d := must.Receive(t, waits, "something to tell"); d != 10*time.Second {
			t.Errorf("after %v", d)
		}
		over <- time.Time{}
	}
	flood(maxQueue + 3000) // nobody writes yet
	stop := must.Run(t, r.Run)
	tell()
	for range maxQueue { // the disk catches up
		<-written
	}
	must.Do(t, store.Close())
	flood(700)
	tell()
	stop()
	all := lines(log)
	if len(all) < 2 || len(all) > 3 || !strings.Contains(all[0], "left out") || !strings.Contains(all[0], "count=3000") {
		t.Fatalf("%d lines: %q", len(all), all)
	}
	sum := 0
	for _, l := range all[1:] { // one at a time, and the rest at the end
		var n int
		if _, rest, ok := strings.Cut(l, "not written to the history\" count="); !ok {
			t.Errorf("%q", l)
		} else if _, err := fmt.Sscan(rest, &n); err != nil {
			t.Error(err)
		}
		sum += n
	}
	if sum != 700 {
		t.Errorf("%d of 700 counted", sum)
	}
}

// TestFloodPaysItself checks that, when too much waits, the newest calls of the source
// with the most waiting are dropped.
func TestFloodPaysItself(t *testing.T) {
	r := New(nil, func() {}, slog.New(slog.DiscardHandler))
	flood, phone := call.Source{Kind: call.KindHTTP}, call.Source{Kind: call.KindCommand}
	r.Enqueue(engine.Entry{Source: phone})
	for i := range maxQueue {
		r.Enqueue(engine.Entry{Source: flood, Call: call.ID(i)})
	}
	for range 2 {
		r.Enqueue(engine.Entry{Source: phone})
	}
	left := map[call.Source]int{}
	last := call.ID(0)
	for e, ok := r.next(); ok; e, ok = r.next() {
		left[e.Source]++
		if e.Source == flood {
			last = e.Call
		}
	}
	if left[phone] != 3 || left[flood] != maxQueue-3 || last != maxQueue-4 || r.dropped.Load() != 3 {
		t.Errorf("%v wait, the last of the flood is %d, and %d were left out", left, last, r.dropped.Load())
	}
}

// TestLongCall checks that a call is one history entry however many parties come and go,
// that they do not stay in memory, and that reports after its end do not change the end.
// Calls that are history only are one entry each.
func TestLongCall(t *testing.T) {
	store := open(t)
	r := New(store, func() {}, slog.New(slog.DiscardHandler))
	long := engine.Entry{Call: 1, Card: engine.Card{Rang: time.Now()}}
	r.Enqueue(long)
	for i := range 2 * maxRemembered {
		r.Enqueue(engine.Entry{Call: call.ID(i + 2), Card: engine.Card{Rang: time.Now()}, Ended: time.Now()})
	}
	end := long
	end.Ended = time.Now()
	alone := engine.Entry{Card: long.Card, Ended: end.Ended}
	for _, e := range []engine.Entry{long, end, long, alone, alone} {
		r.Enqueue(e)
	}
	ctx, cancel := context.WithCancel(t.Context())
	cancel()
	r.Run(ctx)
	if all := must.Get(store.Last(t.Context(), maxQueue))(t); len(all) != 2*maxRemembered+3 || len(r.calls) > maxRemembered {
		t.Errorf("%d calls in the history, %d in memory", len(all), len(r.calls))
	}
	if must.Get(store.Get(t.Context(), 1))(t).Ended.IsZero() {
		t.Error("the call goes on")
	}
}

// TestEndLosesNothing checks that every accepted call is stored, whenever the end comes.
func TestEndLosesNothing(t *testing.T) {
	store := open(t)
	log := &logtest.Buffer{}
	const rounds = 60
	for i := range rounds {
		r := New(store, func() {}, slog.New(slog.NewTextHandler(log, nil)))
		stop := must.Run(t, r.Run)
		r.Enqueue(engine.Entry{Call: call.ID(i + 1), Card: engine.Card{Rang: time.Now()}})
		if i%3 > 0 {
			time.Sleep(time.Duration(i%20) * 100 * time.Microsecond) // lands in the middle of writing
		}
		stop()
	}
	n := 0
	for id := range int64(rounds) {
		if _, err := store.Get(t.Context(), id+1); err == nil {
			n++
		}
	}
	if n != rounds {
		t.Errorf("%d of %d calls are kept; the log says %q", n, rounds, lines(log))
	}
}

// TestEndOnASlowDisk checks that everything pending at the end is written, however long that takes.
func TestEndOnASlowDisk(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		store := open(t)
		log := &logtest.Buffer{}
		r := New(store, func() { time.Sleep(finalWriteTimeout / 2) }, slog.New(slog.NewTextHandler(log, nil)))
		const calls = 10
		for i := range calls {
			r.Enqueue(engine.Entry{Call: call.ID(i + 1), Card: engine.Card{Rang: time.Now()}})
		}
		ctx, cancel := context.WithCancel(t.Context())
		cancel()
		r.Run(ctx)
		if _, err := store.Get(t.Context(), calls); err != nil || log.String() != "" {
			t.Errorf("%v; the log says %q", err, log)
		}
	})
}

// TestRecorderTicksOff checks that opening a file after the call was missed ticks the call
// off, and opening it while the phone rang does not.
func TestRecorderTicksOff(t *testing.T) {
	store := open(t)
	rules := phone.DefaultRules()
	rec := New(store, func() {}, slog.New(slog.DiscardHandler))
	now := time.Now()
	e := engine.Entry{Call: 1, Source: call.Source{ReportLevel: call.AllStates}, ContactIndex: -1,
		Card: engine.Card{Rang: now, ReportLevel: call.AllStates, Number: rules.Parse("0698760011", "")}}
	record := func(opened int, ended bool) {
		e.Card.OpenedIndex, e.BrowserStarted = opened, opened >= 0
		if ended {
			e.Ended, e.Reason = now, call.Missed
		}
		rec.write(t.Context(), e)
	}
	record(-1, false)
	record(0, false)
	record(0, true)
	if store.Missed() != 1 {
		t.Fatalf("%d missed: %+v", store.Missed(), rec.calls[1])
	}
	e.Call++
	e.Ended, e.Card.Rang = time.Time{}, now.Add(time.Second)
	record(-1, false)
	record(-1, true)
	if store.Missed() != 1 { // both are from one caller
		t.Fatalf("%d missed", store.Missed())
	}
	e.Card.OpenedIndex = 0 // clicked, but no browser started
	if rec.write(t.Context(), e); store.Missed() != 1 {
		t.Error("a click without a browser ticks off")
	}
	record(0, true)
	if store.Missed() != 0 {
		t.Errorf("%d missed after the file was opened", store.Missed())
	}

	// "Niet deze relatie" on the card reaches the history and disappears when undone; the
	// result of the call was reported before and stays.
	e.Call++
	record(-1, true)
	e.Ended, e.Reason = time.Time{}, call.ReasonUnknown
	known := e.Card
	known.Outcome, known.Contacts, known.LinkOK = engine.OutcomeFound, []contact.Contact{{ID: "c1", Initials: "J.", FamilyName: "Vries", RelationNumber: "100200"}}, []bool{false}
	for _, denied := range []bool{false, true, false} {
		e.Card, e.ContactIndex = known, 0
		if denied {
			e.Card.Outcome, e.Card.Contacts, e.Card.LinkOK = engine.OutcomeNobody, nil, nil
			e.Card.RemovedCount, e.Card.LastRemoved, e.ContactIndex = 1, known.Contacts[0], -1
		}
		rec.write(t.Context(), e)
		got, err := store.Last(t.Context(), 1)
		if err != nil || len(got) != 1 {
			t.Fatal(got, err)
		}
		if g := got[0]; g.PersonRejected != denied || g.Name != "J. Vries" || (g.RelationNumber == "") != denied {
			t.Errorf("denied %v: taken off %v, %q with %q", denied, g.PersonRejected, g.Name, g.RelationNumber)
		} else if g.Ended.IsZero() || g.Result != history.ResultMissed {
			t.Errorf("denied %v: ended %v, %q", denied, g.Ended, g.Result)
		}
	}
}

// TestEntry checks what is kept about a caller and what is not.
func TestEntry(t *testing.T) {
	rules := phone.DefaultRules()
	k := contact.Contact{ID: "c1", Initials: "J.", FamilyName: "Vries", Link: "https://hub.example/c1"}
	denied := func(e *engine.Entry) {
		e.Card.Contacts, e.Card.LinkOK, e.ContactIndex, e.Card.RemovedCount, e.Card.LastRemoved = nil, nil, -1, 1, k
	}
	for name, c := range map[string]struct {
		change             func(*engine.Entry)
		caller, id, link   string
		number, taken, off string
	}{
		"one contact":      {func(*engine.Entry) {}, "J. Vries", "c1", k.Link, "+31698760011", "", ""},
		"no good link":     {func(e *engine.Entry) { e.Card.LinkOK[0] = false }, "J. Vries", "c1", "", "+31698760011", "", ""},
		"nobody is known":  {func(e *engine.Entry) { e.ContactIndex = -1 }, "phone", "", "", "+31698760011", "", ""},
		"not this one":     {denied, "J. Vries", "", "", "+31698760011", "", "off"},
		"maybe, and not":   {func(e *engine.Entry) { denied(e); e.Card.Possible = true }, "", "", "", "+31698760011", "", "off"},
		"stays unknown":    {func(e *engine.Entry) { e.ContactIndex, e.Card.Number = -1, rules.Parse("anonymous", "") }, "", "", "", "", "", ""},
		"a colleague took": {func(e *engine.Entry) { e.AnsweredBy = "Bob" }, "J. Vries", "c1", k.Link, "+31698760011", "Bob", ""},
	} {
		e := engine.Entry{Card: engine.Card{Number: rules.Parse("0698760011", ""), PhoneName: "phone", Contacts: []contact.Contact{k}, LinkOK: []bool{true}}}
		c.change(&e)
		h := entry(e)
		if h.Name != c.caller || h.ContactID != c.id || h.Link != c.link || h.Number != c.number || h.AnsweredBy != c.taken || h.PersonRejected != (c.off != "") {
			t.Errorf("%s: %+v", name, h)
		}
	}
}
