package engine

import (
	"context"
	"errors"
	"log/slog"
	"sync/atomic"
	"testing"
	"testing/synctest"
	"time"

	"go.uber.org/goleak"

	"wiebelt/internal/core/call"
	"wiebelt/internal/core/contact"
	"wiebelt/internal/core/phone"
	"wiebelt/internal/testutil/must"
)

func TestMain(m *testing.M) { goleak.VerifyTestMain(m) }

// hub answers lookups as the test wants.
type hub struct {
	asked atomic.Int32
	reply map[string]func(ctx context.Context) ([]contact.Contact, error)
}

func (h *hub) Lookup(ctx context.Context, n string) ([]contact.Contact, error) {
	h.asked.Add(1)
	if f := h.reply[n]; f != nil {
		return f(ctx)
	}
	return nil, nil
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
)

// harness is an engine in a synctest bubble. Its methods return once everything that
// follows from what they do has happened.
type harness struct {
	t       *testing.T
	e       *Engine
	hub     *hub
	opened  chan string
	entries []Entry
	ws      call.Source
}

// start starts an engine, at nine o'clock on a Monday.
func start(t *testing.T, change func(*Params)) *harness {
	t.Helper()
	time.Sleep(time.Until(time.Date(2000, 1, 3, 9, 0, 0, 0, time.Local)))
	rules, err := phone.NewRules(phone.Config{Region: "NL", InternalDigits: 4, NeverLookup: []string{"0201112233"}, Lines: []phone.Line{{Number: "0207654321", Name: "Schade"}}})
	must.Do(t, err)
	b := &harness{t: t, opened: make(chan string, 8),
		hub: &hub{reply: map[string]func(context.Context) ([]contact.Contact, error){known: people("Vries"), family: people("Zwart", "Bakker", "Aalst")}},
		ws:  call.Source{Kind: call.KindWebSocket, Conn: "1", ReportLevel: call.AllStates}}
	p := Params{Rules: rules, Lookup: b.hub, Log: slog.New(slog.DiscardHandler),
		FullFor: 60 * time.Second, AfterCall: 20 * time.Second, SchemeLookup: SchemeAsk,
		CheckLink: func(l string) (string, error) {
			if len(l) < 3 || l[:3] != "ok:" {
				return "", errors.New("refused")
			}
			return l, nil
		},
		Browse: func(_ context.Context, a string) error { b.opened <- a; return nil },
		Record: func(en Entry) { b.entries = append(b.entries, en) },
	}
	if change != nil {
		change(&p)
	}
	b.e = New(p)
	must.Run(t, b.e.Run)
	return b
}

// send reports a call, in the state that ev has.
func (b *harness) send(ev call.Event) {
	b.t.Helper()
	ev.At = time.Now()
	must.Do(b.t, b.e.Receive(ev))
	synctest.Wait()
}

func (b *harness) ring(s call.Source, id, number string) { b.event(s, id, number, call.Ringing) }

func (b *harness) event(s call.Source, id, number string, state call.State) {
	b.t.Helper()
	b.send(call.Event{Source: s, ID: id, Number: number, State: state})
}

func (b *harness) do(a Action) {
	b.e.Do(a)
	synctest.Wait()
}

// pass lets time pass.
func pass(d time.Duration) {
	time.Sleep(d)
	synctest.Wait()
}

// sleep has the computer sleep: no timer of the engine fires meanwhile.
func (b *harness) sleep(d time.Duration) {
	b.e.Reconfigure(func(*Params) { time.Sleep(d) })
	time.Sleep(d)
}

// cards returns what is shown.
func (b *harness) cards() []Card { return b.e.Snapshot().Cards }

// one returns the only card, which has an outcome.
func (b *harness) one(o Outcome) Card {
	b.t.Helper()
	all := b.cards()
	if len(all) != 1 || all[0].Outcome != o {
		b.t.Fatalf("want one card with outcome %d: %+v", o, all)
	}
	return all[0]
}
