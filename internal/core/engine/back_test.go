package engine

import (
	"testing"
	"time"

	"wiebelt/internal/core/call"
)

// A link that breaks during a call and comes back tells of the same call again:
// from then on the card is as if nothing had been. It stays until hang-up.
func TestALinkThatComesBack(t *testing.T) {
	for _, answered := range []bool{true, false} {
		b := start(t, nil)
		link := call.Source{Kind: "baresip", Reports: call.AllStates}
		b.ring(link, "1", known)
		b.one(Found)
		state, phase := call.Ringing, PhaseRinging
		if answered {
			state, phase = call.Answered, PhaseAnswered
			b.event(link, "1", "", state)
			b.until("answered", func(s *Snapshot) bool { return s.Cards[0].Phase == phase })
		}
		b.e.SourceGone(link)
		b.until("lost", func(s *Snapshot) bool { return s.Cards[0].Reports == call.RingOnly })
		b.clock.Forward(61 * time.Second)
		b.until("folded, and nothing is known", func(s *Snapshot) bool { return s.Cards[0].Strip && s.Cards[0].Phase == PhaseReported })
		b.event(link, "1", known, state) // what the phone says of its calls to a new connection
		b.until("known again", func(s *Snapshot) bool {
			return s.Cards[0].Reports == call.AllStates && s.Cards[0].Phase == phase && s.Cards[0].Strip == answered
		})
		b.clock.Forward(30 * time.Minute)
		b.settle()
		if n := len(b.e.Snapshot().Cards); n != 1 {
			t.Fatalf("answered %v: %d cards during the call", answered, n)
		}
		b.event(link, "1", known, call.Ended)
		b.settle()
		b.clock.Forward(21 * time.Second)
		b.until("gone after the call", func(s *Snapshot) bool { return len(s.Cards) == 0 })
	}
}
