package card

import (
	"image"
	"time"

	"wiebelt/internal/companion"
	"wiebelt/internal/native/window"
)

type pointerKind uint8

const (
	moved pointerKind = iota
	gone
	pressed
	released
	scrolled
	displayChanged
)

type pointerEvent struct {
	kind  pointerKind
	slot  int
	at    image.Point
	steps int
	left  bool
}

// handler passes what happens over one window on to the cards' goroutine. It
// never blocks: moves are dropped when the cards are behind, clicks hardly can
// be that many.
type handler struct {
	to   chan<- pointerEvent
	slot int
}

func (h *handler) send(e pointerEvent) {
	e.slot = h.slot
	select {
	case h.to <- e:
	default:
	}
}

func (h *handler) PointerMoved(p image.Point) { h.send(pointerEvent{kind: moved, at: p}) }
func (h *handler) PointerLeft()               { h.send(pointerEvent{kind: gone}) }
func (h *handler) PointerPressed(p image.Point, b window.Button) {
	h.send(pointerEvent{kind: pressed, at: p, left: b == window.Left})
}
func (h *handler) PointerReleased(p image.Point, b window.Button) {
	h.send(pointerEvent{kind: released, at: p, left: b == window.Left})
}
func (h *handler) Scrolled(p image.Point, steps int) {
	h.send(pointerEvent{kind: scrolled, at: p, steps: steps})
}
func (h *handler) DisplayChanged() { h.send(pointerEvent{kind: displayChanged}) }

// KeyPressed and KeyboardGone mean nothing as long as no card asks for keys.
func (h *handler) KeyPressed(window.KeyPress) {}
func (h *handler) KeyboardGone()              {}

// point acts on what the pointer did.
func (cs *Cards) point(e pointerEvent) {
	if e.kind == displayChanged {
		if cs.anyUp() {
			cs.monitor = cs.sameMonitor()
			cs.repaint()
		}
		return
	}
	s := cs.slots[e.slot]
	if !s.up || s.face == nil {
		return
	}
	switch e.kind {
	case moved:
		cs.enter(s, e.at)
	case gone:
		cs.exit(s)
	case pressed:
		cs.enter(s, e.at)
		s.pressed = Do{}
		if e.left && !cs.justChanged(s, e.at, cs.now()) {
			x, y := cs.units(e.at)
			s.pressed = s.face.at(x, y)
		}
	case released:
		x, y := cs.units(e.at)
		do := s.face.at(x, y)
		if e.left && do == s.pressed && !do.none() && !cs.justChanged(s, e.at, cs.now()) {
			cs.do(s, do)
		}
		s.pressed = Do{}
	case scrolled:
		if s.card.Outcome == companion.Several && !s.card.Strip {
			cs.turn(s, -e.steps)
		}
	}
}

func (cs *Cards) enter(s *slot, at image.Point) {
	s.at = at
	if !s.over {
		s.over = true
		cs.tell(s, companion.DoHover)
	}
	x, y := cs.units(at)
	if do := s.face.at(x, y); do != s.hover {
		s.hover = do
		cs.refresh(s)
	}
}

func (cs *Cards) exit(s *slot) {
	if !s.over {
		return
	}
	s.over = false
	cs.tell(s, companion.DoLeave)
	if s.hover != (Do{}) {
		s.hover = Do{}
		cs.refresh(s)
	}
	cs.place()
}

func (cs *Cards) tell(s *slot, do companion.Do) {
	if s.more == 0 {
		cs.engine.Do(companion.Action{Card: s.card.ID, Do: do})
	}
}

// justChanged reports whether what lies under the pointer is not what lay there
// a moment ago: such a click was meant for something else.
func (cs *Cards) justChanged(s *slot, at image.Point, now time.Time) bool {
	if now.Sub(s.changed) >= guard {
		return false
	}
	x, y := cs.units(at)
	// The picture grows and shrinks away from the corner, so the same spot of the
	// screen may be another spot of the card.
	by := y
	if s.before != nil && cs.c.Corner != TopLeft && cs.c.Corner != TopRight {
		by += s.before.size.Height - s.face.size.Height
	}
	return s.before == nil || s.before.at(x, by) != s.face.at(x, y)
}

func (cs *Cards) do(s *slot, do Do) {
	switch {
	case do.Engine:
		cs.engine.Do(do.Action)
	case do.Scroll != 0:
		cs.turn(s, do.Scroll)
	case do.Copy != "":
		if err := cs.display.Copy(do.Copy); err != nil {
			cs.c.Log.Warn("not copied", "why", err)
			return
		}
		s.copied, s.until = do, time.Now().Add(copiedFor)
		cs.refresh(s)
	}
}

// turn shows other rows of several matches.
func (cs *Cards) turn(s *slot, by int) {
	last := max(0, len(s.card.Contacts)-rowsShown)
	row := min(max(s.row+by, 0), last)
	if row != s.row {
		s.row = row
		cs.lay(s) // rows move under the pointer: the guard begins
		cs.place()
	}
}

func (cs *Cards) sameMonitor() window.Monitor {
	for _, m := range cs.display.Monitors() {
		if m.Name == cs.monitor.Name {
			if m.Scale <= 0 {
				m.Scale = 1
			}
			return m
		}
	}
	return cs.pickMonitor()
}
