package engine

import (
	"context"
	"log/slog"
	"math"
	"runtime"
	"strconv"
	"testing"
	"time"

	"wiebelt/internal/core/call"
	"wiebelt/internal/core/contact"
	"wiebelt/internal/core/phone"
	"wiebelt/internal/testutil/must"
)

// benchmarkEngine runs an engine with a hub that answers at once.
func benchmarkEngine(b testing.TB, found int) (*Engine, <-chan struct{}) {
	b.Helper()
	rules := phone.DefaultRules()
	var people []contact.Contact
	for i := range found {
		people = append(people, contact.Contact{ID: strconv.Itoa(i), Initials: "A", FamilyName: "Naam" + strconv.Itoa(i), Link: "ok"})
	}
	e := New(Params{Rules: rules, Log: slog.New(slog.DiscardHandler),
		FullFor: time.Minute, AfterCall: 20 * time.Second,
		Lookup:    lookupFunc(func(context.Context, string) ([]contact.Contact, error) { return people, nil }),
		CheckLink: func(l string) (string, error) { return l, nil }, Record: func(Entry) {}})
	must.Run(b, e.Run)
	return e, e.Watch()
}

type lookupFunc func(context.Context, string) ([]contact.Contact, error)

func (f lookupFunc) Lookup(ctx context.Context, n string) ([]contact.Contact, error) {
	return f(ctx, n)
}

// ringAndEnd waits for a snapshot with the call's number, and
// after the call's end for one without it. Nothing is looked up.
func ringAndEnd(e *Engine, watch <-chan struct{}, id string) {
	await := func(cards int) {
		for len(e.Snapshot().Cards) != cards {
			<-watch
		}
	}
	ev := call.Event{Source: call.Source{Kind: call.KindWebSocket, Conn: "1", ReportLevel: call.AllStates}, ID: id, Number: "101",
		At: time.Now()}
	_ = e.Receive(ev)
	await(1)
	ev.State = call.Ended
	_ = e.Receive(ev)
	await(0)
}

func BenchmarkRing(b *testing.B) {
	e, watch := benchmarkEngine(b, 0)
	b.ReportAllocs()
	for i := range b.N {
		ringAndEnd(e, watch, strconv.Itoa(i))
	}
}

// TestRingAllocatesLittle: a ring and its end allocate a small part of what their
// card may take.
func TestRingAllocatesLittle(t *testing.T) {
	e, watch := benchmarkEngine(t, 0)
	least := uint64(math.MaxUint64)
	for i := range 200 {
		var before, after runtime.MemStats
		runtime.ReadMemStats(&before)
		ringAndEnd(e, watch, strconv.Itoa(i))
		runtime.ReadMemStats(&after)
		least = min(least, after.TotalAlloc-before.TotalAlloc)
	}
	if least > 5_000 {
		t.Errorf("a ring takes %d bytes", least)
	}
}

// BenchmarkAnswer measures the path from a ring to a snapshot with the hub's answer: one
// contact, and as many as a choice is remembered for. Every call has a source of its own
// kind, so that no lookup waits for its turn.
func BenchmarkAnswer(b *testing.B) {
	for _, n := range []int{1, 30} {
		b.Run(strconv.Itoa(n), func(b *testing.B) {
			e, watch := benchmarkEngine(b, n)
			await := func(ok func(*Snapshot) bool) {
				for !ok(e.Snapshot()) {
					<-watch
				}
			}
			b.ReportAllocs()
			for i := range b.N {
				ev := call.Event{Source: call.Source{Kind: strconv.Itoa(i), ReportLevel: call.AllStates}, ID: "1", Number: "0612345678", At: time.Now()}
				_ = e.Receive(ev)
				await(func(s *Snapshot) bool { return len(s.Cards) == 1 && len(s.Cards[0].Contacts) == n })
				ev.State = call.Ended
				_ = e.Receive(ev)
				await(func(s *Snapshot) bool { return len(s.Cards) == 0 })
			}
		})
	}
}
