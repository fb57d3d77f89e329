package window

import "errors"

// Key is a key with its own meaning; KeyText is any key that types text.
type Key uint8

// The keys that matter.
const (
	KeyText Key = iota // KeyPress.Text has the text
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
	KeySpace // types a space, and presses buttons
	KeyShift
	KeyCtrl
	KeyAlt
	KeySuper
	KeyMenu
	KeyF1 // F2 to F12 follow
)

// KeyF12 is the last function key.
const KeyF12 = KeyF1 + 11

// KeyPress is a key press (or repeat) while a window has the focus.
type KeyPress struct {
	Key Key
	// Text is what a KeyText press types with the user's keyboard layout. With
	// Ctrl it is just the letter, in lower case.
	Text             string
	Ctrl, Shift, Alt bool
}

// ErrHotkeyTaken is returned by Hotkey if another program uses the keys.
var ErrHotkeyTaken = errors.New("keys are taken by another program")

// ErrUnsupported is returned for a request that the desktop does not support.
var ErrUnsupported = errors.New("not supported by this desktop")
