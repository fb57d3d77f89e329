package engine

import (
	"context"
	"fmt"
	"slices"
	"testing"
	"testing/synctest"
	"time"

	"wiebelt/internal/core/call"
	"wiebelt/internal/core/phone"
	"wiebelt/internal/testutil/clocktest"
	"wiebelt/internal/testutil/must"
)

func TestOutcomes(t *testing.T) {
	for name, c := range map[string]struct {
		number string
		want   Outcome
		asked  int32
	}{
		"one match":  {known, OutcomeFound, 1},
		"several":    {family, OutcomeSeveral, 1},
		"nobody":     {nobody, OutcomeNobody, 1},
		"withheld":   {"anonymous", OutcomeWithheld, 0},
		"internal":   {"101", OutcomeInternal, 0},
		"short":      {"0800 1234", OutcomeShort, 0},
		"not asked":  {"020 111 22 33", OutcomeShort, 0},
		"own line":   {"020 765 43 21", OutcomeOwnLine, 0},
		"not filled": {"%CallerNumber%", OutcomePlaceholder, 0},
	} {
		t.Run(name, func(t *testing.T) {
			synctest.Test(t, func(t *testing.T) {
				b := start(t, nil)
				b.ring(b.ws, "1", c.number)
				got := b.one(c.want)
				if n := b.hub.asked.Load(); n != c.asked {
					t.Errorf("%d lookups, want %d", n, c.asked)
				}
				if got.OpenedIndex != -1 || len(b.opened) != 0 {
					t.Error("something was opened by itself")
				}
				if !got.RingReceived.Equal(time.Now()) || got.AnswerReceived.Equal(time.Now()) != (c.asked > 0) {
					t.Errorf("rang at %v, answered at %v", got.RingReceived, got.AnswerReceived)
				}
			})
		})
	}
}

// TestStaysWithheld checks that a number sent with the name of a withheld caller is not
// shown or looked up when a later report leaves out the name, and that another number is.
func TestStaysWithheld(t *testing.T) {
	for _, id := range []string{"1", ""} {
		synctest.Test(t, func(t *testing.T) {
			b := start(t, nil)
			b.send(call.Event{Source: b.ws, ID: id, Number: known, Name: "Anonymous"})
			b.send(call.Event{Source: b.ws, ID: id, State: call.Answered, Number: known})
			if c := b.one(OutcomeWithheld); c.Answered.IsZero() || b.hub.asked.Load() != 0 {
				t.Errorf("id %q: %+v, %d lookups", id, c, b.hub.asked.Load())
			}
			if id != "" {
				b.send(call.Event{Source: b.ws, ID: id, State: call.Answered, Number: nobody})
				b.one(OutcomeNobody)
			}
			late := time.Now().Add(-2 * call.StaleAfter)
			must.Do(t, b.e.Receive(call.Event{Source: b.ws, ID: "late", Number: known, Name: "Anonymous", At: late}))
			must.Do(t, b.e.Receive(call.Event{Source: b.ws, ID: "late", State: call.Answered, Number: known, At: late.Add(time.Second)}))
			synctest.Wait()
			if n := b.entries[len(b.entries)-1].Card.Number; n.Kind != phone.Withheld {
				t.Errorf("a late report reveals %v", n)
			}
		})
	}
}

// TestDirections checks that an outgoing call is a strip, a card or nothing,
// depending on the setting, and that a call of unknown direction has no card.
func TestDirections(t *testing.T) {
	for setting, want := range map[OutgoingDisplay]int{OutgoingStrip: 1, OutgoingCard: 1, OutgoingOff: 0} {
		synctest.Test(t, func(t *testing.T) {
			b := start(t, func(p *Params) { p.Outgoing = setting })
			for i, direction := range []call.Direction{call.DirectionUnknown, call.Outgoing} {
				b.send(call.Event{Source: b.ws, ID: fmt.Sprint(i), Number: known, Direction: direction})
			}
			if all := b.cards(); len(all) != want || want == 1 && all[0].Strip != (setting == OutgoingStrip) {
				t.Errorf("%s: %+v", setting, all)
			}
		})
	}
}

// TestEnded checks that an engine that has ended accepts nothing and blocks no one.
func TestEnded(t *testing.T) {
	e := New(Params{})
	ctx, cancel := context.WithCancel(t.Context())
	cancel()
	early := e.Watch()
	e.Run(ctx)
	for _, w := range []<-chan struct{}{early, e.Watch()} {
		for range w { // until it is closed
		}
	}
	for range 100 {
		if err := e.Receive(call.Event{}); err != ErrStopped {
			t.Fatalf("taken by nobody: %v", err)
		}
	}
}

// TestHeardOfLate checks that a card has its call's true times, even if the call was already
// on when it was first reported, or while its source was away or the computer slept.
func TestHeardOfLate(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		b := start(t, nil)
		rang, answered := time.Now().Add(-10*time.Minute), time.Now().Add(-9*time.Minute)
		tell := func() {
			t.Helper()
			for s, since := range []time.Time{rang, answered} {
				b.send(call.Event{Source: b.ws, ID: "1", Number: known, State: call.State(s), StateSince: since})
			}
			if c := b.one(OutcomeFound); c.Phase != PhaseAnswered || c.ReportLevel != call.AllStates || !c.Rang.Equal(rang) || !c.Answered.Equal(answered) {
				t.Errorf("%+v", c)
			}
		}
		tell()
		b.e.SourceGone(b.ws)
		tell()
		b.sleep(time.Hour)
		b.e.Resumed(time.Hour)
		if synctest.Wait(); len(b.cards()) > 0 {
			t.Errorf("%+v", b.cards())
		}
		tell()
		if last := b.e.Snapshot().LastCall; !last.At.Equal(rang) {
			t.Errorf("the last call rang at %v", last.At)
		}
	})
}

// TestRingsToday checks that a card says how often its caller has rung today, and when
// the time before this one.
func TestRingsToday(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		b := start(t, nil)
		var previous time.Time
		for i, c := range []struct {
			pause time.Duration
			want  int
		}{{0, 1}, {time.Hour, 2}, {time.Hour, 3}, {24 * time.Hour, 1}, {time.Minute, 2}} {
			pass(c.pause)
			if c.want == 1 {
				previous = time.Time{}
			}
			id := fmt.Sprint(i)
			b.ring(b.ws, id, known)
			if got := b.one(OutcomeFound); got.RingsToday != c.want || !got.PreviousRing.Equal(previous) {
				t.Errorf("call %d: %d today, the previous one at %v; want %d, %v", i, got.RingsToday, got.PreviousRing, c.want, previous)
			}
			previous = time.Now()
			b.event(b.ws, id, "", call.Ended)
		}
	})
}

// TestSleep checks that nothing that rang before a sleep is on screen after
// it, and that a later ring is a new call. A short pause changes nothing.
func TestSleep(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		b := start(t, nil)
		for range 3 {
			b.ring(b.ws, "1", known)
			b.ring(call.Source{Kind: call.KindCommand, ReportLevel: call.RingOnly}, "", family)
			b.event(b.ws, "1", known, call.Answered)
			b.e.Resumed(30 * time.Second)
			b.e.Resumed(0) // the clock was set
			if n := len(b.cards()); n != 2 {
				t.Fatalf("%d cards after a short pause", n)
			}
			b.sleep(8 * time.Hour)
			fresh := func(c Card) bool { return c.Rang.Equal(time.Now()) }
			b.ring(b.ws, "fresh", family) // before anyone noticed the sleep
			if !slices.ContainsFunc(b.cards(), fresh) {
				t.Errorf("no card: %+v", b.cards())
			}
			b.e.Resumed(8 * time.Hour)
			if synctest.Wait(); len(b.cards()) != 1 || !fresh(b.cards()[0]) {
				t.Errorf("an old card: %+v", b.cards())
			}
			b.event(b.ws, "fresh", family, call.Ended)
			if pass(time.Minute); len(b.cards()) > 0 {
				t.Errorf("after its time: %+v", b.cards())
			}
			b.event(b.ws, "1", known, call.Ended) // as the phone may report now
		}
		ended := map[call.ID]bool{}
		for _, en := range b.entries {
			if d := en.Ended.Sub(en.Card.Rang); d > time.Minute {
				t.Errorf("a call is recorded as if it had gone on in our sleep, for %v", d)
			}
			if !en.Ended.IsZero() && en.Source == b.ws { // the ends of the others could not be known
				ended[en.Call] = true
			}
		}
		if len(ended) != 6 {
			t.Errorf("%d of 6 calls are recorded as over", len(ended))
		}
	})
}

// TestCutOffBySleep checks that a call in progress when the computer falls asleep
// is recorded as lasting until then, even by a clock that stands still meanwhile.
func TestCutOffBySleep(t *testing.T) {
	const night = 8 * time.Hour
	asleep, ended := time.Now(), 0
	e := New(Params{Rules: must.Get(phone.NewRules(phone.Config{InternalDigits: 4}))(t), Record: func(en Entry) {
		if !en.Ended.IsZero() {
			if ended++; en.Ended.Round(0).Sub(asleep.Round(0)) != 0 {
				t.Errorf("lasted until %v, asleep at %v", en.Ended, asleep)
			}
		}
	}})
	for id, since := range map[string]time.Time{"1": asleep.Add(-10 * time.Minute), "2": asleep.Add(-time.Second)} {
		e.receive(t.Context(), call.Event{ID: id, Number: "10" + id, State: call.Answered, StateSince: since})
	}
	e.endAllCalls(clocktest.Slept(asleep, night), night)
	if ended != 2 || len(e.s.cards) > 0 {
		t.Errorf("%d of 2 calls are over, %d cards", ended, len(e.s.cards))
	}
}
