package engine

import (
	"testing"
	"testing/synctest"
	"time"

	"wiebelt/internal/core/call"
)

// TestOutgoingCallsWithoutACardAreRecorded: with card.outgoing = off, an
// outgoing call of this office gets no card and no lookup, but it is still
// a call and recorded in the history: it may be the answer to a missed one.
func TestOutgoingCallsWithoutACardAreRecorded(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		b := start(t, func(p *Params) { p.Outgoing = OutgoingOff })
		b.ring(b.ws, "in", family)
		b.send(call.Event{Source: b.ws, ID: "in", State: call.Ended, Reason: call.Missed})
		asked := b.hub.asked.Load()
		b.entries = nil
		out := func(s call.State, number string) {
			t.Helper()
			b.send(call.Event{Source: b.ws, ID: "out", Number: number, Direction: call.Outgoing, State: s})
		}
		for _, s := range []struct {
			state  call.State
			number string
		}{{call.Ringing, nobody}, {call.Ringing, family}, {call.Answered, ""}} { // forwarded to somebody else
			out(s.state, s.number)
			if pass(10 * time.Second); len(b.cards()) > 0 { // long enough for any lookup timer
				t.Errorf("a card of an outgoing call: %+v", b.cards())
			}
		}
		b.do(Action{Kind: ActionShow, Card: b.e.Snapshot().LastCall.Card})
		if c := b.one(OutcomeSeveral); c.Outgoing || c.Dimmed || b.e.Snapshot().ClosedCard != 0 {
			t.Errorf("brought back: %+v", c)
		}
		out(call.Ended, "")
		if n := b.hub.asked.Load() - asked; n != 1 {
			t.Errorf("%d lookups, want that of the card which came back", n)
		}
		var last Entry
		calls := map[call.ID]bool{}
		for _, e := range b.entries {
			if e.Card.Outgoing {
				last, calls[e.Call] = e, true
				if e.Card.Outcome == OutcomeFailed {
					t.Errorf("a lookup that was never made is said to have failed: %+v", e)
				}
			}
		}
		if len(calls) != 1 || last.Card.Number.Key() != family || last.Card.Answered.IsZero() || last.Ended.IsZero() || last.ContactIndex != -1 {
			t.Errorf("%d calls recorded, the last entry %+v", len(calls), last)
		}
	})
}
