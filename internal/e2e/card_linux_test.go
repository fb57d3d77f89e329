package e2e

import (
	"fmt"
	"image"
	"os"
	"strings"
	"syscall"
	"testing"
	"time"

	"wiebelt/internal/simulate"
	"wiebelt/internal/testutil/must"
	"wiebelt/internal/testutil/xtest"
	"wiebelt/internal/ui/card"
)

// typesThrough checks that none of 500 keys is lost when they
// are typed while 50 calls come, stay for a while and go.
func (o *office) typesThrough(p *simulate.Phone, term *xtest.Terminal, stays time.Duration) {
	o.t.Helper()
	before, keys, done := term.Text(), strings.Repeat("abcdefghij", 50), make(chan error, 1)
	go func() {
		var err error
		for n := 0; n < 50 && err == nil; n++ {
			c := simulate.Call{ID: fmt.Sprint("typed", n), Number: fmt.Sprintf("06987%05d", n)}
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

// meant waits until a key can be intentional: after the focus has arrived, and after
// its target has changed.
func meant() { time.Sleep(400 * time.Millisecond) }

// TestHotkeys tests the whole path of the keyboard, while somebody types elsewhere: the
// card gets the focus on request, does what it offers, and returns the focus; without
// the focus, hotkeys open its contact and close it. A hotkey whose keys another program
// uses does not affect the others. No key is lost while calls come and go.
func TestHotkeys(t *testing.T) {
	t.Parallel()
	o := prepare(t, "[card]\nhotkey_open = \"Ctrl+Alt+Shift+O\"\nhotkey_hear = \"Ctrl+Alt+W\"\nhotkey_close = \"Ctrl+Alt+Shift+X\"")
	notes := o.opener()
	o.start()
	term := o.Terminal(image.Rect(40, 40, 600, 400))
	was := o.FocusedWindow()
	p := dial(o)
	must.Do(t, p.Ring(t.Context(), simulate.Call{ID: "1", Number: "+31698760011"}))
	o.shows("the card", foundCard(t, "+31698760011", "", vries.Contact))
	meant()
	o.Type("voor", 4)
	term.WaitText("voor")
	o.Key("ctrl+alt+w")
	o.Until("the card has the keyboard", func() bool { return o.FocusedWindow() != was })
	meant()
	o.Key("ctrl+d")
	o.Until("the line for a colleague", func() bool {
		b, _ := o.Command("xclip", "-o", "-selection", "clipboard").Output()
		return strings.HasPrefix(string(b), "J. de Vries · ") && strings.HasSuffix(string(b), " · "+o.hub.HubURL()+"/contacts/viewcontact/c-vries") &&
			strings.Contains(string(b), " 100200 · 0698760011 · ")
	})
	o.Key("Return")
	o.Until("Enter opens the contact", func() bool { return len(opened(notes)) == 1 })
	o.Key("Escape")
	o.Until("the keyboard is back", func() bool { return o.FocusedWindow() == was })
	o.Key("ctrl+alt+shift+o")
	o.Until("the contact is opened", func() bool { return len(opened(notes)) == 2 })
	if now := o.FocusedWindow(); now != was {
		t.Errorf("the keyboard went from %x to %x", was, now)
	}
	o.Key("ctrl+alt+shift+x")
	o.Until("no card", o.empty)
	if out, _ := o.wiebelt("doctor").CombinedOutput(); !strings.Contains(string(out), "card.hotkey_hear") || strings.Contains(string(out), "card.hotkey_open") {
		t.Errorf("doctor:\n%s", out)
	}
	o.typesThrough(p, term, 60*time.Millisecond)
}

// TestFullScreen checks that a card waits for the end of a full-screen program, or appears
// above it, as set in card.over_fullscreen; no names are shown there.
func TestFullScreen(t *testing.T) {
	t.Parallel()
	o := prepare(t, "[card]\nover_fullscreen = false")
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
	before := o.Pixel(corner.X, corner.Y)
	p := dial(o)
	must.Do(t, p.Ring(t.Context(), simulate.Call{ID: "1", Number: "+31698760011"}))
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
	o.shows("the card after the film", foundCard(t, "+31698760011", "", vries.Contact))
	fill("add")
	waits(2)
	o.Until("the film is whole again", func() bool { return o.Pixel(corner.X, corner.Y) == before })
	o.set("card.over_fullscreen", true)
	o.shows("the card above the film", foundCardIn(t, card.Look{Privacy: card.PrivacyNumber}, "+31698760011", "", vries.Contact))
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
