package card

import (
	"context"
	"fmt"
	"image"
	"log/slog"
	"math/rand/v2"
	"os"
	"runtime"
	"slices"
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

// day has a real engine, and computes where its cards would be without painting them.
type day struct {
	r     *rand.Rand
	e     *engine.Engine
	cs    *Cards
	calls []string // the active ones
	next  int
	saw   map[string]int
}

func (d *day) Lookup(_ context.Context, n string) ([]contact.Contact, error) {
	return make([]contact.Contact, int(n[len(n)-1]-'0')%4), nil // nobody, one, a family
}

// pointer moves the pointer onto a card, or off it.
func (d *day) pointer(s *slot, on bool) {
	if s.over = on; on {
		d.cs.sendAction(s, engine.ActionHover)
		return
	}
	d.cs.leftAt = d.cs.now()
	d.cs.sendAction(s, engine.ActionLeave)
}

func (d *day) keyboard(s *slot, on bool) {
	if s.keyboard.active = on; on {
		d.cs.sendAction(s, engine.ActionKeyboard)
		return
	}
	d.cs.leftAt = d.cs.now()
	d.cs.sendAction(s, engine.ActionKeyboardGone)
}

// happens makes one random thing happen, and returns what went wrong.
func (d *day) happens() (wrong string) {
	var s *slot
	if n := len(d.cs.order); n > 0 {
		s = d.cs.order[d.r.IntN(n)]
	}
	typing := slices.IndexFunc(d.cs.order, func(s *slot) bool { return s.keyboard.active })
	event := func(id, number string, to call.State) {
		source := call.Source{Kind: call.KindWebSocket, Conn: "1", ReportLevel: call.AllStates}
		_ = d.e.Receive(call.Event{Source: source, ID: id, Number: number, State: to, Direction: call.Incoming, At: time.Now()})
	}
	number := fmt.Sprintf("+316%08d", d.r.IntN(40))
	one := d.r.IntN(24)
	switch {
	case one < 8 && len(d.calls) < 10:
		d.next++
		d.calls = append(d.calls, fmt.Sprint(d.next))
		event(fmt.Sprint(d.next), number, call.Ringing)
	case one < 14 && len(d.calls) > 0:
		i := d.r.IntN(len(d.calls))
		switch id := d.calls[i]; one {
		case 8, 9, 10:
			event(id, "", call.Answered)
		case 11, 12:
			event(id, "", call.Ended)
			d.calls = slices.Delete(d.calls, i, i+1)
		case 13: // passed on
			event(id, number, call.Ringing)
		}
	case one < 17:
		time.Sleep([]time.Duration{400 * time.Millisecond, 1100 * time.Millisecond, 21 * time.Second, 61 * time.Second}[d.r.IntN(4)])
	case s == nil:
	case one == 17, one == 18:
		for _, o := range d.cs.order {
			if o.over && o != s {
				d.pointer(o, false)
			}
		}
		d.pointer(s, !s.over)
	case one == 19, one == 20:
		d.saw["clicked"]++
		d.e.Do(engine.Action{Card: s.state.ID, Kind: engine.ActionUnfold})
	case one == 21:
		d.e.Do(engine.Action{Card: s.state.ID, Kind: engine.ActionClose})
	case one == 22 && typing >= 0: // Enter, and Escape
		d.keyboard(d.cs.order[typing], false)
	case one == 22:
		snap := d.e.Snapshot()
		if snap.HotkeyCard() == snap.ClosedCard {
			d.e.Do(engine.Action{Card: snap.ClosedCard, Kind: engine.ActionShow})
			break
		}
		if s = d.cs.slotOf(snap.HotkeyCard()); s == nil {
			return "the hotkey means a card that is not there"
		}
		d.saw["by hotkey"]++
		if slices.ContainsFunc(d.cs.order, func(o *slot) bool { return o.state.Rank() < s.state.Rank() && !s.state.Rank().IsLive() }) {
			return "the hotkey means a call that is over, while another lives"
		}
		d.keyboard(s, true)
	case one == 23:
		d.saw["dragged"]++
		for _, o := range d.cs.order {
			if o.over {
				d.pointer(o, false)
			}
		}
		d.cs.relocating, d.cs.leftAt = true, time.Time{}
	}
	return ""
}

// placeCards applies the snapshot as Cards.show does,
// places every card, and returns what is wrong.
func (d *day) placeCards() (wrong string) {
	cs, snap := d.cs, d.e.Snapshot()
	cs.order = slices.DeleteFunc(cs.order, func(s *slot) bool {
		if slices.ContainsFunc(snap.Cards, func(c engine.Card) bool { return c.ID == s.state.ID }) {
			return false
		}
		if s.inUse() {
			d.pointer(s, false)
			d.keyboard(s, false)
			cs.leftAt = time.Time{}
		}
		*s = slot{}
		return true
	})
	mayMove := cs.relocating
	for _, c := range snap.Cards {
		s := cs.slotOf(c.ID)
		if s == nil {
			s = cs.freeSlot()
			s.view = &view{}
			cs.order = append(cs.order, s)
		}
		s.requested = c.Raised.After(s.state.Raised)
		mayMove = mayMove || s.requested
		s.state = c
		s.bestHeight = []float32{106, 200, 284, 340}[(uint64(c.ID)+c.Edition+uint64(c.Phase))%4]
	}
	g, items := cs.space(), cs.items(cs.order)
	out := g.arrange(slices.Clone(items))
	cs.relocating = false
	for i, p := range out {
		s, was := cs.order[i], items[i]
		s.visible, s.at, s.form, s.lastForm, s.requested = true, p.position, p.form, p.form, false
		card := was.visible && was.form.fold < asLine && !was.at.overlapping
		switch {
		case was.requested && (p.fold != asCard || p.overlapping):
			return fmt.Sprintf("card %d was asked for, and is folded", s.state.ID)
		case mayMove:
		case card && was.rank.IsLive() && p.position != was.at:
			return fmt.Sprintf("card %d moved from %v to %v", s.state.ID, was.at, p.position)
		case was.visible && was.frozen && p.position != was.at:
			return fmt.Sprintf("card %d moved while in use", s.state.ID)
		case card && was.rank.IsLive() && p.fold == asLine && !s.state.SingleLine:
			return fmt.Sprintf("card %d is but a line now", s.state.ID)
		}
		if card && was.rank.IsLive() {
			d.saw["stayed"]++
		}
		if p.fold == asLine && !s.state.SingleLine {
			d.saw["folded for want of room"]++
		}
		if p.overlapping {
			if g.columns*g.height >= 2000 || p.fold != asLine { // only on low and narrow monitors
				return "no room, not even for a line"
			}
			continue
		}
		for _, o := range out[:i] {
			if !o.overlapping && o.column == p.column && o.cornerDistance < p.cornerDistance+g.fit(p.height)+g.gap &&
				p.cornerDistance < o.cornerDistance+g.fit(o.height)+g.gap {
				return "cards lie on each other"
			}
		}
		if p.cornerDistance < g.edge || p.cornerDistance+g.fit(p.height)+g.edge > g.height {
			return "a card is outside"
		}
	}
	return ""
}

// TestNothingThatLivesMoves plays 1,000 days (10,000 with SOAK) of up to ten
// simultaneous calls with a real engine: calls begin, are answered, passed on,
// fold and end, in use or not; cards are clicked, closed, dragged and brought
// up with the hotkey. The card of an active call moves only for what the user
// has just requested; cards never overlap, and all stay within the work area.
func TestNothingThatLivesMoves(t *testing.T) {
	days := 1_000
	if os.Getenv("SOAK") != "" {
		days = 10_000
	}
	rules := phone.DefaultRules()
	play := func(t *testing.T, seed int) (saw map[string]int) {
		synctest.Test(t, func(t *testing.T) {
			d := &day{r: rand.New(rand.NewPCG(uint64(seed), 7)), saw: map[string]int{}}
			saw = d.saw
			d.e = engine.New(engine.Params{Rules: rules, Lookup: d, Log: slog.New(slog.DiscardHandler),
				FullFor: 60 * time.Second, AfterCall: 20 * time.Second, CheckLink: func(l string) (string, error) { return l, nil }})
			must.Run(t, d.e.Run)
			work := image.Rect(0, 0, 24+388*(1+d.r.IntN(4)), []int{700, 1000, 1400}[d.r.IntN(3)])
			d.cs = &Cards{engine: d.e, placement: placement{monitor: window.Monitor{Work: work, Scale: 1}}, now: time.Now}
			for i := range d.cs.slots {
				d.cs.slots[i] = &slot{}
			}
			for range 20 + d.r.IntN(30) {
				wrong := d.happens()
				synctest.Wait()
				if wrong == "" {
					wrong = d.placeCards()
				}
				synctest.Wait()
				if wrong != "" {
					t.Fatalf("day %d, %v: %s", seed, work, wrong)
				}
			}
		})
		return saw
	}
	var mu sync.Mutex
	all := map[string]int{}
	workers := runtime.GOMAXPROCS(0)
	t.Run("days", func(t *testing.T) {
		for w := range workers {
			t.Run(fmt.Sprint(w), func(t *testing.T) {
				t.Parallel()
				for seed := w; seed < days; seed += workers {
					saw := play(t, seed)
					mu.Lock()
					for k, n := range saw {
						all[k] += n
					}
					mu.Unlock()
				}
			})
		}
	})
	for _, k := range []string{"stayed", "folded for want of room", "clicked", "dragged", "by hotkey"} {
		if all[k] < days/10 {
			t.Errorf("%d times: %s", all[k], k)
		}
	}
}

// TestCornerIsForWhoRings: an ended card leaves the corner to a call that
// begins, moves beyond it, and returns when that call's card is gone.
func TestCornerIsForWhoRings(t *testing.T) {
	g := space{height: 1000, columns: 3, edge: 16, gap: 8}
	strip := form{asStrip, 0, 56}
	over := item{rank: engine.RankEnded, forms: []form{strip}, visible: true, at: position{cornerDistance: 16}, form: form{asCard, 0, 284}}
	rings := item{forms: []form{{asCard, 0, 284}, strip}, rank: engine.RankRinging}
	if got := g.arrange([]item{over, rings}); got[1].position != (position{cornerDistance: 16}) ||
		got[0].position != (position{cornerDistance: 308}) {
		t.Errorf("%+v", got)
	}
	over.at.cornerDistance = 308 // the call in the corner is gone: no reason to stay here
	if got := g.arrange([]item{over}); got[0].position != (position{cornerDistance: 16}) {
		t.Errorf("alone: %+v", got)
	}
	over.at.cornerDistance = 16
	over.fixed = true // the pointer is on it
	over.forms[0] = over.form
	if got := g.arrange([]item{over, rings}); got[0].position != over.at || got[1].position != (position{cornerDistance: 308}) {
		t.Errorf("while in use: %+v", got)
	}
}

// TestRoomForWhatIsAskedFor: if there is no space for a requested card, the last one in
// call order that is not in use folds and moves to where there is some; nothing else moves.
func TestRoomForWhatIsAskedFor(t *testing.T) {
	g := space{height: 984, columns: 1, edge: 16, gap: 8}
	forms := []form{{asCard, 0, 284}, {asStrip, 0, 56}, {asLine, 0, 28}}
	column := func(inUse int) (all []item) {
		for i, call := range []engine.Rank{engine.RankInCall, engine.RankRinging, engine.RankRinging} {
			all = append(all, item{forms: forms, visible: true, at: position{cornerDistance: 16 + i*292}, form: forms[0], fixed: true, rank: call, inUse: i == inUse})
		}
		return append(all, item{forms: forms, visible: true, at: position{cornerDistance: 892}, form: forms[2], fixed: true, rank: engine.RankRinging, requested: true})
	}
	for inUse, goes := range map[int]int{-1: 2, 2: 1} {
		items := column(inUse)
		out := g.arrange(items)
		for i, p := range out {
			want := placedForm{column(inUse)[i].at, forms[0]}
			switch i {
			case goes:
				want = placedForm{position{cornerDistance: 892}, forms[1]}
			case 3:
				want.position = items[goes].at
			}
			if p != want {
				t.Errorf("in use %d: item %d is %+v, want %+v", inUse, i, p, want)
			}
		}
	}
}
