package card

import (
	"slices"
	"time"
	"unicode/utf8"

	"wiebelt/internal/core/engine"
	"wiebelt/internal/core/phone"
	"wiebelt/internal/native/window"
)

// keyboardState is a card's keyboard state. No card has the focus unless the user asked for it.
type keyboardState struct {
	active   bool
	since    time.Time
	focus    Effect       // what Enter activates; the zero Effect means nothing
	focusSet time.Time    // when focus was set other than by a key
	caller   phone.Number // who was on the card when it got the focus
}

const maxFilter = 60 // letters

// moveKeyboard gives the keyboard focus to the hotkey's target, or returns it. Without a
// target it brings back the closed card of an active call, if there is one.
func (cs *Cards) moveKeyboard(pick *slot, closed engine.CardID, now time.Time) {
	for _, s := range cs.order {
		if s.keyboard.active && (pick == nil || s == pick || s.state.Rank() == pick.state.Rank()) {
			cs.returnKeyboard(s)
			return
		}
	}
	switch {
	case pick != nil:
		cs.takeKeyboard(pick, now)
	case closed != 0:
		cs.toFocus = closed
		cs.engine.Do(engine.Action{Card: closed, Kind: engine.ActionShow})
	}
}

func (cs *Cards) focusRestored() {
	if s := cs.slotOf(cs.toFocus); cs.toFocus != 0 && s != nil && s.visible {
		cs.toFocus = 0
		cs.takeKeyboard(s, cs.now())
	}
}

func (cs *Cards) takeKeyboard(s *slot, now time.Time) {
	if s.keyboard.active {
		return
	}
	for _, other := range cs.order {
		if other.keyboard.active { // so that the focus later returns to where it was before both
			cs.returnKeyboard(other)
		}
	}
	if err := s.win.TakeKeyboard(); err != nil {
		cs.c.Log.Warn("the card does not get the keyboard", "why", err)
		return
	}
	s.keyboard = keyboardState{active: true, since: now, focusSet: now, caller: s.state.Number}
	cs.sendAction(s, engine.ActionKeyboard)
	cs.refocus(s)
	cs.refresh(s)
}

func (cs *Cards) returnKeyboard(s *slot) {
	if err := s.win.GiveKeyboardBack(); err != nil {
		cs.c.Log.Warn("the keyboard was not given back", "why", err)
	}
	cs.keyboardGone(s)
}

func (cs *Cards) keyboardGone(s *slot) {
	if s.keyboard.active {
		s.keyboard, cs.leftAt = keyboardState{}, cs.now()
		cs.sendAction(s, engine.ActionKeyboardGone)
		cs.refresh(s)
	}
}

// listsMatches reports whether the call's card, if it is not folded, has a row for each match.
func (s *slot) listsMatches() bool {
	return s.state.Outcome == engine.OutcomeSeveral && (!s.state.GeneralNumber || s.rowsState.Open)
}

// filterFocused reports whether letters go into the filter.
func (s *slot) filterFocused() bool {
	return s.keyboard.active && s.listsMatches() && s.form.fold == asCard && len(s.state.Contacts) > maxNumbered
}

// refocus keeps the focus on the same thing. If that is gone, nothing has
// the focus: Enter was meant for that and nothing else. If nothing had it,
// and the card was completed for the same caller, its main button gets it.
func (cs *Cards) refocus(s *slot) {
	had := s.keyboard.focus != (Effect{})
	if !s.keyboard.active || had && s.view.areaFor(s.keyboard.focus) != nil {
		return
	}
	s.keyboard.focus, s.keyboard.focusSet = Effect{}, cs.now()
	if !had && s.state.Number == s.keyboard.caller {
		if a := s.view.find(func(a *area) bool { return a.main }); a != nil {
			s.keyboard.focus = a.effect
		}
	}
	cs.layOutAs(s, s.form) // in as much room as it has
}

// search opens the rows of a general number and takes the keyboard focus for their filter,
// like clicking into a text field.
func (cs *Cards) search(s *slot) {
	s.rowsState.Open = true
	cs.takeKeyboard(s, cs.now())
	if s.keyboard.active {
		s.keyboard.focus = Effect{}
	}
	cs.refresh(s)
}

// handleKey handles a key press while s has the keyboard focus.
func (cs *Cards) handleKey(s *slot, k window.KeyPress, now time.Time) {
	if !s.keyboard.active {
		return
	}
	if k.Key == window.KeyEscape { // always: it harms nothing
		cs.returnKeyboard(s)
		return
	}
	if !settled(s.keyboard.since, now) {
		return
	}
	switch k.Key {
	case window.KeyTab:
		cs.handleTab(s, k.Shift, now)
	case window.KeyRight:
		cs.step(s, 1)
	case window.KeyLeft:
		cs.step(s, -1)
	case window.KeyDown:
		cs.handleArrow(s, 1)
	case window.KeyUp:
		cs.handleArrow(s, -1)
	case window.KeyPageDown:
		cs.scrollRows(s, len(s.view.rows))
	case window.KeyPageUp:
		cs.scrollRows(s, -len(s.view.rows))
	case window.KeyHome:
		cs.scrollRows(s, -len(s.state.Contacts))
	case window.KeyEnd:
		cs.scrollRows(s, len(s.state.Contacts))
	case window.KeyEnter:
		if settled(s.keyboard.focusSet, now) {
			cs.activate(s, s.keyboard.focus, now)
		}
	case window.KeyBackspace, window.KeyDelete:
		if filter := s.rowsState.Filter; filter != "" {
			_, n := utf8.DecodeLastRuneInString(filter)
			cs.setFilter(s, filter[:len(filter)-n])
		}
	case window.KeyText:
		cs.handleLetter(s, k, now)
	}
}

// activate performs what a key requested, unless that has just changed.
func (cs *Cards) activate(s *slot, do Effect, now time.Time) {
	for _, c := range cs.engine.Snapshot().Cards {
		if c.ID == s.state.ID && c.Dimmed && !s.state.Dimmed {
			return // another call is active by now, and the screen is behind
		}
	}
	if a := s.view.areaFor(do); a != nil && settled(a.enabledSince, now) {
		cs.perform(s, do)
	}
}

func (cs *Cards) handleLetter(s *slot, k window.KeyPress, now time.Time) {
	switch {
	case k.Ctrl && !k.Alt:
		cs.copyByLetter(s, k.Text, now)
	case k.Ctrl != k.Alt || k.Text == "": // both are AltGr, which types letters too
	case s.filterFocused():
		if k.Text != " " || s.rowsState.Filter != "" {
			cs.setFilter(s, s.rowsState.Filter+k.Text)
		}
	case !k.Alt && len(k.Text) == 1 && k.Text[0] >= '1' && k.Text[0] <= '9':
		cs.handleDigit(s, int(k.Text[0]-'1'), now)
	}
}

// handleDigit opens the row with that number if it is visible, otherwise scrolls to it.
func (cs *Cards) handleDigit(s *slot, i int, now time.Time) {
	if !s.listsMatches() || i >= len(s.state.Contacts) {
		return
	}
	if a := s.openArea(i); a != nil {
		cs.activate(s, a.effect, now)
	} else if i < s.rowsState.First || i >= s.rowsState.First+len(s.view.rows) {
		cs.scrollRows(s, i-s.rowsState.First)
	}
}

func (s *slot) openArea(i int) *area {
	return s.view.find(func(a *area) bool { return a.effect.requests(engine.ActionOpen) && a.effect.Action.Index == i })
}

// copyByLetter copies the number, the relation number, or the line to pass on.
func (cs *Cards) copyByLetter(s *slot, letter string, now time.Time) {
	c := s.state
	who := -1
	switch {
	case s.keyboard.focus.requests(engine.ActionOpen):
		who = s.keyboard.focus.Action.Index
	case c.Outcome == engine.OutcomeFound:
		who = 0
	case c.Outcome == engine.OutcomeSeveral:
		who = c.OpenedIndex
	}
	do := Effect{Caller: c.Number}
	switch letter {
	case "c":
		do.Copy = c.Number.ClipboardText()
	case "r":
		if who >= 0 {
			do.Copy, do.Contact = c.Contacts[who].RelationNumber, c.Contacts[who]
		}
	case "d":
		if c.Number.ClipboardText() != "" {
			do.Copy = summary(c, who, cs.c.Language)
		}
	}
	if do.Copy == "" || !settled(s.callerSince(), now) || who >= 0 && letter != "c" && !settled(s.contactSince(who), now) {
		return
	}
	cs.copy(s, do)
}

// callerSince returns since when this caller has been on the card.
func (s *slot) callerSince() time.Time {
	var t time.Time
	for _, a := range s.view.areas {
		if a.effect.Caller == s.state.Number && (t.IsZero() || a.enabledSince.Before(t)) {
			t = a.enabledSince
		}
	}
	return t
}

// contactSince returns since when contact i can be acted on.
func (s *slot) contactSince(i int) time.Time {
	t := s.callerSince()
	for _, a := range s.view.areas {
		if a.effect.Contact == s.state.Contacts[i] && a.enabledSince.After(t) {
			t = a.enabledSince
		}
	}
	return t
}

func (cs *Cards) setFilter(s *slot, to string) {
	if utf8.RuneCountInString(to) > maxFilter || !utf8.ValidString(to) {
		return
	}
	s.rowsState.Filter, s.rowsState.First = to, 0
	s.keyboard.focus = Effect{}
	cs.refresh(s)
	if rest := matching(s.state, to); len(rest) == 1 { // the only one left gets the focus
		if a := s.openArea(rest[0]); a != nil {
			s.keyboard.focus, s.keyboard.focusSet = a.effect, cs.now()
			cs.refresh(s)
		}
	}
}

// tabStops returns what the focus can be on, in the order of the card.
func (s *slot) tabStops() (all []Effect) {
	for _, a := range s.view.areas {
		if !a.effect.isNone() && !slices.Contains(all, a.effect) {
			all = append(all, a.effect)
		}
	}
	return all
}

func (cs *Cards) step(s *slot, by int) {
	stops := s.tabStops()
	if len(stops) == 0 {
		return
	}
	i := slices.Index(stops, s.keyboard.focus)
	if i < 0 && by < 0 {
		i = 0
	}
	cs.focus(s, stops[(i+by+len(stops))%len(stops)])
}

func (cs *Cards) focus(s *slot, do Effect) {
	s.keyboard.focus = do
	cs.refresh(s)
}

// handleArrow moves along the rows of several matches, else along the card.
func (cs *Cards) handleArrow(s *slot, by int) {
	c := s.state
	if !s.listsMatches() || s.form.fold != asCard {
		cs.step(s, by)
		return
	}
	list := matching(c, s.rowsState.Filter)
	if len(list) == 0 {
		return
	}
	at := -1
	if f := s.keyboard.focus; f.requests(engine.ActionOpen) {
		at = slices.Index(list, f.Action.Index)
	}
	switch {
	case at >= 0:
		at = min(max(at+by, 0), len(list)-1)
	case by > 0:
		at = firstRow(s.rowsState.First, len(list), len(s.view.rows))
	default:
		return
	}
	for !c.LinkOK[list[at]] { // a row whose file cannot be opened is skipped
		if at += by; at < 0 || at == len(list) {
			cs.scrollRows(s, by) // so that it can be read
			return
		}
	}
	first, last := s.rowsState.First, s.rowsState.First+len(s.view.rows)-1
	cs.scrollRows(s, min(0, at-first)+max(0, at-last)) // just far enough to show it
	if a := s.openArea(list[at]); a != nil {
		cs.focus(s, a.effect)
	}
}

func (cs *Cards) handleTab(s *slot, back bool, now time.Time) {
	stops, by := s.tabStops(), 1
	if back {
		by = -1
	}
	i := slices.Index(stops, s.keyboard.focus)
	inside := i+by >= 0 && i+by < len(stops) && (i >= 0 || !back)
	if inside || len(cs.order) < 2 {
		cs.step(s, by)
		return
	}
	at := slices.Index(cs.order, s)
	next := cs.order[(at+by+len(cs.order))%len(cs.order)]
	cs.takeKeyboard(next, now)
	if next.keyboard.active {
		// The user is already using the keyboard.
		next.keyboard.focus = Effect{}
		cs.step(next, by)
	}
}
