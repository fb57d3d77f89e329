package e2e

import (
	"fmt"
	"image"
	"strings"
	"testing"
	"time"

	"github.com/godbus/dbus/v5"

	"wiebelt/internal/simulate"
	"wiebelt/internal/testutil/must"
	"wiebelt/internal/testutil/xtest"
)

// TestWayland tests the whole path of a call in each compositor, and
// in two without an X server: one with layers for cards, one without.
func TestWayland(t *testing.T) {
	t.Parallel()
	for _, name := range xtest.Compositors {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			onWayland(t, name, true)
		})
	}
	t.Run("layers", func(t *testing.T) {
		t.Parallel()
		onWayland(t, "sway", false)
	})
	t.Run("notifications", func(t *testing.T) {
		t.Parallel()
		withoutCards(t)
	})
}

// onWayland checks that a card appears sharp in its corner and takes no key from the program
// beside it; that a click opens the file; that programs without X can paste what is copied; and
// that the icon is there, and the missed call in the calls window, which needs an X server.
func onWayland(t *testing.T, compositor string, xwayland bool) {
	o := prepareOn(t, "", xtest.Options{Width: width, Height: height}, "[ui]\nlanguage = \"nl\"\ntheme = \"light\"\n\n[card]\nafter_call = \"1s\"\n")
	c := xtest.Connect(t, o.PlainBus())
	tray := xtest.HostTray(t, c)
	l, env := withLogind(t, false)
	o.Compositor(compositor, xwayland)
	notes := o.opener()
	o.start(env...)
	term := o.WaylandTerminal("--maximized")
	o.Move(300, 300)
	p := dial(o)
	// there reports whether a card's button is on screen: it has more of its
	// colour than the calls window, and another colour while the pointer is on it.
	there := func() bool { return xtest.Count(o.Crop(place(foundHeight)), accent, 0) > 5000 }
	// comes waits for a card that follows no other change of the screen:
	// weston places such a window only when it next has something to paint.
	comes := func(what string, want *image.RGBA) {
		t.Helper()
		if compositor == "weston" {
			o.Until("the screen is painted", func() bool {
				o.moveTo(image.Pt(300, 300))
				return there()
			})
		}
		o.shows(what, want)
	}

	first := simulate.Call{ID: "first", Number: "+31698760011"}
	must.Do(t, p.Ring(t.Context(), first))
	found := foundCard(t, first.Number, "", vries.Contact)
	comes("the card in its corner", found)
	name := "wayland-" + compositor
	if !xwayland {
		name += "-layers"
	}
	o.shot(name + "-card")
	l.lock(true)
	o.Until("no card on a locked screen", func() bool { return !there() })
	l.lock(false)
	comes("the card of the unlocked screen", found)
	o.opensFile(notes)

	o.typesThrough(p, term, 0)
	o.opensFile(notes)

	o.onCard(316, 230)
	pasted := func(who, program string, args ...string) {
		t.Helper()
		got := ""
		o.Until("the number, for "+who, func() bool {
			b, _ := o.Command(program, args...).Output()
			got = string(b)
			return got == "0698760011"
		}, func() []any { return []any{"has", got} })
	}
	pasted("a program that knows no X", "wl-paste", "--no-newline")

	if xwayland {
		o.aboveX(pasted, notes)
		o.shot(name + "-xterm")
	}

	must.Do(t, p.End(t.Context(), first, "missed"))
	i := &icon{office: o, t: t, bus: c}
	i.has("Oproepen… (51 gemist)")
	if xwayland {
		o.missedOf(c.Object(tray.Items()[0], "/StatusNotifierItem/menu"))
		o.shot(name + "-calls")
	}
	// weston shows full-screen programs above all else.
	if compositor == "weston" {
		return
	}
	o.moveTo(image.Pt(300, 300))
	o.Until("the first card has gone", func() bool { return !there() })
	o.WaylandTerminal("--fullscreen")
	must.Do(t, p.Ring(t.Context(), simulate.Call{ID: "second", Number: "+31698760011"}))
	o.Until("the card above a program that fills the screen", there)
	o.opensFile(notes)
	o.shot(name + "-full")
}

// aboveX brings another X window to the front and checks
// that the card is above it, for the pointer too.
func (o *office) aboveX(pasted func(who, program string, args ...string), notes string) {
	o.t.Helper()
	o.Spawn("xterm", "-geometry", "90x40+640+400")
	at := o.placeOf(o.FindWindow("xterm")).Min
	o.moveTo(at.Add(image.Pt(20, 20)))
	o.Turn(1)
	pasted("an X program", "xclip", "-o", "-selection", "clipboard")
	o.opensFile(notes)
}

// missedOf selects the missed calls in a menu and finds them in their window.
func (o *office) missedOf(menu dbus.BusObject) {
	o.t.Helper()
	var chosen time.Time
	o.Until("the missed calls in their window", func() bool {
		_, ids := xtest.TrayMenu(menu)
		// A menu that was just rebuilt does not know the old lines.
		if id, is := ids["Oproepen… (51 gemist)"]; is && time.Since(chosen) > 5*time.Second {
			must.Do(o.t, xtest.ChooseTray(menu, id))
			chosen = time.Now()
		}
		_, ok := o.see("Gemist (51)")
		return ok
	})
}

// moveTo moves the pointer to a place in steps, like a hand. XWayland loses track of a
// pointer that enters a window and clicks without moving in it: a motion of no pixels then
// counts from where the pointer left the last window.
func (o *office) moveTo(p image.Point) {
	o.t.Helper()
	o.Move(p.X-4, p.Y)
	o.Move(p.X, p.Y)
}

// onCard clicks at a place of the first card.
func (o *office) onCard(x, y int) {
	o.t.Helper()
	o.moveTo(place(foundHeight).Min.Add(image.Pt(x, y)))
	meant()
	o.Turn(1)
}

// opensFile clicks the button of the first card, and again if the card has changed just
// before the click, which is then ignored.
func (o *office) opensFile(notes string) {
	o.t.Helper()
	before := len(opened(notes))
	var clicked time.Time
	o.Until("the browser is started", func() bool {
		if len(opened(notes)) == before && time.Since(clicked) > 5*time.Second {
			o.onCard(122, 230)
			clicked = time.Now()
		}
		return len(opened(notes)) > before
	})
	if got, want := opened(notes)[before], o.hub.HubURL()+"/contacts/viewcontact/c-vries"; got != want {
		o.t.Errorf("opened %q, want %q", got, want)
	}
	o.moveTo(image.Pt(300, 300))
}

// withoutCards checks that if the screen can show no card, a notification says that
// there is a call, but not who is calling, and that a click on it opens the file.
func withoutCards(t *testing.T) {
	o := prepare(t, "[[line]]\nnumber = \"020 123 45 67\"\nname = \"Schade\"")
	s := xtest.ServeNotices(t, xtest.Connect(t, o.PlainBus()), "actions")
	notes := o.opener()
	o.Compositor("weston", false)
	o.start()
	if r, _ := o.doctor(); states(r, "cards") != "warn" || states(r, "screen") != "warn" {
		t.Errorf("the doctor says %+v", r)
	}
	p := dial(o)
	ring := simulate.Call{ID: "1", Number: "+31698760011", Name: "Iemand Anders", Line: "+31201234567"}
	must.Do(t, p.Ring(t.Context(), ring))
	shows := func(want string) {
		t.Helper()
		o.Until("the notification: "+want, func() bool { _, is := s.Now(); return is == want })
	}
	shows("Inkomende oproep op Schade")
	o.Until("the hub was asked", func() bool { return o.hub.Stats().Lookups > 0 })
	must.Do(t, p.Answer(t.Context(), simulate.Call{ID: "1"}))
	shows("") // answered: nothing left to show
	// A request for a window opens one or says why not; calls continue.
	if out, err := o.wiebelt().CombinedOutput(); err != nil {
		t.Errorf("ask for the calls window: %v: %s", err, out)
	}
	o.Until("the window is not there, and the user was told or could not be", func() bool {
		_, is := s.Now()
		return strings.Contains(is, "Wiebelt") || strings.Contains(o.log.String(), "the user was not told")
	})
	s.Dismiss()
	must.Do(t, p.End(t.Context(), simulate.Call{ID: "1"}, "completed"))

	ring.ID = "2"
	must.Do(t, p.Ring(t.Context(), ring))
	shows("Inkomende oproep op Schade")
	link := o.hub.HubURL() + "/contacts/viewcontact/c-vries"
	// A click before the hub has answered opens the calls window.
	o.Until("it is known who calls", func() bool {
		all := callsOf(t, o)
		return len(all) == 2 && all[0].Name == vries.Contact.Name() && all[1].Name == vries.Contact.Name()
	})
	o.Until("a click opens the file", func() bool {
		if id, _ := s.Now(); len(opened(notes)) == 0 && id != 0 {
			s.Emit("ActionInvoked", id, "default")
		}
		return len(opened(notes)) > 0
	})
	if got := opened(notes)[0]; got != link {
		t.Errorf("opened %q, want %q", got, link)
	}
	must.Do(t, p.End(t.Context(), simulate.Call{ID: "2"}, "missed"))
	shows("")
	all := fmt.Sprint(s.All())
	if !strings.Contains(all, "call.incoming") {
		t.Errorf("no notification is that of a call:\n%s", all)
	}
	for _, secret := range []string{"98760011", "98 76", "Vries", "Iemand", "100200"} {
		if strings.Contains(all, secret) {
			t.Errorf("%q stands in a notification:\n%s", secret, all)
		}
	}
}
