package card

import (
	"time"

	"wiebelt/internal/core/engine"
	"wiebelt/internal/ui/offscreen"
)

// nextTick returns the time until something on screen must change by itself;
// 0 if nothing will.
func (cs *Cards) nextTick() time.Duration {
	now := cs.now()
	var next time.Duration
	soon := func(d time.Duration) {
		if d = max(d, time.Millisecond); next == 0 || d < next {
			next = d
		}
	}
	if !cs.leftAt.IsZero() && cs.anyVisible() {
		soon(cs.freezeRemaining())
	}
	at := func(at time.Time) {
		if !at.IsZero() {
			soon(at.Sub(now))
		}
	}
	at(cs.checkAt)
	at(cs.forgetAt)
	for i := range cs.hotkeys {
		at(cs.hotkeys[i].retry)
	}
	for _, s := range cs.slots {
		if !s.visible {
			continue
		}
		if c := s.view.clock; c != nil {
			soon(time.Second - now.Sub(c.since)%time.Second)
		}
		if b := s.view.bar; b != nil && now.Sub(b.since) < barFull {
			soon(barTick)
		}
		at(s.until)
	}
	return next
}

func (cs *Cards) handleTick() {
	now := cs.now()
	due := func(at time.Time) bool { return !at.IsZero() && !now.Before(at) }
	for i := range cs.hotkeys {
		if due(cs.hotkeys[i].retry) {
			cs.registerHotkey(i)
		}
	}
	if due(cs.forgetAt) {
		cs.forget()
	}
	if due(cs.checkAt) {
		cs.show()
	}
	if !cs.leftAt.IsZero() && cs.freezeRemaining() == 0 {
		cs.leftAt = time.Time{}
		cs.place()
	}
	for _, s := range cs.slots {
		if !s.visible {
			continue
		}
		if due(s.until) {
			s.copyState = copyState{}
			cs.refresh(s)
			continue
		}
		cs.paint(s)
		cs.present(s, s.rect)
	}
}

// idleAfter is how long no card must have been up before the contents of the last ones are
// dropped. Fyne keeps its text measurements for a minute.
const idleAfter = 75 * time.Second

// forget drops the contents of the last cards and their measured words,
// unless one is up again.
func (cs *Cards) forget() {
	if cs.forgetAt = (time.Time{}); cs.anyVisible() {
		return
	}
	for _, s := range cs.slots {
		s.surface.Forget()
	}
	cs.buffer = nil
	offscreen.ForgetTexts()
	if cs.c.WentIdle != nil {
		cs.c.WentIdle()
	}
}

// fullScreenPoll is how often cards check whether a
// program fills the monitor: no desktop reports that.
const fullScreenPoll = 500 * time.Millisecond

type fullScreen struct {
	heldBack bool      // cards are held back
	checkAt  time.Time // when to check again; zero: never
}

// holdsBack reports whether the cards must wait because a program fills the monitor they
// are on or would appear on. Cards in use stay.
func (cs *Cards) holdsBack(snap *engine.Snapshot) bool {
	cs.checkAt = time.Time{}
	wait := false
	if cs.c.UnderFullScreen && len(snap.Cards) > 0 {
		cs.checkAt = cs.now().Add(fullScreenPoll)
		wait = !cs.anyInUse() && cs.display.FullScreen(cs.monitor.Area)
	}
	if wait != cs.heldBack {
		cs.heldBack = wait
		if cs.c.HeldBack != nil {
			cs.c.HeldBack(wait)
		}
	}
	return wait
}
