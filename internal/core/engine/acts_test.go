package engine

import (
	"context"
	"errors"
	"fmt"
	"testing"
	"testing/synctest"
	"time"

	"wiebelt/internal/core/call"
	"wiebelt/internal/core/contact"
	"wiebelt/internal/core/phone"
	"wiebelt/internal/testutil/must"
)

func TestHostileLinkIsOffAndNeverOpened(t *testing.T) {
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
	b.settle()
	if len(b.opened) != 0 {
		t.Fatal("opened")
	}
}

func TestSchemeLaunches(t *testing.T) {
	b := start(t, nil)
	w := call.Source{Kind: call.KindURL, ReportLevel: call.RingOnly}
	b.ring(w, "", known)
	c := b.one(OutcomeOffered)
	for _, n := range []string{family, nobody, "+31201111112"} {
		b.ring(w, "", n)
	}
	b.settle()
	if n := len(b.e.Snapshot().Cards); n != 1 || b.hub.count() != 0 {
		t.Fatalf("%d cards, %d lookups", n, b.hub.count())
	}
	b.mu.Lock()
	if len(b.entries) != 0 {
		t.Error("an unconfirmed launch is in the history")
	}
	b.mu.Unlock()
	b.do(Action{Card: c.ID, Kind: ActionRetry})
	b.one(OutcomeFound)
	for range 10 {
		b.clock.Forward(call.NewCallAfter + time.Second)
		b.ring(w, "", nobody+"x")
		b.settle()
	}
	cards := make(chan int, 1)
	b.e.Reconfigure(func(*Params) { cards <- len(b.e.s.scheme) }) // on the engine's goroutine
	if n := <-cards; n > schemePerMinute {
		t.Errorf("%d cards in a minute", n)
	}
}

// TestBrokenBrowser checks that the card of the call whose file was
// to open shows the failure, and that the file is recorded as opened
// only once the browser has started. The card may be gone by then.
func TestBrokenBrowser(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		starts := make(chan error, 1)
		opened := make(chan bool, 100)
		b := start(t, func(p *Params) {
			p.Browse = func(context.Context, string) error { return <-starts }
			p.Record = func(e Entry) { opened <- e.BrowserStarted }
		})
		b.ring(b.ws, "1", known)
		c := b.one(OutcomeFound)
		starts <- errors.New("no browser")
		b.do(Action{Card: c.ID, Kind: ActionOpen})
		b.until("said", func(s *Snapshot) bool { return s.Cards[0].OpenError })
		for len(opened) > 0 {
			if <-opened {
				t.Error("recorded as opened without a browser")
			}
		}
		starts <- nil
		b.do(Action{Card: c.ID, Kind: ActionOpen})
		for !<-opened {
		}
		b.do(Action{Card: c.ID, Kind: ActionOpen})
		b.event(b.ws, "1", known, call.Ended)
		b.do(Action{Card: c.ID, Kind: ActionClose})
		b.until("gone", func(s *Snapshot) bool { return len(s.Cards) == 0 })
		starts <- nil
		synctest.Wait()
	})
}

// TestClickForSomebodyElse checks that a click meant for the caller
// that the card showed before opens no file, rejects no contact and
// closes no card. A contact that arrives does not change the caller.
func TestClickForSomebodyElse(t *testing.T) {
	b := start(t, nil)
	b.ring(b.ws, "1", known)
	before := b.one(OutcomeFound)
	b.event(b.ws, "1", family, call.Ringing)
	now := b.one(OutcomeSeveral)
	for _, do := range []ActionKind{ActionOpen, ActionRemoveContact, ActionClose} {
		b.do(Action{Card: now.ID, Kind: do, Index: 0, Edition: before.Edition})
	}
	b.settle()
	if c := b.e.Snapshot().Cards[0]; len(b.opened) != 0 || c.OpenedIndex != -1 || c.RemovedCount != 0 || c.ID != before.ID {
		t.Fatalf("%+v, %d opened", c, len(b.opened))
	}
	b.do(Action{Card: now.ID, Kind: ActionOpen, Index: 2, Edition: now.Edition})
	if got := <-b.opened; got != "ok:Zwart" {
		t.Fatal(got)
	}
	b.do(Action{Card: now.ID, Kind: ActionClose, Edition: now.Edition - 1}) // the lookup was in progress
	if n := len(b.e.Snapshot().Cards); n != 0 {
		t.Errorf("%d cards after the click that closes it", n)
	}
}

// TestForgottenCaller checks that earlier calls of a forgotten
// caller do not count, even if others have rung since.
func TestForgottenCaller(t *testing.T) {
	b := start(t, nil)
	who := must.Get(phone.NewRules(phone.Config{Region: "NL"}))(t).Parse(known, "")
	for i, want := range []int{1, 2, 1} {
		if i == 2 {
			b.e.Forget(func(LastCall) bool { return false }, who)
		}
		id := fmt.Sprint(i)
		b.ring(b.ws, id, known)
		if c := b.one(OutcomeFound); c.RingsToday != want {
			t.Errorf("call %d: counts as %d, want %d", i, c.RingsToday, want)
		}
		must.Do(t, b.e.Receive(call.Event{Source: b.ws, ID: id, State: call.Ended}))
		b.settle()
	}
}
