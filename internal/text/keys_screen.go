package text

// Cards says how calls are shown if not with cards (health.Cards).
func Cards(how string) Key { return Key("screen.cards." + how) }

// Hotkey says why the hotkeys for cards do not work (health.Hotkey).
func Hotkey(why string) Key { return Key("screen.hotkey." + why) }
