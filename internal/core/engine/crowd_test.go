package engine

import (
	"fmt"
	"slices"
	"testing"
	"time"

	"wiebelt/internal/core/call"
	"wiebelt/internal/testutil/must"
)

// TestReconnectingBuysNoLookups checks that the budget belongs to the kind of source.
func TestReconnectingBuysNoLookups(t *testing.T) {
	b := start(t, nil)
	for i := range 40 {
		w := call.Source{Kind: call.KindWebSocket, Conn: time.Duration(i).String(), ReportLevel: call.AllStates}
		b.ring(w, "1", fmt.Sprintf("+3169870%04d", i))
		b.e.SourceGone(w)
	}
	b.settle()
	if n := b.hub.count(); n > bucketSize {
		t.Errorf("%d lookups", n)
	}
}

// TestFloodTakesNothingFromAnotherSource: a call of a quiet source is shown and looked up
// while another source floods, and remains afterwards.
func TestFloodTakesNothingFromAnotherSource(t *testing.T) {
	b := start(t, nil)
	quiet := call.Source{Kind: "baresip", Conn: "1", ReportLevel: call.AllStates}
	flood := func(from, to int) {
		for i := from; i < to; i++ {
			b.ring(call.Source{Kind: call.KindCommand, ReportLevel: call.RingOnly}, "", fmt.Sprintf("+3169%07d", i))
		}
	}
	flood(0, 600)
	b.ring(quiet, "1", known)
	s := b.until("the call of the quiet way", func(s *Snapshot) bool {
		return len(s.Cards) == MaxShown && slices.ContainsFunc(s.Cards, func(c Card) bool { return c.Outcome == OutcomeFound })
	})
	if s.MoreCount < 200 {
		t.Errorf("%d more", s.MoreCount)
	}
	flood(600, 1200)
	b.settle()
	if s := b.e.Snapshot(); len(s.Cards) != MaxShown || !slices.ContainsFunc(s.Cards, func(c Card) bool { return c.Outcome == OutcomeFound }) {
		t.Errorf("the flood took the call of another way: %d cards", len(s.Cards))
	}
	if n := len(b.e.s.rings); n > 4*maxCalls {
		t.Errorf("%d callers are remembered", n)
	}
	b.event(quiet, "1", known, call.Answered)
	b.until("answered", func(s *Snapshot) bool {
		return slices.ContainsFunc(s.Cards, func(c Card) bool { return c.Phase == PhaseAnswered })
	})
}

// TestLastCallAfterAFlood: a call that a flood pushed out is shown again on request,
// and expires again.
func TestLastCallAfterAFlood(t *testing.T) {
	b := start(t, nil)
	out := call.Source{Kind: "baresip", Conn: "1", ReportLevel: call.AllStates}
	b.ring(b.ws, "real", known)
	b.one(OutcomeFound)
	for i := range 3 * maxCalls { // outgoing ones do not become the last call
		must.Do(t, b.e.Receive(call.Event{Source: b.ws, ID: fmt.Sprint(i), Number: fmt.Sprintf("+3169%07d", i), Direction: call.Outgoing, At: b.clock.Now()}))
	}
	b.settle()
	b.do(Action{Kind: ActionShow, Card: b.e.Snapshot().LastCall.Card})
	there := func(s *Snapshot) bool {
		return slices.ContainsFunc(s.Cards, func(c Card) bool { return c.Number.Key() == known })
	}
	b.until("the call is shown, though there are many", there)
	b.clock.Forward(61 * time.Second)
	b.until("gone again", func(s *Snapshot) bool { return !there(s) })
	b.ring(out, "2", family)
	b.until("a new call", func(s *Snapshot) bool {
		return slices.ContainsFunc(s.Cards, func(c Card) bool { return c.Number.Key() == family })
	})
}

// TestHeldAgainstAFlood checks that the card under the pointer stays on screen, whatever
// comes, and that a call of another source than the flood's still gets a whole card.
func TestHeldAgainstAFlood(t *testing.T) {
	b := start(t, nil)
	cmd := call.Source{Kind: call.KindCommand, ReportLevel: call.RingOnly}
	b.ring(cmd, "", known)
	c := b.one(OutcomeFound)
	b.do(Action{Card: c.ID, Kind: ActionHover})
	b.settle()
	for i := range 2 * maxCalls {
		b.ring(cmd, "", fmt.Sprintf("+3169%07d", i))
	}
	b.settle()
	if s := b.e.Snapshot(); s.Cards[0].ID != c.ID || len(s.Cards) != MaxShown || s.MoreCount < maxCalls/2 {
		t.Fatalf("%d cards, the first is %d, %d more", len(s.Cards), s.Cards[0].ID, s.MoreCount)
	}
	quiet := call.Source{Kind: "baresip", Conn: "1", ReportLevel: call.AllStates}
	b.ring(quiet, "real", family)
	b.settle()
	if s := b.e.Snapshot(); s.Cards[0].ID != c.ID || !slices.ContainsFunc(s.Cards, func(c Card) bool { return c.Number.Key() == family && !c.SingleLine }) {
		t.Error("the call of another way has no card, or took that under the pointer")
	}
	b.event(quiet, "real", "", call.Ended)
	b.do(Action{Kind: ActionHover}) // on "more calls"
	b.do(Action{Card: c.ID, Kind: ActionLeave})
	b.settle()
	b.clock.Forward(2 * time.Hour)
	b.settle()
	if s := b.e.Snapshot(); len(s.Cards) != MaxShown || s.Cards[0].ID != c.ID {
		t.Fatal("gone, with the pointer on the number of the others")
	}
	b.do(Action{Kind: ActionLeave})
	b.settle()
	b.clock.Forward(1100 * time.Millisecond)
	b.until("nothing", func(s *Snapshot) bool { return len(s.Cards) == 0 })
}
