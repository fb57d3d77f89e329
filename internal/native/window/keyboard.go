package window

import (
	"errors"
	"fmt"
	"strconv"
	"strings"
)

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

// IsModifier reports whether a key is held together with others.
func (k Key) IsModifier() bool { return k >= KeyShift && k <= KeySuper }

// KeyPress is a key press (or repeat) while a window has the focus.
type KeyPress struct {
	Key Key
	// Text is what a KeyText press types with the user's keyboard layout. With
	// Ctrl it is just the letter, in lower case.
	Text             string
	Ctrl, Shift, Alt bool
}

// Modifiers are keys held together with others.
type Modifiers uint8

// The modifiers.
const (
	ModShift Modifiers = 1 << iota
	ModCtrl
	ModAlt
	ModSuper
)

// KeyEvent is a key press or release while a frame has the focus.
type KeyEvent struct {
	Key  Key // KeyText for keys that write
	Down bool
	// Letter names a KeyText key in a shortcut: the key's own
	// letter, in lower case, or 0 if it has none.
	Letter rune
	// Text is what the press types, including dead keys and compositions.
	Text string
	Held Modifiers
}

// ErrHotkeyTaken is returned by Hotkey if another program uses the keys.
var ErrHotkeyTaken = errors.New("keys are taken by another program")

// ErrUnsupported is returned for a request that the desktop does not support.
var ErrUnsupported = errors.New("not supported by this desktop")

// keysym is the meaning of a key, as numbered by the X protocol (appendix A).
type keysym uint32

type shortcut struct {
	held Modifiers
	key  keysym
}

// mask combines those of the given bits whose modifiers are held.
func (m Modifiers) mask(shift, ctrl, alt, super uint16) (bits uint16) {
	for i, bit := range []uint16{shift, ctrl, alt, super} { // in the order of Modifiers
		if m&(1<<i) != 0 {
			bits |= bit
		}
	}
	return bits
}

// parseShortcut parses keys joined by "+": any of Ctrl, Alt, Shift and Win (or Super), then a
// letter, a digit or the name of a key. A key that types text needs Ctrl, Alt or Win, since
// otherwise no other program would receive it.
func parseShortcut(keys string) (shortcut, error) {
	var s shortcut
	bad := func(why string) (shortcut, error) { return shortcut{}, fmt.Errorf("keys %q: %s", keys, why) }
	if len(keys) > 40 {
		return shortcut{}, errors.New("keys: too long")
	}
	parts := strings.Split(strings.ToLower(keys), "+")
	for i, p := range parts {
		parts[i] = strings.TrimSpace(p)
	}
	name := parts[len(parts)-1]
	for _, p := range parts[:len(parts)-1] {
		m := map[string]Modifiers{"ctrl": ModCtrl, "control": ModCtrl, "alt": ModAlt, "shift": ModShift,
			"win": ModSuper, "super": ModSuper, "meta": ModSuper}[p]
		switch {
		case m == 0:
			return bad("a key that cannot be held with others")
		case s.held&m != 0:
			return bad("the same key twice")
		}
		s.held |= m
	}
	writes := true
	switch {
	case len(name) == 1 && (name[0] >= 'a' && name[0] <= 'z' || name[0] >= '0' && name[0] <= '9'):
		s.key = keysym(name[0])
	case functionKey(name) > 0:
		s.key, writes = keysym(firstFunctionKey+functionKey(name)-1), false
	default:
		for _, k := range shortcutKeys {
			if k.name == name {
				s.key = k.sym
			}
		}
		if s.key == 0 {
			return bad("unknown key")
		}
	}
	if writes && s.held&^ModShift == 0 {
		return bad("needs Ctrl, Alt or Win")
	}
	return s, nil
}

// shortcutKeys lists the named keys: their names for users and in the X
// protocol, and their numbers there and in Windows.
var shortcutKeys = [...]struct {
	name    string
	sym     keysym
	x       string
	windows uint32 // virtual-key code
}{
	{"space", 0x20, "space", 0x20}, {"enter", 0xff0d, "Return", 0x0d}, {"return", 0xff0d, "Return", 0x0d}, {"tab", 0xff09, "Tab", 0x09},
	{"esc", 0xff1b, "Escape", 0x1b}, {"escape", 0xff1b, "Escape", 0x1b}, {"backspace", 0xff08, "BackSpace", 0x08},
	{"insert", 0xff63, "Insert", 0x2d}, {"delete", 0xffff, "Delete", 0x2e}, {"home", 0xff50, "Home", 0x24}, {"end", 0xff57, "End", 0x23},
	{"pageup", 0xff55, "Page_Up", 0x21}, {"pagedown", 0xff56, "Page_Down", 0x22}, {"left", 0xff51, "Left", 0x25}, {"up", 0xff52, "Up", 0x26},
	{"right", 0xff53, "Right", 0x27}, {"down", 0xff54, "Down", 0x28}, {"pause", 0xff13, "Pause", 0x13},
}

const firstFunctionKey = 0xffbe

// functionKey returns the number of a key from F1 to F24, or 0 for other names.
func functionKey(name string) int {
	n, err := strconv.Atoi(strings.TrimPrefix(name, "f"))
	if err != nil || n < 1 || n > 24 || name != "f"+strconv.Itoa(n) {
		return 0
	}
	return n
}
