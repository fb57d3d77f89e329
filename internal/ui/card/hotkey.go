package card

import (
	"errors"
	"time"

	"wiebelt/internal/core/engine"
	"wiebelt/internal/native/window"
)

// hotkeyAgain is how often a hotkey that another program has is asked for.
const hotkeyAgain = 10 * time.Second

// Hotkey is a key combination that works wherever the keyboard is, by its setting.
type Hotkey string

// The hotkeys.
const (
	HotkeyKeyboard Hotkey = "card.hotkey"
	HotkeyOpen     Hotkey = "card.hotkey_open"
	HotkeyHear     Hotkey = "card.hotkey_hear"
	HotkeyClose    Hotkey = "card.hotkey_close"
)

const hotkeyCount = 4

// hotkeys are all of them: what they are and what they do.
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

// hotkeyState is a hotkey as the desktop has it.
type hotkeyState struct {
	release func()    // gives it back; nil while there is none
	retry   time.Time // when one that another program has is asked for again; zero: not
	why     error     // it does not work, as it was told last
}

// registerHotkeys asks for all hotkeys.
func (cs *Cards) registerHotkeys(now time.Time) {
	for i := range hotkeys {
		cs.registerHotkey(i, now)
	}
}

// registerHotkey asks for one.
func (cs *Cards) registerHotkey(i int, now time.Time) {
	state, is, keys := &cs.hotkeys[i], hotkeys[i].is, hotkeys[i].keys(&cs.c)
	state.retry = time.Time{}
	var err error
	switch {
	case keys == "" || keys == "off":
	case is == HotkeyKeyboard && cs.display.Kind() == window.Layers:
		err = window.ErrUnsupported // cards get no keyboard there
	default:
		state.release, err = cs.display.Hotkey(keys, func() { cs.send(input{kind: hotkeyDown, hotkey: i}) },
			func(err error) { cs.send(input{kind: hotkeyTold, hotkey: i, keys: keys, err: err}) })
	}
	if errors.Is(err, window.ErrHotkeyTaken) {
		state.retry = now.Add(hotkeyAgain)
	}
	cs.hotkeyTold(i, keys, err)
}

// hotkeyTold tells whether a hotkey works. That it still does not for the same reason is
// no news, nor what becomes of keys that are no longer wanted.
func (cs *Cards) hotkeyTold(i int, keys string, err error) {
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

// changeHotkeys follows settings that hold in place of old.
func (cs *Cards) changeHotkeys(old *Config) {
	for i, h := range hotkeys {
		if h.keys(old) != h.keys(&cs.c) {
			cs.releaseHotkey(i)
		}
	}
	for i, h := range hotkeys { // after all were given back: they may have changed places
		if h.keys(old) != h.keys(&cs.c) {
			cs.registerHotkey(i, time.Now())
		}
	}
}

// releaseHotkey gives a hotkey back.
func (cs *Cards) releaseHotkey(i int) {
	if release := cs.hotkeys[i].release; release != nil {
		release()
	}
	cs.hotkeys[i] = hotkeyState{}
}

// meant is the card that a hotkey means: the one that the order of calls names, or
// the one under the pointer unless its call has ended while another lives. It is
// nil without one.
func (cs *Cards) meant(snap *engine.Snapshot) *slot {
	pick := cs.slotOf(snap.First())
	for _, s := range cs.order {
		if s.up && s.over && !s.state.Aside {
			pick = s
		}
	}
	return pick
}

// openFirst opens the file of the only contact on a card. Among several the user
// has to choose: the card gets the keyboard for that.
func (cs *Cards) openFirst(now time.Time) {
	s := cs.meant(cs.show())
	switch {
	case s == nil || !s.up:
	case s.state.Outcome == engine.Several:
		cs.takeKeyboard(s, now)
	default:
		if a := s.openOf(0); a != nil {
			cs.chosen(s, a.do, now)
		}
	}
}

// sayFirst has a screen reader say a card again. One that is folded unfolds.
func (cs *Cards) sayFirst(time.Time) {
	s := cs.meant(cs.show())
	if s == nil || !s.up {
		return
	}
	s.said = ""
	if s.form.fold != asCard {
		cs.engine.Do(engine.Action{Card: s.state.ID, Do: engine.DoUnfold})
		return
	}
	cs.speak(s)
	cs.untold = true
}

// closeFirst takes a card away.
func (cs *Cards) closeFirst(now time.Time) {
	s := cs.meant(cs.show())
	if s == nil || !s.up {
		return
	}
	cs.chosen(s, Do{Engine: true, Caller: s.card.Number, Action: engine.Action{Card: s.card.ID, Do: engine.DoClose}}, now)
}
