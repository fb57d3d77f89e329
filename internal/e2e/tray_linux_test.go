package e2e

import (
	"fmt"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"testing"

	"github.com/godbus/dbus/v5"

	"wiebelt/internal/simulate"
	"wiebelt/internal/testutil/must"
	"wiebelt/internal/testutil/xtest"
)

// icon is the resident's icon in a real panel, with its menu.
type icon struct {
	*office
	t     *testing.T
	panel *xtest.Panel
	bus   *dbus.Conn
}

// onBus gives an office a bus, on which the menu can be read even without a panel. The
// resident must not be running yet.
func onBus(t *testing.T, o *office) *icon {
	t.Helper()
	return &icon{office: o, t: t, bus: xtest.Connect(t, o.Bus())}
}

func (i *icon) menu() dbus.BusObject {
	return i.bus.Object(fmt.Sprintf("org.kde.StatusNotifierItem-%d-1", i.resident.Process.Pid), "/StatusNotifierItem/menu")
}

// titles returns the menu's lines as sent to the panel, without separators.
func (i *icon) titles() []string {
	all, _ := xtest.TrayMenu(i.menu())
	return slices.DeleteFunc(all, func(title string) bool { return title == "-" })
}

// has waits for a line of the menu.
func (i *icon) has(title string) {
	i.t.Helper()
	i.Until("the menu's line "+title, func() bool { return slices.Contains(i.titles(), title) }, func() []any { return []any{i.titles()} })
}

// choose chooses a line of the menu, as a panel reports it.
func (i *icon) choose(title string) {
	i.t.Helper()
	i.Until("a choice of "+title, func() bool {
		menu := i.menu()
		_, ids := xtest.TrayMenu(menu)
		id, is := ids[title]
		return is && xtest.ChooseTray(menu, id) == nil
	}, func() []any { return []any{i.titles()} })
}

// windows returns the titles of our windows on the screen.
func (o *office) windows() string { return strings.Join(o.Titles("– Wiebelt$"), "\n") }

// closeWindow closes a window of ours like its user would.
func (o *office) closeWindow(title string) {
	o.t.Helper()
	id := o.FindWindow("^" + title)
	o.Run("wmctrl", "-i", "-c", id)
	o.Until("no window "+title, func() bool { return !strings.Contains(o.windows(), title) }, func() []any { return []any{o.windows()} })
}

const support = "[support]\ncontact = \"Jan (IT), toestel 140\"\n"

// TestTray checks that every line of the menu does what it says, and that a real panel shows
// the icon of the state, as long as the program runs.
func TestTray(t *testing.T) {
	t.Parallel()
	i := onBus(t, prepare(t, support+"[card]\nafter_call = \"1s\"\n"))
	i.panel = i.Panel()
	i.run("register")
	autostart := filepath.Join(i.Dir, "config", "autostart", "wiebelt.desktop")
	must.Do(t, os.Remove(autostart)) // as another program may
	i.start()
	i.choose("Herstellen: starten bij het aanmelden")
	i.Until("it starts at log-on again", func() bool { return exists(autostart) })
	notes := i.opener()
	p := dial(i.office)
	ring := func(id, number string) {
		t.Helper()
		must.Do(t, p.Ring(t.Context(), simulate.Call{ID: id, Number: number}))
	}
	gone := func(id string) {
		t.Helper()
		must.Do(t, p.End(t.Context(), simulate.Call{ID: id}, "missed"))
		i.Until("no card", i.empty)
	}
	i.looks("ready", "Vandaag nog geen oproep ontvangen. Bel uzelf om te testen.")
	ring("1", "+31698760011")
	i.Until("a card", func() bool { return !i.empty() })
	gone("1")
	i.has("Oproepen… (1 gemist)")
	var last string
	i.Until("the last call", func() bool {
		all := i.titles()
		n := slices.IndexFunc(all, func(title string) bool { return strings.HasSuffix(title, " · 06 98 76 00 11") })
		if n >= 0 {
			last = all[n]
		}
		return n >= 0
	})
	i.choose(last)
	i.Until("the card of the last call", func() bool { return !i.empty() })
	if w := i.windows(); w != "" {
		t.Errorf("%q is opened besides the card", w)
	}
	i.choose("Hub openen")
	i.Until("the hub's page", func() bool { return len(opened(notes)) == 1 })
	if got := opened(notes)[0]; got != i.hub.HubURL() {
		t.Errorf("opened %q, not the hub", got)
	}
	// While paused, calls make no card but are stored.
	i.choose("Pauzeren tot morgen")
	i.looks("paused", "Gepauzeerd tot ")
	ring("2", "0698760012")
	i.Until("kept", func() bool { return len(callsOf(t, i.office)) == 2 })
	if !i.empty() {
		t.Error("a card came while paused")
	}
	gone("2")
	i.choose("Doorgaan")
	i.choose("1 uur pauzeren")
	i.choose("Doorgaan")
	i.has("1 uur pauzeren")
	for _, opens := range [][2]string{
		{"Oproepen… (2 gemist)", "Oproepen"},
		{"Nummer opzoeken…", "Nummer opzoeken"},
		{"Testen met een echte oproep…", "Testen met een echte oproep"},
		{"Telefoon koppelen", "Telefoon koppelen"},
		{"Instellingen…", "Instellingen"},
		{"Wiebelt controleren", "Controle"},
		{"Help…", "Help"},
	} {
		i.choose(opens[0])
		i.closeWindow(opens[1])
	}
	i.states()
	i.choose("Wiebelt afsluiten")
	i.Until("no icon after quitting", func() bool { return i.panel.Shown().Empty() })
	// Quitting is final.
	quit := i.wiebelt("ring", "--", "0698760011")
	if err := quit.Run(); quit.ProcessState.ExitCode() != 4 {
		t.Errorf("a call after quitting: %v", err)
	}
}
