package engine

import (
	"context"
	"fmt"
	"slices"
	"testing"
	"time"

	"wiebelt/internal/core/call"
	"wiebelt/internal/testutil/clocktest"
	"wiebelt/internal/testutil/must"
)

func TestOutcomes(t *testing.T) {
	for name, c := range map[string]struct {
		number string
		want   Outcome
		asked  int
	}{
		"one match":  {known, OutcomeFound, 1},
		"several":    {family, OutcomeSeveral, 1},
		"nobody":     {nobody, OutcomeNobody, 1},
		"withheld":   {"anonymous", OutcomeWithheld, 0},
		"empty":      {"", OutcomeWithheld, 0},
		"internal":   {"101", OutcomeInternal, 0},
		"short":      {"0800 1234", OutcomeShort, 0},
		"not asked":  {"020 111 22 33", OutcomeShort, 0},
		"own line":   {"020 765 43 21", OutcomeOwnLine, 0},
		"not filled": {"%CallerNumber%", OutcomePlaceholder, 0},
	} {
		t.Run(name, func(t *testing.T) {
			b := start(t, nil)
			b.ring(b.ws, "1", c.number)
			got := b.one(c.want)
			if b.hub.count() != c.asked {
				t.Errorf("%d lookups, want %d", b.hub.count(), c.asked)
			}
			if got.OpenedIndex != -1 || len(b.opened) != 0 {
				t.Error("something was opened by itself")
			}
		})
	}
}

// TestDirections checks that an outgoing call is a strip, a card or nothing,
// depending on the setting, and that a call of unknown direction has no card.
func TestDirections(t *testing.T) {
	for setting, want := range map[OutgoingDisplay]int{OutgoingStrip: 1, OutgoingCard: 1, OutgoingOff: 0} {
		b := start(t, func(p *Params) { p.Outgoing = setting })
		for i, direction := range []call.Direction{call.DirectionUnknown, call.Outgoing} {
			must.Do(t, b.e.Receive(call.Event{Source: b.ws, ID: fmt.Sprint(i), Number: known, Direction: direction}))
		}
		b.settle()
		s := b.e.Snapshot()
		if len(s.Cards) != want || want == 1 && s.Cards[0].Strip != (setting == OutgoingStrip) {
			t.Errorf("%s: %+v", setting, s.Cards)
		}
	}
}

// TestEnded checks that an engine that has ended accepts nothing and blocks no one.
func TestEnded(t *testing.T) {
	e := New(Params{Clock: clocktest.New(time.Now())})
	ctx, cancel := context.WithCancel(t.Context())
	cancel()
	early := e.Watch()
	e.Run(ctx)
	for _, w := range []<-chan struct{}{early, e.Watch()} {
		for range w { // until it is closed
		}
	}
	for range 100 {
		if err := e.Receive(call.Event{}); err != ErrStopped {
			t.Fatalf("taken by nobody: %v", err)
		}
	}
}

// TestHeardOfLate checks that a card has its call's true times, even if the call was already
// on when it was first reported, or while its source was away or the computer slept.
func TestHeardOfLate(t *testing.T) {
	b := start(t, nil)
	rang, answered := b.clock.Now().Add(-10*time.Minute), b.clock.Now().Add(-9*time.Minute)
	tell := func() {
		t.Helper()
		for s, since := range []time.Time{rang, answered} {
			must.Do(t, b.e.Receive(call.Event{Source: b.ws, ID: "1", Number: known, State: call.State(s), At: b.clock.Now(), StateSince: since}))
		}
		b.until("the call", func(s *Snapshot) bool {
			return len(s.Cards) == 1 && s.Cards[0].Phase == PhaseAnswered && s.Cards[0].ReportLevel == call.AllStates && s.Cards[0].Rang.Equal(rang) && s.Cards[0].Answered.Equal(answered)
		})
	}
	tell()
	b.e.SourceGone(b.ws)
	tell()
	b.clock.Forward(time.Hour)
	b.e.Resumed(time.Hour)
	b.until("nothing", func(s *Snapshot) bool { return len(s.Cards) == 0 })
	tell()
	if s := b.e.Snapshot(); !s.LastCall.At.Equal(rang) {
		t.Errorf("the last call rang at %v", s.LastCall.At)
	}
}

// TestRingsToday checks that a card says how often its caller has rung today, and when
// the time before this one.
func TestRingsToday(t *testing.T) {
	b := start(t, nil)
	var previous time.Time
	for i, c := range []struct {
		pause time.Duration
		want  int
	}{{0, 1}, {time.Hour, 2}, {time.Hour, 3}, {24 * time.Hour, 1}, {time.Minute, 2}} {
		b.clock.Forward(c.pause)
		if c.want == 1 {
			previous = time.Time{}
		}
		id := fmt.Sprint(i)
		b.ring(b.ws, id, known)
		if got := b.one(OutcomeFound); got.RingsToday != c.want || !got.PreviousRing.Equal(previous) {
			t.Errorf("call %d: %d today, the previous one at %v; want %d, %v", i, got.RingsToday, got.PreviousRing, c.want, previous)
		}
		previous = b.clock.Now()
		b.event(b.ws, id, "", call.Ended)
		b.settle()
	}
}

// TestSleep checks that nothing that rang before a sleep is on screen after
// it, and that a later ring is a new call. A short pause changes nothing.
func TestSleep(t *testing.T) {
	b := start(t, nil)
	for range 3 {
		b.ring(b.ws, "1", known)
		b.ring(call.Source{Kind: call.KindCommand, ReportLevel: call.RingOnly}, "", family)
		b.event(b.ws, "1", known, call.Answered)
		b.until("two cards", func(s *Snapshot) bool { return len(s.Cards) == 2 })
		b.e.Resumed(30 * time.Second)
		b.e.Resumed(-time.Hour)
		b.settle()
		if n := len(b.e.Snapshot().Cards); n != 2 {
			t.Fatalf("%d cards after a short pause", n)
		}
		b.clock.Forward(8 * time.Hour)
		b.ring(b.ws, "fresh", family) // before anyone noticed the sleep
		b.until("its card", func(s *Snapshot) bool {
			return slices.ContainsFunc(s.Cards, func(c Card) bool { return c.Rang.Equal(b.clock.Now()) })
		})
		b.e.Resumed(8 * time.Hour)
		b.until("no stale card", func(s *Snapshot) bool { return len(s.Cards) == 1 && s.Cards[0].Rang.Equal(b.clock.Now()) })
		b.event(b.ws, "fresh", family, call.Ended)
		b.clock.Forward(time.Minute)
		b.until("nor that one after its time", func(s *Snapshot) bool { return len(s.Cards) == 0 })
		b.event(b.ws, "1", known, call.Ended) // as the phone may report now
	}
	b.settle()
	b.mu.Lock()
	defer b.mu.Unlock()
	ended := map[call.ID]bool{}
	for _, en := range b.entries {
		if d := en.Ended.Sub(en.Card.Rang); d > time.Minute {
			t.Errorf("a call is recorded as if it had gone on in our sleep, for %v", d)
		}
		if !en.Ended.IsZero() && en.Source == b.ws { // the ends of the others could not be known
			ended[en.Call] = true
		}
	}
	if len(ended) != 6 {
		t.Errorf("%d of 6 calls are recorded as over", len(ended))
	}
}
