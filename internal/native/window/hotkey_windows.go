package window

import (
	"errors"
	"fmt"
	"strings"
)

// hotkey reads keys joined by +: any of Ctrl, Alt, Shift and Win, then one
// letter, digit or named key. Letters and digits need Ctrl, Alt or Win, so that
// nobody can take a key that writes away from everybody.
func hotkey(keys string) (mods, key uint32, err error) {
	bad := func(why string) (uint32, uint32, error) { return 0, 0, fmt.Errorf("keys %q: %s", keys, why) }
	if len(keys) > 40 {
		return 0, 0, errors.New("keys: too long")
	}
	parts := strings.Split(keys, "+")
	for _, p := range parts[:len(parts)-1] {
		m := map[string]uint32{"ctrl": modControl, "control": modControl, "alt": modAlt, "shift": modShift,
			"win": modWin, "super": modWin, "meta": modWin}[strings.ToLower(strings.TrimSpace(p))]
		switch {
		case m == 0:
			return bad("a key that cannot be held with others")
		case mods&m != 0:
			return bad("the same key twice")
		}
		mods |= m
	}
	name := strings.ToUpper(strings.TrimSpace(parts[len(parts)-1]))
	switch c := (name + "\x00")[0]; {
	case len(name) == 1 && (c >= 'A' && c <= 'Z' || c >= '0' && c <= '9'):
		key = uint32(c)
	case len(name) > 1 && c == 'F':
		var n uint32
		if _, err := fmt.Sscanf(name, "F%d", &n); err != nil || n < 1 || n > 24 || fmt.Sprintf("F%d", n) != name {
			return bad("unknown key")
		}
		return mods, 0x70 + n - 1, nil // writes nothing
	default:
		if key = hotkeyNames[name]; key == 0 {
			return bad("unknown key")
		}
	}
	if mods&^modShift == 0 {
		return bad("needs Ctrl, Alt or Win")
	}
	return mods, key, nil
}

var hotkeyNames = map[string]uint32{
	"SPACE": 0x20, "ENTER": 0x0D, "RETURN": 0x0D, "TAB": 0x09, "ESC": 0x1B, "ESCAPE": 0x1B, "BACKSPACE": 0x08,
	"INSERT": 0x2D, "DELETE": 0x2E, "HOME": 0x24, "END": 0x23, "PAGEUP": 0x21, "PAGEDOWN": 0x22,
	"LEFT": 0x25, "UP": 0x26, "RIGHT": 0x27, "DOWN": 0x28, "PAUSE": 0x13,
}
