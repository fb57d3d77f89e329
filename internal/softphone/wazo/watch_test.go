package wazo

import (
	"bytes"
	"context"
	"log/slog"
	"sync"
	"testing"
	"time"

	"go.uber.org/goleak"

	"wiebelt/internal/call"
	"wiebelt/internal/softphone/link"
)

func TestMain(m *testing.M) { goleak.VerifyTestMain(m) }

const patient = 20 * time.Second // only a failing test waits so long

// watch is a link that runs, and what it tells.
type watch struct {
	t      testing.TB
	events chan call.Event
	states chan link.State
	wake   chan struct{}
	log    *lockedBuffer
}

type lockedBuffer struct {
	mu  sync.Mutex
	buf bytes.Buffer
}

func (b *lockedBuffer) Write(p []byte) (int, error) {
	b.mu.Lock()
	defer b.mu.Unlock()
	return b.buf.Write(p)
}

func (b *lockedBuffer) String() string {
	b.mu.Lock()
	defer b.mu.Unlock()
	return b.buf.String()
}

func listen(t testing.TB, cfg Config) *watch {
	t.Helper()
	p, err := New(cfg)
	if err != nil {
		t.Fatal(err)
	}
	return listenTo(t, p)
}

func listenTo(t testing.TB, p link.Phone) *watch {
	t.Helper()
	w := &watch{t: t, events: make(chan call.Event, 10_000), states: make(chan link.State, 1000), wake: make(chan struct{}, 1), log: &lockedBuffer{}}
	ctx, cancel := context.WithCancel(context.Background())
	ended := make(chan struct{})
	go func() {
		defer close(ended)
		link.Run(ctx, link.Config{
			Name:  "telefoon",
			Take:  func(e call.Event) error { w.events <- e; return nil },
			State: func(s link.State) { w.states <- s },
			Wake:  w.wake,
			Log:   slog.New(slog.NewTextHandler(w.log, &slog.HandlerOptions{Level: slog.LevelDebug})),
		}, p)
	}()
	t.Cleanup(func() { cancel(); <-ended })
	return w
}

// until waits for a phase and gives that state.
func (w *watch) until(p link.Phase) link.State {
	w.t.Helper()
	for late := time.After(patient); ; {
		select {
		case s := <-w.states:
			if s.Phase == p {
				return s
			}
		case <-late:
			w.t.Fatalf("never %v", p)
		}
	}
}

func (w *watch) next() call.Event {
	w.t.Helper()
	select {
	case e := <-w.events:
		return e
	case <-time.After(patient):
		w.t.Fatal("no event came")
	}
	panic("unreachable")
}

// expect waits for events and compares what they say.
func (w *watch) expect(want ...string) {
	w.t.Helper()
	for _, s := range want {
		if got := say(w.next()); got != s {
			w.t.Fatalf("got  %s\nwant %s", got, s)
		}
	}
}

// say gives an event in words.
func say(e call.Event) string {
	s := e.State.String()
	if e.Reason != call.ReasonUnknown {
		s += " " + e.Reason.String()
	}
	s += " " + e.Direction.String() + " #" + e.ID + " " + e.Number
	if e.Name != "" {
		s += " (" + e.Name + ")"
	}
	if e.Via != "" {
		s += " via " + e.Via
	}
	return s + " on " + e.Line
}
