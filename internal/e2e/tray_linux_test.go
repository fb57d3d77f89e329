package e2e

import (
	"fmt"
	"image"
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

// titles returns the menu's lines as sent to the panel, without separators.
func (i *icon) titles() []string {
	name := fmt.Sprintf("org.kde.StatusNotifierItem-%d-1", i.resident.Process.Pid)
	all, _ := xtest.TrayMenu(i.bus.Object(name, "/StatusNotifierItem/menu"))
	return slices.DeleteFunc(all, func(title string) bool { return title == "-" })
}

func (i *icon) lines() int { return len(i.titles()) }

// has waits for a line of the menu.
func (i *icon) has(title string) {
	i.t.Helper()
	i.Until("the menu's line "+title, func() bool { return slices.Contains(i.titles(), title) }, func() []any { return []any{i.titles()} })
}

// choose clicks on a line of the menu in the panel.
func (i *icon) choose(title string) {
	i.t.Helper()
	i.has(title)
	shown := i.panel.Lines(i.lines)
	line := slices.Index(i.titles(), title)
	if line < 0 || line >= len(shown) {
		i.t.Fatalf("%q is not in the menu any more: %q", title, i.titles())
	}
	r := shown[line]
	i.Click(r.Min.X+20, (r.Min.Y+r.Max.Y)/2, 1)
}

// windows returns the titles of our windows on the screen.
func (o *office) windows() string { return strings.Join(o.Titles("Wiebelt$"), "\n") }

// closeWindow closes a window of ours like its user would.
func (o *office) closeWindow(title string) {
	o.t.Helper()
	id := o.FindWindow("^" + title)
	o.Run("wmctrl", "-i", "-c", id)
	o.Until("no window "+title, func() bool { return !strings.Contains(o.windows(), title) }, func() []any { return []any{o.windows()} })
}

// closeCard clicks the cross of the first card, at its top right.
func (o *office) closeCard() {
	const right = width - 16
	column := o.look(image.Rect(right-200, 0, right-199, height-16))
	top := column.Rect.Dy() - 1
	for ground := column.RGBAAt(0, 0); top > 0 && column.RGBAAt(0, top) != ground; {
		top--
	}
	o.Click(right-20, top+21, 1)
}

// loseRegistration removes the handler of our links and the start at
// log-on, as another program may. The function it returns restores them
// through the menu, line by line, and checks that tel: keeps its handler.
func (i *icon) loseRegistration() (putBack func()) {
	t := i.t
	t.Helper()
	i.run("register")
	list := filepath.Join(i.Dir, "config", "mimeapps.list")
	autostart := filepath.Join(i.Dir, "config", "autostart", "wiebelt.desktop")
	must.Do(t, os.WriteFile(list, []byte("[Default Applications]\nx-scheme-handler/wiebelt=other.desktop;\nx-scheme-handler/tel=phone.desktop;\n"), 0o600))
	for _, f := range []string{"wiebelt-link.desktop", "wiebelt.desktop"} {
		must.Do(t, os.Remove(filepath.Join(i.Dir, "data", "applications", f)))
	}
	must.Do(t, os.Remove(autostart))
	return func() {
		t.Helper()
		i.has("Links van de telefoon (wiebelt:) openen Wiebelt niet meer. Kies Herstellen.")
		for n, line := range []string{"Herstellen: links (wiebelt:)", "Herstellen: starten bij het aanmelden"} {
			i.choose(line)
			i.Until("no more "+line, func() bool { all := i.titles(); return len(all) > 0 && !slices.Contains(all, line) })
			if exists(autostart) != (n == 1) {
				t.Errorf("%s: put back what starts at log-on: %v", line, n == 0)
			}
		}
		if b := string(must.Get(os.ReadFile(list))(t)); !strings.Contains(b, "x-scheme-handler/wiebelt=wiebelt-link.desktop") || !strings.Contains(b, "x-scheme-handler/tel=phone.desktop;\n") {
			t.Errorf("%s", b)
		}
		i.run("register", "--check")
	}
}

const support = "[support]\ncontact = \"Jan (IT), toestel 140\"\n"

// TestTray checks that in a real panel, every line of the menu does what it says, and
// that the icon shows the state and is back after the panel was killed and restarted.
func TestTray(t *testing.T) {
	t.Parallel()
	i := onBus(t, prepare(t, support+"[card]\nafter_call = \"1s\"\n"))
	i.panel = i.Panel()
	putBack := i.loseRegistration()
	i.start()
	i.panel.Icon()
	putBack()
	notes := i.opener("")
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
	if all := strings.Join(i.titles(), "|"); strings.Contains(all, "aanleveren") || !strings.Contains(all, "Nog geen oproepen") {
		t.Errorf("the menu is %s", all)
	}
	ring("1", "+31698760011")
	i.Until("a card", func() bool { return !i.empty() })
	gone("1")
	ring("2", "0698760012")
	gone("2")
	i.has("Oproepen… (2 gemist)")
	var lasts []string
	for _, title := range i.titles() {
		if strings.Contains(title, " · ") {
			lasts = append(lasts, title)
		}
		if strings.Contains(title, "Vries") {
			t.Errorf("a name stands in the menu: %q", title)
		}
	}
	if len(lasts) != 2 || !strings.HasSuffix(lasts[0], "06 98 76 00 12") || !strings.HasSuffix(lasts[1], "06 98 76 00 11") {
		t.Fatalf("the last calls are %q", lasts)
	}
	window := func(line, title string) {
		t.Helper()
		i.choose(line)
		i.FindWindow("^" + title)
		i.closeWindow(title)
	}
	for _, last := range lasts {
		i.choose(last)
		i.Until("the card of "+last, func() bool { return !i.empty() })
		i.Until("the card is closed", func() bool {
			i.closeCard()
			return i.empty()
		})
		if w := i.windows(); strings.Contains(w, "Oproepen") {
			t.Errorf("%q opened %q besides its card", last, w)
		}
	}
	window("Oproepen… (2 gemist)", "Oproepen")
	window("Nummer opzoeken…", "Nummer opzoeken")
	window("Help…", "Help")
	before := len(opened(notes))
	i.choose("Hub openen")
	i.Until("the hub's page", func() bool { return len(opened(notes)) == before+1 })
	if got := opened(notes)[before]; got != i.hub.HubURL() {
		t.Errorf("opened %q, not the hub", got)
	}
	for _, pause := range []string{"1 uur pauzeren", "Pauzeren tot morgen"} {
		i.choose(pause)
		i.looks("paused", "Gepauzeerd tot ")
		i.choose("Doorgaan")
		i.has(pause)
	}
	window("Instellingen…", "Instellingen")
	// Every other line opens a window.
	for _, line := range i.titles() {
		switch {
		case !strings.HasSuffix(line, "…") && line != "Telefoon koppelen", line == "Nummer opzoeken…", line == "Help…", line == "Instellingen…":
			continue
		}
		i.choose(line)
		var got string
		i.Until("a window of "+line, func() bool { got = strings.TrimSpace(i.windows()); return got != "" })
		i.closeWindow(strings.TrimSuffix(got, " – Wiebelt"))
	}
	i.panel.Kill()
	i.Until("no icon any more", func() bool { return i.panel.Shown().Empty() })
	i.panel.Start()
	i.panel.Icon()
	// While paused, calls make no card but are stored.
	i.choose("1 uur pauzeren")
	i.has("Doorgaan")
	ring("3", "+31698760011")
	i.Until("kept", func() bool { return len(callsOf(t, i.office)) == 3 })
	if !i.empty() {
		t.Error("a card came while paused")
	}
	gone("3")
	i.choose("Doorgaan")
	i.has("1 uur pauzeren")
	i.states()
	i.choose("Wiebelt afsluiten")
	i.Until("no icon after quitting", func() bool { return i.panel.Shown().Empty() })
	// Quitting is final.
	quit := i.wiebelt("ring", "--", "0698760011")
	if err := quit.Run(); quit.ProcessState.ExitCode() != 4 {
		t.Errorf("a call after quitting: %v", err)
	}
}
