package card

import (
	"errors"
	"time"

	"wiebelt/internal/native/window"
)

// hotkeyAgain is how often a hotkey that another program has is asked for.
const hotkeyAgain = 10 * time.Second

// listen asks for the hotkey.
func (cs *Cards) listen() {
	cs.again = time.Time{}
	keys := cs.c.Hotkey
	if keys == "" || keys == "off" {
		cs.hotkeyIs(nil)
		return
	}
	release, err := cs.display.Hotkey(keys, func() { cs.send(input{kind: hotkey}) })
	if err == nil {
		cs.release = release
	} else {
		cs.c.Log.Warn("no hotkey for the cards", "why", err)
	}
	if errors.Is(err, window.ErrHotkeyTaken) {
		cs.again = time.Now().Add(hotkeyAgain)
	}
	cs.hotkeyIs(err)
}

// listenAgain asks once more for a hotkey that another program had. That it
// still has it is no news.
func (cs *Cards) listenAgain(now time.Time) {
	if cs.again.IsZero() || now.Before(cs.again) {
		return
	}
	cs.again = now.Add(hotkeyAgain)
	release, err := cs.display.Hotkey(cs.c.Hotkey, func() { cs.send(input{kind: hotkey}) })
	if errors.Is(err, window.ErrHotkeyTaken) {
		return
	}
	cs.again = time.Time{}
	if err == nil {
		cs.release = release
		cs.c.Log.Info("the hotkey for the cards is free again")
	}
	cs.hotkeyIs(err)
}

func (cs *Cards) hotkeyIs(err error) {
	if cs.c.HotkeyResult != nil {
		cs.c.HotkeyResult(err)
	}
}

// deaf gives the hotkey back.
func (cs *Cards) deaf() {
	if cs.release != nil {
		cs.release()
		cs.release = nil
	}
}
