package resident

import (
	"context"
	"sync/atomic"
	"time"

	"wiebelt/internal/core/call"
	"wiebelt/internal/core/contact"
	"wiebelt/internal/core/engine"
	"wiebelt/internal/text"
	"wiebelt/internal/ui/card"
)

const (
	// testCardFor is how long a test card stays.
	testCardFor = 8 * time.Second
	// testCardID is not used by the engine, which counts from one.
	testCardID = ^engine.CardID(0)
)

// testCard is the engine as seen by the cards, with a test card if there is no call. The
// test card never was a call: nothing is looked up, stored or reported.
type testCard struct {
	card.Engine
	shown   atomic.Pointer[engine.Card]
	changed func() // makes the cards update
}

// Snapshot returns the engine's snapshot, with the test card if there is no call.
func (x *testCard) Snapshot() *engine.Snapshot {
	s, c := x.Engine.Snapshot(), x.shown.Load()
	if c == nil || len(s.Cards) > 0 {
		return s
	}
	with := *s
	with.Cards = []engine.Card{*c}
	return &with
}

// Do performs an action on a card; a test card can only be closed.
func (x *testCard) Do(a engine.Action) {
	if a.Card != testCardID {
		x.Engine.Do(a)
		return
	}
	if a.Kind == engine.ActionClose || a.Kind == engine.ActionOpen {
		x.shown.Store(nil)
		x.changed()
	}
}

// show shows a test card for a while, or until ctx ends or another one is shown.
func (x *testCard) show(ctx context.Context, c *engine.Card) {
	x.shown.Store(c)
	x.changed()
	t := time.After(testCardFor)
	select {
	case <-ctx.Done():
	case <-t:
	}
	if x.shown.CompareAndSwap(c, nil) {
		x.changed()
	}
}

func (r *Resident) newTestCard(l text.Language) *engine.Card {
	return &engine.Card{ID: testCardID, Outcome: engine.OutcomeFound, Number: r.rules(r.settings()).Parse("+31612345678", ""),
		RingsToday: 1, ReportLevel: call.RingOnly, Rang: time.Now(), OpenedIndex: -1, EarlierChoice: -1, Edition: 1, LinkOK: []bool{true},
		Contacts: []contact.Contact{{ID: "test", RelationNumber: "100200", FamilyName: l.T(text.StartCardName),
			Address: contact.Address{Street: "Dorpsstraat", Number: "1", PostalCode: "1234AB", City: "Ons Dorp"}}}}
}
