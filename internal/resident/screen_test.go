package resident

import (
	"os"
	"path/filepath"
	"strings"
	"testing"
	"time"

	"wiebelt/internal/core/engine"
	"wiebelt/internal/health"
	"wiebelt/internal/native/session"
	"wiebelt/internal/native/sound"
	"wiebelt/internal/testutil/clocktest"
	"wiebelt/internal/testutil/must"
	"wiebelt/internal/text"
	"wiebelt/internal/ui/card"
)

// TestPauseEnds checks that cards return when a pause is over, whatever triggers it: a
// call arriving at that moment, or the end of a sleep, during which no timer ran.
func TestPauseEnds(t *testing.T) {
	d, s := running(t)
	must.Run(t, d.refreshLoop)
	until := func(what string, hidden bool) {
		t.Helper()
		must.When(t, s.told, what, func() (bool, any) { return s.hidden() == hidden, s.hidden() })
	}
	d.pause(time.Now().Add(time.Hour))
	until("hidden", true)
	for range 3 { // the third is accepted once the first is processed
		d.refreshRequested <- struct{}{}
	}
	d.facts.change(func(k *knownState) { k.PausedUntil = time.Now().Add(-time.Minute) }) // the hour passed without a timer
	d.refreshRequested <- struct{}{}
	until("shown, as the icon says that all is well", false)
}

// TestPauseOutlivesAStart checks that a pause survives a restart for its full length.
func TestPauseOutlivesAStart(t *testing.T) {
	d, _ := running(t)
	now := time.Now()
	until := now.Add(3 * time.Hour).Truncate(time.Second)
	d.pause(until)
	path := filepath.Join(d.o.Dirs.State, pausedName)
	if got := storedPause(d.o.Dirs, now); !got.Equal(until) {
		t.Errorf("paused until %v, want %v", got, until)
	}
	if got := storedPause(d.o.Dirs, until); !got.IsZero() {
		t.Errorf("after its end paused until %v", got)
	}
	d.pause(now.Add(time.Hour))
	if got := d.facts.pausedUntil(clocktest.Slept(now, 2*time.Hour)); !got.IsZero() {
		t.Errorf("two hours of sleep later paused until %v", got)
	}
	d.pause(time.Time{})
	if _, err := os.Stat(path); !os.IsNotExist(err) {
		t.Errorf("a pause that was ended is kept: %v", err)
	}
	for _, wrong := range []string{"", "morgen", now.AddDate(1, 0, 0).Format(time.RFC3339), strings.Repeat("2", 1<<20)} {
		must.Do(t, os.WriteFile(path, []byte(wrong), 0o600))
		if got := storedPause(d.o.Dirs, now); !got.IsZero() {
			t.Errorf("%.20q: paused until %v", wrong, got)
		}
	}
	d.facts.change(func(k *knownState) { k.PausedUntil = until })
	if got := health.Assess(d.facts.assemble(d.engine.Snapshot()), text.Dutch, "", now); got.State != health.Paused {
		t.Errorf("%+v", got)
	}
}

// TestSessionHides checks what cards show on a locked screen, a projector and a
// quiet desktop, depending on card.quiet and a pause, that no file opens by itself
// where that is less than usual, and that no tone plays there.
func TestSessionHides(t *testing.T) {
	d, _ := running(t)
	d.set.Card.AutoOpen, d.set.Card.Sound = "answered", "on"
	opens := func() engine.AutoOpen {
		now := make(chan engine.AutoOpen)
		d.engine.Reconfigure(func(p *engine.Params) { now <- p.AutoOpen })
		return <-now
	}
	hour := time.Now().Add(time.Hour)
	for _, c := range []struct {
		now     session.State
		mode    string
		pause   time.Time
		hidden  bool
		privacy card.Privacy
		opens   engine.AutoOpen
	}{
		{session.State{}, "hide", time.Time{}, false, card.PrivacyFull, engine.AutoOpenAnswered},
		{session.State{Locked: true}, "show", time.Time{}, true, card.PrivacyFull, engine.AutoOpenNever},
		{session.State{Quiet: true}, "show", time.Time{}, false, card.PrivacyFull, engine.AutoOpenAnswered},
		{session.State{Quiet: true}, "number", time.Time{}, false, card.PrivacyNumber, engine.AutoOpenNever},
		{session.State{Quiet: true}, "hide", time.Time{}, true, card.PrivacyFull, engine.AutoOpenNever},
		{session.State{Presenting: true}, "show", time.Time{}, false, card.PrivacyNumber, engine.AutoOpenNever},
		{session.State{Presenting: true}, "hide", time.Time{}, true, card.PrivacyFull, engine.AutoOpenNever},
		{session.State{}, "show", hour, true, card.PrivacyFull, engine.AutoOpenNever},
		{session.State{}, "show", time.Time{}, false, card.PrivacyFull, engine.AutoOpenAnswered},
	} {
		d.set.Card.Quiet = c.mode
		d.applySession(c.now)
		d.pause(c.pause)
		if got := d.cardConfig(); got.Hidden != c.hidden || got.Privacy != c.privacy {
			t.Errorf("%+v, %s, paused %v: hidden %v, %s", c.now, c.mode, c.pause, got.Hidden, got.Privacy)
		}
		if got := opens(); got != c.opens {
			t.Errorf("%+v, %s, paused %v: a file opens %s", c.now, c.mode, c.pause, got)
		}
		allowed := c.now == session.State{} && c.pause.IsZero()
		found := &engine.Snapshot{Cards: []engine.Card{{ID: 1, Outcome: engine.OutcomeFound}}}
		if got, sounded := d.tone(soundedCalls{}, found); (got == sound.Known) != allowed || !sounded[found.Cards[0].Call()] {
			t.Errorf("%+v, paused %v: the tone is %q", c.now, c.pause, got)
		}
	}
	for held, want := range map[bool]engine.AutoOpen{true: engine.AutoOpenNever, false: engine.AutoOpenAnswered} {
		d.setCardsWaiting(held)
		if got := opens(); got != want {
			t.Errorf("cards wait %v: a file opens %s", held, got)
		}
	}
}

// TestOnceADay checks that only the first of several questions on a day is told that it is
// the first.
func TestOnceADay(t *testing.T) {
	path := filepath.Join(t.TempDir(), openedName)
	for i, c := range []struct {
		day  string
		want bool
	}{{"2026-10-01", false}, {"2026-10-01", true}, {"2026-10-02", false}} {
		if got, err := onceADay(path, c.day); got != c.want || err != nil {
			t.Errorf("%d: %s: %v, %v", i, c.day, got, err)
		}
	}
}
