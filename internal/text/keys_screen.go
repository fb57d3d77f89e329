package text

// Cards says how calls are shown if not with cards (health.Cards).
func Cards(how string) Key { return Key("screen.cards." + how) }

// HotkeyDoes says what the hotkey of a setting does.
func HotkeyDoes(setting string) Key { return Key("screen.does." + setting) }

// Hotkey says why the hotkeys for cards do not work (health.Hotkey).
func Hotkey(why string) Key { return Key("screen.hotkey." + why) }
