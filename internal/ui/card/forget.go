package card

import (
	"time"

	"wiebelt/internal/ui/offscreen"
)

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
	offscreen.Forget()
	if cs.c.Rested != nil {
		cs.c.Rested()
	}
}
