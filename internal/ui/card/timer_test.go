package card

import (
	"bytes"
	"errors"
	"image"
	"os"
	"path/filepath"
	"runtime"
	"runtime/debug"
	"slices"
	"sync/atomic"
	"testing"
	"testing/synctest"
	"time"

	"wiebelt/internal/core/call"
	"wiebelt/internal/core/engine"
	"wiebelt/internal/core/phone"
	"wiebelt/internal/testutil/must"
	"wiebelt/internal/testutil/processtest"
)

// TestRest runs in a separate process: Fyne's caches share
// one clock, which no other test may have used.
func TestRest(t *testing.T) {
	if !processtest.Alone(t, nil) {
		return
	}
	synctest.Test(t, func(t *testing.T) {
		var rests atomic.Int64
		r := startCards(t, func(c *Config, _ *desktop) { c.WentIdle = func() { rests.Add(1) } })
		r.run()
		show := func(cards ...engine.Card) {
			r.e.show(0, cards...)
			synctest.Wait()
		}
		after := func(d time.Duration, want int64, when string) {
			t.Helper()
			time.Sleep(d)
			synctest.Wait()
			if got := rests.Load(); got != want {
				t.Errorf("%s: %d rests, not %d", when, got, want)
			}
		}
		after(idleAfter, 1, "after the start, where cards were painted")
		after(24*time.Hour, 1, "nobody calls for a day")

		const rellac = "nessuartseiN nav"
		show(engine.Card{ID: 1, Outcome: engine.OutcomeFailed, Number: phone.Number{Kind: phone.NoNumber, Text: reversed(rellac)}, OpenedIndex: -1, EarlierChoice: -1})
		after(time.Hour, 1, "a card is up")
		show()
		after(idleAfter-time.Second, 1, "it has not been gone for long")
		if !kept(t, rellac) {
			t.Error("the name went before the rest: this test looks at nothing")
		}
		after(time.Second, 2, "nobody has called for a while")
		if kept(t, rellac) {
			t.Error("something still has the name of who called")
		}

		other := engine.Card{ID: 2, Outcome: engine.OutcomeSearching, OpenedIndex: -1, EarlierChoice: -1}
		show(other)
		show()
		show(other)
		after(idleAfter, 2, "one is up again")
		show()
		after(idleAfter-time.Second, 2, "a card was up")
		show(other)
		show()
		after(idleAfter-time.Second, 2, "another one was up meanwhile")
		after(time.Second, 3, "both are gone for a while")
	})
}

// TestWhatChangesByItself: a clock ticks every second, the bar of a search more often until
// the hub counts as slow, and nothing else wakes the program. What was copied is said for a
// moment, that it could not be copied for longer.
func TestWhatChangesByItself(t *testing.T) {
	g := gallery(t)
	search := g["searching"]
	search.ReportLevel = call.RingOnly // no clock
	for name, c := range map[string]struct {
		card   engine.Card
		age    time.Duration
		within time.Duration // 0: never
	}{
		"clock":             {g["found"], 0, time.Second},
		"only the ring":     {g["ringonly"], 0, 0},
		"search":            {search, 0, barTick},
		"search, full bar":  {search, barFull, 0},
		"call that is over": {g["over"], 0, 0},
	} {
		r := startCards(t, nil)
		c.card.Rang = r.cs.now().Add(-c.age)
		r.brings(c.card)
		if next := r.cs.nextTick(); next > c.within || (next == 0) != (c.within == 0) {
			t.Errorf("%s: something changes after %v, want %v", name, next, c.within)
		}
	}
	for says, c := range map[string]struct {
		err  error
		stay time.Duration
	}{"Gekopieerd": {nil, copiedFor}, "Kopiëren lukt niet": {errors.New("no clipboard"), failedFor}} {
		r := startCards(t, func(_ *Config, d *desktop) { d.copyErr = c.err })
		r.shows(g["ringonly"])
		r.click(0, image.Pt(300, 230))
		if next := r.cs.nextTick(); next != c.stay {
			t.Errorf("%s: looks again after %v", says, next)
		}
		r.pass(c.stay - time.Millisecond)
		if r.cs.handleTick(); !r.says(says) {
			t.Errorf("%s: not said for %v", says, c.stay)
		}
		r.pass(time.Millisecond)
		if r.cs.handleTick(); r.says(says) {
			t.Errorf("%s: said for longer than %v", says, c.stay)
		}
	}
}

// kept reports whether a name is anywhere in memory. The name is
// passed backwards, so that the test itself does not store it.
func kept(t *testing.T, backwards string) bool {
	t.Helper()
	runtime.GC()
	f := must.Get(os.Create(filepath.Join(t.TempDir(), "heap")))(t)
	defer f.Close()
	debug.WriteHeapDump(f.Fd())
	heap := must.Get(os.ReadFile(f.Name()))(t)
	slices.Reverse(heap)
	return bytes.Contains(heap, []byte(backwards))
}

// reversed is s backwards, on the heap and on no stack.
//
//go:noinline
func reversed(s string) string {
	b := []byte(s)
	slices.Reverse(b)
	return string(b)
}
