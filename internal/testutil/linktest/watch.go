// Package linktest is what the tests of the links share: it runs a link and
// watches what it tells, and serves an exchange that can be stopped and started.
package linktest

import (
	"context"
	"log/slog"
	"strings"
	"testing"
	"time"

	"wiebelt/internal/core/call"
	"wiebelt/internal/softphone/link"
	"wiebelt/internal/testutil/logtest"
)

// Patient is how long a test waits for what should come; only a failing one waits
// so long.
const Patient = 30 * time.Second

// Watch is a link that runs, and what it tells.
type Watch struct {
	Events chan call.Event
	States chan link.State
	Wake   chan struct{}
	Log    *logtest.Buffer
	// Stop ends the link and waits for it; the test's end does the same.
	Stop func()

	t testing.TB
}

// Run keeps a link to p until the test ends.
func Run(t testing.TB, p link.Phone) *Watch {
	t.Helper()
	w := &Watch{t: t, Events: make(chan call.Event, 10_000), States: make(chan link.State, 1000), Wake: make(chan struct{}, 1), Log: &logtest.Buffer{}}
	ctx, cancel := context.WithCancel(context.Background())
	ended := make(chan struct{})
	go func() {
		defer close(ended)
		link.Run(ctx, link.Config{
			Name:  "telefoon",
			Take:  func(e call.Event) error { w.Events <- e; return nil },
			State: func(s link.State) { w.States <- s },
			Wake:  w.Wake,
			Log:   slog.New(slog.NewTextHandler(w.Log, &slog.HandlerOptions{Level: slog.LevelDebug})),
		}, p)
	}()
	w.Stop = func() { cancel(); <-ended }
	t.Cleanup(w.Stop)
	return w
}

// In is the same watch, failing a subtest.
func (w *Watch) In(t testing.TB) *Watch {
	in := *w
	in.t = t
	return &in
}

// Until waits for a phase and gives that state.
func (w *Watch) Until(p link.Phase) link.State {
	w.t.Helper()
	for late := time.After(Patient); ; {
		select {
		case s := <-w.States:
			if s.Phase == p {
				return s
			}
		case <-late:
			w.t.Fatalf("the link never became %v", p)
		}
	}
}

// Next waits for an event.
func (w *Watch) Next() call.Event {
	w.t.Helper()
	select {
	case e := <-w.Events:
		return e
	case <-time.After(Patient):
		w.t.Fatal("no event came")
	}
	panic("unreachable")
}

// Want waits for an event of one state.
func (w *Watch) Want(state call.State) call.Event {
	w.t.Helper()
	e := w.Next()
	if e.State != state {
		w.t.Fatalf("event %+v, want %v", e, state)
	}
	return e
}

// Expect waits for events and compares what they say.
func (w *Watch) Expect(want ...string) {
	w.t.Helper()
	for _, s := range want {
		if got := Say(w.Next()); got != s {
			w.t.Fatalf("got  %s\nwant %s", got, s)
		}
	}
}

// Say gives an event in words:
// "ended missed incoming #id number (name) via forwarder on line".
func Say(e call.Event) string {
	words := []string{e.State.String()}
	if e.Reason != call.ReasonUnknown {
		words = append(words, e.Reason.String())
	}
	words = append(words, e.Direction.String())
	for _, part := range []struct{ before, value, after string }{{"#", e.ID, ""}, {"", e.Number, ""}, {"(", e.Name, ")"}, {"via ", e.Via, ""}, {"on ", e.Line, ""}} {
		if part.value != "" {
			words = append(words, part.before+part.value+part.after)
		}
	}
	return strings.Join(words, " ")
}

// SayAll is Say for several, with semicolons between them.
func SayAll(events ...call.Event) string {
	var all []string
	for _, e := range events {
		all = append(all, Say(e))
	}
	return strings.Join(all, "; ")
}
