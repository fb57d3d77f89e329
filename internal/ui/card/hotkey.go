package card

import (
	"errors"
	"time"

	"wiebelt/internal/core/engine"
	"wiebelt/internal/native/window"
)

// hotkeyAgain is how often a hotkey that another program has is asked for.
const hotkeyAgain = 10 * time.Second

// hotkeyState is the hotkey as the desktop has it.
type hotkeyState struct {
	release func()        // gives it back; nil while there is none
	retry   time.Time     // when one that another program has is asked for again; zero: not
	wanted  engine.CardID // comes back because of the hotkey, for the keyboard
}

// registerHotkey asks for the hotkey. That another program still has it is no news.
func (cs *Cards) registerHotkey(now time.Time) {
	wasTaken := !cs.hotkey.retry.IsZero()
	cs.hotkey.retry = time.Time{}
	var err error
	if keys := cs.c.Hotkey; keys != "" && keys != "off" {
		cs.hotkey.release, err = cs.display.Hotkey(keys, func() { cs.send(input{kind: hotkeyDown}) })
	}
	if errors.Is(err, window.ErrHotkeyTaken) {
		cs.hotkey.retry = now.Add(hotkeyAgain)
		if wasTaken {
			return
		}
	}
	switch {
	case err != nil:
		cs.c.Log.Warn("no hotkey for the cards", "why", err)
	case wasTaken:
		cs.c.Log.Info("the hotkey for the cards is free again")
	}
	if cs.c.HotkeyResult != nil {
		cs.c.HotkeyResult(err)
	}
}

// releaseHotkey gives the hotkey back.
func (cs *Cards) releaseHotkey() {
	if cs.hotkey.release != nil {
		cs.hotkey.release()
	}
	cs.hotkey = hotkeyState{}
}
