package notifications

import (
	"context"
	"log/slog"
	"maps"
	"slices"
	"sync"
	"testing"
	"testing/synctest"
	"time"

	"go.uber.org/goleak"

	"wiebelt/internal/core/engine"
	"wiebelt/internal/native/notify"
	"wiebelt/internal/native/window"
	"wiebelt/internal/testutil/must"
	"wiebelt/internal/text"
	"wiebelt/internal/ui/card"
)

func TestMain(m *testing.M) { goleak.VerifyTestMain(m) }

var _ window.Display = Display{}

// desktop is an engine and a notification service.
type desktop struct {
	mu     sync.Mutex
	cards  []engine.Card
	did    []engine.Action
	up     map[string]notify.Notice
	hidden bool
	fails  error
	press  func(tag, action string)

	watch  chan struct{}
	shown  int // times a notice was shown
	able   []bool
	opened int // times the calls window was opened
}

func (d *desktop) Watch() <-chan struct{} { return d.watch }
func (d *desktop) Snapshot() *engine.Snapshot {
	d.mu.Lock()
	defer d.mu.Unlock()
	return &engine.Snapshot{Cards: slices.Clone(d.cards)}
}
func (d *desktop) Do(a engine.Action) {
	d.mu.Lock()
	defer d.mu.Unlock()
	d.did = append(d.did, a)
}

func (d *desktop) Show(tag string, n notify.Notice) error {
	d.mu.Lock()
	defer d.mu.Unlock()
	if d.fails == nil {
		d.up[tag] = n
		d.shown++
	}
	return d.fails
}
func (d *desktop) Withdraw(tag string) error {
	d.mu.Lock()
	defer d.mu.Unlock()
	delete(d.up, tag)
	return nil
}
func (d *desktop) Close() {
	d.mu.Lock()
	defer d.mu.Unlock()
	clear(d.up)
}

func (d *desktop) tags() []string {
	d.mu.Lock()
	defer d.mu.Unlock()
	return slices.Sorted(maps.Keys(d.up))
}

// call puts cards into the engine and notifies everyone.
func (d *desktop) call(all ...engine.Card) {
	d.mu.Lock()
	d.cards = all
	d.mu.Unlock()
	d.watch <- struct{}{}
	synctest.Wait()
}

func (d *desktop) availabilityChanged(there bool) {
	d.mu.Lock()
	defer d.mu.Unlock()
	d.able = append(d.able, there)
}

func (d *desktop) wasAble() []bool {
	d.mu.Lock()
	defer d.mu.Unlock()
	return slices.Clone(d.able)
}

// config is the configuration of the cards.
func (d *desktop) config() card.Config {
	d.mu.Lock()
	defer d.mu.Unlock()
	return card.Config{Language: text.Dutch, Hidden: d.hidden}
}

// hide changes whether cards are hidden.
func (d *desktop) hide(n *Notifier, hidden bool) {
	d.mu.Lock()
	d.hidden = hidden
	d.mu.Unlock()
	n.ConfigChanged()
	synctest.Wait()
}

// begin runs the notifier on a desktop until the test ends.
func begin(t *testing.T) (*desktop, *Notifier) {
	d := &desktop{up: map[string]notify.Notice{}, watch: make(chan struct{})}
	n := New(Params{Engine: d, Config: d.config, Log: slog.New(slog.DiscardHandler),
		OpenCallsWindow: func() { d.opened++ }, AvailabilityChanged: d.availabilityChanged})
	n.find = func(_ context.Context, pressed func(tag, action string)) (service, error) {
		d.mu.Lock()
		defer d.mu.Unlock()
		d.press = pressed
		return d, d.fails
	}
	stop := must.Run(t, n.Run)
	t.Cleanup(func() {
		stop()
		if got := d.tags(); len(got) > 0 {
			t.Errorf("left behind: %v", got)
		}
	})
	synctest.Wait()
	return d, n
}

var ringing = engine.Card{ID: 1, Phase: engine.PhaseRinging, LineName: "Schade", Outcome: engine.OutcomeFound,
	LinkOK: []bool{true}, Edition: 4}

// TestACallThatRingsIsNoticed checks that one notice per incoming call is shown while it
// rings, and none while cards would be hidden.
func TestACallThatRingsIsNoticed(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		d, n := begin(t)
		out, over, told, strip := ringing, ringing, ringing, ringing
		out.ID, out.Outgoing = 2, true
		over.ID, over.Phase = 3, engine.PhaseAnswered
		told.ID, told.Phase, told.LineName = 4, engine.PhaseReported, ""
		strip.ID, strip.Phase, strip.Strip = 5, engine.PhaseReported, true
		d.call(ringing, out, over, told, strip)
		if got := d.tags(); !slices.Equal(got, []string{"1", "4"}) || !slices.Equal(d.wasAble(), []bool{true}) {
			t.Errorf("%v, able %v", got, d.wasAble())
		}
		if d.hide(n, true); len(d.tags()) != 0 {
			t.Errorf("hidden, and %v", d.tags())
		}
		if d.hide(n, false); len(d.tags()) != 2 {
			t.Errorf("no more hidden, and %v", d.tags())
		}
		d.call(ringing, told)
		told.Phase, told.Rang = engine.PhaseRinging, told.Rang.Add(time.Minute)
		if d.call(ringing, told); d.shown != 5 || len(d.tags()) != 2 {
			t.Errorf("the same caller again: %d times, %v", d.shown, d.tags())
		}
		told.LineName = "Leven"
		if d.call(ringing, told); d.shown != 6 || len(d.tags()) != 2 {
			t.Errorf("at another line: %d times, %v", d.shown, d.tags())
		}
		d.call()
		if got := d.tags(); len(got) != 0 {
			t.Errorf("rings no more, and %v", got)
		}
	})
}

// TestAButtonIsPressed checks that a press opens the file only
// if there is exactly one to open.
func TestAButtonIsPressed(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		d, _ := begin(t)
		several, noLink := ringing, ringing
		several.ID, several.Outcome = 2, engine.OutcomeSeveral
		noLink.ID, noLink.LinkOK = 3, []bool{false}
		d.call(ringing, several, noLink)
		for _, p := range [][2]string{{"1", notify.Default}, {"2", notify.Default}, {"3", notify.Default}, {"1", notify.Dismiss}, {"9", notify.Default}, {"9", notify.Dismiss}, {"x", notify.Default}} {
			d.press(p[0], p[1])
		}
		synctest.Wait()
		want := []engine.Action{{Card: 1, Kind: engine.ActionOpen, Edition: 4}, {Card: 1, Kind: engine.ActionClose}}
		if !slices.Equal(d.did, want) || d.opened != 3 {
			t.Errorf("did %+v, the calls window was opened %d times", d.did, d.opened)
		}
	})
}

// TestNobodyShowsNotices checks that a missing service is reported, and retried only after
// a while, then with all ringing calls.
func TestNobodyShowsNotices(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		d, _ := begin(t)
		if !slices.Equal(d.wasAble(), []bool{true}) {
			t.Errorf("able %v", d.wasAble())
		}
		other := ringing
		other.ID = 2
		d.call(ringing)
		d.mu.Lock()
		d.fails = notify.ErrClosed
		d.mu.Unlock()
		d.call(ringing, other)
		d.mu.Lock()
		d.fails = nil
		d.mu.Unlock()
		d.call(ringing, other)
		if got := d.tags(); len(got) != 0 || !slices.Equal(d.wasAble(), []bool{true, false}) {
			t.Errorf("at once: %v, able %v", got, d.wasAble())
		}
		time.Sleep(openAgain) // they still ring
		synctest.Wait()
		if got := d.tags(); len(got) != 2 || !slices.Equal(d.wasAble(), []bool{true, false, true}) {
			t.Errorf("after a while: %v, able %v", got, d.wasAble())
		}
	})
}
