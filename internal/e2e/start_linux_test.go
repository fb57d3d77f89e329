package e2e

import (
	"image"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"testing"
	"time"

	"wiebelt/internal/testutil/must"
	"wiebelt/internal/testutil/phonetest"
	"wiebelt/internal/testutil/xtest"
)

// shot saves a picture of the screen for review.
func (o *office) shot(name string) {
	if dir := os.Getenv("WIEBELT_SHOTS"); dir != "" {
		keep(o.t, filepath.Join(dir, name+".png"), o.Screenshot())
	}
}

func (o *office) settings() string {
	b, err := os.ReadFile(o.settingsFile())
	if err != nil && !os.IsNotExist(err) {
		o.t.Fatal(err)
	}
	return string(b)
}

// green counts the pixels of a window that have the colour of an answered call,
// or of a connected link.
func (o *office) green() int { return o.colour(answeredGreen) }

func (o *office) colour(rgb uint32) int { return xtest.Count(o.Screenshot(), rgb, 0) }

// TestFirstStart: with an empty profile, the first start's window opens, once. Clicking a
// corner selects it and shows a test card there, a running baresip is found and connected
// with one click, and a real call is seen.
func TestFirstStart(t *testing.T) {
	t.Parallel()
	phone := phonetest.New(t)
	o := prepare(t, "")
	for _, f := range []string{o.welcomed(), filepath.Join(o.profile, "settings.toml")} { // an empty profile
		must.Do(t, os.Remove(f))
	}
	home := []string{"env", "HOME=" + phone.Home()}
	o.startAs(home, "run")
	id := o.FindWindow("^Welkom")

	o.clickOn("Waar komt de kaart?", image.Pt(-50, 45), "the corner is kept", func() bool { return strings.Contains(o.settings(), `corner = "top-left"`) })
	o.Until("a test card in that corner", func() bool { return o.Pixel(16+2, 16+60).B == 0xCB })
	o.Until("it goes by itself", func() bool { return o.Pixel(16+2, 16+60).B != 0xCB })
	if n := len(callsOf(t, o)); n != 0 {
		t.Errorf("the test card made %d calls", n)
	}

	o.clickOn("Koppelen", image.Point{}, "the phone is connected", func() bool { return strings.Contains(o.settings(), `address = "`+phone.Control+`"`) })
	o.Until("the link is up", func() bool { return strings.Contains(o.log.String(), "state=connected") })
	o.Until("the window says so", func() bool { return o.green() > 20 })

	before, white := o.green(), o.colour(0xFFFFFF)
	o.clickOn("Testen met een echte oproep", image.Point{}, "a test call is waited for", func() bool { return o.colour(0xFFFFFF) > white+1000 }) // its button is smaller
	phonetest.Place(t, phone.SIP, phonetest.Scenario{Number: "+31698760011", Name: "Iemand Anders", Ring: 90 * time.Second})
	o.Until("the call is seen", func() bool { return o.green() > before+60 })
	o.Until("a call in the history", func() bool { return len(callsOf(t, o)) == 1 })

	// Once closed, it does not open again.
	o.Run("xdotool", "windowactivate", "--sync", id, "key", "alt+F4")
	o.Until("the window is gone", func() bool {
		return !slices.Contains(o.Windows("^Welkom"), id)
	})
	must.Get(os.Stat(o.welcomed()))(t)
}
