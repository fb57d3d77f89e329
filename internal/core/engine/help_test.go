package engine

import (
	"context"
	"errors"
	"io"
	"log/slog"
	"sync"
	"testing"
	"time"

	"go.uber.org/goleak"

	"wiebelt/internal/core/call"
	"wiebelt/internal/core/contact"
	"wiebelt/internal/core/phone"
	"wiebelt/internal/testutil/clocktest"
	"wiebelt/internal/testutil/must"
)

func TestMain(m *testing.M) { goleak.VerifyTestMain(m) }

// hub answers lookups as the test wants.
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

// choices are the contacts chosen before, by number.
type choices map[string]string

func (c choices) LastChoice(number string) (string, bool) { id, ok := c[number]; return id, ok }

func (c choices) SetChoice(number, id string) { c[number] = id }

func (c choices) ForgetChoice(number, id string) {
	if c[number] == id {
		delete(c, number)
	}
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

type harness struct {
	t       *testing.T
	e       *Engine
	clock   *clocktest.Clock
	hub     *hub
	opened  chan string
	mu      sync.Mutex
	entries []Entry
	watch   <-chan struct{}
	ws      call.Source
}

func start(t *testing.T, change func(*Params)) *harness {
	t.Helper()
	rules, err := phone.NewRules(phone.Config{Region: "NL", InternalDigits: 4, NeverLookup: []string{"0201112233"}, Lines: []phone.Line{{Number: "0207654321", Name: "Schade"}}})
	must.Do(t, err)
	b := &harness{t: t, clock: clocktest.New(time.Date(2026, 3, 2, 9, 0, 0, 0, time.UTC)), opened: make(chan string, 8),
		hub: &hub{reply: map[string]func(context.Context) ([]contact.Contact, error){known: people("Vries"), family: people("Zwart", "Bakker", "Aalst")}},
		ws:  call.Source{Kind: call.KindWebSocket, Conn: "1", ReportLevel: call.AllStates}}
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
	must.Run(t, b.e.Run)
	b.watch = b.e.Watch()
	return b
}

func (b *harness) ring(w call.Source, id, number string) { b.event(w, id, number, call.Ringing) }

func (b *harness) event(w call.Source, id, number string, s call.State) {
	b.t.Helper()
	must.Do(b.t, b.e.Receive(call.Event{Source: w, ID: id, Number: number, State: s, At: b.clock.Now()}))
}

// until waits for a snapshot that satisfies ok.
func (b *harness) until(what string, ok func(*Snapshot) bool) *Snapshot {
	b.t.Helper()
	var s *Snapshot
	must.When(b.t, b.watch, what, func() (bool, any) {
		s = b.e.Snapshot()
		return ok(s), s.Cards
	})
	return s
}

// do acts on a card and returns once the action was processed.
func (b *harness) do(a Action) {
	b.e.Do(a)
	b.settle()
}

// settle waits until everything sent so far was processed.
func (b *harness) settle() {
	done := make(chan struct{})
	b.e.Reconfigure(func(*Params) { close(done) })
	<-done
}

func (b *harness) one(o Outcome) Card {
	b.t.Helper()
	s := b.until("one card", func(s *Snapshot) bool { return len(s.Cards) == 1 && s.Cards[0].Outcome == o })
	return s.Cards[0]
}

// TestCutOffBySleep checks that a call in progress when the computer falls asleep
// is recorded as lasting until then, even by a clock that stands still meanwhile.
func TestCutOffBySleep(t *testing.T) {
	const night = 8 * time.Hour
	rang := time.Now()
	asleep := rang.Add(10 * time.Minute)
	b := start(t, func(p *Params) { p.Clock = clocktest.New(clocktest.Slept(asleep, night)) })
	for id, since := range map[string]time.Time{"1": rang, "2": asleep.Add(-time.Second)} {
		must.Do(t, b.e.Receive(call.Event{Source: b.ws, ID: id, Number: known + id, State: call.Answered, StateSince: since}))
	}
	b.e.Resumed(night)
	b.settle()
	if n := len(b.e.Snapshot().Cards); n != 0 {
		t.Errorf("%d cards after the night", n)
	}
	b.mu.Lock()
	defer b.mu.Unlock()
	ended := 0
	for _, en := range b.entries {
		if !en.Ended.IsZero() {
			if ended++; en.Ended.Round(0).Sub(asleep.Round(0)) != 0 {
				t.Errorf("lasted until %v, asleep at %v", en.Ended, asleep)
			}
		}
	}
	if ended != 2 {
		t.Errorf("%d of 2 calls are over", ended)
	}
}
