// Package linktest has what the tests of links share: it runs a link, watches what it reports,
// and has the common tests of links to exchanges and to real phones.
package linktest

import (
	"context"
	"flag"
	"log/slog"
	"strings"
	"testing"

	"go.uber.org/goleak"

	"wiebelt/internal/core/call"
	"wiebelt/internal/softphone/link"
	"wiebelt/internal/softphone/registry"
	"wiebelt/internal/testutil/logtest"
	"wiebelt/internal/testutil/must"
)

// Main is TestMain for tests that mostly wait for the other end: many
// run at once, and none may leak a goroutine.
func Main(m *testing.M) {
	flag.Parse()
	if flag.Lookup("test.fuzz").Value.String() == "" { // fuzzing has its own workers
		if err := flag.Set("test.parallel", "16"); err != nil {
			panic(err)
		}
	}
	goleak.VerifyTestMain(m)
}

// Watch is a running link and what it reports.
type Watch struct {
	Events chan call.Event
	States chan link.State
	Wake   chan struct{}
	Log    *logtest.Buffer
	// Stop ends the link and waits until it has ended. The end of the test does the same.
	Stop func()

	t testing.TB
}

// Run keeps a link to p until the test ends.
func Run(t testing.TB, p link.Phone) *Watch {
	t.Helper()
	events := make(chan call.Event, 10_000)
	w := RunInto(t, p, func(e call.Event) error { events <- e; return nil })
	w.Events = events
	return w
}

// RunInto is like Run, but passes the events to take.
func RunInto(t testing.TB, p link.Phone, take func(call.Event) error) *Watch {
	t.Helper()
	w := &Watch{t: t, States: make(chan link.State, 1000), Wake: make(chan struct{}, 1), Log: &logtest.Buffer{}}
	ctx, cancel := context.WithCancel(context.Background())
	ended := make(chan struct{})
	go func() {
		defer close(ended)
		link.Run(ctx, link.Config{
			Name:         "telefoon",
			Receive:      take,
			StateChanged: func(s link.State) { w.States <- s },
			Wake:         w.Wake,
			Log:          slog.New(slog.NewTextHandler(w.Log, &slog.HandlerOptions{Level: slog.LevelDebug})),
		}, p)
	}()
	w.Stop = func() { cancel(); <-ended }
	t.Cleanup(w.Stop)
	return w
}

// Once runs one session of p and returns its events and its error. The
// events must be clean and name their call.
func Once(t testing.TB, p link.Phone) (events []call.Event, err error) {
	t.Helper()
	source := p.Traits().Source
	err = link.RunOnce(t.Context(), link.Config{Receive: func(e call.Event) error {
		named := e.ID != "" || source.Kind == registry.Baresip // which may omit the id
		if e != e.Clean() || !named || e.Source != source || e.At.IsZero() {
			t.Errorf("event %+v", e)
		}
		events = append(events, e)
		return nil
	}}, p)
	return events, err
}

// Scripted is a phone whose session is the test's function Do.
type Scripted struct {
	link.Phone
	Do func(context.Context, *link.Reporter) error
}

// Session runs Do.
func (s Scripted) Session(ctx context.Context, r *link.Reporter) error { return s.Do(ctx, r) }

// In returns the same watch, whose failures fail the subtest t.
func (w *Watch) In(t testing.TB) *Watch {
	in := *w
	in.t = t
	return &in
}

// Until waits for a phase and returns that state.
func (w *Watch) Until(p link.Phase) link.State {
	w.t.Helper()
	return must.Until(w.t, w.States, "the phase "+p.String(), func(s link.State) bool { return s.Phase == p })
}

// Connected waits until the link is connected.
func (w *Watch) Connected() *Watch {
	w.t.Helper()
	w.Until(link.Connected)
	return w
}

// Next waits for an event.
func (w *Watch) Next() call.Event {
	w.t.Helper()
	return must.Receive(w.t, w.Events, "an event")
}

// Want waits for an event with a state.
func (w *Watch) Want(state call.State) call.Event {
	w.t.Helper()
	e := w.Next()
	if e.State != state {
		w.t.Fatalf("event %+v, want %v", e, state)
	}
	return e
}

// Await waits for an event with a state, whatever comes before it.
func (w *Watch) Await(state call.State) call.Event {
	w.t.Helper()
	return must.Until(w.t, w.Events, "an event "+state.String(), func(e call.Event) bool { return e.State == state })
}

// Expect waits for events and compares their text.
func (w *Watch) Expect(want ...string) {
	w.t.Helper()
	for _, s := range want {
		if got := Say(w.Next()); got != s {
			w.t.Fatalf("got  %s\nwant %s", got, s)
		}
	}
}

// Say describes an event: "ended missed incoming #id number (name) via forwarder on line
// at extension by taker".
func Say(e call.Event) string {
	words := []string{e.State.String()}
	if e.Reason != call.ReasonUnknown {
		words = append(words, e.Reason.String())
	}
	words = append(words, e.Direction.String())
	for _, part := range []struct{ before, value, after string }{{"#", e.ID, ""}, {"", e.Number, ""}, {"(", e.Name, ")"}, {"via ", e.Via, ""}, {"on ", e.Line, ""}, {"at ", e.Extension, ""}, {"by ", e.AnsweredBy, ""}} {
		if part.value != "" {
			words = append(words, part.before+part.value+part.after)
		}
	}
	return strings.Join(words, " ")
}

// SayAll is Say for several events, separated by semicolons.
func SayAll(events ...call.Event) string {
	var all []string
	for _, e := range events {
		all = append(all, Say(e))
	}
	return strings.Join(all, "; ")
}
