package e2e

import (
	"fmt"
	"image"
	"os"
	"strconv"
	"strings"
	"syscall"
	"testing"
	"time"

	"wiebelt/internal/simulate"
	"wiebelt/internal/testutil/must"
	"wiebelt/internal/testutil/xtest"
	"wiebelt/internal/ui/card"
)

// managers lists the window managers under which cards are tested.
var managers = []string{"openbox", "xfwm4"}

// prepareUnder is prepare under a window manager.
func prepareUnder(t testing.TB, wm, more string) *office {
	t.Helper()
	h, value := startHub(t)
	return prepareOn(t, h, h.BaseURL(), value, wm, xtest.Options{Width: width, Height: height}, more)
}

// TestNoKeyIsLost types 500 keys into another window while 50 calls come and go.
func TestNoKeyIsLost(t *testing.T) {
	t.Parallel()
	for _, wm := range managers {
		t.Run(wm, func(t *testing.T) {
			t.Parallel()
			o := prepareUnder(t, wm, "")
			o.start()
			term := o.Terminal(image.Rect(40, 40, 600, 400))
			o.typesThrough(dial(o), term, 60*time.Millisecond, func(n int) string {
				if n%3 == 0 {
					return "+31698760011"
				}
				return strangersNumber(n)
			})
		})
	}
}

// typesThrough: of 500 keys typed while 50 calls come, stay for a while and go, none is
// lost. The nth call comes from number.
func (o *office) typesThrough(p *simulate.Phone, term *xtest.Terminal, stays time.Duration, number func(n int) string) {
	o.t.Helper()
	before, keys, done := term.Text(), strings.Repeat("abcdefghij", 50), make(chan error, 1)
	go func() {
		var err error
		for n := 0; n < 50 && err == nil; n++ {
			c := simulate.Call{ID: fmt.Sprint("typed", n), Number: number(n)}
			if err = p.Ring(o.t.Context(), c); err == nil {
				time.Sleep(stays) // spreads the calls over the typing
				err = p.End(o.t.Context(), c, "missed")
			}
		}
		done <- err
	}()
	o.Type(keys, 8)
	must.Do(o.t, <-done)
	term.WaitText(before + keys)
}

// strangersNumber returns the number of the nth caller without a contact.
func strangersNumber(n int) string { return fmt.Sprintf("06987%05d", n) }

// meant waits until a key can be intentional: after the focus has arrived, and after
// its target has changed.
func meant() { time.Sleep(400 * time.Millisecond) }

// clipboard waits until the clipboard contains a text.
func (o *office) clipboard(want string) {
	o.t.Helper()
	got := ""
	o.Until("the clipboard has the text", func() bool {
		b, _ := o.Command("xclip", "-o", "-selection", "clipboard").Output()
		got = string(b)
		return got == want
	}, func() []any { return []any{"has", got, "want", want} })
}

// TestHotkey tests the whole path of the keyboard: the card gets the focus on request, does
// what it offers, and returns the focus.
func TestHotkey(t *testing.T) {
	t.Parallel()
	o := prepare(t, "")
	notes := o.opener("exit 0")
	o.start()
	term := o.Terminal(image.Rect(40, 40, 600, 400))
	p := dial(o)
	ring := func(c simulate.Call) {
		t.Helper()
		must.Do(t, p.Ring(t.Context(), c))
	}
	typed := ""
	write := func(s string) { t.Helper(); o.Type(s, 4); typed += s; term.WaitText(typed) }
	was := o.FocusedWindow()
	take := func() {
		t.Helper()
		o.Key("ctrl+alt+w")
		o.Until("the card has the keyboard", func() bool { return o.FocusedWindow() != was })
	}
	giveBack := func() {
		t.Helper()
		o.Key("Escape")
		o.Until("the keyboard is back", func() bool { return o.FocusedWindow() == was })
	}

	ring(simulate.Call{ID: "1", Number: "+31698760011"})
	o.shows("the card", foundCard(t, "+31698760011", "", vries.Contact))
	meant()
	write("voor")
	windows := o.Run("wmctrl", "-l")
	take()
	meant()
	o.Key("ctrl+c")
	o.clipboard("0698760011")
	o.Key("ctrl+r")
	o.clipboard("100200")
	o.Key("ctrl+d")
	link := o.hub.HubURL() + "/contacts/viewcontact/"
	o.Until("the line for a colleague", func() bool {
		b, _ := o.Command("xclip", "-o", "-selection", "clipboard").Output()
		return strings.HasPrefix(string(b), "J. de Vries · ") && strings.HasSuffix(string(b), " · "+link+"c-vries") &&
			strings.Contains(string(b), " 100200 · 0698760011 · ")
	})
	if now := o.Run("wmctrl", "-l"); now != windows || strings.Contains(now, "Wiebelt") {
		t.Errorf("the task bar's windows are\n%s, were\n%s", now, windows)
	}
	o.Key("Return")
	o.Until("Enter opens the file", func() bool { return len(opened(notes)) == 1 })
	giveBack()
	write("tussen")

	must.Do(t, p.End(t.Context(), simulate.Call{ID: "1"}, "missed"))
	o.Until("no card", o.empty)
	ring(simulate.Call{ID: "2", Number: "+31201234567"})
	family := lookUp(t, o, "+31201234567")
	if len(family) != 3 {
		t.Fatalf("%d contacts", len(family))
	}
	o.shows("three contacts", foundCard(t, "+31201234567", "", family...))
	meant()
	take()
	meant()
	want := []string{link + "c-vries"}
	for _, key := range []struct {
		keys []string
		row  int
	}{{[]string{"Down", "Down", "Return"}, 1}, {[]string{"3"}, 2}, {[]string{"Up", "Up", "Return"}, 0}} {
		o.Key(key.keys...)
		want = append(want, link+family[key.row].ID)
		o.Until(fmt.Sprint("keys open a file: ", key.keys), func() bool { return len(opened(notes)) == len(want) })
		meant()
	}
	if got := opened(notes); strings.Join(got, " ") != strings.Join(want, " ") {
		t.Errorf("opened %q, want %q", got, want)
	}
	giveBack()
	write("na")

	// Alt+Tab switches between the terminals, never to the card.
	other := o.Terminal(image.Rect(640, 40, 1200, 400))
	o.Run("wmctrl", "-i", "-a", term.ID)
	o.Until("the first terminal is in front", func() bool { return o.FocusedWindow() == was })
	o.Key("alt+Tab")
	o.Until("the other terminal is in front", func() bool { return o.FocusedWindow() != was })
	o.Type("hier", 4)
	other.WaitText("hier")
	term.WaitText(typed)
}

// TestFullScreen: a card appears above a full-screen program, or waits for its end, as set
// in card.over_fullscreen. During a presentation, no names are shown.
func TestFullScreen(t *testing.T) {
	t.Parallel()
	for wm, over := range map[string]bool{"openbox": false, "xfwm4": true} {
		t.Run(wm, func(t *testing.T) {
			t.Parallel()
			o := prepareUnder(t, wm, "[card]\nover_fullscreen = "+strconv.FormatBool(over))
			o.start()
			film := o.Terminal(image.Rect(40, 40, 600, 400))
			fill := func(how string) {
				t.Helper()
				o.Run("wmctrl", "-i", "-r", film.ID, "-b", how+",fullscreen")
			}
			fill("add")
			corner := image.Pt(width-20, height-20)
			o.Until("the film fills the screen", func() bool {
				return strings.Contains(o.Run("xprop", "-id", film.ID, "_NET_WM_STATE"), "FULLSCREEN") && strings.Contains(o.Run("xwininfo", "-id", film.ID), "Height: 1024")
			})
			number, full := vriesCard(t, card.Look{Privacy: card.PrivacyNumber}, 1), vriesCard(t, card.Look{}, 1)
			p := dial(o)
			must.Do(t, p.Ring(t.Context(), simulate.Call{ID: "1", Number: "+31698760011"}))
			if over {
				o.shows("the card above the film", number)
				fill("remove")
				o.shows("the whole card beside the window", full)
				return
			}
			before := o.Pixel(corner.X, corner.Y)
			waits := func(n int) {
				t.Helper()
				o.Until("cards wait", func() bool {
					return strings.Count(o.log.String(), "fills the screen\" now=true") == n
				})
			}
			waits(1)
			if got := o.Pixel(corner.X, corner.Y); got != before {
				t.Error("something is above the film")
			}
			fill("remove")
			o.shows("the card after the film", full)
			fill("add")
			waits(2)
			o.Until("the film is whole again", func() bool { return o.Pixel(corner.X, corner.Y) == before })
		})
	}
}

// stop ends the resident and waits until it is gone.
func (o *office) stop() {
	o.t.Helper()
	_ = o.resident.Process.Signal(syscall.SIGTERM)
	_ = o.resident.Wait()
}

func exists(path string) bool {
	_, err := os.Stat(path)
	return err == nil
}

// TestEveryHotkey: with real keys, while somebody types elsewhere, the card's contact
// is opened, the card gets the focus, and is closed. One whose keys another program uses
// does not affect the others.
func TestEveryHotkey(t *testing.T) {
	t.Parallel()
	o := prepare(t, "[card]\nhotkey_open = \"Ctrl+Alt+Shift+O\"\nhotkey_hear = \"Ctrl+Alt+W\"\nhotkey_close = \"Ctrl+Alt+Shift+X\"")
	notes := o.opener("exit 0")
	o.start()
	term := o.Terminal(image.Rect(40, 40, 600, 400))
	was := o.FocusedWindow()
	p := dial(o)
	must.Do(t, p.Ring(t.Context(), simulate.Call{ID: "1", Number: "+31698760011"}))
	o.shows("the card", foundCard(t, "+31698760011", "", vries.Contact))
	meant()
	o.Key("ctrl+alt+shift+o")
	o.Until("the contact is opened", func() bool { return len(opened(notes)) == 1 })
	if now := o.FocusedWindow(); now != was {
		t.Errorf("the keyboard went from %x to %x", was, now)
	}
	o.Key("ctrl+alt+w")
	o.Until("the card has the keyboard", func() bool { return o.FocusedWindow() != was })
	o.Key("Escape")
	o.Until("the keyboard is back", func() bool { return o.FocusedWindow() == was })
	o.Key("ctrl+alt+shift+x")
	o.Until("no card", o.empty)
	o.Type("gewoon door", 4)
	term.WaitText("gewoon door")
	if out, _ := o.wiebelt("doctor").CombinedOutput(); !strings.Contains(string(out), "card.hotkey_hear") || strings.Contains(string(out), "card.hotkey_open") {
		t.Errorf("doctor:\n%s", out)
	}
}
