package e2e

import (
	"fmt"
	"slices"
	"strings"
	"testing"

	"wiebelt/internal/simulate"
	"wiebelt/internal/testutil/must"
	"wiebelt/internal/text"
	"wiebelt/internal/ui/card"
)

// TestLanguageIsSwitched: where no panel shows an icon, the calls window opens without
// being asked for, and starting Wiebelt again brings it back. Tray, cards and the open
// window follow the language at once, in both directions, without restarting any program.
func TestLanguageIsSwitched(t *testing.T) {
	t.Parallel()
	i := onBus(t, prepare(t, "[card]\nafter_call = \"0s\"\n\n[ui]\nlanguage = \"nl\"\ntheme = \"light\""))
	i.startAs(nil, "run")
	shown := i.FindWindow("^Oproepen")
	i.Run("xdotool", "windowminimize", "--sync", shown)
	i.run("run")
	i.Until("the window again", func() bool { return slices.Contains(i.Windows("^Oproepen"), shown) })
	d := &callsWindow{office: i.office, t: t}
	resident, windows := i.at().PID, d.pid()
	p := dial(i.office)
	for n, l := range []struct {
		lang                text.Language
		quit, calls, window string
	}{
		{text.Dutch, "Wiebelt afsluiten", "Oproepen…", "Oproepen"},
		{text.English, "Quit Wiebelt", "Calls…", "Calls"},
		{text.Dutch, "Wiebelt afsluiten", "Oproepen…", "Oproepen"},
	} {
		if n > 0 {
			i.set("ui.language", string(l.lang))
		}
		i.has(l.quit)
		id := i.FindWindow("^" + l.window)
		k := vries
		k.Contact.ID = fmt.Sprint("c-taal-", n)
		k.Numbers = []string{fmt.Sprintf("+3169876%04d", 500+n)} // a first call each time
		must.Get(i.hub.AddInvented(t.Context(), k))(t)
		c := simulate.Call{ID: k.Contact.ID, Number: k.Numbers[0]}
		must.Do(t, p.Ring(t.Context(), c))
		i.shows("a card in "+string(l.lang), foundCardIn(t, card.Look{Language: l.lang}, c.Number, "", k.Contact))
		must.Do(t, p.End(t.Context(), c, "completed"))
		i.Until("no card", i.empty)
		if !strings.HasPrefix(i.Run("xdotool", "getwindowname", id), l.window) {
			t.Error("another title")
		}
	}
	if i.at().PID != resident || d.pid() != windows || windows == 0 || residents(i.office) != 1 {
		t.Errorf("resident %d is %d now, windows %d are %d", resident, i.at().PID, windows, d.pid())
	}
}
