package health

import (
	"cmp"
	"slices"

	"wiebelt/internal/text"
)

// Cards is how calls are shown.
type Cards string

// The kinds.
const (
	CardsWindows       Cards = ""        // our own windows
	CardsNotifications Cards = "notices" // notifications: the desktop does not support such windows
	CardsNone          Cards = "none"    // not even notifications
)

// Hotkey is why a hotkey for cards does not work.
type Hotkey string

// The reasons.
const (
	HotkeyWorks       Hotkey = "" // it works, or none is set
	HotkeyTaken       Hotkey = "taken"
	HotkeyUnsupported Hotkey = "unsupported"
	HotkeyWrong       Hotkey = "wrong" // invalid keys
)

// HotkeyTrouble is a hotkey that does not work.
type HotkeyTrouble struct {
	Setting string // its key
	Keys    string // as in the settings
	Reason  Hotkey
}

// SetHotkey records the state of a setting's hotkey.
func (f *Facts) SetHotkey(setting, keys string, why Hotkey) {
	all := slices.DeleteFunc(slices.Clone(f.Hotkeys), func(t HotkeyTrouble) bool { return t.Setting == setting })
	if why != HotkeyWorks {
		all = append(all, HotkeyTrouble{setting, keys, why})
		slices.SortFunc(all, func(a, b HotkeyTrouble) int { return cmp.Compare(a.Setting, b.Setting) })
	}
	f.Hotkeys = all
}

// HotkeyReasons returns why hotkeys do not work, by setting; nil if all do.
func (f *Facts) HotkeyReasons() map[string]string {
	if len(f.Hotkeys) == 0 {
		return nil
	}
	all := map[string]string{}
	for _, t := range f.Hotkeys {
		all[t.Setting] = string(t.Reason)
	}
	return all
}

// addNotices adds to the sentence what the state does not cover: that calls are shown
// differently than usual, and that hotkeys do not work.
func (f *Facts) addNotices(r *Report, l text.Language) {
	if r.State == Paused {
		return
	}
	if f.Hiding != HidingNot {
		r.Sentence += " " + l.T(text.Hiding(string(f.Hiding)))
	}
	if f.Cards != CardsWindows {
		r.Sentence += " " + l.T(text.Cards(string(f.Cards)))
		return // without cards there is nothing to focus
	}
	if r.State <= Doubt { // what prevents calls takes precedence
		for _, t := range f.Hotkeys {
			r.Sentence += " " + l.T(text.Hotkey(string(t.Reason)), t.Keys)
		}
	}
}
