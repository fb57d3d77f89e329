package card

import (
	"time"

	"wiebelt/internal/ui/offscreen"
)

// idleAfter is how long no card has been up before what the last ones were about
// is forgotten. Fyne keeps for a minute what it measured.
const idleAfter = 75 * time.Second

// forget lets go of what stood on the last cards, and of how wide their words
// were, unless one is up again.
func (cs *Cards) forget() {
	if cs.forgetAt = (time.Time{}); cs.anyUp() {
		return
	}
	for _, s := range cs.slots {
		s.surface.Forget()
	}
	cs.part = nil
	offscreen.Forget()
	if cs.c.Rested != nil {
		cs.c.Rested()
	}
}
