package window

import "strings"

// registered returns a shortcut in the form that RegisterHotKey
// takes: modifiers and a virtual-key code.
func (s shortcut) registered() (mods, key uint32) {
	mods = uint32(s.mask(modControl, modAlt, modShift, modWin))
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
