package engine

import (
	"context"
	"fmt"
	"testing"
	"testing/synctest"

	"wiebelt/internal/core/call"
	"wiebelt/internal/core/contact"
	"wiebelt/internal/testutil/must"
)

func TestHostileLinkIsOffAndNeverOpened(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		b := start(t, nil)
		b.hub.reply[known] = func(context.Context) ([]contact.Contact, error) {
			return []contact.Contact{{FamilyName: "X", Link: "file:///etc/passwd"}}, nil
		}
		b.ring(b.ws, "1", known)
		c := b.one(OutcomeFound)
		if c.LinkOK[0] {
			t.Fatal("the link is on")
		}
		for i := -1; i < 3; i++ {
			b.do(Action{Card: c.ID, Kind: ActionOpen, Index: i})
		}
		if len(b.opened) != 0 {
			t.Fatal("opened")
		}
	})
}

// TestClickForSomebodyElse checks that a click meant for the caller
// that the card showed before opens no file, rejects no contact and
// closes no card. A contact that arrives does not change the caller.
func TestClickForSomebodyElse(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		b := start(t, nil)
		b.ring(b.ws, "1", known)
		before := b.one(OutcomeFound)
		b.event(b.ws, "1", family, call.Ringing)
		now := b.one(OutcomeSeveral)
		for _, do := range []ActionKind{ActionOpen, ActionRemoveContact, ActionClose} {
			b.do(Action{Card: now.ID, Kind: do, Index: 0, Edition: before.Edition})
		}
		if c := b.one(OutcomeSeveral); len(b.opened) != 0 || c.OpenedIndex != -1 || c.RemovedCount != 0 || c.ID != before.ID {
			t.Fatalf("%+v, %d opened", c, len(b.opened))
		}
		b.do(Action{Card: now.ID, Kind: ActionOpen, Index: 2, Edition: now.Edition})
		if got := <-b.opened; got != "ok:Zwart" {
			t.Fatal(got)
		}
		b.do(Action{Card: now.ID, Kind: ActionClose, Edition: now.Edition - 1}) // the lookup was in progress
		if n := len(b.cards()); n != 0 {
			t.Errorf("%d cards after the click that closes it", n)
		}
	})
}

// TestPassedOnWhileNotSetUp changes the caller while the answer that nothing is
// set up is on its way; the answer shares no data with the card (with -race).
func TestPassedOnWhileNotSetUp(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		b := start(t, func(p *Params) { p.Lookup = nil })
		for i := range bucketSize {
			must.Do(t, b.e.Receive(call.Event{Source: b.ws, ID: "1", Number: fmt.Sprintf("+3169%07d", i)}))
		}
		synctest.Wait()
		if c := b.one(OutcomeFailed); c.Failure != contact.NotSetUp {
			t.Errorf("%+v", c)
		}
	})
}
