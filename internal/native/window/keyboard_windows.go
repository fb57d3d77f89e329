package window

import (
	"errors"
	"fmt"
	"strings"

	"golang.org/x/sys/windows"

	"wiebelt/internal/native/win32"
)

const (
	modAlt      = 0x0001
	modControl  = 0x0002
	modShift    = 0x0004
	modWin      = 0x0008
	modNoRepeat = 0x4000

	errorHotkeyTaken = windows.Errno(1409) // ERROR_HOTKEY_ALREADY_REGISTERED
)

func (d *desktop) Hotkey(keys, _ string, pressed func(), _ func(error)) (func(), error) {
	s, err := parseShortcut(keys)
	if err != nil {
		return nil, err
	}
	mods, key := s.winHotkey()
	var id uintptr
	if err := d.do(func() error {
		id = d.lastHotkey + 1
		ok, _, err := registerHotKey.Call(d.control, id, uintptr(mods|modNoRepeat), uintptr(key))
		switch {
		case ok != 0:
		case errors.Is(err, errorHotkeyTaken):
			return fmt.Errorf("%s: %w", keys, ErrHotkeyTaken)
		default:
			return fmt.Errorf("RegisterHotKey: %w", err)
		}
		d.lastHotkey, d.pressed[id] = id, pressed
		return nil
	}); err != nil {
		return nil, err
	}
	return func() {
		_ = d.do(func() error { // if the display is closed, Windows has released them
			if d.pressed[id] != nil {
				delete(d.pressed, id)
				unregisterHotKey.Call(d.control, id)
			}
			return nil
		})
	}, nil
}

// winHotkey returns a shortcut in the form that RegisterHotKey
// takes: modifiers and a virtual-key code.
func (s shortcut) winHotkey() (mods, key uint32) {
	mods = uint32(s.held.mask(modShift, modControl, modAlt, modWin))
	for _, k := range shortcutKeys {
		if k.sym == s.key {
			return mods, k.windows
		}
	}
	if s.key >= firstFunctionKey {
		return mods, 0x70 + uint32(s.key-firstFunctionKey)
	}
	return mods, uint32(strings.ToUpper(string(rune(s.key)))[0]) // a letter or a digit
}

var errNoKeyboard = errors.New("the system keeps the keyboard where it is")

func (w *winCard) TakeKeyboard() error {
	return w.do(func() error {
		if !w.shown {
			return errNotShown
		}
		if w.keyboard {
			return nil
		}
		before := uintptr(windows.GetForegroundWindow())
		// Windows allows this to the program that received the last key, here the hotkey.
		if ok, _, _ := setForegroundWindow.Call(w.hwnd); ok == 0 {
			return errNoKeyboard
		}
		setFocus.Call(w.hwnd)
		if now, _, _ := getFocus.Call(); now != w.hwnd {
			return errNoKeyboard
		}
		if before != w.hwnd {
			w.previousFocus = before
		}
		w.keyboard = true
		return nil
	})
}

func (w *winCard) GiveKeyboardBack() error { return w.ask(w.restoreFocus) }

// restoreFocus restores the focus, on the loop's thread, before the window is hidden.
func (w *winCard) restoreFocus() {
	if !w.keyboard {
		return
	}
	// If the user has switched windows since, the focus stays there. If the previous window is
	// gone, the desktop gets the focus, since a card must not keep it.
	if uintptr(windows.GetForegroundWindow()) == w.hwnd {
		to := windows.HWND(w.previousFocus)
		if !windows.IsWindow(to) {
			to = windows.GetShellWindow()
		}
		setForegroundWindow.Call(uintptr(to))
	}
	w.handleFocusLost()
}

// handleFocusLost records that the focus is elsewhere. It posts a message, so that the handler is not
// called while its owner waits in Hide.
func (w *winCard) handleFocusLost() {
	if w.keyboard {
		w.keyboard, w.previousFocus, w.half = false, 0, 0
		win32.Post(w.hwnd, wmKeyboardGone, 0, 0)
	}
}

const (
	vkShift   = 0x10
	vkControl = 0x11
	vkAlt     = 0x12
)

var namedKeys = map[uintptr]Key{
	0x08: KeyBackspace, 0x09: KeyTab, 0x0D: KeyEnter, 0x1B: KeyEscape, 0x21: KeyPageUp, 0x22: KeyPageDown,
	0x23: KeyEnd, 0x24: KeyHome, 0x25: KeyLeft, 0x26: KeyUp, 0x27: KeyRight, 0x28: KeyDown, 0x2E: KeyDelete,
	0x2D: KeyInsert, 0x20: KeySpace, vkShift: KeyShift, vkControl: KeyCtrl, vkAlt: KeyAlt, 0x5B: KeySuper, 0x5C: KeySuper, 0x5D: KeyMenu,
}
