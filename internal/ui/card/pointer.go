package card

import (
	"image"
	"time"

	"wiebelt/internal/core/engine"
	"wiebelt/internal/native/screenreader"
	"wiebelt/internal/native/window"
)

type inputKind uint8

const (
	moved inputKind = iota
	gone
	pressed
	released
	scrolled
	displayChanged
	keyed
	keysGone
	hotkeyDown
	hotkeyTold
	chosenByReader
)

// input is a user action and its time.
type input struct {
	kind  inputKind
	slot  int
	when  time.Time
	at    image.Point
	steps int
	left  bool
	key   window.KeyPress
	node  screenreader.ID
	// hotkey identifies the hotkey, keys and err its reported result.
	hotkey int
	keys   string
	err    error
}

// handler forwards events of one window to the cards' goroutine.
type handler struct {
	cs   *Cards
	slot int
}

// send never blocks. If the pointer moves faster than cards are painted, moves are dropped
// but no other events: half of the buffer is reserved for those.
func (cs *Cards) send(in input) {
	if in.kind == moved && len(cs.input) > cap(cs.input)/2 {
		return
	}
	in.when = cs.now()
	select {
	case cs.input <- in:
	default:
	}
}

func (h *handler) send(in input) {
	in.slot = h.slot
	h.cs.send(in)
}

func (h *handler) PointerMoved(p image.Point) { h.send(input{kind: moved, at: p}) }
func (h *handler) PointerLeft()               { h.send(input{kind: gone}) }
func (h *handler) PointerPressed(p image.Point, b window.Button) {
	h.send(input{kind: pressed, at: p, left: b == window.Left})
}
func (h *handler) PointerReleased(p image.Point, b window.Button) {
	h.send(input{kind: released, at: p, left: b == window.Left})
}
func (h *handler) Scrolled(p image.Point, steps int) {
	h.send(input{kind: scrolled, at: p, steps: steps})
}
func (h *handler) DisplayChanged()              { h.send(input{kind: displayChanged}) }
func (h *handler) KeyPressed(k window.KeyPress) { h.send(input{kind: keyed, key: k}) }
func (h *handler) KeyboardGone()                { h.send(input{kind: keysGone}) }

// pointing is the pointer state of one card.
type pointing struct {
	over    bool // it is over the window
	hover   Do
	pressed Do
	drag    *image.Point // where a press on empty space started, on the desktop
}

// copying is what was just copied from a card.
type copying struct {
	copied Do
	failed bool      // it did not reach the clipboard
	until  time.Time // it is shown until
}

// pointerPath is the pointer's recent movement. A click is aimed when the movement towards
// it starts, not when it ends.
type pointerPath struct {
	began time.Time // start of the current movement
	last  time.Time // when it last moved
	on    bool      // over some card
}

const (
	assumedAge = 500 * time.Millisecond  // assumed age of a movement when it is first seen
	longest    = 1500 * time.Millisecond // a pointer that never rests has aimed by then
)

// moves records that the pointer was seen on a card.
func (h *pointerPath) moves(now time.Time) {
	switch {
	case now.Sub(h.last) > guard && h.on:
		h.began = now // it had rested on a card
	case !h.on && (now.Sub(h.last) > guard || h.began.After(now.Add(-assumedAge))):
		h.began = now.Add(-assumedAge)
	}
	h.last, h.on = now, true
}

// aimed returns when a click made now was aimed.
func (h *pointerPath) aimed(now time.Time) time.Time {
	if now.Sub(h.last) > guard {
		return now
	}
	if early := now.Add(-longest); h.began.Before(early) {
		return early
	}
	return h.began
}

// take processes a user action.
func (cs *Cards) take(in input) {
	switch in.kind {
	case displayChanged:
		if cs.anyUp() {
			cs.monitor = cs.sameMonitor()
			cs.repaint()
		}
		return
	case hotkeyDown:
		hotkeys[in.hotkey].press(cs, in.when)
		return
	case hotkeyTold:
		cs.hotkeyTold(in.hotkey, in.keys, in.err)
		return
	case chosenByReader:
		cs.readerPressed(in)
		return
	}
	if in.slot >= slots {
		return // the drag frame takes no input
	}
	s := cs.slots[in.slot]
	if in.kind == keysGone {
		cs.keyboardGone(s)
		return
	}
	if in.kind == gone {
		cs.pointer.on, cs.pointer.last = false, in.when
	}
	if !s.up || s.face == nil {
		return
	}
	switch in.kind {
	case moved:
		cs.pointer.moves(in.when)
		cs.enter(s, in.at)
		if s.drag != nil {
			cs.drag(s, s.rect.Min.Add(in.at))
		}
	case gone:
		cs.exit(s)
	case pressed:
		cs.press(s, in)
	case released:
		cs.release(s, in)
	case scrolled:
		if s.card.Outcome == engine.Several && s.form.fold == asCard {
			cs.turn(s, -in.steps)
		}
	case keyed:
		cs.key(s, in.key, in.when)
	}
}

// press records the target of a press: what was there when the pointer started to move.
func (cs *Cards) press(s *slot, in input) {
	aimed := cs.pointer.aimed(in.when)
	cs.pointer.on = true
	cs.enter(s, in.at)
	s.pressed, s.drag = Do{}, nil
	if !in.left {
		return
	}
	x, y := cs.units(in.at)
	a := s.face.find(x, y)
	switch {
	case a == nil, a.do.Whole != "":
		p := s.rect.Min.Add(in.at)
		s.drag = &p
	case settled(a.there, in.when) && !a.there.After(aimed):
		s.pressed = a.do
	}
}

// release handles a release over what was pressed.
func (cs *Cards) release(s *slot, in input) {
	do, drag := s.pressed, s.drag
	s.pressed, s.drag = Do{}, nil
	if !in.left {
		return
	}
	if drag != nil {
		p := s.rect.Min.Add(in.at)
		if cs.frameAway(); cs.far(*drag, p) {
			cs.drop(p)
		}
		return
	}
	x, y := cs.units(in.at)
	if a := s.face.find(x, y); a != nil && a.do == do && !do.none() && settled(a.there, in.when) {
		cs.do(s, do)
	}
}

// settled reports whether something that has been there since then has been there
// long enough to be meant.
func settled(since, now time.Time) bool { return now.Sub(since) >= guard }

func (cs *Cards) enter(s *slot, at image.Point) {
	if !s.over {
		s.over = true
		cs.report(s, engine.DoHover)
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
	s.over, cs.left = false, cs.now()
	cs.report(s, engine.DoLeave)
	if s.hover != (Do{}) {
		s.hover = Do{}
		cs.refresh(s)
	}
}

// held reports whether pointer or keyboard focus is on the card: nothing may move then.
func (s *slot) held() bool { return s.over || s.keys.here }

// report tells the engine what the user does with the card; without a card ID it means the
// line that counts the others.
func (cs *Cards) report(s *slot, do engine.Do) {
	a := engine.Action{Do: do}
	if s.more == 0 {
		a.Card = s.card.ID
	}
	cs.engine.Do(a)
}

// do performs what was clicked or chosen by a key.
func (cs *Cards) do(s *slot, do Do) {
	switch {
	case do.none():
	case do.Engine:
		a := do.Action
		a.Edition = s.card.Edition // what the user sees: the engine may be ahead of the screen
		cs.engine.Do(a)
	case do.Scroll != 0:
		cs.turn(s, do.Scroll)
	case do.Search:
		cs.search(s)
	case do.Copy != "":
		cs.copy(s, do)
	}
}

func (cs *Cards) copy(s *slot, do Do) {
	err := cs.display.Copy(do.Copy)
	s.copied, s.failed, s.until = do, err != nil, time.Now().Add(copiedFor)
	if err != nil {
		s.until = time.Now().Add(failedFor)
		cs.c.Log.Warn("not copied", "why", err)
	}
	cs.refresh(s)
}

// turn scrolls the rows of several matches.
func (cs *Cards) turn(s *slot, by int) {
	all := len(matching(s.card, s.list.Filter))
	shown := (&painter{l: cs.look(s)}).rows(s.card)
	if row := firstRow(s.list.First+by, all, shown); row != s.list.First {
		s.list.First = row
		cs.refresh(s)
	}
}
