package health

import (
	"testing"
	"time"

	"wiebelt/internal/text"
)

// TestAside: the sentence says what of the screen does not work, after the
// state, and nothing of it while cards are paused.
func TestAside(t *testing.T) {
	now := time.Date(2026, 3, 2, 10, 0, 0, 0, time.Local)
	ready := "Vandaag nog geen oproep ontvangen. Bel uzelf om te testen."
	for name, c := range map[string]struct {
		change func(*Facts)
		want   string
	}{
		"nothing":      {func(*Facts) {}, ready},
		"hotkey taken": {func(f *Facts) { f.Hotkey = HotkeyTaken }, ready + " De sneltoets Ctrl+Alt+W is van een ander programma en werkt nu niet."},
		"held back": {func(f *Facts) { f.Hiding = HidingPresenting },
			ready + " Het scherm is vol (presentatie): er komen geen kaarten."},
		"no cards": {func(f *Facts) { f.Cards, f.Hotkey = CardsNotifications, HotkeyTaken },
			ready + " Dit bureaublad laat geen kaarten toe: bij een oproep komt er een melding, zonder nummer en naam."},
		"not even notices": {func(f *Facts) { f.Cards = CardsNone },
			ready + " Dit bureaublad laat geen kaarten en geen meldingen toe: oproepen staan alleen in het venster Oproepen."},
		"worse": {func(f *Facts) { f.SetUp, f.Hotkey = false, HotkeyTaken }, text.Dutch.T(text.StatusSetup, "uw beheerder")},
		"paused": {func(f *Facts) { f.Paused, f.Hotkey, f.Cards = now.Add(time.Hour), HotkeyTaken, CardsNone },
			"Gepauzeerd tot 11:00: er komen geen kaarten."},
	} {
		t.Run(name, func(t *testing.T) {
			f := Facts{SetUp: true, HotkeyKeys: "Ctrl+Alt+W", Opened: now}
			c.change(&f)
			if got := Assess(f, text.Dutch, "", now).Sentence; got != c.want {
				t.Errorf("%q, want %q", got, c.want)
			}
		})
	}
}
