package card

import (
	"fmt"
	"image"
	"os"
	"slices"
	"testing"
	"testing/synctest"
	"time"

	"wiebelt/internal/core/call"
	"wiebelt/internal/core/engine"
	"wiebelt/internal/native/window"
	"wiebelt/internal/testutil/must"
)

// day is an office with up to ten calls at once.
type day struct {
	*office
	calls []string // the active ones
	saw   map[string]int
}

// happens makes one random thing happen, and reports whether cards may move for it.
func (d *day) happens() (mayMove bool) {
	var s *slot
	if n := len(d.cs.order); n > 0 {
		s = d.cs.order[d.r.IntN(n)]
	}
	move := func(p image.Point) { d.pointer(p, window.CardHandler.PointerMoved) }
	number := fmt.Sprintf("+316%08d", d.r.IntN(40))
	one := d.r.IntN(24)
	switch {
	case one < 8 && len(d.calls) < 10:
		d.person++
		d.calls = append(d.calls, fmt.Sprint(d.person))
		d.event(fmt.Sprint(d.person), number, call.Ringing)
	case one < 14 && len(d.calls) > 0:
		i := d.r.IntN(len(d.calls))
		switch id := d.calls[i]; one {
		case 8, 9, 10:
			d.event(id, "", call.Answered)
		case 11, 12:
			d.event(id, "", call.Ended)
			d.calls = slices.Delete(d.calls, i, i+1)
		case 13: // passed on
			d.event(id, number, call.Ringing)
		}
	case one < 17:
		time.Sleep([]time.Duration{400 * time.Millisecond, 1100 * time.Millisecond, 21 * time.Second, 61 * time.Second}[d.r.IntN(4)])
	case s == nil:
	case one < 19 && s.over:
		move(image.Pt(-1, -1))
	case one < 19:
		move(s.rect.Min.Add(s.rect.Size().Div(2)))
	case one < 21:
		d.saw["clicked"]++
		d.e.Do(engine.Action{Card: s.state.ID, Kind: engine.ActionUnfold})
	case one == 21:
		d.e.Do(engine.Action{Card: s.state.ID, Kind: engine.ActionClose})
	case one == 22:
		d.saw["by hotkey"]++
		d.cs.hotkeyDown(HotkeyKeyboard, time.Now())
	case one == 23:
		d.saw["dragged"]++
		move(image.Pt(-1, -1))
		d.cs.drop(image.Pt(d.r.IntN(d.cs.monitor.Area.Dx()), d.r.IntN(d.cs.monitor.Area.Dy())))
		return true
	}
	return false
}

// wrong returns what is wrong with the cards, which were like before.
func (d *day) wrong(before map[engine.CardID]slot, mayMove bool) string {
	cs := d.cs
	if len(cs.order) == 0 {
		return ""
	}
	requested := func(s *slot) bool { return s.state.Raised.After(before[s.state.ID].state.Raised) }
	mayMove = mayMove || slices.ContainsFunc(cs.order, requested)
	frozen := cs.freezeRemaining() > 0 || cs.anyInUse()
	g, work := cs.space(), cs.monitor.Work
	for i, s := range cs.order {
		was, live := before[s.state.ID], s.state.Rank().IsLive()
		stays := was.visible && was.form.fold < asLine && !was.at.overlapping && live
		switch {
		case requested(s) && (s.form.fold != asCard || s.at.overlapping):
			return fmt.Sprintf("card %d was asked for, and is folded", s.state.ID)
		case mayMove:
		case stays && s.at != was.at:
			return fmt.Sprintf("card %d moved from %v to %v", s.state.ID, was.at, s.at)
		case was.visible && frozen && s.at != was.at:
			return fmt.Sprintf("card %d moved while in use", s.state.ID)
		case stays && s.form.fold == asLine && !s.state.SingleLine:
			return fmt.Sprintf("card %d is but a line now", s.state.ID)
		}
		took := s.keyboard.active && !was.keyboard.active
		if took && !live && slices.ContainsFunc(cs.order, func(o *slot) bool { return o.state.Rank().IsLive() }) {
			return "the hotkey means a call that is over, while another lives"
		}
		if stays {
			d.saw["stayed"]++
		}
		if s.form.fold == asLine && !s.state.SingleLine {
			d.saw["folded for want of room"]++
		}
		if s.at.overlapping {
			if g.columns*g.height >= 500 || s.form.fold != asLine { // only on low and narrow monitors
				return "no room, not even for a line"
			}
			continue
		}
		for _, o := range cs.order[:i] {
			if !o.at.overlapping && s.rect.Inset(1-g.gap).Overlaps(o.rect) {
				return "cards lie on each other"
			}
		}
		if !s.rect.In(work.Inset(g.edge)) {
			return "a card is outside"
		}
	}
	return ""
}

// TestNothingThatLivesMoves plays days (10,000 with SOAK) of many calls: they begin, are
// answered, passed on, fold and end, in use or not; cards are clicked, closed, dragged and
// brought up with the hotkey. The card of an active call moves only for what the user has
// just requested; cards never overlap, and all stay within the work area.
func TestNothingThatLivesMoves(t *testing.T) {
	days := 300
	if os.Getenv("SOAK") != "" {
		days = 10_000
	}
	saw := map[string]int{}
	for seed := range days {
		synctest.Test(t, func(t *testing.T) {
			d := &day{office: openOffice(t, uint64(seed)), saw: saw}
			work := image.Rect(0, 0, 6+97*(1+d.r.IntN(4)), []int{175, 250, 350}[d.r.IntN(3)])
			d.d.monitors[0].Area, d.d.monitors[0].Work = work, work
			must.Run(t, d.e.Run)
			for range 20 + d.r.IntN(30) {
				before := map[engine.CardID]slot{}
				for _, s := range d.cs.order {
					before[s.state.ID] = *s
				}
				mayMove := d.happens()
				synctest.Wait()
				d.cs.show()
				d.cs.handleTick()
				if wrong := d.wrong(before, mayMove); wrong != "" {
					t.Fatalf("day %d, %v: %s", seed, work, wrong)
				}
				synctest.Wait()
			}
		})
	}
	for _, k := range []string{"stayed", "folded for want of room", "clicked", "dragged", "by hotkey"} {
		if saw[k] < days/10 {
			t.Errorf("%d times: %s", saw[k], k)
		}
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
