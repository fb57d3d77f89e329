package card

import (
	"errors"
	"time"

	"wiebelt/internal/core/engine"
	"wiebelt/internal/native/window"
	"wiebelt/internal/text"
)

const hotkeyRetry = 10 * time.Second

// Hotkey is a global key combination, identified by its setting.
type Hotkey string

// The hotkeys. All concern the newest card or the one under the pointer.
const (
	HotkeyKeyboard Hotkey = "card.hotkey"       // gives it the keyboard focus
	HotkeyOpen     Hotkey = "card.hotkey_open"  // opens its contact
	HotkeyHear     Hotkey = "card.hotkey_hear"  // has a screen reader repeat it
	HotkeyClose    Hotkey = "card.hotkey_close" // closes it
)

// hotkeys lists the hotkeys in the order in which they are registered.
var hotkeys = [...]Hotkey{HotkeyKeyboard, HotkeyOpen, HotkeyHear, HotkeyClose}

type hotkeyState struct {
	release func()    // unregisters it; nil if not registered
	retry   time.Time // when to retry one taken by another program; zero: never
	why     error     // the last reported reason why it does not work
}

func (cs *Cards) registerHotkey(i int) {
	state, is := &cs.hotkeys[i], hotkeys[i]
	keys := cs.c.Hotkeys[is]
	state.retry = time.Time{}
	var err error
	switch {
	case keys == "" || keys == "off":
	case is == HotkeyKeyboard && cs.display.Kind() == window.Layers:
		err = window.ErrUnsupported // cards get no keyboard focus there
	default:
		does := cs.c.Language.T(text.HotkeyDoes(string(is)))
		state.release, err = cs.display.Hotkey(keys, does, func() { cs.send(func(when time.Time) { cs.hotkeyDown(is, when) }) },
			func(err error) { cs.send(func(time.Time) { cs.hotkeyReported(i, keys, err) }) })
	}
	if errors.Is(err, window.ErrHotkeyTaken) {
		state.retry = cs.now().Add(hotkeyRetry)
	}
	cs.hotkeyReported(i, keys, err)
}

// hotkeyReported reports whether a hotkey works. It skips a repeated failure for the same
// reason, and results for keys no longer set.
func (cs *Cards) hotkeyReported(i int, keys string, err error) {
	is, before := hotkeys[i], cs.hotkeys[i].why
	if keys != cs.c.Hotkeys[is] || err != nil && before != nil && err.Error() == before.Error() {
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

// changeHotkeys registers the hotkeys of changed settings; old is what was registered.
func (cs *Cards) changeHotkeys(old map[Hotkey]string) {
	for i, is := range hotkeys {
		if old[is] != cs.c.Hotkeys[is] {
			cs.releaseHotkey(i)
		}
	}
	for i, is := range hotkeys { // after all were released: keys may have been swapped
		if old[is] != cs.c.Hotkeys[is] {
			cs.registerHotkey(i)
		}
	}
}

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

func (cs *Cards) hotkeyDown(is Hotkey, now time.Time) {
	snap := cs.show() // the engine may be ahead of the screen
	s := cs.hotkeyTarget(snap)
	switch {
	case is == HotkeyKeyboard:
		cs.moveKeyboard(s, snap.ClosedCard, now)
	case s == nil || !s.visible:
	case is == HotkeyOpen:
		cs.openFile(s, now)
	case is == HotkeyHear:
		cs.repeat(s)
	case is == HotkeyClose:
		cs.activate(s, cardEffect(s.state, engine.ActionClose), now)
	}
}

// openFile opens the file of a card's only contact. If there are several, the card gets
// the keyboard focus so that the user can choose.
func (cs *Cards) openFile(s *slot, now time.Time) {
	if s.state.Outcome == engine.OutcomeSeveral {
		cs.takeKeyboard(s, now)
	} else if a := s.openArea(0); a != nil {
		cs.activate(s, a.effect, now)
	}
}

func (cs *Cards) repeat(s *slot) {
	s.announced = ""
	if s.form.fold != asCard {
		cs.sendAction(s, engine.ActionUnfold)
		return
	}
	cs.speak(s)
	cs.treeChanged = true
}
