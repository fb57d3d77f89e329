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
	pointerMoved inputKind = iota
	pointerLeft
	pointerPressed
	pointerReleased
	pointerScrolled
	displayChanged
	keyPressed
	keyboardGone
	hotkeyDown
	hotkeyResult
	readerChose
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

// send never blocks. If the pointer moves or the wheel turns faster than cards are painted,
// some of that is dropped but no other events: half of the buffer is reserved for those.
func (cs *Cards) send(in input) {
	if (in.kind == pointerMoved || in.kind == pointerScrolled) && len(cs.input) > cap(cs.input)/2 {
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

func (h *handler) PointerMoved(p image.Point) { h.send(input{kind: pointerMoved, at: p}) }
func (h *handler) PointerLeft()               { h.send(input{kind: pointerLeft}) }
func (h *handler) PointerPressed(p image.Point, b window.Button) {
	h.send(input{kind: pointerPressed, at: p, left: b == window.Left})
}
func (h *handler) PointerReleased(p image.Point, b window.Button) {
	h.send(input{kind: pointerReleased, at: p, left: b == window.Left})
}
func (h *handler) Scrolled(p image.Point, steps int) {
	h.send(input{kind: pointerScrolled, at: p, steps: steps})
}

// DisplayChanged is called for every window; once is enough.
func (h *handler) DisplayChanged() {
	if h.slot == 0 {
		h.send(input{kind: displayChanged})
	}
}
func (h *handler) KeyPressed(k window.KeyPress) { h.send(input{kind: keyPressed, key: k}) }
func (h *handler) KeyboardGone()                { h.send(input{kind: keyboardGone}) }

// pointing is the pointer state of one card.
type pointing struct {
	over      bool // it is over the window
	hover     Do
	pressed   Do
	dragStart *image.Point // where a press on empty space started, on the desktop
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
	began  time.Time // start of the current movement
	last   time.Time // when it last moved
	onCard bool      // over some card
}

const (
	assumedAge = 500 * time.Millisecond  // assumed age of a movement when it is first seen
	maxAim     = 1500 * time.Millisecond // a pointer that never rests has aimed by then
)

// moves records that the pointer was seen on a card.
func (h *pointerPath) moves(now time.Time) {
	switch {
	case now.Sub(h.last) > guard && h.onCard:
		h.began = now // it had rested on a card
	case !h.onCard && (now.Sub(h.last) > guard || h.began.After(now.Add(-assumedAge))):
		h.began = now.Add(-assumedAge)
	}
	h.last, h.onCard = now, true
}

// aimed returns when a click made now was aimed.
func (h *pointerPath) aimed(now time.Time) time.Time {
	if now.Sub(h.last) > guard {
		return now
	}
	if early := now.Add(-maxAim); h.began.Before(early) {
		return early
	}
	return h.began
}

// take processes a user action.
func (cs *Cards) take(in input) {
	switch in.kind {
	case displayChanged:
		if cs.anyVisible() {
			cs.monitor = cs.sameMonitor()
			cs.repaint()
		}
		return
	case hotkeyDown:
		hotkeys[in.hotkey].press(cs, in.when)
		return
	case hotkeyResult:
		cs.hotkeyReported(in.hotkey, in.keys, in.err)
		return
	case readerChose:
		cs.readerPressed(in)
		return
	}
	if in.slot >= slots {
		return // the drag frame takes no input
	}
	s := cs.slots[in.slot]
	if in.kind == keyboardGone {
		cs.keyboardGone(s)
		return
	}
	if in.kind == pointerLeft {
		cs.pointer.onCard, cs.pointer.last = false, in.when
	}
	if !s.visible {
		return
	}
	switch in.kind {
	case pointerMoved:
		cs.pointer.moves(in.when)
		cs.enter(s, in.at)
		if s.dragStart != nil {
			cs.drag(s, s.rect.Min.Add(in.at))
		}
	case pointerLeft:
		cs.exit(s)
	case pointerPressed:
		cs.press(s, in)
	case pointerReleased:
		cs.release(s, in)
	case pointerScrolled:
		if s.state.Outcome == engine.Several && s.form.fold == asCard {
			cs.scrollRows(s, -in.steps)
		}
	case keyPressed:
		cs.key(s, in.key, in.when)
	}
}

// press records the target of a press: what was there when the pointer started to move.
func (cs *Cards) press(s *slot, in input) {
	aimed := cs.pointer.aimed(in.when)
	cs.pointer.onCard = true
	cs.enter(s, in.at)
	s.pressed, s.dragStart = Do{}, nil
	if !in.left {
		return
	}
	x, y := cs.units(in.at)
	a := s.view.areaAt(x, y)
	switch {
	case a == nil, a.do.FullText != "":
		p := s.rect.Min.Add(in.at)
		s.dragStart = &p
	case settled(a.there, in.when) && !a.there.After(aimed):
		s.pressed = a.do
	}
}

// release handles a release over what was pressed.
func (cs *Cards) release(s *slot, in input) {
	do, drag := s.pressed, s.dragStart
	s.pressed, s.dragStart = Do{}, nil
	if !in.left {
		return
	}
	if drag != nil {
		p := s.rect.Min.Add(in.at)
		if cs.hideFrame(); cs.isDrag(*drag, p) {
			cs.drop(p)
		}
		return
	}
	x, y := cs.units(in.at)
	if a := s.view.areaAt(x, y); a != nil && a.do == do && !do.none() && settled(a.there, in.when) {
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
	if do := s.view.doAt(x, y); do != s.hover {
		s.hover = do
		cs.refresh(s)
	}
}

func (cs *Cards) exit(s *slot) {
	if !s.over {
		return
	}
	s.over, cs.leftAt = false, cs.now()
	cs.report(s, engine.DoLeave)
	if s.hover != (Do{}) {
		s.hover = Do{}
		cs.refresh(s)
	}
}

// held reports whether pointer or keyboard focus is on the card: nothing may move then.
func (s *slot) held() bool { return s.over || s.keyboard.active }

// report tells the engine what the user does with the card; without a card ID it means the
// line that counts the others.
func (cs *Cards) report(s *slot, do engine.Do) {
	a := engine.Action{Do: do}
	if s.more == 0 {
		a.Card = s.state.ID
	}
	cs.engine.Do(a)
}

// do performs what was clicked or chosen by a key.
func (cs *Cards) do(s *slot, do Do) {
	switch {
	case do.none():
	case do.Engine:
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

func (cs *Cards) copy(s *slot, do Do) {
	err := cs.display.Copy(do.Copy)
	s.copied, s.failed, s.until = do, err != nil, time.Now().Add(copiedFor)
	if err != nil {
		s.until = time.Now().Add(failedFor)
		cs.c.Log.Warn("not copied", "why", err)
	}
	cs.refresh(s)
}

// scrollRows scrolls the rows of several matches, if it shows any.
func (cs *Cards) scrollRows(s *slot, by int) {
	all, shown := len(matching(s.state, s.list.Filter)), len(s.view.rows)
	if row := firstRow(s.list.First+by, all, shown); shown > 0 && row != s.list.First {
		s.list.First = row
		cs.refresh(s)
	}
}
