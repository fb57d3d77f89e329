package engine

import (
	"context"
	"io"
	"log/slog"
	"strconv"
	"testing"
	"time"

	"wiebelt/internal/core/call"
	"wiebelt/internal/core/contact"
	"wiebelt/internal/core/phone"
)

type wallClock struct{}

func (wallClock) Now() time.Time                  { return time.Now() }
func (wallClock) At(t time.Time) <-chan time.Time { return time.After(time.Until(t)) }

// benchmarkEngine runs an engine whose hub answers at once.
func benchmarkEngine(b *testing.B, found int) (*Engine, <-chan struct{}) {
	b.Helper()
	rules, err := phone.NewRules(phone.Config{})
	if err != nil {
		b.Fatal(err)
	}
	var people []contact.Contact
	for i := range found {
		people = append(people, contact.Contact{ID: strconv.Itoa(i), Initials: "A", FamilyName: "Naam" + strconv.Itoa(i), Link: "ok"})
	}
	e := New(Params{Rules: rules, Clock: wallClock{}, Log: slog.New(slog.NewTextHandler(io.Discard, nil)),
		FullFor: time.Minute, AfterCall: 20 * time.Second,
		Lookup:    lookupFunc(func(context.Context, string) ([]contact.Contact, error) { return people, nil }),
		CheckLink: func(l string) (string, error) { return l, nil }, Record: func(Entry) {}})
	ctx, cancel := context.WithCancel(context.Background())
	done := make(chan struct{})
	go func() { e.Run(ctx); close(done) }()
	b.Cleanup(func() { cancel(); <-done })
	return e, e.Watch()
}

type lookupFunc func(context.Context, string) ([]contact.Contact, error)

func (f lookupFunc) Lookup(ctx context.Context, n string) ([]contact.Contact, error) {
	return f(ctx, n)
}

// BenchmarkRing is the way of a ring from Take to a snapshot with its number,
// and its end to a snapshot without it. Nothing is looked up.
func BenchmarkRing(b *testing.B) {
	e, watch := benchmarkEngine(b, 0)
	source := call.Source{Kind: call.KindWebSocket, Conn: "1", Reports: call.AllStates}
	await := func(cards int) {
		for len(e.Snapshot().Cards) != cards {
			<-watch
		}
	}
	b.ReportAllocs()
	for i := range b.N {
		id := strconv.Itoa(i)
		ev := call.Event{Source: source, ID: id, Number: "101", At: time.Now()}
		_ = e.Take(ev)
		await(1)
		ev.State = call.Ended
		_ = e.Take(ev)
		await(0)
	}
}

// BenchmarkAnswer is the way of a ring to a snapshot with the hub's answer: one
// contact, and as many as a choice is remembered for. Every call has a source of its
// own kind, so that none waits for its turn to look up.
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
				ev := call.Event{Source: call.Source{Kind: strconv.Itoa(i), Reports: call.AllStates}, ID: "1", Number: "0612345678", At: time.Now()}
				_ = e.Take(ev)
				await(func(s *Snapshot) bool { return len(s.Cards) == 1 && len(s.Cards[0].Contacts) == n })
				ev.State = call.Ended
				_ = e.Take(ev)
				await(func(s *Snapshot) bool { return len(s.Cards) == 0 })
			}
		})
	}
}
