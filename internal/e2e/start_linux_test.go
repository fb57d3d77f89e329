package e2e

import (
	"image"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"testing"
	"time"

	"github.com/godbus/dbus/v5"

	"wiebelt/internal/testutil/phonetest"
	"wiebelt/internal/testutil/xtest"
)

// shot keeps a picture of the screen for whoever wants to look.
func (o *office) shot(name string) {
	if dir := os.Getenv("WIEBELT_SHOTS"); dir != "" {
		keep(o.t, filepath.Join(dir, name+".png"), o.Screenshot())
	}
}

func (o *office) settings() string {
	b, err := os.ReadFile(filepath.Join(o.profile, "settings.toml"))
	if err != nil && !os.IsNotExist(err) {
		o.t.Fatal(err)
	}
	return string(b)
}

// green counts the pixels of a window that have the colour of a call that was
// taken, or of a link that is up.
func (o *office) green() int { return o.colour(answeredGreen) }

func (o *office) colour(rgb uint32) int { return xtest.Count(o.Screenshot(), rgb, 0) }

// TestFirstStart: from an empty profile the first start's window comes, once. A
// corner that is clicked holds and shows a test card, a real baresip that runs is
// found and connected by one click, and a real call is seen.
func TestFirstStart(t *testing.T) {
	t.Parallel()
	phone := phonetest.New(t)
	o := prepare(t, "")
	for _, f := range []string{o.welcomed(), filepath.Join(o.profile, "settings.toml")} { // an empty profile
		if err := os.Remove(f); err != nil {
			t.Fatal(err)
		}
	}
	home := []string{"env", "HOME=" + phone.Home()}
	o.startAs(home, "run")
	id := o.FindWindow("^Welkom")
	o.shot("first-start")

	o.clickOn("Waar komt de kaart?", image.Pt(-50, 45), "the corner is kept", func() bool { return strings.Contains(o.settings(), `corner = "top-left"`) })
	o.Until("a test card in that corner", func() bool { return o.Pixel(16+2, 16+60).B == 0xCB })
	o.shot("first-start-card")
	o.Until("it goes by itself", func() bool { return o.Pixel(16+2, 16+60).B != 0xCB })
	if n := len(callsOf(t, o)); n != 0 {
		t.Errorf("the test card made %d calls", n)
	}

	o.clickOn("Koppelen", image.Point{}, "the phone is connected", func() bool { return strings.Contains(o.settings(), `address = "`+phone.Control+`"`) })
	o.Until("the link is up", func() bool { return strings.Contains(o.log.String(), "state=connected") })
	o.Until("the window says so", func() bool { return o.green() > 20 })
	o.shot("first-start-connected")

	before, white := o.green(), o.colour(0xFFFFFF)
	o.clickOn("Testen met een echte oproep", image.Point{}, "a test call is waited for", func() bool { return o.colour(0xFFFFFF) > white+1000 }) // its button is smaller
	phonetest.Place(t, phone.SIP, phonetest.Scenario{Number: "+31698760011", Name: "Iemand Anders", Ring: 90 * time.Second})
	o.Until("the call is seen", func() bool { return o.green() > before+60 })
	o.shot("first-start-seen")
	o.Until("a call in the history", func() bool { return len(callsOf(t, o)) == 1 })

	// Closed, it does not come again.
	o.Run("xdotool", "windowactivate", "--sync", id, "key", "alt+F4")
	o.Until("the window is gone", func() bool {
		return !slices.Contains(o.Windows("^Welkom"), id)
	})
	if _, err := os.Stat(o.welcomed()); err != nil {
		t.Error(err)
	}
}

// TestLostRegistration: what opens links is taken away under the resident's
// feet; the menu says so and puts it back, and tel: stays whose it was.
func TestLostRegistration(t *testing.T) {
	t.Parallel()
	o := prepare(t, "")
	c, err := dbus.Connect(o.PlainBus())
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { _ = c.Close() })
	h := xtest.HostTray(t, c)
	if out, err := o.wiebelt("register").CombinedOutput(); err != nil {
		t.Fatalf("%v: %s", err, out)
	}
	list := filepath.Join(o.Dir, "config", "mimeapps.list")
	const other = "[Default Applications]\nx-scheme-handler/wiebelt=other.desktop;\nx-scheme-handler/tel=phone.desktop;\n"
	if err := os.WriteFile(list, []byte(other), 0o600); err != nil {
		t.Fatal(err)
	}
	for _, f := range []string{"wiebelt-link.desktop", "wiebelt.desktop"} {
		if err := os.Remove(filepath.Join(o.Dir, "data", "applications", f)); err != nil {
			t.Fatal(err)
		}
	}
	if err := os.Remove(filepath.Join(o.Dir, "config", "autostart", "wiebelt.desktop")); err != nil {
		t.Fatal(err)
	}
	o.start()
	o.Until("an icon", func() bool { return len(h.Items()) > 0 })
	menu := c.Object(h.Items()[0], "/StatusNotifierItem/menu")
	entries := func() map[string]int32 { _, ids := xtest.TrayMenu(menu); return ids }
	const (
		sentence = "Koppelingen van de telefoon (wiebelt:) openen Wiebelt niet meer. Kies Herstellen."
		scheme   = "Herstellen: koppelingen (wiebelt:)"
		start    = "Herstellen: starten bij het aanmelden"
	)
	choose := func(title string) {
		t.Helper()
		var id int32
		o.Until(title, func() bool { var ok bool; id, ok = entries()[title]; return ok })
		if err := xtest.ChooseTray(menu, id); err != nil {
			t.Fatal(err)
		}
		o.Until("no more "+title, func() bool { _, ok := entries()[title]; return !ok && len(entries()) > 0 })
	}
	o.Until("the sentence", func() bool { _, ok := entries()[sentence]; return ok })
	choose(scheme)
	b, err := os.ReadFile(list)
	if err != nil || !strings.Contains(string(b), "x-scheme-handler/wiebelt=wiebelt-link.desktop") || !strings.Contains(string(b), "x-scheme-handler/tel=phone.desktop;\n") {
		t.Errorf("%s, %v", b, err)
	}
	if _, err := os.Stat(filepath.Join(o.Dir, "config", "autostart", "wiebelt.desktop")); err == nil {
		t.Error("more was put back than was asked for")
	}
	choose(start)
	if _, ok := entries()[sentence]; ok {
		t.Error("all is back, and the sentence stays")
	}
	if out, err := o.wiebelt("register", "--check").CombinedOutput(); err != nil {
		t.Errorf("%v: %s", err, out)
	}
}
