package engine

import (
	"fmt"
	"slices"
	"testing"
	"testing/synctest"
	"time"

	"wiebelt/internal/core/call"
)

// crowdNumber is the number of one of many callers.
func crowdNumber(i int) string { return fmt.Sprintf("+3169%07d", i) }

// shows reports whether there is a card of a number, and not only a line.
func (b *harness) shows(number string) bool {
	return slices.ContainsFunc(b.cards(), func(c Card) bool { return c.Number.Key() == number && !c.SingleLine })
}

// TestReconnectingBuysNoLookups checks that the budget belongs to the kind of source.
func TestReconnectingBuysNoLookups(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		b := start(t, nil)
		for i := range 40 {
			s := call.Source{Kind: call.KindWebSocket, Conn: fmt.Sprint(i), ReportLevel: call.AllStates}
			b.ring(s, "1", crowdNumber(i))
			b.e.SourceGone(s)
		}
		if synctest.Wait(); b.hub.asked.Load() > bucketSize {
			t.Errorf("%d lookups", b.hub.asked.Load())
		}
	})
}

// TestFloodTakesNothingFromAnotherSource: a call of a quiet source is shown and looked up
// while another source floods, and remains afterwards.
func TestFloodTakesNothingFromAnotherSource(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		b := start(t, nil)
		flood := func(from, to int) {
			for i := from; i < to; i++ {
				b.ring(wireRing, "", crowdNumber(i))
			}
		}
		flood(0, 600)
		b.ring(wireBare, "1", known)
		there := func() bool {
			return len(b.cards()) == MaxShown && slices.ContainsFunc(b.cards(), func(c Card) bool { return c.Outcome == OutcomeFound })
		}
		if more := b.e.Snapshot().MoreCount; !there() || more < 200 {
			t.Errorf("%d more than %+v", more, b.cards())
		}
		if flood(600, 1200); !there() {
			t.Errorf("the flood took the call of another source: %d cards", len(b.cards()))
		}
		if n := len(b.e.s.rings); n > 4*maxCalls {
			t.Errorf("%d callers are remembered", n)
		}
		b.event(wireBare, "1", known, call.Answered)
		if !slices.ContainsFunc(b.cards(), func(c Card) bool { return c.Phase == PhaseAnswered }) {
			t.Errorf("not answered: %+v", b.cards())
		}
	})
}

// TestLastCallAfterAFlood: a call that a flood pushed out is shown again on request,
// and expires again.
func TestLastCallAfterAFlood(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		b := start(t, nil)
		b.ring(b.ws, "real", known)
		for i := range 3 * maxCalls { // outgoing ones do not become the last call
			b.send(call.Event{Source: b.ws, ID: fmt.Sprint(i), Number: crowdNumber(i), Direction: call.Outgoing})
		}
		b.do(Action{Kind: ActionShow, Card: b.e.Snapshot().LastCall.Card})
		if !b.shows(known) {
			t.Error("not shown, since there are many")
		}
		if pass(61 * time.Second); b.shows(known) {
			t.Error("it stays")
		}
		if b.ring(wireBare, "2", family); !b.shows(family) {
			t.Error("a new call is not shown")
		}
	})
}

// TestHeldAgainstAFlood checks that the card under the pointer stays on screen, whatever
// comes, and that a call of another source than the flood's still gets a whole card.
func TestHeldAgainstAFlood(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		b := start(t, nil)
		b.ring(wireRing, "", known)
		c := b.one(OutcomeFound)
		b.do(Action{Card: c.ID, Kind: ActionHover})
		for i := range 2 * maxCalls {
			b.ring(wireRing, "", crowdNumber(i))
		}
		first := func() bool { return len(b.cards()) == MaxShown && b.cards()[0].ID == c.ID }
		if more := b.e.Snapshot().MoreCount; !first() || more < maxCalls/2 {
			t.Fatalf("%d more than %+v", more, b.cards())
		}
		b.ring(wireBare, "real", family)
		if !first() || !b.shows(family) {
			t.Error("the call of another source has no card, or took that under the pointer")
		}
		b.event(wireBare, "real", "", call.Ended)
		b.do(Action{Kind: ActionHover}) // on "more calls"
		b.do(Action{Card: c.ID, Kind: ActionLeave})
		if pass(2 * time.Hour); !first() {
			t.Fatal("gone, with the pointer on the number of the others")
		}
		b.do(Action{Kind: ActionLeave})
		if pass(1100 * time.Millisecond); len(b.cards()) > 0 {
			t.Errorf("%+v", b.cards())
		}
	})
}
