package text

// Cards says what calls are shown with where that is not cards (health.Cards).
func Cards(how string) Key { return Key("screen.cards." + how) }

// Hotkey says why the keys for the cards do not work (health.Hotkey).
func Hotkey(why string) Key { return Key("screen.hotkey." + why) }
