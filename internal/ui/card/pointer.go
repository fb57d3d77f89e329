package card

import (
	"image"
	"time"

	"wiebelt/internal/core/engine"
	"wiebelt/internal/native/window"
)

// input is an event, to be handled by the cards' goroutine, and its time.
type input struct {
	when   time.Time
	handle func(when time.Time)
}

// send has an event handled, and never blocks.
func (cs *Cards) send(handle func(when time.Time)) {
	select {
	case cs.input <- input{cs.now(), handle}:
	default:
	}
}

// handler forwards events of one window to the cards' goroutine.
type handler struct {
	cs *Cards
	s  *slot // nil for the drag frame, which takes no input
}

func (h *handler) send(handle func(s *slot, when time.Time)) {
	if h.s != nil {
		h.cs.send(func(when time.Time) { handle(h.s, when) })
	}
}

// onCard is send for what users do with a card, which must still be there.
func (h *handler) onCard(do func(s *slot, when time.Time)) {
	h.send(func(s *slot, when time.Time) {
		if s.visible {
			do(s, when)
		}
	})
}

// often is like onCard. If the pointer moves or the wheel turns faster than cards are painted,
// some of that is dropped but no other events: half of the buffer is reserved for those.
func (h *handler) often(do func(s *slot, when time.Time)) {
	if len(h.cs.input) <= cap(h.cs.input)/2 {
		h.onCard(do)
	}
}

func (h *handler) PointerMoved(p image.Point) {
	h.often(func(s *slot, when time.Time) {
		h.cs.pointer.recordMove(when)
		h.cs.enter(s, p)
		if s.dragStart != nil {
			h.cs.drag(s, s.rect.Min.Add(p))
		}
	})
}

func (h *handler) PointerLeft() {
	h.send(func(s *slot, when time.Time) {
		h.cs.pointer.onCard, h.cs.pointer.last = false, when
		h.cs.exit(s)
	})
}

func (h *handler) PointerPressed(p image.Point, b window.Button) {
	h.onCard(func(s *slot, when time.Time) { h.cs.press(s, p, b, when) })
}

func (h *handler) PointerReleased(p image.Point, b window.Button) {
	h.onCard(func(s *slot, when time.Time) { h.cs.release(s, p, b, when) })
}

func (h *handler) Scrolled(_ image.Point, steps int) {
	h.often(func(s *slot, _ time.Time) { h.cs.scrollRows(s, -steps) })
}

// DisplayChanged is called for every window; once is enough.
func (h *handler) DisplayChanged() {
	if h.s == h.cs.slots[0] {
		h.cs.send(h.cs.displayChanged)
	}
}

func (h *handler) KeyPressed(k window.KeyPress) {
	h.onCard(func(s *slot, when time.Time) { h.cs.handleKey(s, k, when) })
}

func (h *handler) KeyboardGone() { h.send(func(s *slot, _ time.Time) { h.cs.keyboardGone(s) }) }

type pointerState struct {
	over      bool // it is over the window
	hover     Effect
	pressed   Effect
	dragStart *image.Point // where a press on empty space started, on the desktop
}

// copyState is what was just copied from a card.
type copyState struct {
	copied Effect
	failed bool      // it did not reach the clipboard
	until  time.Time // it is shown until; zero: nothing
}

// pointerPath is the pointer's recent movement. A click is aimed when the movement towards
// it starts, not when it ends.
type pointerPath struct {
	began  time.Time // start of the current movement
	last   time.Time // when it last moved
	onCard bool      // over some card
}

const (
	assumedAge = 500 * time.Millisecond  // assumed age of a movement when it is first seen
	maxAim     = 1500 * time.Millisecond // a pointer that never rests has aimed by then
)

func (h *pointerPath) recordMove(now time.Time) {
	switch {
	case now.Sub(h.last) > clickGuard && h.onCard:
		h.began = now // it had rested on a card
	case !h.onCard && (now.Sub(h.last) > clickGuard || h.began.After(now.Add(-assumedAge))):
		h.began = now.Add(-assumedAge)
	}
	h.last, h.onCard = now, true
}

// aimTime returns when a click made now was aimed.
func (h *pointerPath) aimTime(now time.Time) time.Time {
	if now.Sub(h.last) > clickGuard {
		return now
	}
	if early := now.Add(-maxAim); h.began.Before(early) {
		return early
	}
	return h.began
}

// press records the target of a press: what was there when the pointer started to move.
func (cs *Cards) press(s *slot, at image.Point, b window.Button, when time.Time) {
	aimed := cs.pointer.aimTime(when)
	cs.pointer.onCard = true
	cs.enter(s, at)
	s.pressed, s.dragStart = Effect{}, nil
	if b != window.Left {
		return
	}
	a := cs.areaAt(s, at)
	switch {
	case a.effect == Effect{}, a.effect.FullText != "":
		p := s.rect.Min.Add(at)
		s.dragStart = &p
	case settled(a.placedSince, when) && !a.placedSince.After(aimed):
		s.pressed = a.effect
	}
}

func (cs *Cards) release(s *slot, at image.Point, b window.Button, when time.Time) {
	do, drag := s.pressed, s.dragStart
	s.pressed, s.dragStart = Effect{}, nil
	if b != window.Left {
		return
	}
	if drag != nil {
		p := s.rect.Min.Add(at)
		if cs.hideFrame(); cs.isDrag(*drag, p) {
			cs.drop(p)
		}
		return
	}
	if a := cs.areaAt(s, at); a.effect == do && settled(a.placedSince, when) {
		cs.perform(s, do)
	}
}

// settled reports whether something that has been there since then has been there
// long enough to be meant.
func settled(since, now time.Time) bool { return now.Sub(since) >= clickGuard }

func (cs *Cards) enter(s *slot, at image.Point) {
	if !s.over {
		s.over = true
		cs.sendAction(s, engine.ActionHover)
	}
	if do := cs.areaAt(s, at).effect; do != s.hover {
		s.hover = do
		cs.refresh(s)
	}
}

func (cs *Cards) exit(s *slot) {
	if !s.over {
		return
	}
	s.over, cs.leftAt = false, cs.now()
	cs.sendAction(s, engine.ActionLeave)
	if s.hover != (Effect{}) {
		s.hover = Effect{}
		cs.refresh(s)
	}
}

// inUse reports whether pointer or keyboard focus is on the card: nothing may move then.
func (s *slot) inUse() bool { return s.over || s.keyboard.active }

// sendAction tells the engine what the user does with the card; without a card ID it means the
// line that counts the others.
func (cs *Cards) sendAction(s *slot, do engine.ActionKind) {
	cs.engine.Do(engine.Action{Card: s.state.ID, Kind: do})
}

// perform performs what was clicked or chosen by a key.
func (cs *Cards) perform(s *slot, do Effect) {
	switch {
	case do.isNone():
	case do.Action.Card != 0:
		a := do.Action
		a.Edition = s.state.Edition // what the user sees: the engine may be ahead of the screen
		cs.engine.Do(a)
	case do.Scroll != 0:
		cs.scrollRows(s, do.Scroll)
	case do.Search:
		cs.search(s)
	case do.Copy != "":
		cs.copy(s, do)
	}
}

func (cs *Cards) copy(s *slot, do Effect) {
	err := cs.display.Copy(do.Copy)
	s.copied, s.failed, s.until = do, err != nil, cs.now().Add(copiedFor)
	if err != nil {
		s.until = cs.now().Add(failedFor)
		cs.c.Log.Warn("not copied", "why", err)
	}
	cs.refresh(s)
}

// scrollRows scrolls the rows of several matches, if it shows any.
func (cs *Cards) scrollRows(s *slot, by int) {
	all, shown := len(matching(s.state, s.rowsState.Filter)), len(s.view.rows)
	if row := firstRow(s.rowsState.First+by, all, shown); shown > 0 && row != s.rowsState.First {
		s.rowsState.First = row
		cs.refresh(s)
	}
}
