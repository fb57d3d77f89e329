package card

import (
	"context"
	"errors"
	"fmt"
	"image"
	"log/slog"
	"math/rand/v2"
	"os"
	"strings"
	"sync"
	"testing"
	"testing/synctest"
	"time"

	"wiebelt/internal/core/call"
	"wiebelt/internal/core/contact"
	"wiebelt/internal/core/engine"
	"wiebelt/internal/core/phone"
	"wiebelt/internal/native/window"
	"wiebelt/internal/testutil/must"
)

// office has a real engine with its cards on a desktop controlled by the test, in a
// synctest bubble.
type office struct {
	t     *testing.T
	r     *rand.Rand
	e     *engine.Engine
	d     *desktop
	cs    *Cards
	watch <-chan struct{}

	mu     sync.Mutex
	opened []string // ids of contacts, as passed to the browser

	under  int // the window under the pointer, -1 for none
	person int // how many numbers have called
	source call.Source
}

// Lookup returns one person, or a family of three, for every number; some
// answers take a while.
func (o *office) Lookup(ctx context.Context, n string) ([]contact.Contact, error) {
	var all []contact.Contact
	digit := int(n[len(n)-1] - '0')
	select {
	case <-time.After(2*time.Millisecond + time.Duration(digit%4)*40*time.Millisecond):
	case <-ctx.Done():
		return nil, ctx.Err()
	}
	for i := range 3 - digit%2*2 { // even ones are families
		all = append(all, contact.Contact{ID: fmt.Sprint(n, "/", i), RelationNumber: fmt.Sprint(i), Initials: string(rune('A' + i)), FamilyName: "Vries", Link: fmt.Sprint("ok:", n, "/", i)})
	}
	return all, nil
}

func openOffice(t *testing.T, seed uint64) *office {
	rules := phone.DefaultRules()
	o := &office{t: t, r: rand.New(rand.NewPCG(seed, 1)), d: newDesktop(), under: -1,
		source: call.Source{Kind: call.KindWebSocket, Conn: "1", ReportLevel: call.AllStates}}
	// A quarter of the size is enough for aiming, and fast to paint.
	o.d.monitors = []window.Monitor{{Name: "one", Area: image.Rect(0, 0, 500, 300), Work: image.Rect(0, 0, 500, 300), Scale: 0.25}}
	o.e = engine.New(engine.Params{Rules: rules, Lookup: o, Log: slog.New(slog.DiscardHandler),
		FullFor: 60 * time.Second, AfterCall: 20 * time.Second, SchemeLookup: engine.SchemeAsk, Outgoing: engine.OutgoingCard,
		CheckLink: func(l string) (string, error) {
			if !strings.HasPrefix(l, "ok:") {
				return "", errors.New("refused")
			}
			return l, nil
		},
		Browse: func(_ context.Context, a string) error {
			o.mu.Lock()
			o.opened = append(o.opened, strings.TrimPrefix(a, "ok:"))
			o.mu.Unlock()
			return nil
		}})
	c := Config{Language: "nl", Appearance: "light", Corner: BottomRight, Log: slog.New(slog.DiscardHandler)}
	o.cs = must.Get(New(func() Config { return c }, o.e, o.d))(t)
	return o
}

func (o *office) event(id, number string, s call.State) {
	must.Do(o.t, o.e.Receive(call.Event{Source: o.source, ID: id, Number: number, State: s, Direction: call.Incoming, At: time.Now()}))
}

func (o *office) number() string {
	o.person++
	return fmt.Sprintf("+3161%07d", o.person)
}

// pump lets the cards handle the engine's changes.
func (o *office) pump() {
	select {
	case <-o.watch:
		o.cs.show()
	default:
	}
}

// settle gives engine and hub up to three milliseconds to report, or none, so that they
// do not always lag behind what the user does.
func (o *office) settle() {
	for range o.r.IntN(4) {
		time.Sleep(time.Millisecond)
		o.pump()
	}
}

// until pumps, advancing the time in small steps, until ok returns true.
func (o *office) until(what string, ok func() bool) {
	o.t.Helper()
	for range 1000 {
		if ok() {
			return
		}
		time.Sleep(20 * time.Millisecond)
		o.pump()
	}
	o.t.Fatalf("never: %s; %+v", what, o.e.Snapshot().Cards)
}

// sends sends an event to a window, and has it handled.
func (o *office) sends(slot int, event func(window.CardHandler)) {
	event(o.d.windows[slot].h)
	in := <-o.cs.input
	in.handle(in.when)
}

// pointer sends an event at a point of the desktop to the window there, as a desktop does.
func (o *office) pointer(p image.Point, event func(h window.CardHandler, at image.Point)) {
	at := -1
	for i, s := range o.cs.slots {
		if s.visible && p.In(s.rect) {
			at = i
		}
	}
	if at != o.under {
		if o.under >= 0 {
			o.sends(o.under, window.CardHandler.PointerLeft)
		}
		o.under = at
	}
	if at >= 0 {
		o.sends(at, func(h window.CardHandler) { event(h, p.Sub(o.cs.slots[at].rect.Min)) })
	}
}

// targets returns the buttons on screen that open a file.
func (o *office) targets() (all []area) {
	for _, s := range o.cs.order {
		for _, a := range s.view.areas {
			if s.visible && a.effect.requests(engine.ActionOpen) && !a.effect.Disabled {
				all = append(all, a)
			}
		}
	}
	return all
}

// mishap makes something happen to the calls while the pointer is on its way.
func (o *office) mishap() {
	switch o.r.IntN(6) {
	case 0:
		o.event("a", "", call.Answered)
	case 1:
		o.event("a", "", call.Ended)
	case 2: // passed on: another caller on the same call
		o.event("a", o.number(), call.Ringing)
	case 3:
		o.event(fmt.Sprint("b", o.person), o.number(), call.Ringing)
	case 4: // hung up, and the next one rings at once
		o.event("a", "", call.Ended)
		o.event("a", o.number(), call.Ringing)
	case 5:
		o.event("a", o.number(), call.Answered)
	}
}

// round plays one call, one aim and one click or key. It returns the ID of the
// contact aimed at when the pointer or finger set out, "" if there was none.
func (o *office) round(keys bool) (aim string) {
	ms := func(from, to int) time.Duration { return time.Duration(from+o.r.IntN(to-from)) * time.Millisecond }
	for i := range 1 + o.r.IntN(2) {
		o.event([]string{"a", "c"}[i], o.number(), call.Ringing)
	}
	o.until("the first card", func() bool { return len(o.targets()) > 0 })
	time.Sleep(ms(0, 1500))
	o.pump()

	var slot int
	if keys {
		o.cs.hotkeyDown(HotkeyKeyboard, time.Now())
		if slot = o.d.typing(); slot < 0 {
			o.t.Fatalf("the hotkey took no card of %+v", o.e.Snapshot().Cards)
		}
		time.Sleep(ms(200, 1500))
		o.pump()
	}
	before := ms(0, 300) // a mishap may come before the movement starts
	happens := make([]time.Duration, 1+o.r.IntN(3))
	travel := ms(40, 900)
	if keys {
		travel = ms(20, 290)
	}
	for i := range happens {
		happens[i] = time.Duration(o.r.Int64N(int64(before + travel + 250*time.Millisecond)))
	}
	elapse := func(d time.Duration) {
		for step := 12 * time.Millisecond; d > 0; d -= step {
			time.Sleep(min(step, d))
			for i := range happens {
				if happens[i] -= step; happens[i] <= 0 && happens[i] > -step {
					o.mishap()
					o.settle()
				}
			}
			if o.r.IntN(3) > 0 { // otherwise the engine is ahead of the screen
				o.pump()
			}
		}
	}
	elapse(before)

	all := o.targets()
	if keys {
		if s := o.cs.slots[slot]; s.keyboard.active && s.visible {
			k := window.KeyPress{Key: window.KeyEnter}
			if s.state.Outcome == engine.OutcomeSeveral && o.r.IntN(3) > 0 {
				n := o.r.IntN(3)
				k = window.KeyPress{Key: window.KeyText, Text: string(rune('1' + n))}
				if a := s.openArea(n); a != nil {
					aim = a.effect.Contact.ID
				}
			} else {
				aim = s.keyboard.focus.Contact.ID
			}
			elapse(travel)
			o.sends(slot, func(h window.CardHandler) { h.KeyPressed(k) })
		}
		return aim
	}
	if len(all) == 0 {
		return ""
	}
	to := all[o.r.IntN(len(all))]
	aim = to.effect.Contact.ID
	end := image.Pt(to.rect.Min.X+o.r.IntN(to.rect.Dx()), to.rect.Min.Y+o.r.IntN(to.rect.Dy()))
	// The pointer spends at most half of its way on the card, and rests before it clicks.
	begin := end.Sub(image.Pt(o.r.IntN(60), o.r.IntN(60)))
	unseen := min(travel/2, assumedAge)
	elapse(unseen)
	n := max(1, int((travel-unseen)/(15*time.Millisecond)))
	for i := 1; i <= n; i++ {
		o.pointer(begin.Add(end.Sub(begin).Mul(i).Div(n)), window.CardHandler.PointerMoved)
		elapse((travel - unseen) / time.Duration(n))
	}
	elapse(ms(0, 250))
	o.pointer(end, func(h window.CardHandler, at image.Point) { h.PointerPressed(at, window.Left) })
	elapse(ms(10, 120))
	o.pointer(end, func(h window.CardHandler, at image.Point) { h.PointerReleased(at, window.Left) })
	return aim
}

// TestNeverAnotherFile: while the pointer is on its way to a button, or a finger to a key,
// calls are answered, hung up, passed on and joined by others. The click or key opens what
// was shown when it set out, or nothing, but never another file. SOAK sets more rounds.
func TestNeverAnotherFile(t *testing.T) {
	rounds := 1500
	if os.Getenv("SOAK") != "" {
		rounds = 10_000
	}
	for _, keys := range []bool{false, true} {
		t.Run(map[bool]string{false: "pointer", true: "keys"}[keys], func(t *testing.T) {
			synctest.Test(t, func(t *testing.T) { playRounds(t, keys, rounds) })
		})
	}
}

func playRounds(t *testing.T, keys bool, rounds int) {
	seed := uint64(20260302)
	o := openOffice(t, seed)
	stop := must.Run(t, o.e.Run)
	o.watch = o.e.Watch()
	aims := make([]string, rounds)
	last := make([]int, rounds) // how many people had called by the end of the round
	for i := range rounds {
		aims[i] = o.round(keys)
		last[i] = o.person
		o.pointer(image.Pt(1, 1), window.CardHandler.PointerMoved)
		for at, s := range o.cs.slots {
			if s.keyboard.active {
				o.sends(at, func(h window.CardHandler) { h.KeyPressed(window.KeyPress{Key: window.KeyEscape}) })
			}
		}
		// After a sleep no call is left; the engine
		// may handle earlier reports afterwards.
		o.until("no card is left", func() bool {
			time.Sleep(time.Minute)
			o.e.Resumed(time.Hour)
			return len(o.cs.order) == 0 && len(o.e.Snapshot().Cards) == 0
		})
	}
	stop()
	for _, id := range o.opened {
		var n int
		must.Get(fmt.Sscanf(id, "+3161%07d/", &n))(t)
		round := 0
		for n > last[round] {
			round++
		}
		if aims[round] != id {
			t.Errorf("round %d of seed %d: set out for %q, opened %q", round, seed, aims[round], id)
		}
	}
	if n := len(o.opened); n < rounds/5 {
		t.Errorf("only %d of %d rounds opened anything: the test shows little", n, rounds)
	}
	t.Logf("%d rounds, %d opened a file, the others nothing", rounds, len(o.opened))
}
