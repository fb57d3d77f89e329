package card

import (
	"errors"
	"image"
	"slices"
	"strings"
	"testing"
	"time"

	"wiebelt/internal/core/call"
	"wiebelt/internal/core/engine"
	"wiebelt/internal/native/screenreader"
	"wiebelt/internal/native/window"
	"wiebelt/internal/text"
)

// TestFullScreenHoldsBack: with card.over_fullscreen off, a card waits until the
// full-screen program on its monitor is gone, and is hidden when one appears.
// Nothing waits on another monitor, while in use, or with the setting on.
func TestFullScreenHoldsBack(t *testing.T) {
	var told []bool
	r := startCards(t, func(c *Config, _ *desktop) {
		c.UnderFullScreen, c.HeldBack = true, func(on bool) { told = append(told, on) }
	})
	cs, d, e := r.cs, r.d, r.e
	d.monitors = append(d.monitors, window.Monitor{Name: "two", Area: image.Rect(1000, 0, 2000, 800), Scale: 1})
	later := func() { r.pass(fullScreenPoll); cs.handleTick() }

	d.filled = d.monitors[0].Area
	e.set(0, gallery(t)["found"])
	cs.show()
	r.is("none over the film", func() bool { return len(d.up()) == 0 })
	if next := cs.nextTick(); next != fullScreenPoll {
		t.Fatalf("looks again after %v", next)
	}
	later()
	r.is("still none, which is told", func() bool { return len(d.up()) == 0 && slices.Equal(told, []bool{true}) })
	d.filled = d.monitors[1].Area
	later()
	r.is("up when the film has gone to the other monitor", func() bool { return len(d.up()) == 1 })
	d.filled = d.monitors[0].Area
	d.windows[0].h.PointerMoved(openAt)
	later()
	r.is("up as long as the pointer is on it", func() bool { return len(d.up()) == 1 })
	r.leave(0)
	later()
	r.is("none when that has left", func() bool { return len(d.up()) == 0 })
	d.active = 1
	later()
	r.is("on the other monitor, where the user went", func() bool { u := d.up(); return len(u) == 1 && u[0].Min.X >= 1000 })
	d.active = 0
	e.set(0)
	cs.show()
	if !cs.checkAt.IsZero() {
		t.Error("looks for full screens without a card")
	}
	if want := []bool{true, false, true, false}; !slices.Equal(told, want) {
		t.Errorf("told %v, want %v", told, want)
	}
	cs.c.UnderFullScreen = false
	e.set(0, gallery(t)["found"])
	cs.show()
	r.is("up where cards go over everything", func() bool { return len(d.up()) == 1 && cs.checkAt.IsZero() })
}

// TestHotkeyComesBack: a hotkey used by another program is retried until it is free; its
// failure is reported only once.
func TestHotkeyComesBack(t *testing.T) {
	var told []error
	r := startCards(t, func(c *Config, d *desktop) {
		withHotkey(c, d)
		c.HotkeyResult, d.taken = func(_ Hotkey, _ string, err error) { told = append(told, err) }, "F1"
	})
	cs, d := r.cs, r.d
	after := func(d time.Duration) { r.pass(d); cs.handleTick() }
	if next := cs.nextTick(); next != hotkeyRetry {
		t.Fatalf("asks again after %v", next)
	}
	for range 3 {
		after(hotkeyRetry)
	}
	if len(told) != 1 || !errors.Is(told[0], window.ErrHotkeyTaken) {
		t.Fatalf("told %v", told)
	}
	d.taken = ""
	after(time.Second)
	if len(told) != 1 {
		t.Fatal("asks without a pause")
	}
	after(hotkeyRetry)
	if len(told) != 2 || told[1] != nil || d.hotkeys["F1"] == nil || !cs.hotkeys[0].retry.IsZero() {
		t.Fatalf("told %v, has %v", told, d.hotkeys)
	}
	r.c.Hotkeys = map[Hotkey]string{HotkeyKeyboard: "off"}
	r.cs.ConfigChanged()
	if r.sync(); len(d.hotkeys) > 0 {
		t.Error("the keys are not given back")
	}
}

// TestHotkeyDecidedLater: if the desktop decides only later, and repeatedly, whether
// a hotkey works, each change is reported, as long as it concerns the current keys.
func TestHotkeyDecidedLater(t *testing.T) {
	var told []error
	r := startCards(t, func(c *Config, d *desktop) {
		withHotkey(c, d)
		c.HotkeyResult = func(_ Hotkey, _ string, err error) { told = append(told, err) }
	})
	for _, err := range []error{window.ErrUnsupported, window.ErrUnsupported, nil, window.ErrUnsupported} {
		r.on(func() { r.d.told(err) })
	}
	r.sync()
	r.c.Hotkeys = map[Hotkey]string{HotkeyKeyboard: "off"}
	r.cs.ConfigChanged()
	r.on(func() { r.d.told(window.ErrUnsupported) })
	r.sync()
	if want := []error{nil, window.ErrUnsupported, nil, window.ErrUnsupported, nil}; !slices.Equal(told, want) {
		t.Errorf("told %v, want %v", told, want)
	}
}

// hearing is a screen reader that records what it says about cards.
type hearing struct {
	*rig
	said []string
}

func startHearing(t *testing.T, change func(*Config, *desktop)) *hearing {
	h, heard := &hearing{}, map[screenreader.ID]bool{}
	h.rig = startCards(t, func(c *Config, d *desktop) {
		c.TreeChanged = func(tree screenreader.Tree) {
			for _, c := range tree.Windows {
				for _, n := range roles(c, screenreader.News) {
					if !heard[n.ID] {
						heard[n.ID] = true
						h.said = append(h.said, n.Name)
					}
				}
			}
		}
		if change != nil {
			change(c, d)
		}
	})
	return h
}

// hears checks what was said since the last call; "" means nothing.
func (h *hearing) hears(want string) {
	h.t.Helper()
	h.sync()
	got := strings.Join(h.said, "|")
	if h.said = nil; got != want {
		h.t.Errorf("said %q, want %q", got, want)
	}
}

func (h *hearing) reports(c engine.Card, want string) {
	h.t.Helper()
	h.e.show(0, c)
	h.hears(want)
}

// TestSpokenShort: with card.speech = short, a screen reader says only
// the caller, once per caller and again when the contact arrives.
func TestSpokenShort(t *testing.T) {
	h := startHearing(t, func(c *Config, _ *desktop) { c.Speech = SpeechShort })
	g := gallery(t)
	h.reports(g["searching-start"], "06 12 34 56 78")
	h.reports(g["searching"], "")
	h.reports(g["found"], "J. de Vries")
	h.reports(g["answered"], "")
	h.reports(g["several"], "3 relaties met dit nummer")
	h.reports(g["failed"], "06 12 34 56 78")
	h.reports(g["withheld"], "Anonieme beller")
	h.c.Privacy = PrivacyNumber
	h.cs.ConfigChanged()
	h.reports(g["found"], "06 12 34 56 78")
}

// TestSpoken: screen readers are told who is calling, as far as the card may show
// it, again when the contact arrives or the caller changes, and nothing else.
func TestSpoken(t *testing.T) {
	h := startHearing(t, nil)
	cs, reports := h.cs, h.reports
	g := gallery(t)
	searching, found := g["searching-start"], g["found"]
	reports(searching, "Inkomend op Schade (020 123 45 67): 06 12 34 56 78")
	reports(g["searching"], "Inkomend op Schade (020 123 45 67): 06 12 34 56 78, Relatie opzoeken…")
	reports(found, "Inkomend op Schade (020 123 45 67): J. de Vries, 06 12 34 56 78")
	found.Phase = engine.PhaseAnswered
	reports(found, "")
	found.Strip = true
	reports(found, "")
	found.Strip = false
	reports(found, "")
	other := g["nobody"]
	other.Phase, other.Number, other.PhoneName = engine.PhaseAnswered, number(t, "0612345679"), ""
	reports(other, "In gesprek op Schade (020 123 45 67): 06 12 34 56 79, Geen relatie met dit nummer in de administratie.")
	reports(g["several"], "Inkomend op 020 123 45 67: 3 relaties met dit nummer, 020 987 65 43")
	reports(g["nobody-left"], "Inkomend op Schade (020 123 45 67): 06 12 34 56 78, Niet J. de Vries, zegt u")
	reports(g["failed"], "Inkomend op Schade (020 123 45 67): 06 12 34 56 78, Opzoeken lukt niet: de hub reageert niet.")
	again := g["failed"]
	again.Phase = engine.PhaseReported
	reports(again, "")
	again.Phase, again.Rang = engine.PhaseRinging, again.Rang.Add(time.Minute)
	reports(again, "Inkomend op Schade (020 123 45 67): 06 12 34 56 78, Opzoeken lukt niet: de hub reageert niet.")
	reports(again, "")

	strip := g["found"]
	strip.ID = 6
	reports(strip, "Inkomend op Schade (020 123 45 67): J. de Vries, 06 12 34 56 78")
	strip.Phase, strip.Strip = engine.PhaseAnswered, true
	reports(strip, "")
	cs.set(Config{Language: text.Dutch, Appearance: "light", Corner: BottomRight, Log: cs.c.Log, Events: cs.c.Events, Privacy: PrivacyNumber})
	if len(h.said) > 0 {
		t.Errorf("while presenting the strip says %v", h.said)
	}

	cs.c.Privacy = PrivacyInitials
	found = g["found"]
	found.ID = 7
	reports(found, "Inkomend op Schade (020 123 45 67): J. de V., 06 12 34 56 78")
	cs.c.Privacy = PrivacyNumber
	found.ID = 8
	reports(found, "Inkomend op Schade (020 123 45 67): 06 12 34 56 78, 1 relatie gevonden")
	cs.c.Privacy = PrivacyNumber
	found.ID, found.ReportLevel = 9, call.RingOnly
	found.Phase = engine.PhaseReported
	reports(found, "Gebeld om 10:42 op Schade (020 123 45 67): 06 12 34 56 78, 1 relatie gevonden")
}
