package engine

import (
	"context"
	"slices"
	"testing"
	"time"

	"wiebelt/internal/core/call"
	"wiebelt/internal/core/contact"
)

func TestOutcomes(t *testing.T) {
	for name, c := range map[string]struct {
		number string
		want   Outcome
		asked  int
	}{
		"one match":  {known, Found, 1},
		"several":    {family, Several, 1},
		"nobody":     {nobody, Nobody, 1},
		"withheld":   {"anonymous", Withheld, 0},
		"empty":      {"", Withheld, 0},
		"internal":   {"101", Internal, 0},
		"short":      {"0800 1234", Short, 0},
		"own line":   {"020 765 43 21", Own, 0},
		"not filled": {"%CallerNumber%", Unfilled, 0},
	} {
		t.Run(name, func(t *testing.T) {
			b := start(t, nil)
			b.ring(b.ws, "1", c.number)
			got := b.one(c.want)
			if b.hub.count() != c.asked {
				t.Errorf("%d lookups, want %d", b.hub.count(), c.asked)
			}
			if got.Opened != -1 || len(b.opened) != 0 {
				t.Error("something was opened by itself")
			}
		})
	}
}

func TestSeveralAreSortedAndNoneIsChosen(t *testing.T) {
	b := start(t, nil)
	b.ring(b.ws, "1", family)
	c := b.one(Several)
	if c.Contacts[0].FamilyName != "Aalst" || c.Contacts[2].FamilyName != "Zwart" || c.Opened != -1 {
		t.Fatalf("%+v", c.Contacts)
	}
	b.do(Action{Card: c.ID, Do: DoOpen, Index: 1})
	if got := <-b.opened; got != "ok:Bakker" {
		t.Fatalf("opened %q", got)
	}
	b.until("the card stays and says what was opened", func(s *Snapshot) bool { return len(s.Cards) == 1 && s.Cards[0].Opened == 1 })
}

func TestMissedGoesAtOnce(t *testing.T) {
	b := start(t, nil)
	b.ring(b.ws, "1", known)
	b.one(Found)
	b.event(b.ws, "1", known, call.Ended)
	b.until("no card", func(s *Snapshot) bool { return len(s.Cards) == 0 })
}

func TestNothingGoesUnderThePointer(t *testing.T) {
	b := start(t, nil)
	b.ring(b.ws, "1", known)
	c := b.one(Found)
	b.do(Action{Card: c.ID, Do: DoHover})
	b.event(b.ws, "1", known, call.Ended)
	b.settle()
	b.clock.Forward(time.Hour)
	b.settle()
	if n := len(b.e.Snapshot().Cards); n != 1 {
		t.Fatalf("%d cards under the pointer", n)
	}
	b.do(Action{Card: c.ID, Do: DoLeave})
	b.settle()
	b.clock.Forward(900 * time.Millisecond)
	b.settle()
	if n := len(b.e.Snapshot().Cards); n != 1 {
		t.Fatal("gone before a second had passed")
	}
	b.clock.Forward(200 * time.Millisecond)
	b.until("no card", func(s *Snapshot) bool { return len(s.Cards) == 0 })
}

func TestAnsweredFoldsAndStaysUntilAfterTheCall(t *testing.T) {
	b := start(t, nil)
	b.ring(b.ws, "1", known)
	b.one(Found)
	b.event(b.ws, "1", "", call.Answered)
	b.until("answered", func(s *Snapshot) bool { return s.Cards[0].Phase == PhaseAnswered && !s.Cards[0].Strip })
	b.clock.Forward(61 * time.Second)
	b.until("strip", func(s *Snapshot) bool { return s.Cards[0].Strip })
	b.clock.Forward(3 * time.Hour)
	b.settle()
	if len(b.e.Snapshot().Cards) != 1 {
		t.Fatal("the strip has a timer")
	}
	b.event(b.ws, "1", "", call.Ended)
	b.until("over", func(s *Snapshot) bool { return len(s.Cards) == 1 && s.Cards[0].Phase == PhaseOver })
	b.clock.Forward(19 * time.Second)
	b.settle()
	if len(b.e.Snapshot().Cards) != 1 {
		t.Fatal("gone too early")
	}
	b.clock.Forward(2 * time.Second)
	b.until("no card", func(s *Snapshot) bool { return len(s.Cards) == 0 })
}

func TestPhoneThatTellsOnlyTheRing(t *testing.T) {
	b := start(t, nil)
	w := call.Source{Kind: call.KindCommand, Reports: call.RingOnly}
	b.ring(w, "", known)
	b.one(Found)
	b.clock.Forward(61 * time.Second)
	b.until("strip that claims no call", func(s *Snapshot) bool { return s.Cards[0].Strip && s.Cards[0].Phase == PhaseReported })
	b.clock.Forward(10*time.Minute + time.Second)
	b.until("no card", func(s *Snapshot) bool { return len(s.Cards) == 0 })
}

func TestPassedOnReplacesThePersonAtOnce(t *testing.T) {
	b := start(t, nil)
	gate := make(chan struct{})
	b.hub.reply[slow] = func(ctx context.Context) ([]contact.Contact, error) {
		select {
		case <-gate:
		case <-ctx.Done():
			return nil, ctx.Err()
		}
		return people("Late")(ctx)
	}
	b.ring(b.ws, "1", slow)
	b.one(Searching)
	b.event(b.ws, "1", known, call.Ringing)
	c := b.one(Found)
	if c.Contacts[0].FamilyName != "Vries" || c.Number.Key() != known {
		t.Fatalf("%+v", c)
	}
	close(gate) // the answer for the first caller comes late
	b.settle()
	if got := b.e.Snapshot().Cards[0].Contacts[0].FamilyName; got != "Vries" {
		t.Fatalf("the first caller's answer landed on the second: %s", got)
	}
}

func TestSecondTime(t *testing.T) {
	b := start(t, nil)
	b.ring(b.ws, "1", known)
	b.one(Found)
	b.event(b.ws, "1", known, call.Ended)
	b.until("gone", func(s *Snapshot) bool { return len(s.Cards) == 0 })
	b.ring(b.ws, "2", known)
	if c := b.one(Found); c.Times != 2 {
		t.Fatalf("times %d", c.Times)
	}
}

func TestOutgoing(t *testing.T) {
	for setting, want := range map[Outgoing]int{OutgoingStrip: 1, OutgoingCard: 1, OutgoingOff: 0} {
		b := start(t, func(p *Params) { p.Outgoing = setting })
		if err := b.e.Take(call.Event{Source: b.ws, ID: "1", Number: known, Direction: call.Outgoing}); err != nil {
			t.Fatal(err)
		}
		b.settle()
		s := b.e.Snapshot()
		if len(s.Cards) != want || want == 1 && s.Cards[0].Strip != (setting == OutgoingStrip) {
			t.Errorf("%s: %+v", setting, s.Cards)
		}
	}
}

func TestUnknownDirectionBringsNoCard(t *testing.T) {
	b := start(t, nil)
	if err := b.e.Take(call.Event{Source: b.ws, ID: "1", Number: known, Direction: call.DirectionUnknown}); err != nil {
		t.Fatal(err)
	}
	b.settle()
	if len(b.e.Snapshot().Cards) != 0 {
		t.Fatal("a card for a call of unknown direction")
	}
}

func TestLostConnectionLeavesNoEternalCard(t *testing.T) {
	b := start(t, nil)
	b.ring(b.ws, "1", known)
	b.one(Found)
	b.e.SourceGone(b.ws)
	b.settle()
	b.clock.Forward(61 * time.Second)
	b.until("strip", func(s *Snapshot) bool { return s.Cards[0].Strip })
	b.clock.Forward(11 * time.Minute)
	b.until("gone", func(s *Snapshot) bool { return len(s.Cards) == 0 })
}

// TestSleep: nothing that rang before a sleep is on the screen after it, and
// what rings then is a new call. A short pause changes nothing.
func TestSleep(t *testing.T) {
	b := start(t, nil)
	for range 20 {
		b.ring(b.ws, "1", known)
		b.ring(call.Source{Kind: call.KindCommand, Reports: call.RingOnly}, "", family)
		b.event(b.ws, "1", known, call.Answered)
		b.until("two cards", func(s *Snapshot) bool { return len(s.Cards) == 2 })
		b.e.Woke(30 * time.Second)
		b.e.Woke(-time.Hour)
		b.settle()
		if n := len(b.e.Snapshot().Cards); n != 2 {
			t.Fatalf("%d cards after a short pause", n)
		}
		b.clock.Forward(8 * time.Hour)
		b.ring(b.ws, "fresh", family) // before anybody noticed that we slept
		b.until("its card", func(s *Snapshot) bool {
			return slices.ContainsFunc(s.Cards, func(c Card) bool { return c.Rang.Equal(b.clock.Now()) })
		})
		b.e.Woke(8 * time.Hour)
		b.until("no stale card", func(s *Snapshot) bool { return len(s.Cards) == 1 && s.Cards[0].Rang.Equal(b.clock.Now()) })
		b.event(b.ws, "fresh", family, call.Ended)
		b.clock.Forward(time.Minute)
		b.until("nor that one after its time", func(s *Snapshot) bool { return len(s.Cards) == 0 })
		b.event(b.ws, "1", known, call.Ended) // as the phone may say now
	}
	b.settle()
	b.mu.Lock()
	defer b.mu.Unlock()
	ended := map[call.ID]bool{}
	for _, en := range b.entries {
		if d := en.Ended.Sub(en.Card.Rang); d > time.Minute {
			t.Errorf("a call is recorded as if it had gone on in our sleep, for %v", d)
		}
		if !en.Ended.IsZero() && en.Source == b.ws { // of the others nobody would have known the end
			ended[en.Call] = true
		}
	}
	if len(ended) != 40 {
		t.Errorf("%d of 40 calls are recorded as over", len(ended))
	}
}
