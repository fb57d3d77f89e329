package card

import (
	"slices"
	"time"

	"wiebelt/internal/core/engine"
)

// fullScreenPoll is how often cards check whether a
// program fills the monitor: no desktop reports that.
const fullScreenPoll = 500 * time.Millisecond

// fullScreen is the state of programs that fill the monitor.
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
		cs.checkAt = time.Now().Add(fullScreenPoll)
		inUse := slices.ContainsFunc(cs.slots[:], func(s *slot) bool { return s.visible && s.held() })
		wait = !inUse && cs.display.FullScreen(cs.monitor.Area)
	}
	if wait != cs.heldBack {
		cs.heldBack = wait
		if cs.c.Held != nil {
			cs.c.Held(wait)
		}
	}
	return wait
}
