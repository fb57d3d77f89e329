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
	// exhibitFor is how long a test card stays.
	exhibitFor = 8 * time.Second
	// exhibitID is a card that no engine makes: it counts from one.
	exhibitID = ^engine.CardID(0)
)

// exhibit is the engine as the cards see it, with a test card where there is no
// call. The test card never was a call: nothing is looked up, kept or told.
type exhibit struct {
	card.Engine
	shown atomic.Pointer[engine.Card]
	poke  func() // the cards look again
}

// Snapshot is that of the engine, or the test card.
func (x *exhibit) Snapshot() *engine.Snapshot {
	s, c := x.Engine.Snapshot(), x.shown.Load()
	if c == nil || len(s.Cards) > 0 {
		return s
	}
	with := *s
	with.Cards = []engine.Card{*c}
	return &with
}

// Do does what the user does with a card; a test card only goes.
func (x *exhibit) Do(a engine.Action) {
	if a.Card != exhibitID {
		x.Engine.Do(a)
		return
	}
	if a.Do == engine.DoClose || a.Do == engine.DoOpen {
		x.shown.Store(nil)
		x.poke()
	}
}

// show shows a test card for a while, or until ctx ends or another is shown.
func (x *exhibit) show(ctx context.Context, c *engine.Card) {
	x.shown.Store(c)
	x.poke()
	t := time.NewTimer(exhibitFor)
	defer t.Stop()
	select {
	case <-ctx.Done():
	case <-t.C:
	}
	if x.shown.CompareAndSwap(c, nil) {
		x.poke()
	}
}

// testCard is an invented caller.
func (r *Resident) testCard(l text.Language) *engine.Card {
	return &engine.Card{ID: exhibitID, Outcome: engine.Found, Number: r.rules(r.set()).Parse("+31612345678", ""),
		Times: 1, Reports: call.RingOnly, Rang: time.Now(), Opened: -1, Earlier: -1, Edition: 1, LinkOK: []bool{true},
		Contacts: []contact.Contact{{ID: "test", RelationNumber: "100200", FamilyName: l.T(text.StartCardName),
			Address: contact.Address{Street: "Dorpsstraat", Number: "1", PostalCode: "1234AB", City: "Ons Dorp"}}}}
}
