package engine

import (
	"testing"
	"time"

	"wiebelt/internal/core/call"
	"wiebelt/internal/testutil/must"
)

// TestOutgoingCallsWithoutACardAreRecorded: with card.outgoing = off, an
// outgoing call of this office gets no card and no lookup, but it is still
// a call and recorded in the history: it may be the answer to a missed one.
func TestOutgoingCallsWithoutACardAreRecorded(t *testing.T) {
	b := start(t, func(p *Params) { p.Outgoing = OutgoingOff })
	b.ring(b.ws, "in", family)
	b.one(OutcomeSeveral)
	must.Do(t, b.e.Receive(call.Event{Source: b.ws, ID: "in", State: call.Ended, Reason: call.Missed}))
	b.until("no card", func(s *Snapshot) bool { return len(s.Cards) == 0 })
	asked := b.hub.count()
	shown := 0
	b.e.Reconfigure(func(*Params) { b.e.published = func(s *Snapshot) { shown += len(s.Cards) } })
	out := func(s call.State, number string) {
		t.Helper()
		must.Do(t, b.e.Receive(call.Event{Source: b.ws, ID: "out", Number: number, Direction: call.Outgoing, State: s}))
		b.settle()
		b.clock.Forward(10 * time.Second) // long enough for any lookup timer
		b.settle()
	}
	b.mu.Lock()
	b.entries = nil
	b.mu.Unlock()
	out(call.Ringing, nobody)
	out(call.Ringing, family) // forwarded to somebody else
	out(call.Answered, "")
	b.e.Reconfigure(func(*Params) {
		if shown > 0 {
			t.Errorf("%d cards of an outgoing call", shown)
		}
		b.e.published = nil
	})
	b.settle()
	b.do(Action{Kind: ActionShow, Card: b.e.Snapshot().LastCall.Card})
	s := b.until("the last call's card", func(s *Snapshot) bool { return len(s.Cards) > 0 && s.Cards[0].Outcome == OutcomeSeveral })
	if len(s.Cards) != 1 || s.Cards[0].Outgoing || s.Cards[0].Dimmed || s.ClosedCard != 0 {
		t.Errorf("brought back: %+v", s.Cards)
	}
	out(call.Ended, "")
	if n := b.hub.count() - asked; n != 1 {
		t.Errorf("%d lookups, want that of the card which came back", n)
	}
	b.mu.Lock()
	defer b.mu.Unlock()
	var last *Entry
	calls := map[call.ID]bool{}
	for i, e := range b.entries {
		if e.Card.Outgoing {
			last, calls[e.Call] = &b.entries[i], true
			if e.Card.Outcome == OutcomeFailed {
				t.Errorf("a lookup that was never made is said to have failed: %+v", e)
			}
		}
	}
	if len(calls) != 1 || last.Card.Number.Key() != family || last.Card.Answered.IsZero() || last.Ended.IsZero() || last.ContactIndex != -1 {
		t.Errorf("%d calls recorded, the last entry %+v", len(calls), last)
	}
}

// TestCallsThatAreOn checks that a call is on until it is over, even if its
// card was closed or never existed, but not forever if no one reports its end.
func TestCallsThatAreOn(t *testing.T) {
	b := start(t, func(p *Params) { p.Outgoing = OutgoingOff })
	on := func(what string, want int) {
		t.Helper()
		b.until(what, func(s *Snapshot) bool { return s.Ongoing == want })
	}
	b.ring(b.ws, "in", known)
	c := b.one(OutcomeFound)
	b.do(Action{Card: c.ID, Kind: ActionClose})
	b.until("closed", func(s *Snapshot) bool { return len(s.Cards) == 0 })
	on("the card was closed", 1)
	must.Do(t, b.e.Receive(call.Event{Source: b.ws, ID: "out", Number: family, Direction: call.Outgoing}))
	on("a call out too", 2)
	for i, id := range []string{"in", "out"} {
		must.Do(t, b.e.Receive(call.Event{Source: b.ws, ID: id, State: call.Ended}))
		on("over", 1-i)
	}
	noID := call.Source{Kind: call.KindHTTP, ReportLevel: call.AllStates}
	for _, lost := range []call.Event{{Source: b.ws, ID: "lost", Number: known}, {Source: noID, Number: nobody}} {
		b.ring(lost.Source, lost.ID, lost.Number)
		b.do(Action{Card: b.until("shown", func(s *Snapshot) bool { return len(s.Cards) == 1 }).Cards[0].ID, Kind: ActionClose})
	}
	must.Do(t, b.e.Receive(call.Event{Source: b.ws, ID: "lost too", Number: family, Direction: call.Outgoing}))
	b.settle()
	b.clock.Forward(call.AssumeEndedAfter - time.Second)
	b.settle()
	on("not yet", 3)
	b.clock.Forward(time.Second)
	on("its end was lost", 0)
	if s := b.e.Snapshot(); s.HotkeyCard() != 0 {
		t.Errorf("the hotkey brings card %d back", s.HotkeyCard())
	}
	b.event(b.ws, "lost", known, call.Answered)
	on("told of again, it counts again", 1)
	if s := b.e.Snapshot(); len(s.Cards) != 0 {
		t.Errorf("it was closed, and is shown: %+v", s.Cards)
	}
	for _, id := range []string{"lost", "lost too"} {
		b.event(b.ws, id, "", call.Ended)
		b.settle()
		b.mu.Lock()
		if last := b.entries[len(b.entries)-1]; last.Ended.IsZero() {
			t.Errorf("%s: nothing says that it has ended: %+v", id, last)
		}
		b.mu.Unlock()
	}
	b.ring(noID, "", nobody)
	b.one(OutcomeNobody)
}
