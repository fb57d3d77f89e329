package card

import "time"

// nextTick returns the time until something on screen must change by itself;
// 0 if nothing will.
func (cs *Cards) nextTick(now time.Time) time.Duration {
	var next time.Duration
	soon := func(d time.Duration) {
		if d = max(d, time.Millisecond); next == 0 || d < next {
			next = d
		}
	}
	if !cs.leftAt.IsZero() && cs.anyVisible() {
		soon(cs.untouched())
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

func (cs *Cards) ticked(now time.Time) {
	due := func(at time.Time) bool { return !at.IsZero() && !now.Before(at) }
	for i := range cs.hotkeys {
		if due(cs.hotkeys[i].retry) {
			cs.registerHotkey(i, now)
		}
	}
	if due(cs.forgetAt) {
		cs.forget()
	}
	if due(cs.checkAt) {
		cs.show()
	}
	if !cs.leftAt.IsZero() && cs.untouched() == 0 {
		cs.leftAt = time.Time{}
		cs.place()
	}
	for _, s := range cs.slots {
		if !s.visible {
			continue
		}
		if due(s.until) {
			s.copying = copying{}
			cs.refresh(s)
			continue
		}
		cs.paint(s, now)
		cs.present(s, s.rect)
	}
}
