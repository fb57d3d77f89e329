// Package demo shows all that Wiebelt does to someone who has no hub, no
// softphone and no credentials: a local hub with invented people, a simulated
// softphone, and one call for every kind of card. Nothing is installed and
// nothing is left behind.
//
// A Stage plays one call at a time; it owns no goroutine but the caller's.
package demo

import (
	"context"
	"time"

	"wiebelt/internal/core/engine"
	"wiebelt/internal/localhub"
	"wiebelt/internal/simulate"
)

// Scenario is one call of the demo. Its texts stand in the catalogue under its
// ID.
type Scenario struct {
	ID string
	// want is the outcome that the card must come to show.
	want engine.Outcome
	// before breaks the hub, or gets something ready.
	before func(context.Context, *Stage) error
	// number, name and line of the caller.
	number func(*Stage) string
	name   string
	// after is what happens once the first card is painted.
	after func(context.Context, *Stage, simulate.Call) error
}

// Scenarios are the calls of the demo, in the order in which they are shown.
var Scenarios = []Scenario{
	{ID: "known", want: engine.Found, number: func(s *Stage) string { return s.people.One }},
	{ID: "family", want: engine.Several, number: func(s *Stage) string { return s.people.Family }},
	{ID: "unknown", want: engine.Nobody, number: func(s *Stage) string { return s.people.Nobody }, name: "P. Jansen"},
	{ID: "withheld", want: engine.Withheld, number: func(*Stage) string { return "anonymous" }},
	{ID: "colleague", want: engine.Internal, number: func(*Stage) string { return "101" }, name: "Receptie"},
	{ID: "passed", want: engine.Found, number: func(*Stage) string { return "101" }, name: "Receptie",
		after: func(ctx context.Context, s *Stage, c simulate.Call) error {
			if err := simulate.Wait(ctx, 1500*time.Millisecond); err != nil {
				return err
			}
			c.Number, c.Name, c.Via = s.people.One, "", "Receptie (101)"
			s.rang = time.Now()
			return s.phone.Ring(ctx, c)
		}},
	{ID: "slow", want: engine.Found, number: func(s *Stage) string { return s.people.Other },
		before: func(_ context.Context, s *Stage) error {
			s.hub.Faults().Set(localhub.AtLookup, localhub.Fault{Delay: 1800 * time.Millisecond})
			return nil
		}},
	{ID: "gone", want: engine.Failed, number: func(s *Stage) string { return s.people.Third },
		before: func(_ context.Context, s *Stage) error { return s.hub.Faults().SetGone(true) }},
	{ID: "refused", want: engine.Failed, number: func(s *Stage) string { return s.people.Fourth },
		before: func(_ context.Context, s *Stage) error { s.hub.Faults().RefuseCredentials(true); return nil }},
}

// Find gives the scenario with an ID.
func Find(id string) (Scenario, bool) {
	for _, s := range Scenarios {
		if s.ID == id {
			return s, true
		}
	}
	return Scenario{}, false
}
