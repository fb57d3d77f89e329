package card

import (
	"fmt"
	"math/rand/v2"
	"slices"
	"testing"

	"wiebelt/internal/companion"
)

// One call of a day, as arrange sees it.
type standing struct {
	item
	id     int
	strip  bool // the engine's wish, as is line
	line   bool
	height int
}

func (s *standing) wishes() []form {
	rest := []form{{asStrip, 0, 56}, {asLine, 0, 28}}
	switch {
	case s.line:
		return rest[1:]
	case s.strip:
		return rest
	}
	return append([]form{{asCard, 0, s.height}}, rest...)
}

// TestNothingThatLivesMoves plays 10,000 days of up to eight calls, which begin,
// are answered, fill in, fold, unfold, become lines and cards, are asked for, end
// and go, under hands and without. The card of a call that lives never moves but
// for what the user has just asked for; none lies on another, all are inside, and
// a call that lives has the corner before one that has ended.
func TestNothingThatLivesMoves(t *testing.T) {
	const days = 10_000
	saw := map[string]int{}
	for day := range days {
		r := rand.New(rand.NewPCG(uint64(day), 7))
		g := ground{height: []int{700, 1000, 1400}[r.IntN(3)], columns: 1 + r.IntN(4), edge: 16, gap: 8}
		var calls []*standing
		next := 0
		for range 20 + r.IntN(30) {
			frozen := r.IntN(5) == 0
			var asked *standing
			switch one := r.IntN(8); {
			case one < 3 && len(calls) < 8:
				next++
				calls = append(calls, &standing{id: next, height: []int{106, 200, 284}[r.IntN(3)], line: len(calls) >= 3, item: item{call: companion.Rings}})
			case len(calls) == 0:
				continue
			default:
				c := calls[r.IntN(len(calls))]
				switch one {
				case 3: // over, folded as far as a hand lets it
					c.call = companion.Ended
					c.strip = c.strip || !frozen && len(calls) > 1
				case 4:
					if !c.call.Lives() {
						calls = slices.DeleteFunc(calls, func(o *standing) bool { return o == c })
					}
				case 5: // answered, or passed on: another height
					c.height = []int{106, 200, 284, 340, 460}[r.IntN(5)]
					c.line = c.line && frozen
				case 6:
					c.strip, c.line, c.asked = false, false, true
					asked = c
				case 7:
					c.strip = c.strip || !frozen
				}
			}
			if !frozen && len(calls) <= 3 {
				for _, c := range calls {
					c.line = false
				}
			}
			items := make([]item, len(calls))
			for i, c := range calls {
				c.forms, c.stays, c.held = c.wishes(), c.call.Lives() || frozen, frozen
				if frozen && c.up && c != asked {
					c.forms = slices.DeleteFunc(c.forms, func(f form) bool { return f.fold < c.form.fold })
				}
				items[i] = c.item
			}
			out := g.arrange(items)
			fits := true
			for i, p := range out {
				if p.over {
					if g.columns*g.height >= 2000 || p.fold != asLine { // on low and narrow monitors alone
						t.Fatalf("day %d, %+v: no room, not even for a line\n%+v", day, g, out)
					}
					continue
				}
				for _, o := range out[:i] {
					if o.over {
						continue
					}
					fits = fits && (o.column != p.column || o.near >= p.near+g.fit(p.height)+g.gap || p.near >= o.near+g.fit(o.height)+g.gap)
				}
				fits = fits && p.near >= g.edge && p.near+g.fit(p.height)+g.edge <= g.height
			}
			wrong := ""
			if !fits {
				wrong = "cards lie on each other, or outside"
			}
			for i, p := range out {
				c := calls[i]
				card := c.up && c.call.Lives() && c.form.fold < asLine && !c.at.over
				if card && p.stand != c.at && asked == nil {
					wrong = fmt.Sprintf("call %d moved from %v to %v", c.id, c.at, p.stand)
				}
				if c.up && frozen && asked == nil && p.stand != c.at {
					wrong = fmt.Sprintf("%d moved under a hand", c.id)
				}
				if card && asked == nil && p.fold == asLine && !c.line {
					wrong = fmt.Sprintf("call %d has no card any more", c.id)
				}
				if c.asked && p.fold != asCard {
					wrong = fmt.Sprintf("call %d was asked for, and is folded", c.id)
				}
				if card && p.stand == c.at {
					saw["stayed"]++
				}
				if p.fold == asLine && !c.line {
					saw["folded for want of room"]++
				}
			}
			if wrong != "" {
				t.Fatalf("day %d, %+v: %s\n%+v", day, g, wrong, out)
			}
			for i, p := range out {
				calls[i].up, calls[i].at, calls[i].form, calls[i].asked = true, p.stand, p.form, false
			}
		}
	}
	for _, k := range []string{"stayed", "folded for want of room"} {
		if saw[k] < days/10 {
			t.Errorf("%d times: %s", saw[k], k)
		}
	}
}

// TestCornerIsForWhoRings: what has ended gives the corner to the call that
// begins, and stands beyond it.
func TestCornerIsForWhoRings(t *testing.T) {
	g := ground{height: 1000, columns: 3, edge: 16, gap: 8}
	strip := form{asStrip, 0, 56}
	over := item{call: companion.Ended, forms: []form{strip}, up: true, at: stand{near: 16}, form: form{asCard, 0, 284}}
	rings := item{forms: []form{{asCard, 0, 284}, strip}, call: companion.Rings}
	if got := g.arrange([]item{over, rings}); got[1].stand != (stand{near: 16}) || got[0].stand != (stand{near: 308}) {
		t.Errorf("%+v", got)
	}
	over.stays = true // a hand is on it
	over.forms[0] = over.form
	if got := g.arrange([]item{over, rings}); got[0].stand != over.at || got[1].stand != (stand{near: 308}) {
		t.Errorf("under a hand: %+v", got)
	}
}

// TestRoomForWhatIsAskedFor: where there is none, the last in the order of calls
// that is under no hand folds and goes where there is some, and nothing else moves.
func TestRoomForWhatIsAskedFor(t *testing.T) {
	g := ground{height: 984, columns: 1, edge: 16, gap: 8}
	forms := []form{{asCard, 0, 284}, {asStrip, 0, 56}, {asLine, 0, 28}}
	column := func(hand int) (all []item) {
		for i, call := range []companion.Standing{companion.InCall, companion.Rings, companion.Rings} {
			all = append(all, item{forms: forms, up: true, at: stand{near: 16 + i*292}, form: forms[0], stays: true, call: call, hand: i == hand})
		}
		return append(all, item{forms: forms, up: true, at: stand{near: 892}, form: forms[2], stays: true, call: companion.Rings, asked: true})
	}
	for hand, goes := range map[int]int{-1: 2, 2: 1} {
		items := column(hand)
		out := g.arrange(items)
		for i, p := range out {
			want := placed{column(hand)[i].at, forms[0]}
			switch i {
			case goes:
				want = placed{stand{near: 892}, forms[1]}
			case 3:
				want.stand = items[goes].at
			}
			if p != want {
				t.Errorf("hand on %d: item %d is %+v, want %+v", hand, i, p, want)
			}
		}
	}
}
