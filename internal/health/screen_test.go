package health

import (
	"testing"
	"time"

	"wiebelt/internal/text"
)

// TestAside checks that problems with cards and hotkeys are
// reported after the state, and not at all while cards are paused.
func TestAside(t *testing.T) {
	now := time.Date(2026, 3, 2, 10, 0, 0, 0, time.Local)
	ready := "Vandaag nog geen oproep ontvangen. Bel uzelf om te testen."
	taken := []HotkeyTrouble{{"card.hotkey", "Ctrl+Alt+W", HotkeyTaken}}
	for name, c := range map[string]struct {
		change func(*Facts)
		want   string
	}{
		"nothing":      {func(*Facts) {}, ready},
		"hotkey taken": {func(f *Facts) { f.Hotkeys = taken }, ready + " De sneltoets Ctrl+Alt+W is van een ander programma en werkt nu niet."},
		"another too": {func(f *Facts) {
			f.SetHotkey("card.hotkey_open", "Ctrl+Alt+O", HotkeyWrong)
			f.SetHotkey("card.hotkey", "Ctrl+Alt+W", HotkeyTaken)
			f.SetHotkey("card.hotkey_close", "F12", HotkeyTaken)
			f.SetHotkey("card.hotkey_close", "F12", HotkeyWorks)
		}, ready + " De sneltoets Ctrl+Alt+W is van een ander programma en werkt nu niet. De sneltoets Ctrl+Alt+O kan dit toetsenbord niet maken."},
		"held back": {func(f *Facts) { f.Hiding = HidingPresenting },
			ready + " Volledig scherm (presentatie): er komen geen kaarten."},
		"no cards": {func(f *Facts) { f.Cards, f.Hotkeys = CardsNotifications, taken },
			ready + " Dit bureaublad laat geen kaarten toe: bij een oproep komt er een melding, zonder nummer en naam."},
		"not even notices": {func(f *Facts) { f.Cards = CardsNone },
			ready + " Dit bureaublad laat geen kaarten en geen meldingen toe: oproepen staan alleen in het venster Oproepen."},
		"worse": {func(f *Facts) { f.SetUp, f.Hotkeys = false, taken }, text.Dutch.T(text.StatusSetup, "uw beheerder")},
		"paused": {func(f *Facts) { f.PausedUntil, f.Hotkeys, f.Cards = now.Add(time.Hour), taken, CardsNone },
			"Gepauzeerd tot 11:00: er komen geen kaarten."},
	} {
		t.Run(name, func(t *testing.T) {
			f := Facts{SetUp: true, StartedAt: now}
			c.change(&f)
			reasons := f.HotkeyReasons()
			for _, h := range f.Hotkeys {
				if reasons[h.Setting] != string(h.Reason) {
					t.Errorf("%s: %q", h.Setting, reasons[h.Setting])
				}
			}
			if len(reasons) != len(f.Hotkeys) {
				t.Errorf("%v", reasons)
			}
			if got := Assess(f, text.Dutch, "", now).Sentence; got != c.want {
				t.Errorf("%q, want %q", got, c.want)
			}
		})
	}
}
