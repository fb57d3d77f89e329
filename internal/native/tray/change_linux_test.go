package tray

import (
	"bytes"
	"encoding/json"
	"fmt"
	"slices"
	"strings"
	"testing"
	"time"

	"github.com/godbus/dbus/v5"

	"wiebelt/internal/testutil/must"
	"wiebelt/internal/testutil/xtest"
)

// TestAmended checks that lines of which only the text changes stay the same lines, so that an
// open menu stays open and a click under way hits its target.
func TestAmended(t *testing.T) {
	icon := shownOn(t, calls)
	kid, dbusMenu := icon.kid, icon.menu
	_, before := xtest.TrayMenu(dbusMenu)
	m := calls
	m.Items = slices.Clone(calls.Items)
	m.Items[0].Title, m.Items[2].Disabled = "De_verbinding is weg.", true
	kid.set(m)
	var after map[string]int32
	icon.Until("the line that reads differently", func() bool {
		var got []string
		got, after = xtest.TrayMenu(dbusMenu)
		// Desktops treat a single underscore as the mark of a shortcut.
		return slices.Equal(got, []string{"De__verbinding is weg.", "-", "Oproepen…", "Afsluiten"})
	})
	if after["De__verbinding is weg."] != before["Klaar."] || after["Afsluiten"] != before["Afsluiten"] {
		t.Errorf("lines %v became %v", before, after)
	}
	enabled := func(id int32) any {
		var v dbus.Variant
		must.Do(t, dbusMenu.Call("com.canonical.dbusmenu.GetProperty", 0, id, "enabled").Store(&v))
		return v.Value()
	}
	icon.Until("disabled", func() bool { return enabled(after["Oproepen…"]) == false })
	m.Items = slices.Clone(m.Items)
	m.Items[2].Disabled = false
	kid.set(m)
	icon.Until("enabled again", func() bool { return enabled(after["Oproepen…"]) == true })
	must.Do(t, xtest.ChooseTray(dbusMenu, after["Oproepen…"]))
	kid.says("chosen calls")

	// A line that does something else is another line.
	m.Items = slices.Clone(m.Items)
	m.Items[2].ID, m.Items[2].Title = "doctor", "Controle"
	kid.set(m)
	icon.Until("another line", func() bool { _, after = xtest.TrayMenu(dbusMenu); return after["Controle"] != 0 })
	must.Do(t, xtest.ChooseTray(dbusMenu, after["Controle"]))
	kid.says("chosen doctor")
}

// TestClicksWhileBuilding checks that clicks on a menu that is being replaced do no harm and
// never choose a line other than the one clicked.
func TestClicksWhileBuilding(t *testing.T) {
	icon := shownOn(t, calls)
	kid, dbusMenu := icon.kid, icon.menu
	ended := make(chan struct{})
	go func() {
		defer close(ended)
		for i := range int32(600) {
			_ = xtest.ChooseTray(dbusMenu, i%400)
		}
	}()
	go func() { _ = kid.Wait() }() // drains what the tray prints
	for i := 0; ; i++ {
		m := calls
		m.Items = []Item{{ID: fmt.Sprint("line", i), Title: fmt.Sprint(i)}, {Separator: true}, {ID: "quit", Title: "Afsluiten"}}
		kid.set(m)
		select {
		case <-ended:
			icon.Until("the last menu", func() bool {
				got, _ := xtest.TrayMenu(dbusMenu)
				return slices.Equal(got, []string{fmt.Sprint(i), "-", "Afsluiten"})
			})
			return
		case <-time.After(time.Millisecond):
		}
	}
}

// TestFirstPicture checks that an item is complete by
// the time it is registered with a tray host.
func TestFirstPicture(t *testing.T) {
	m := calls
	m.State, m.Sentence = LinkLost, "De verbinding is weg."
	item := shownOn(t, m).item
	for name, want := range map[string]string{
		"Id": "Wiebelt", "Title": "Wiebelt", // the same for every process
		"ToolTip": "Wiebelt – De verbinding is weg.", "IconPixmap": "[[48 48 ",
		"ItemIsMenu": "false", // a host sends a mere menu no left clicks
	} {
		if v := must.Get(item.GetProperty("org.kde.StatusNotifierItem." + name))(t); !strings.Contains(fmt.Sprint(v.Value()), want) {
			t.Errorf("%s: %.40v", name, v)
		}
	}
}

// calledFor connects to a bus and returns a channel with every call of a
// method, including calls that nobody answers.
func calledFor(t *testing.T, address, member string) <-chan *dbus.Message {
	t.Helper()
	c := xtest.Connect(t, address)
	rules := []string{"type='method_call',member='" + member + "'"}
	must.Do(t, c.BusObject().Call("org.freedesktop.DBus.Monitoring.BecomeMonitor", 0, rules, uint32(0)).Err)
	heard := make(chan *dbus.Message, 16)
	c.Eavesdrop(heard)
	return heard
}

// TestLateHost checks that a tray host that starts after the tray gets the icon too, and that
// nothing is printed about its absence until then.
func TestLateHost(t *testing.T) {
	s, address, c := ownBus(t)
	tries := calledFor(t, address, "RegisterStatusNotifierItem")
	cmd := command(t, busVar+"="+address)
	var out bytes.Buffer
	cmd.Stdout, cmd.Stderr = &out, &out
	in := must.Get(cmd.StdinPipe())(t)
	must.Do(t, cmd.Start())
	must.Do(t, json.NewEncoder(in).Encode(calls))
	// The library looks for a host once, and so do we; neither has found one.
	s.Until("the tray has looked for a host", func() bool { return len(tries) >= 2 })
	h := xtest.HostTray(t, c)
	s.Until("registered", func() bool { return len(h.Items()) > 0 })
	_ = in.Close()
	if err := cmd.Wait(); err != nil || out.Len() > 0 {
		t.Errorf("%v, and it said %q", err, &out)
	}
}

// TestRegisteredAfterAPrompt covers a flaw of the library: it watches for panels on
// a connection that it shares with the keyring, and stops at the first foreign
// signal, such as that of an answered prompt. A panel that appears afterwards must
// show the icon all the same, and only once.
func TestRegisteredAfterAPrompt(t *testing.T) {
	icon := shownOn(t, calls)
	c, h, first := icon.c, icon.host, icon.name
	xtest.SignalAll(t, c, "/org/freedesktop/secrets/prompt/p1", "org.freedesktop.Secret.Prompt", "Completed", false, dbus.MakeVariant(""))
	for range 3 {
		must.Get(c.ReleaseName(watcher))(t)
		h.Forget()
		xtest.Own(t, c, watcher)
		icon.Until("registered again", func() bool { return len(h.Items()) > 0 })
		for _, item := range h.Items() {
			if item != first { // a panel would show a second icon
				t.Errorf("registered as %s and as %s", first, item)
			}
		}
	}
}
