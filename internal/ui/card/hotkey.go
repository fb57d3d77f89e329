package card

import (
	"errors"
	"time"

	"wiebelt/internal/core/engine"
	"wiebelt/internal/native/window"
	"wiebelt/internal/text"
)

// hotkeyAgain is how often a hotkey taken by another program is retried.
const hotkeyAgain = 10 * time.Second

// Hotkey is a global key combination, identified by its setting.
type Hotkey string

// The hotkeys.
const (
	HotkeyKeyboard Hotkey = "card.hotkey"
	HotkeyOpen     Hotkey = "card.hotkey_open"
	HotkeyHear     Hotkey = "card.hotkey_hear"
	HotkeyClose    Hotkey = "card.hotkey_close"
)

const hotkeyCount = 4

// hotkeys lists the hotkeys and what they do.
var hotkeys = [hotkeyCount]struct {
	is    Hotkey
	keys  func(*Config) string
	press func(*Cards, time.Time)
}{
	{HotkeyKeyboard, func(c *Config) string { return c.Hotkey }, (*Cards).hotkeyPressed},
	{HotkeyOpen, func(c *Config) string { return c.HotkeyOpen }, (*Cards).openFirst},
	{HotkeyHear, func(c *Config) string { return c.HotkeyHear }, (*Cards).sayFirst},
	{HotkeyClose, func(c *Config) string { return c.HotkeyClose }, (*Cards).closeFirst},
}

// hotkeyState is the registration of a hotkey.
type hotkeyState struct {
	release func()    // unregisters it; nil if not registered
	retry   time.Time // when to retry one taken by another program; zero: never
	why     error     // the last reported reason why it does not work
}

// registerHotkeys registers all hotkeys.
func (cs *Cards) registerHotkeys(now time.Time) {
	for i := range hotkeys {
		cs.registerHotkey(i, now)
	}
}

// registerHotkey registers one hotkey.
func (cs *Cards) registerHotkey(i int, now time.Time) {
	state, is, keys := &cs.hotkeys[i], hotkeys[i].is, hotkeys[i].keys(&cs.c)
	state.retry = time.Time{}
	var err error
	switch {
	case keys == "" || keys == "off":
	case is == HotkeyKeyboard && cs.display.Kind() == window.Layers:
		err = window.ErrUnsupported // cards get no keyboard focus there
	default:
		does := cs.c.Language.T(text.HotkeyDoes(string(is)))
		state.release, err = cs.display.Hotkey(keys, does, func() { cs.send(func(when time.Time) { hotkeys[i].press(cs, when) }) },
			func(err error) { cs.send(func(time.Time) { cs.hotkeyReported(i, keys, err) }) })
	}
	if errors.Is(err, window.ErrHotkeyTaken) {
		state.retry = now.Add(hotkeyAgain)
	}
	cs.hotkeyReported(i, keys, err)
}

// hotkeyReported reports whether a hotkey works. It skips a repeated failure for the same
// reason, and results for keys no longer set.
func (cs *Cards) hotkeyReported(i int, keys string, err error) {
	is, before := hotkeys[i].is, cs.hotkeys[i].why
	if keys != hotkeys[i].keys(&cs.c) || err != nil && before != nil && err.Error() == before.Error() {
		return
	}
	cs.hotkeys[i].why = err
	switch {
	case err != nil:
		cs.c.Log.Warn("no hotkey for the cards", "setting", is, "why", err)
	case before != nil:
		cs.c.Log.Info("the hotkey for the cards works now", "setting", is)
	}
	if cs.c.HotkeyResult != nil {
		cs.c.HotkeyResult(is, keys, err)
	}
}

// changeHotkeys applies changed settings.
func (cs *Cards) changeHotkeys(old *Config) {
	for i, h := range hotkeys {
		if h.keys(old) != h.keys(&cs.c) {
			cs.releaseHotkey(i)
		}
	}
	for i, h := range hotkeys { // after all were released: keys may have been swapped
		if h.keys(old) != h.keys(&cs.c) {
			cs.registerHotkey(i, time.Now())
		}
	}
}

// releaseHotkey unregisters a hotkey.
func (cs *Cards) releaseHotkey(i int) {
	if release := cs.hotkeys[i].release; release != nil {
		release()
	}
	cs.hotkeys[i] = hotkeyState{}
}

// hotkeyTarget returns the card a hotkey applies to: the first in the order of calls, or
// the one under the pointer unless its call has ended while another is active. It
// is nil if there is none.
func (cs *Cards) hotkeyTarget(snap *engine.Snapshot) *slot {
	pick := cs.slotOf(snap.HotkeyCard())
	for _, s := range cs.order {
		if s.visible && s.over && !s.state.Dimmed {
			pick = s
		}
	}
	return pick
}

// openFirst opens the file of a card's only contact. If there are several, the card gets
// the keyboard focus so that the user can choose.
func (cs *Cards) openFirst(now time.Time) {
	s := cs.hotkeyTarget(cs.show())
	switch {
	case s == nil || !s.visible:
	case s.state.Outcome == engine.Several:
		cs.takeKeyboard(s, now)
	default:
		if a := s.openArea(0); a != nil {
			cs.activate(s, a.do, now)
		}
	}
}

// sayFirst has a screen reader repeat a card. A folded card unfolds.
func (cs *Cards) sayFirst(time.Time) {
	s := cs.hotkeyTarget(cs.show())
	if s == nil || !s.visible {
		return
	}
	s.said = ""
	if s.form.fold != asCard {
		cs.engine.Do(engine.Action{Card: s.state.ID, Do: engine.DoUnfold})
		return
	}
	cs.speak(s)
	cs.treeChanged = true
}

// closeFirst closes a card.
func (cs *Cards) closeFirst(now time.Time) {
	s := cs.hotkeyTarget(cs.show())
	if s == nil || !s.visible {
		return
	}
	cs.activate(s, Do{Engine: true, Caller: s.state.Number, Action: engine.Action{Card: s.state.ID, Do: engine.DoClose}}, now)
}
