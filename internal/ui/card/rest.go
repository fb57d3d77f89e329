package card

import (
	"time"

	"wiebelt/internal/ui/offscreen"
)

// lull is how long no card has been up before the cards rest. Fyne keeps for a
// minute what it measured.
const lull = 75 * time.Second

// restless notes whether there is something to forget, and since when.
func (cs *Cards) restless(now time.Time) {
	switch {
	case cs.anyUp():
		cs.awake, cs.rests = true, time.Time{}
	case cs.awake && cs.rests.IsZero():
		cs.rests = now.Add(lull)
	}
}

// rest forgets what the last cards were about, once nobody has called for a
// while: what stood on them, and how wide their words were.
func (cs *Cards) rest(now time.Time) {
	if cs.rests.IsZero() || now.Before(cs.rests) {
		return
	}
	cs.awake, cs.rests = false, time.Time{}
	for _, s := range cs.slots {
		s.surface.Forget()
		cs.title(s, "")
	}
	offscreen.Forget()
	if cs.c.Rested != nil {
		cs.c.Rested()
	}
}
