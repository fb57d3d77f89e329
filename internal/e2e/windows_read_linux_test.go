package e2e

import (
	"fmt"
	"os"
	"path/filepath"
	"strings"
	"testing"
	"time"

	"wiebelt/internal/core/call"
	"wiebelt/internal/instance/windowapi"
	"wiebelt/internal/store/history"
	"wiebelt/internal/testutil/must"
)

// hearer simulates a user who knows the screen only through what Orca says.
type hearer struct {
	*office
	said func() string
	from int // what was said before is ignored
}

// hears waits until Orca says something, after everything heard before.
func (l *hearer) hears(what string) {
	l.t.Helper()
	l.Until("Orca says "+what, func() bool {
		i := strings.Index(l.said()[l.from:], what)
		if i >= 0 {
			l.from += i + len(what)
		}
		return i >= 0
	}, func() []any { return []any{"since then:", l.said()[l.from:]} })
}

// press presses a key and waits until Orca says its result.
func (l *hearer) press(key, what string) {
	l.t.Helper()
	l.Key(key)
	l.hears(what)
}

// missed gives an office calls that a colleague answered,
// and one that no one did, before it is started.
func (o *office) missed() {
	o.t.Helper()
	store := must.Get(history.Open(filepath.Join(o.profile, "history.db"), history.KeepFull, 7, time.Now))(o.t)
	defer store.Close()
	for i := range 5 {
		e := history.Entry{Rang: time.Now().Add(time.Duration(i-40) * time.Minute), Number: fmt.Sprintf("+3120555000%d", i), NumberDisplay: fmt.Sprint("020 555 00 0", i),
			Outcome: history.OutcomeNobody, Result: history.ResultAnsweredElsewhere, Kind: call.KindCommand}
		if i == 2 {
			e.Number, e.NumberDisplay, e.Result = "+31698760011", "06 98 76 00 11", history.ResultMissed
			e.Outcome, e.Name, e.ContactID, e.Matches = history.OutcomeFound, "J. de Vries", "c-vries", 1
			e.Link = o.hub.HubURL() + "/contacts/viewcontact/c-vries"
		}
		must.Get(store.Put(o.t.Context(), e))(o.t)
	}
}

// TestWindowsAreRead: using only keys and what real Orca says, a
// blind user finds a missed call among others and opens its file; and
// changes a setting, hears that it is invalid, and saves a valid one.
func TestWindowsAreRead(t *testing.T) {
	t.Parallel()
	o := prepare(t, "[ui]\nlanguage = \"nl\"")
	o.Bus()
	notes := o.opener()
	o.missed()
	o.start()
	l := &hearer{office: o, said: o.orca()}
	l.callFound(notes)
	l.settingChanged()
}

func (l *hearer) callFound(notes string) {
	t := l.t
	t.Helper()
	l.openWindow(windowapi.WindowCalls, "PATH="+l.Dir+":"+os.Getenv("PATH"))
	id := l.FindWindow("^Oproepen")
	l.Run("xdotool", "windowactivate", "--sync", id)
	l.hears("Oproepen – Wiebelt frame")
	l.press("Tab", "1 van 5")
	l.press("Down", "2 van 5")
	if !strings.Contains(l.said(), "J. de Vries, Gemist") {
		t.Errorf("the missed call was not said: %q", l.said())
	}
	l.press("Home", "J. de Vries, Gemist")
	l.hears("1 van 5")
	l.press("Menu", "menu")
	l.press("Down", "Relatie openen")
	l.press("Escape", "J. de Vries, Gemist")
	l.Key("Return")
	l.Until("the file is opened", func() bool { return len(opened(notes)) == 1 })
	l.Run("wmctrl", "-i", "-c", id)
}

func (l *hearer) settingChanged() {
	l.t.Helper()
	l.openWindow(windowapi.WindowSettings)
	id := l.FindWindow("^Instellingen")
	l.Run("xdotool", "windowactivate", "--sync", id)
	l.hears("Instellingen – Wiebelt frame")
	for _, at := range []string{"Kaart", "Hoek", "Scherm", "Relatienummer", "Adres", "Omhoog", "Producent", "Omhoog", "Laatst", "Omhoog", "Kaart inklappen na"} {
		l.press("Tab", at)
	}
	l.Key("ctrl+a")
	l.Type("9999", 0)
	l.hears("notification Een aantal seconden van")
	l.Key("ctrl+a")
	l.Type("45", 0)
	for range 10 { // back to the first, and once more to the last
		l.Key("shift+Tab")
	}
	l.press("shift+Tab", "Opslaan")
	l.press("Return", "notification Opgeslagen")
	l.press("shift+Tab", "Terugbellen entry")
	l.Type("x", 0)
	l.Run("wmctrl", "-i", "-c", id) // this would lose what was typed
	l.hears("Er zijn wijzigingen die nog niet zijn opgeslagen. dialog")
	l.hears("push button")
	l.press("Return", "Terugbellen entry")
}
