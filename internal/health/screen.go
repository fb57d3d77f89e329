package health

import (
	"cmp"
	"slices"

	"wiebelt/internal/text"
)

// Cards is what calls are shown with.
type Cards string

// The kinds.
const (
	CardsWindows       Cards = ""        // windows of our own
	CardsNotifications Cards = "notices" // notifications: the desktop takes no such windows
	CardsNone          Cards = "none"    // not even those
)

// Hotkey is why keys that concern cards do not work.
type Hotkey string

// The reasons.
const (
	HotkeyWorks       Hotkey = "" // it does, or none is wanted
	HotkeyTaken       Hotkey = "taken"
	HotkeyUnsupported Hotkey = "unsupported"
	HotkeyWrong       Hotkey = "wrong" // no such keys
)

// HotkeyTrouble is a hotkey that does not work.
type HotkeyTrouble struct {
	Setting string // its key
	Keys    string // as the settings name them
	Why     Hotkey
}

// SetHotkey notes how the hotkey of a setting is doing.
func (f *Facts) SetHotkey(setting, keys string, why Hotkey) {
	all := slices.DeleteFunc(slices.Clone(f.Hotkeys), func(t HotkeyTrouble) bool { return t.Setting == setting })
	if why != HotkeyWorks {
		all = append(all, HotkeyTrouble{setting, keys, why})
		slices.SortFunc(all, func(a, b HotkeyTrouble) int { return cmp.Compare(a.Setting, b.Setting) })
	}
	f.Hotkeys = all
}

// HotkeyReasons is why hotkeys do not work, by their settings; nil if all do.
func (f *Facts) HotkeyReasons() map[string]string {
	if len(f.Hotkeys) == 0 {
		return nil
	}
	all := map[string]string{}
	for _, t := range f.Hotkeys {
		all[t.Setting] = string(t.Why)
	}
	return all
}

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
	if r.State <= Doubt { // what stops calls is said first
		for _, t := range f.Hotkeys {
			r.Sentence += " " + l.T(text.Hotkey(string(t.Why)), t.Keys)
		}
	}
}
