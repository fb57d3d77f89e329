package companion

import (
	"context"
	"errors"
	"fmt"
	"io"
	"log/slog"
	"slices"
	"sync"
	"testing"
	"time"

	"go.uber.org/goleak"

	"wiebelt/internal/call"
	"wiebelt/internal/contact"
	"wiebelt/internal/phone"
)

func TestMain(m *testing.M) { goleak.VerifyTestMain(m) }

// clock is a clock that a test moves by hand.
type clock struct {
	mu     sync.Mutex
	now    time.Time
	timers []timer
}

type timer struct {
	at time.Time
	c  chan time.Time
}

func (c *clock) Now() time.Time {
	c.mu.Lock()
	defer c.mu.Unlock()
	return c.now
}

func (c *clock) At(t time.Time) <-chan time.Time {
	c.mu.Lock()
	defer c.mu.Unlock()
	ch := make(chan time.Time, 1)
	if !t.After(c.now) {
		ch <- c.now
		return ch
	}
	c.timers = append(c.timers, timer{t, ch})
	return ch
}

func (c *clock) forward(d time.Duration) {
	c.mu.Lock()
	defer c.mu.Unlock()
	c.now = c.now.Add(d)
	kept := c.timers[:0]
	for _, t := range c.timers {
		if t.at.After(c.now) {
			kept = append(kept, t)
		} else {
			t.c <- c.now
		}
	}
	c.timers = kept
}

// hub answers lookups as the test says.
type hub struct {
	mu    sync.Mutex
	asked []string
	reply map[string]func(ctx context.Context) ([]contact.Contact, error)
}

func (h *hub) Lookup(ctx context.Context, n string) ([]contact.Contact, error) {
	h.mu.Lock()
	h.asked = append(h.asked, n)
	f := h.reply[n]
	h.mu.Unlock()
	if f == nil {
		return nil, nil
	}
	return f(ctx)
}

func (h *hub) count() int {
	h.mu.Lock()
	defer h.mu.Unlock()
	return len(h.asked)
}

func people(names ...string) func(context.Context) ([]contact.Contact, error) {
	var cs []contact.Contact
	for _, n := range names {
		cs = append(cs, contact.Contact{ID: n, Initials: "A", FamilyName: n, Link: "ok:" + n})
	}
	return func(context.Context) ([]contact.Contact, error) { return cs, nil }
}

const (
	known  = "+31612345678"
	family = "+31201234567"
	nobody = "+31698765432"
	slow   = "+31201111111"
)

type bench struct {
	t       *testing.T
	e       *Engine
	clock   *clock
	hub     *hub
	opened  chan string
	mu      sync.Mutex
	entries []Entry
	watch   <-chan struct{}
	ws      call.Way
}

func start(t *testing.T, change func(*Params)) *bench {
	t.Helper()
	rules, err := phone.NewRules(phone.Config{Region: "NL", InternalDigits: 4, Lines: []phone.Line{{Number: "0207654321", Name: "Schade"}}})
	if err != nil {
		t.Fatal(err)
	}
	b := &bench{t: t, clock: &clock{now: time.Date(2026, 3, 2, 9, 0, 0, 0, time.UTC)}, opened: make(chan string, 8),
		hub: &hub{reply: map[string]func(context.Context) ([]contact.Contact, error){known: people("Vries"), family: people("Zwart", "Bakker", "Aalst")}},
		ws:  call.Way{Kind: call.KindWebSocket, Conn: "1", Tells: call.TellsAll}}
	p := Params{Rules: rules, Lookup: b.hub, Clock: b.clock, Log: slog.New(slog.NewTextHandler(io.Discard, nil)),
		FullFor: 60 * time.Second, AfterCall: 20 * time.Second, SchemeLookup: SchemeAsk,
		CheckLink: func(l string) (string, error) {
			if len(l) < 3 || l[:3] != "ok:" {
				return "", errors.New("refused")
			}
			return l, nil
		},
		Browse: func(_ context.Context, a string) error { b.opened <- a; return nil },
		Record: func(en Entry) { b.mu.Lock(); b.entries = append(b.entries, en); b.mu.Unlock() },
	}
	if change != nil {
		change(&p)
	}
	b.e = New(p)
	ctx, cancel := context.WithCancel(context.Background())
	done := make(chan struct{})
	go func() { b.e.Run(ctx); close(done) }()
	t.Cleanup(func() { cancel(); <-done })
	b.watch = b.e.Watch()
	return b
}

func (b *bench) ring(w call.Way, id, number string) { b.event(w, id, number, call.Ringing) }

func (b *bench) event(w call.Way, id, number string, s call.State) {
	b.t.Helper()
	if err := b.e.Take(call.Event{Way: w, ID: id, Number: number, State: s, At: b.clock.Now()}); err != nil {
		b.t.Fatal(err)
	}
}

// until waits for a snapshot that satisfies ok.
func (b *bench) until(what string, ok func(*Snapshot) bool) *Snapshot {
	b.t.Helper()
	end := time.After(5 * time.Second)
	for {
		if s := b.e.Snapshot(); ok(s) {
			return s
		}
		select {
		case <-b.watch:
		case <-end:
			b.t.Fatalf("never: %s; have %+v", what, b.e.Snapshot().Cards)
		}
	}
}

// settle makes sure that everything sent so far was acted upon.
func (b *bench) settle() {
	for waiting := true; waiting; { // the engine picks among its channels as it likes
		done := make(chan struct{})
		b.e.Reconfigure(func(*Params) {
			waiting = len(b.e.events)+len(b.e.actions)+len(b.e.gone)+len(b.e.woke) > 0
			close(done)
		})
		<-done
	}
}

func (b *bench) one(o Outcome) Card {
	b.t.Helper()
	s := b.until("one card", func(s *Snapshot) bool { return len(s.Cards) == 1 && s.Cards[0].Outcome == o })
	return s.Cards[0]
}

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
	b.e.Do(Action{Card: c.ID, Do: DoOpen, Index: 1})
	if got := <-b.opened; got != "ok:Bakker" {
		t.Fatalf("opened %q", got)
	}
	b.until("the card stays and says what was opened", func(s *Snapshot) bool { return len(s.Cards) == 1 && s.Cards[0].Opened == 1 })
}

func TestHostileLinkIsOffAndNeverOpened(t *testing.T) {
	b := start(t, nil)
	b.hub.reply[known] = func(context.Context) ([]contact.Contact, error) {
		return []contact.Contact{{FamilyName: "X", Link: "file:///etc/passwd"}}, nil
	}
	b.ring(b.ws, "1", known)
	c := b.one(Found)
	if c.LinkOK[0] {
		t.Fatal("the link is on")
	}
	for i := -1; i < 3; i++ {
		b.e.Do(Action{Card: c.ID, Do: DoOpen, Index: i})
	}
	b.settle()
	if len(b.opened) != 0 {
		t.Fatal("opened")
	}
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
	b.e.Do(Action{Card: c.ID, Do: DoHover})
	b.event(b.ws, "1", known, call.Ended)
	b.settle()
	b.clock.forward(time.Hour)
	b.settle()
	if n := len(b.e.Snapshot().Cards); n != 1 {
		t.Fatalf("%d cards under the pointer", n)
	}
	b.e.Do(Action{Card: c.ID, Do: DoLeave})
	b.settle()
	b.clock.forward(900 * time.Millisecond)
	b.settle()
	if n := len(b.e.Snapshot().Cards); n != 1 {
		t.Fatal("gone before a second had passed")
	}
	b.clock.forward(200 * time.Millisecond)
	b.until("no card", func(s *Snapshot) bool { return len(s.Cards) == 0 })
}

func TestAnsweredFoldsAndStaysUntilAfterTheCall(t *testing.T) {
	b := start(t, nil)
	b.ring(b.ws, "1", known)
	b.one(Found)
	b.event(b.ws, "1", "", call.Answered)
	b.until("answered", func(s *Snapshot) bool { return s.Cards[0].Phase == PhaseAnswered && !s.Cards[0].Strip })
	b.clock.forward(61 * time.Second)
	b.until("strip", func(s *Snapshot) bool { return s.Cards[0].Strip })
	b.clock.forward(3 * time.Hour)
	b.settle()
	if len(b.e.Snapshot().Cards) != 1 {
		t.Fatal("the strip has a timer")
	}
	b.event(b.ws, "1", "", call.Ended)
	b.until("over", func(s *Snapshot) bool { return len(s.Cards) == 1 && s.Cards[0].Phase == PhaseOver })
	b.clock.forward(19 * time.Second)
	b.settle()
	if len(b.e.Snapshot().Cards) != 1 {
		t.Fatal("gone too early")
	}
	b.clock.forward(2 * time.Second)
	b.until("no card", func(s *Snapshot) bool { return len(s.Cards) == 0 })
}

func TestPhoneThatTellsOnlyTheRing(t *testing.T) {
	b := start(t, nil)
	w := call.Way{Kind: call.KindCommand, Tells: call.TellsRing}
	b.ring(w, "", known)
	b.one(Found)
	b.clock.forward(61 * time.Second)
	b.until("strip that claims no call", func(s *Snapshot) bool { return s.Cards[0].Strip && s.Cards[0].Phase == PhaseReported })
	b.clock.forward(10*time.Minute + time.Second)
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
	if c := b.one(Searching); c.Noticed {
		t.Error("searching is mentioned at once")
	}
	b.clock.forward(301 * time.Millisecond)
	b.until("mentioned", func(s *Snapshot) bool { return s.Cards[0].Noticed })
	b.clock.forward(3 * time.Second)
	c := b.one(Failed)
	if c.Failure != contact.HubSlow || !c.Retrying {
		t.Fatalf("%v %v", c.Failure, c.Retrying)
	}
	close(gate)
	b.one(Found) // a late answer still fills the card
}

func TestFailureIsNotNobodyAndIsTriedAgain(t *testing.T) {
	b := start(t, nil)
	fail := true
	var mu sync.Mutex
	b.hub.reply[known] = func(ctx context.Context) ([]contact.Contact, error) {
		mu.Lock()
		defer mu.Unlock()
		if fail {
			return nil, &contact.LookupError{Failure: contact.ConnectionRefused}
		}
		return people("Vries")(ctx)
	}
	b.ring(b.ws, "1", known)
	if c := b.one(Failed); c.Failure != contact.ConnectionRefused || !c.Retrying {
		t.Fatalf("%+v", c)
	}
	mu.Lock()
	fail = false
	mu.Unlock()
	b.clock.forward(1100 * time.Millisecond)
	b.one(Found)
	if b.hub.count() != 2 {
		t.Errorf("%d attempts", b.hub.count())
	}
}

func TestRefusedCredentialsAreNotTriedAgainByItself(t *testing.T) {
	b := start(t, nil)
	b.hub.reply[known] = func(context.Context) ([]contact.Contact, error) {
		return nil, &contact.LookupError{Failure: contact.CredentialsRefused}
	}
	b.ring(b.ws, "1", known)
	c := b.one(Failed)
	b.clock.forward(time.Minute)
	b.settle()
	if b.hub.count() != 1 || c.Retrying {
		t.Fatalf("%d attempts", b.hub.count())
	}
	b.e.Do(Action{Card: c.ID, Do: DoRetry})
	b.until("asked again", func(*Snapshot) bool { return b.hub.count() == 2 })
}

func TestNotSetUp(t *testing.T) {
	b := start(t, func(p *Params) { p.Lookup = nil })
	b.ring(b.ws, "1", known)
	if c := b.one(Failed); c.Failure != contact.NotSetUp {
		t.Fatalf("%+v", c)
	}
}

func TestSchemeLaunches(t *testing.T) {
	b := start(t, nil)
	w := call.Way{Kind: call.KindURL, Tells: call.TellsRing}
	b.ring(w, "", known)
	c := b.one(Offered)
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
	b.e.Do(Action{Card: c.ID, Do: DoRetry})
	b.one(Found)
	for range 10 {
		b.clock.forward(11 * time.Second)
		b.ring(w, "", nobody+"x")
	}
	cards := make(chan int, 1)
	b.e.Reconfigure(func(*Params) { cards <- len(b.e.s.scheme) }) // on the engine's goroutine
	if n := <-cards; n > schemeMinute {
		t.Errorf("%d cards in a minute", n)
	}
}

func TestFloodCausesFewLookupsAndCards(t *testing.T) {
	b := start(t, nil)
	for i := range 2000 {
		b.ring(b.ws, time.Duration(i).String(), "+3120"+time.Duration(1000000 + i).String()[:3]+"1234")
	}
	b.settle()
	s := b.e.Snapshot()
	if len(s.Cards) > MaxCards || b.hub.count() > bucketSize+1 {
		t.Fatalf("%d cards, %d lookups", len(s.Cards), b.hub.count())
	}
	// Another way is not starved by it.
	other := call.Way{Kind: call.KindBaresip, Conn: "x", Tells: call.TellsAll}
	before := b.hub.count()
	b.ring(other, "real", known)
	b.until("looked up", func(*Snapshot) bool { return b.hub.count() > before })
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

// TestClosingACardTouchesNoCall: its end still reaches the history, and another
// caller on the same call is shown again.
func TestClosingACardTouchesNoCall(t *testing.T) {
	b := start(t, nil)
	b.ring(b.ws, "1", known)
	c := b.one(Found)
	b.e.Do(Action{Card: c.ID, Do: DoClose})
	b.until("closed", func(s *Snapshot) bool { return len(s.Cards) == 0 })
	b.event(b.ws, "1", family, call.Ringing)
	c = b.one(Several)
	b.e.Do(Action{Card: c.ID, Do: DoClose})
	b.event(b.ws, "1", family, call.Ended)
	b.settle()
	b.mu.Lock()
	defer b.mu.Unlock()
	if last := b.entries[len(b.entries)-1]; last.Ended.IsZero() {
		t.Error("the end of a closed card's call is not recorded")
	}
	if n := len(b.e.Snapshot().Cards); n != 0 {
		t.Errorf("%d cards", n)
	}
}

// TestReconnectingBuysNoLookups: the budget belongs to the kind of way.
func TestReconnectingBuysNoLookups(t *testing.T) {
	b := start(t, nil)
	for i := range 40 {
		w := call.Way{Kind: call.KindWebSocket, Conn: time.Duration(i).String(), Tells: call.TellsAll}
		b.ring(w, "1", "+316987"+time.Duration(10000 + i).String()[:5])
		b.e.WayGone(w)
	}
	b.settle()
	if n := b.hub.count(); n > bucketSize {
		t.Errorf("%d lookups", n)
	}
}

func TestOutgoing(t *testing.T) {
	for setting, want := range map[Outgoing]int{OutgoingStrip: 1, OutgoingCard: 1, OutgoingOff: 0} {
		b := start(t, func(p *Params) { p.Outgoing = setting })
		if err := b.e.Take(call.Event{Way: b.ws, ID: "1", Number: known, Direction: call.Outgoing}); err != nil {
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
	if err := b.e.Take(call.Event{Way: b.ws, ID: "1", Number: known, Direction: call.DirectionUnknown}); err != nil {
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
	b.e.WayGone(b.ws)
	b.settle()
	b.clock.forward(61 * time.Second)
	b.until("strip", func(s *Snapshot) bool { return s.Cards[0].Strip })
	b.clock.forward(11 * time.Minute)
	b.until("gone", func(s *Snapshot) bool { return len(s.Cards) == 0 })
}

// TestSleep: nothing that rang before a sleep is on the screen after it, and
// what rings then is a new call. A short pause changes nothing.
func TestSleep(t *testing.T) {
	b := start(t, nil)
	for range 20 {
		b.ring(b.ws, "1", known)
		b.ring(call.Way{Kind: call.KindCommand, Tells: call.TellsRing}, "", family)
		b.event(b.ws, "1", known, call.Answered)
		b.until("two cards", func(s *Snapshot) bool { return len(s.Cards) == 2 })
		b.e.Woke(30 * time.Second)
		b.e.Woke(-time.Hour)
		b.settle()
		if n := len(b.e.Snapshot().Cards); n != 2 {
			t.Fatalf("%d cards after a short pause", n)
		}
		b.clock.forward(8 * time.Hour)
		b.ring(b.ws, "fresh", family) // before anybody noticed that we slept
		b.until("its card", func(s *Snapshot) bool {
			return slices.ContainsFunc(s.Cards, func(c Card) bool { return c.Rang.Equal(b.clock.Now()) })
		})
		b.e.Woke(8 * time.Hour)
		b.until("no stale card", func(s *Snapshot) bool { return len(s.Cards) == 1 && s.Cards[0].Rang.Equal(b.clock.Now()) })
		b.event(b.ws, "fresh", family, call.Ended)
		b.clock.forward(time.Minute)
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
		if !en.Ended.IsZero() && en.Way == b.ws { // of the others nobody would have known the end
			ended[en.Call] = true
		}
	}
	if len(ended) != 40 {
		t.Errorf("%d of 40 calls are recorded as over", len(ended))
	}
}

// TestFloodTakesNothingFromAnotherWay: a call of a quiet way is shown and looked
// up while another way floods, and is still there after it.
func TestFloodTakesNothingFromAnotherWay(t *testing.T) {
	b := start(t, nil)
	quiet := call.Way{Kind: call.KindBaresip, Conn: "1", Tells: call.TellsAll}
	flood := func(from, to int) {
		for i := from; i < to; i++ {
			b.ring(call.Way{Kind: call.KindCommand, Tells: call.TellsRing}, "", fmt.Sprintf("+3169%07d", i))
		}
	}
	flood(0, 600)
	b.ring(quiet, "1", known)
	s := b.until("the call of the quiet way", func(s *Snapshot) bool {
		return len(s.Cards) == MaxCards && slices.ContainsFunc(s.Cards, func(c Card) bool { return c.Outcome == Found })
	})
	if s.More < 200 {
		t.Errorf("%d more", s.More)
	}
	flood(600, 1200)
	b.settle()
	if s := b.e.Snapshot(); len(s.Cards) != MaxCards || !slices.ContainsFunc(s.Cards, func(c Card) bool { return c.Outcome == Found }) {
		t.Errorf("the flood took the call of another way: %d cards", len(s.Cards))
	}
	b.event(quiet, "1", known, call.Answered)
	b.until("answered", func(s *Snapshot) bool {
		return slices.ContainsFunc(s.Cards, func(c Card) bool { return c.Phase == PhaseAnswered })
	})
}

// TestBrokenBrowser: the card says so, for the call whose file it was.
func TestBrokenBrowser(t *testing.T) {
	b := start(t, func(p *Params) { p.Browse = func(context.Context, string) error { return errors.New("no browser") } })
	b.ring(b.ws, "1", known)
	c := b.one(Found)
	b.e.Do(Action{Card: c.ID, Do: DoOpen})
	b.until("said", func(s *Snapshot) bool { return s.Cards[0].OpenError })
}

// TestLastCallAfterAFlood: a call that a flood pushed out is shown again when
// asked for, and goes again.
func TestLastCallAfterAFlood(t *testing.T) {
	b := start(t, nil)
	out := call.Way{Kind: call.KindBaresip, Conn: "1", Tells: call.TellsAll}
	b.ring(b.ws, "real", known)
	b.one(Found)
	for i := range 3 * maxCalls { // outgoing ones do not become the last call
		if err := b.e.Take(call.Event{Way: b.ws, ID: fmt.Sprint(i), Number: fmt.Sprintf("+3169%07d", i), Direction: call.Outgoing, At: b.clock.Now()}); err != nil {
			t.Fatal(err)
		}
	}
	b.settle()
	b.e.Do(Action{Do: DoShowLast})
	there := func(s *Snapshot) bool {
		return slices.ContainsFunc(s.Cards, func(c Card) bool { return c.Number.Key() == known })
	}
	b.until("the call is shown, though there are many", there)
	b.clock.forward(61 * time.Second)
	b.until("gone again", func(s *Snapshot) bool { return !there(s) })
	b.ring(out, "2", family)
	b.until("a new call", func(s *Snapshot) bool {
		return slices.ContainsFunc(s.Cards, func(c Card) bool { return c.Number.Key() == family })
	})
}

// TestHeldAgainstAFlood: what the pointer is on stays on screen, whatever comes.
func TestHeldAgainstAFlood(t *testing.T) {
	b := start(t, nil)
	cmd := call.Way{Kind: call.KindCommand, Tells: call.TellsRing}
	b.ring(cmd, "", known)
	c := b.one(Found)
	b.e.Do(Action{Card: c.ID, Do: DoHover})
	b.settle()
	for i := range 2 * maxCalls {
		b.ring(cmd, "", fmt.Sprintf("+3169%07d", i))
	}
	b.settle()
	if s := b.e.Snapshot(); s.Cards[0].ID != c.ID || len(s.Cards) != MaxCards || s.More < maxCalls/2 {
		t.Fatalf("%d cards, the first is %d, %d more", len(s.Cards), s.Cards[0].ID, s.More)
	}
	b.e.Do(Action{Do: DoHover}) // on "more calls"
	b.e.Do(Action{Card: c.ID, Do: DoLeave})
	b.settle()
	b.clock.forward(2 * time.Hour)
	b.settle()
	if s := b.e.Snapshot(); len(s.Cards) != MaxCards || s.Cards[0].ID != c.ID {
		t.Fatal("gone, with the pointer on the number of the others")
	}
	b.e.Do(Action{Do: DoLeave})
	b.settle()
	b.clock.forward(1100 * time.Millisecond)
	b.until("nothing", func(s *Snapshot) bool { return len(s.Cards) == 0 })
}

// TestClickForSomebodyElse: a click that was meant for whom the card showed before
// opens nobody's file and takes nobody off.
func TestClickForSomebodyElse(t *testing.T) {
	b := start(t, nil)
	b.ring(b.ws, "1", known)
	before := b.one(Found)
	b.event(b.ws, "1", family, call.Ringing)
	now := b.one(Several)
	for _, do := range []Do{DoOpen, DoNotThis} {
		b.e.Do(Action{Card: now.ID, Do: do, Index: 0, Edition: before.Edition})
	}
	b.settle()
	if c := b.e.Snapshot().Cards[0]; len(b.opened) != 0 || c.Opened != -1 || c.NotThis != 0 || c.ID != before.ID {
		t.Fatalf("%+v, %d opened", c, len(b.opened))
	}
	b.e.Do(Action{Card: now.ID, Do: DoOpen, Index: 2, Edition: now.Edition})
	if got := <-b.opened; got != "ok:Zwart" {
		t.Fatal(got)
	}
}
