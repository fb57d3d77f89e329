package health

import "wiebelt/internal/text"

// Cards is what calls are shown with.
type Cards string

// The kinds.
const (
	CardsWindows       Cards = ""        // windows of our own
	CardsNotifications Cards = "notices" // notifications: the desktop takes no such windows
	CardsNone          Cards = "none"    // not even those
)

// Hotkey is whether the keys that bring the keyboard to a card work.
type Hotkey string

// The states of the hotkey.
const (
	HotkeyWorks       Hotkey = "" // or none is wanted
	HotkeyTaken       Hotkey = "taken"
	HotkeyUnsupported Hotkey = "unsupported"
	HotkeyWrong       Hotkey = "wrong" // no such keys
)

// aside is what the sentence says besides the state: that calls are shown in
// another way than usual, and that the keys do not work.
func (f *Facts) aside(r *Report, l text.Language) {
	if r.State == Paused {
		return
	}
	if f.Hiding != HidingNot {
		r.Sentence += " " + l.T(text.Hiding(string(f.Hiding)))
	}
	if f.Cards != CardsWindows {
		r.Sentence += " " + l.T(text.Cards(string(f.Cards)))
		return // without cards there is nothing to bring the keyboard to
	}
	if f.Hotkey != HotkeyWorks && r.State <= Doubt { // what stops calls is said first
		r.Sentence += " " + l.T(text.Hotkey(string(f.Hotkey)), f.HotkeyKeys)
	}
}
