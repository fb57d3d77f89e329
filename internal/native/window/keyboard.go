package window

import "errors"

// Key is a key that means something by itself; KeyText is one that writes.
type Key uint8

// The keys that matter.
const (
	KeyText Key = iota // KeyPress.Text says what
	KeyUp
	KeyDown
	KeyLeft
	KeyRight
	KeyHome
	KeyEnd
	KeyPageUp
	KeyPageDown
	KeyTab
	KeyEnter
	KeyEscape
	KeyBackspace
	KeyDelete
	KeyInsert
	KeySpace // writes, and presses buttons
	KeyShift
	KeyCtrl
	KeyAlt
	KeySuper
	KeyMenu
	KeyF1 // F2 to F12 follow
)

// KeyF12 is the last of the function keys.
const KeyF12 = KeyF1 + 11

// KeyPress is one press (or repeat) of a key while a window has the keyboard.
type KeyPress struct {
	Key Key
	// Text is what a KeyText press writes under the user's keyboard layout; with
	// Ctrl it is the letter alone, in lower case.
	Text             string
	Ctrl, Shift, Alt bool
}

// ErrHotkeyTaken is returned by Hotkey when another program has the keys.
var ErrHotkeyTaken = errors.New("keys are taken by another program")

// ErrUnsupported is returned where the desktop cannot do what was asked.
var ErrUnsupported = errors.New("not supported by this desktop")
