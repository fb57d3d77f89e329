package card

import (
	"slices"
	"time"

	"wiebelt/internal/core/engine"
)

// lookAgain is how often cards poll whether a program fills the monitor: no
// desktop reports that.
const lookAgain = 500 * time.Millisecond

// fullScreen is the state of programs that fill the monitor.
type fullScreen struct {
	waits bool      // cards are held back
	looks time.Time // when to check again; zero: never
}

// holdsBack reports whether the cards must wait because a program fills the monitor they
// are on or would appear on. Cards in use stay.
func (cs *Cards) holdsBack(snap *engine.Snapshot) bool {
	cs.looks = time.Time{}
	wait := false
	if cs.c.UnderFullScreen && len(snap.Cards) > 0 {
		cs.looks = time.Now().Add(lookAgain)
		underHand := slices.ContainsFunc(cs.slots[:], func(s *slot) bool { return s.up && s.held() })
		wait = !underHand && cs.display.FullScreen(cs.monitor.Area)
	}
	if wait != cs.waits {
		cs.waits = wait
		if cs.c.Held != nil {
			cs.c.Held(wait)
		}
	}
	return wait
}
