package card

import (
	"slices"
	"time"
	"unicode/utf8"

	"wiebelt/internal/core/engine"
	"wiebelt/internal/core/phone"
	"wiebelt/internal/native/window"
)

// keys is a card's keyboard state. No card has the focus unless the user asked for it.
type keys struct {
	here   bool
	since  time.Time
	focus  Do           // what Enter activates; the zero Do means nothing
	set    time.Time    // when focus was set other than by a key
	caller phone.Number // who was on the card when it got the focus
}

const maxFilter = 60 // letters

// hotkeyPressed gives the keyboard focus to the card meant, or gives it back. It brings
// back the card of a call that was closed.
func (cs *Cards) hotkeyPressed(now time.Time) {
	snap := cs.show() // the engine may be ahead of the screen
	pick := cs.meant(snap)
	for _, s := range cs.order {
		if s.keys.here && (pick == nil || s == pick || s.state.Rank() == pick.state.Rank()) {
			cs.giveBack(s)
			return
		}
	}
	switch {
	case pick != nil:
		cs.takeKeyboard(pick, now)
	case snap.Closed != 0:
		cs.wanted = snap.Closed
		cs.engine.Do(engine.Action{Card: snap.Closed, Do: engine.DoShow})
	}
}

// hotkeyBrought gives the keyboard focus to the card the hotkey brought back.
func (cs *Cards) hotkeyBrought() {
	if s := cs.slotOf(cs.wanted); cs.wanted != 0 && s != nil && s.up {
		cs.wanted = 0
		cs.takeKeyboard(s, cs.now())
	}
}

func (cs *Cards) takeKeyboard(s *slot, now time.Time) {
	if s.keys.here {
		return
	}
	for _, other := range cs.order {
		if other.keys.here { // so that the focus later returns to where it was before both
			cs.giveBack(other)
		}
	}
	if err := s.win.TakeKeyboard(); err != nil {
		cs.c.Log.Warn("the card does not get the keyboard", "why", err)
		return
	}
	s.keys = keys{here: true, since: now, set: now, caller: s.card.Number}
	cs.report(s, engine.DoKeyboard)
	s.list.Typing = s.typing()
	cs.refocus(s)
	cs.refresh(s)
}

// giveBack returns the keyboard focus to its previous owner.
func (cs *Cards) giveBack(s *slot) {
	if err := s.win.GiveKeyboardBack(); err != nil {
		cs.c.Log.Warn("the keyboard was not given back", "why", err)
	}
	cs.keyboardGone(s)
}

func (cs *Cards) keyboardGone(s *slot) {
	if !s.keys.here {
		return
	}
	s.keys, cs.left = keys{}, cs.now()
	cs.report(s, engine.DoKeyboardGone)
	s.list.Typing = false
	cs.refresh(s)
}

// typing reports whether letters go into the filter.
func (s *slot) typing() bool {
	return s.keys.here && s.card.Outcome == engine.Several && s.form.fold == asCard &&
		len(s.card.Contacts) > numbered && (!s.card.Many || s.list.Open)
}

// refocus keeps the focus on the same thing. If that is gone, nothing has the focus:
// Enter was meant for that and nothing else. A card completed for the same caller
// gets it on its button.
func (cs *Cards) refocus(s *slot) {
	if !s.keys.here || s.face == nil {
		return
	}
	typing := s.typing()
	if typing != s.list.Typing {
		s.list.Typing = typing
		cs.lay(s)
	}
	if s.keys.focus != (Do{}) && s.face.of(s.keys.focus) != nil {
		return
	}
	had := s.keys.focus != (Do{})
	s.keys.focus, s.keys.set = Do{}, cs.now()
	if !had && s.card.Number == s.keys.caller {
		for i := range s.face.areas {
			if a := &s.face.areas[i]; a.main {
				s.keys.focus = a.do
			}
		}
	}
	cs.lay(s)
}

// search opens the rows of a general number and takes the keyboard focus for their filter,
// like clicking into a text field.
func (cs *Cards) search(s *slot) {
	s.list.Open = true
	cs.takeKeyboard(s, cs.now())
	if s.keys.here {
		s.keys.focus = Do{}
	}
	s.list.Typing = s.typing()
	cs.refresh(s)
}

// key handles a key press while s has the keyboard focus.
func (cs *Cards) key(s *slot, k window.KeyPress, now time.Time) {
	if !s.keys.here {
		return
	}
	if k.Key == window.KeyEscape { // always: it harms nothing
		cs.giveBack(s)
		return
	}
	if !settled(s.keys.since, now) {
		return
	}
	switch k.Key {
	case window.KeyTab:
		cs.tab(s, k.Shift, now)
	case window.KeyRight:
		cs.step(s, 1)
	case window.KeyLeft:
		cs.step(s, -1)
	case window.KeyDown:
		cs.arrow(s, 1)
	case window.KeyUp:
		cs.arrow(s, -1)
	case window.KeyPageDown:
		cs.turn(s, s.shown())
	case window.KeyPageUp:
		cs.turn(s, -s.shown())
	case window.KeyHome:
		cs.turn(s, -len(s.card.Contacts))
	case window.KeyEnd:
		cs.turn(s, len(s.card.Contacts))
	case window.KeyEnter:
		if settled(s.keys.set, now) {
			cs.chosen(s, s.keys.focus, now)
		}
	case window.KeyBackspace, window.KeyDelete:
		if s.list.Filter != "" {
			_, n := utf8.DecodeLastRuneInString(s.list.Filter)
			cs.narrow(s, s.list.Filter[:len(s.list.Filter)-n])
		}
	case window.KeyText:
		cs.letter(s, k, now)
	}
}

// chosen performs what a key requested, unless that has just changed.
func (cs *Cards) chosen(s *slot, do Do, now time.Time) {
	for _, c := range cs.engine.Snapshot().Cards {
		if c.ID == s.state.ID && c.Aside && !s.state.Aside {
			return // another call is active by now, and the screen is behind
		}
	}
	if a := s.face.of(do); a != nil && settled(a.since, now) {
		cs.do(s, do)
	}
}

func (cs *Cards) letter(s *slot, k window.KeyPress, now time.Time) {
	switch {
	case k.Ctrl && !k.Alt:
		cs.shortcut(s, k.Text, now)
	case k.Ctrl || k.Alt || k.Text == "":
		if k.Ctrl && k.Alt && k.Text != "" && s.typing() { // AltGr types letters too
			cs.narrow(s, s.list.Filter+k.Text)
		}
	case s.typing():
		if k.Text != " " || s.list.Filter != "" {
			cs.narrow(s, s.list.Filter+k.Text)
		}
	case len(k.Text) == 1 && k.Text[0] >= '1' && k.Text[0] <= '9':
		cs.digit(s, int(k.Text[0]-'1'), now)
	}
}

// digit opens the row with that number if it is visible, otherwise scrolls to it.
func (cs *Cards) digit(s *slot, i int, now time.Time) {
	if s.card.Outcome != engine.Several || s.form.fold != asCard || i >= len(s.card.Contacts) {
		return
	}
	if a := s.openOf(i); a != nil {
		cs.chosen(s, a.do, now)
		return
	}
	if i < s.list.First || i >= s.list.First+s.shown() {
		cs.turn(s, i-s.list.First)
	}
}

// openOf returns the area that opens the file of contact i.
func (s *slot) openOf(i int) *area {
	for j := range s.face.areas {
		if a := &s.face.areas[j]; a.do.opens() && a.do.Action.Index == i {
			return a
		}
	}
	return nil
}

// shown returns how many rows are visible at once.
func (s *slot) shown() int {
	n := 0
	for i := range s.face.areas {
		if a := &s.face.areas[i]; a.do.opens() {
			n++
		}
	}
	return max(n, 1)
}

// shortcut copies the number, the relation number, or the line to pass on.
func (cs *Cards) shortcut(s *slot, letter string, now time.Time) {
	c := s.card
	who := -1
	switch {
	case s.keys.focus.opens():
		who = s.keys.focus.Action.Index
	case c.Outcome == engine.Found:
		who = 0
	case c.Outcome == engine.Several:
		who = c.Opened
	}
	if who >= len(c.Contacts) {
		who = -1
	}
	do := Do{Caller: c.Number}
	switch letter {
	case "c":
		do.Copy = c.Number.Copy()
	case "r":
		if who >= 0 {
			do.Copy, do.Who = c.Contacts[who].RelationNumber, c.Contacts[who]
		}
	case "d":
		if c.Number.Copy() != "" {
			do.Copy = passOn(c, who, cs.c.Language)
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
	for _, a := range s.face.areas {
		if a.do.Caller == s.card.Number && (t.IsZero() || a.since.Before(t)) {
			t = a.since
		}
	}
	return t
}

// contactSince returns since when contact i can be acted on.
func (s *slot) contactSince(i int) time.Time {
	t := s.callerSince()
	for _, a := range s.face.areas {
		if a.do.Who == s.card.Contacts[i] && a.since.After(t) {
			t = a.since
		}
	}
	return t
}

// narrow filters the rows by what was typed.
func (cs *Cards) narrow(s *slot, to string) {
	if utf8.RuneCountInString(to) > maxFilter || !utf8.ValidString(to) {
		return
	}
	s.list.Filter, s.list.First = to, 0
	s.keys.focus = Do{}
	cs.refresh(s)
	if rest := matching(s.card, to); len(rest) == 1 { // the only one left gets the focus
		if a := s.openOf(rest[0]); a != nil {
			s.keys.focus, s.keys.set = a.do, cs.now()
			cs.refresh(s)
		}
	}
}

// stops returns what the focus can be on, in the order of the card.
func (s *slot) stops() []Do {
	var out []Do
	for _, a := range s.face.areas {
		if !a.do.none() && !slices.Contains(out, a.do) {
			out = append(out, a.do)
		}
	}
	// The close button comes last, since it is in no row.
	if i := slices.IndexFunc(out, func(d Do) bool { return d.Engine && d.Action.Do == engine.DoClose }); i >= 0 {
		last := out[i]
		out = append(slices.Delete(out, i, i+1), last)
	}
	return out
}

// step moves the focus along the card.
func (cs *Cards) step(s *slot, by int) {
	stops := s.stops()
	if len(stops) == 0 {
		return
	}
	i := slices.Index(stops, s.keys.focus)
	if i < 0 && by < 0 {
		i = 0
	}
	cs.focus(s, stops[(i+by+len(stops))%len(stops)])
}

func (cs *Cards) focus(s *slot, do Do) {
	s.keys.focus = do
	cs.refresh(s)
}

// arrow moves along the rows of several matches, else along the card.
func (cs *Cards) arrow(s *slot, by int) {
	c := s.card
	if c.Outcome != engine.Several || s.form.fold != asCard || c.Many && !s.list.Open {
		cs.step(s, by)
		return
	}
	list := matching(c, s.list.Filter)
	if len(list) == 0 {
		return
	}
	at := -1
	if f := s.keys.focus; f.opens() {
		at = slices.Index(list, f.Action.Index)
	}
	switch {
	case at >= 0:
		at = min(max(at+by, 0), len(list)-1)
	case by > 0:
		at = firstRow(s.list.First, len(list), s.shown())
	default:
		return
	}
	if n := s.shown(); at < s.list.First {
		cs.turn(s, at-s.list.First)
	} else if at >= s.list.First+n {
		cs.turn(s, at-n+1-s.list.First)
	}
	if a := s.openOf(list[at]); a != nil {
		cs.focus(s, a.do)
	}
}

// tab moves the focus along the card and on to the next one.
func (cs *Cards) tab(s *slot, back bool, now time.Time) {
	stops, by := s.stops(), 1
	if back {
		by = -1
	}
	i := slices.Index(stops, s.keys.focus)
	inside := i+by >= 0 && i+by < len(stops) && (i >= 0 || !back)
	if inside || len(cs.order) < 2 {
		cs.step(s, by)
		return
	}
	at := slices.Index(cs.order, s)
	next := cs.order[(at+by+len(cs.order))%len(cs.order)]
	cs.takeKeyboard(next, now)
	if next.keys.here {
		// The user is already using the keyboard.
		next.keys.focus = Do{}
		if back {
			cs.step(next, -1)
		} else {
			cs.step(next, 1)
		}
	}
}
