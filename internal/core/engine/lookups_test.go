package engine

import (
	"context"
	"fmt"
	"testing"
	"time"

	"wiebelt/internal/core/call"
	"wiebelt/internal/core/contact"
	"wiebelt/internal/testutil/must"
)

func TestSlowHub(t *testing.T) {
	b := start(t, nil)
	gate := make(chan struct{})
	b.hub.reply[slow] = func(ctx context.Context) ([]contact.Contact, error) {
		select {
		case <-gate:
			return people("Late")(ctx)
		case <-ctx.Done():
			return nil, ctx.Err()
		}
	}
	b.ring(b.ws, "1", slow)
	if c := b.one(OutcomeSearching); c.ShowSearching {
		t.Error("searching is mentioned at once")
	}
	b.clock.Forward(301 * time.Millisecond)
	b.until("mentioned", func(s *Snapshot) bool { return s.Cards[0].ShowSearching })
	b.clock.Forward(3 * time.Second)
	c := b.one(OutcomeFailed)
	if c.Failure != contact.HubSlow || !c.Retrying {
		t.Fatalf("%v %v", c.Failure, c.Retrying)
	}
	close(gate)
	b.one(OutcomeFound) // a late answer still fills the card
}

// TestOnlyAHubThatWasAskedIsSlow checks that the hub's
// state is unknown while a lookup waits for its turn.
func TestOnlyAHubThatWasAskedIsSlow(t *testing.T) {
	b := start(t, nil)
	asked := make(chan struct{}, 1)
	b.hub.reply[slow] = func(ctx context.Context) ([]contact.Contact, error) {
		asked <- struct{}{}
		<-ctx.Done()
		return nil, ctx.Err()
	}
	for i := range bucketSize {
		id := fmt.Sprint(i)
		b.ring(b.ws, id, "+3169876000"+id)
		b.until("looked up", func(*Snapshot) bool { return b.hub.count() == i+1 })
		b.event(b.ws, id, "+3169876000"+id, call.Ended)
	}
	b.settle()
	b.ring(b.ws, "last", slow)
	b.settle()
	if n := b.hub.count(); n != bucketSize {
		t.Fatalf("%d lookups", n)
	}
	b.clock.Forward(noticeAfter)
	b.settle()
	b.clock.Forward(slowAfter + time.Second) // in one step, as on a busy computer
	must.Receive(t, asked, "a question to the hub")
	b.settle()
	if c := b.one(OutcomeSearching); !c.ShowSearching {
		t.Error("that it waits is not mentioned")
	}
	b.clock.Forward(slowAfter)
	if c := b.one(OutcomeFailed); c.Failure != contact.HubSlow {
		t.Errorf("failure %q", c.Failure)
	}
}

// TestPausesBetweenAttempts checks that a hub that fails is asked again after exactly one, two
// and then every four seconds, and neither asked again nor said to be once the call is over.
func TestPausesBetweenAttempts(t *testing.T) {
	b := start(t, nil)
	b.hub.reply[known] = func(context.Context) ([]contact.Contact, error) {
		return nil, &contact.LookupError{Failure: contact.ConnectionRefused}
	}
	failed := func() {
		t.Helper()
		b.until("failed just now", func(s *Snapshot) bool {
			return len(s.Cards) == 1 && s.Cards[0].Failure == contact.ConnectionRefused && s.Cards[0].Retrying && s.Cards[0].AnswerReceived.Equal(b.clock.Now())
		})
	}
	attempt := func() (n int) { // the last one begun, even if it has not reached the hub yet
		b.settle() // the engine has noticed the time
		b.e.Reconfigure(func(*Params) { n = b.e.s.cards[0].attempt })
		b.settle()
		return n
	}
	b.ring(b.ws, "1", known)
	b.event(b.ws, "1", known, call.Answered)
	failed()
	first := attempt()
	for i, pause := range []time.Duration{time.Second, 2 * time.Second, 4 * time.Second, 4 * time.Second} {
		b.clock.Forward(pause - time.Millisecond)
		if n := attempt() - first; n != i {
			t.Fatalf("asked again %d times before pause %d is over", n, i+1)
		}
		b.clock.Forward(time.Millisecond)
		failed()
	}
	b.event(b.ws, "1", "", call.Ended)
	b.settle()
	b.clock.Forward(10 * time.Second)
	if n, c := attempt()-first, b.one(OutcomeFailed); n != 4 || b.hub.count() != 5 || c.Retrying {
		t.Errorf("asked again %d times, %d lookups, goes on: %v", n, b.hub.count(), c.Retrying)
	}
}

// TestRefusedCredentialsAreNotTriedAgain checks that only the user has the hub asked again
// after a failure that an administrator must fix.
func TestRefusedCredentialsAreNotTriedAgain(t *testing.T) {
	b := start(t, nil)
	mended := b.hub.reply[known]
	b.hub.reply[known] = func(ctx context.Context) ([]contact.Contact, error) {
		if b.hub.count() > 1 {
			return mended(ctx)
		}
		return nil, &contact.LookupError{Failure: contact.CredentialsRefused}
	}
	b.ring(b.ws, "1", known)
	c := b.one(OutcomeFailed)
	b.clock.Forward(time.Minute)
	b.settle()
	if b.hub.count() != 1 || c.Retrying {
		t.Fatalf("%d attempts", b.hub.count())
	}
	b.do(Action{Card: c.ID, Kind: ActionRetry})
	b.one(OutcomeFound)
}

// TestPassedOnWhileNotSetUp changes the caller while the answer that nothing is
// set up is on its way; the answer shares no data with the card (with -race).
func TestPassedOnWhileNotSetUp(t *testing.T) {
	b := start(t, func(p *Params) { p.Lookup = nil })
	for i := range bucketSize {
		b.ring(b.ws, "1", fmt.Sprintf("+3169%07d", i))
	}
	b.settle()
	if c := b.one(OutcomeFailed); c.Failure != contact.NotSetUp {
		t.Errorf("%+v", c)
	}
}
