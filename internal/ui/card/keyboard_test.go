package card

import (
	"errors"
	"fmt"
	"slices"
	"strings"
	"testing"
	"time"

	"wiebelt/internal/core/contact"
	"wiebelt/internal/core/engine"
	"wiebelt/internal/native/window"
)

func (r *rig) hotkey() { r.sync(); r.d.hotkeys["F1"](); r.sync() }

func (r *rig) press(k window.KeyPress) {
	r.t.Helper()
	at := r.d.typing()
	if at < 0 {
		r.t.Fatal("no card has the keyboard")
	}
	r.d.windows[at].h.KeyPressed(k)
	r.sync()
}

func (r *rig) keys(all ...window.Key) {
	for _, k := range all {
		r.press(window.KeyPress{Key: k})
	}
}

func (r *rig) types(s string) {
	for _, c := range s {
		r.press(window.KeyPress{Key: window.KeyText, Text: string(c)})
	}
}

func (r *rig) ctrl(s string) { r.press(window.KeyPress{Key: window.KeyText, Text: s, Ctrl: true}) }

// opens checks which contacts were opened since the last time.
func (r *rig) opens(what string, want ...int) {
	r.t.Helper()
	var got []int
	for _, a := range r.actions(engine.ActionOpen) {
		got = append(got, a.Index)
	}
	if !slices.Equal(got, want) {
		r.t.Fatalf("%s: opened %v, want %v", what, got, want)
	}
}

// copies checks what is on the clipboard.
func (r *rig) copies(what, want string) {
	r.t.Helper()
	if r.d.copied != want {
		r.t.Fatalf("%s: copied %q, want %q", what, r.d.copied, want)
	}
}

func (r *rig) focus(slot int) (do Effect) {
	r.on(func() { do = r.cs.slots[slot].keyboard.focus })
	return do
}

func withHotkey(c *Config, _ *desktop) {
	c.Hotkeys = map[Hotkey]string{HotkeyKeyboard: "F1"}
}

// TestNoKeyWithoutBeingAsked: while calls come and go and the
// pointer is used, no card has the focus or a focus ring.
func TestNoKeyWithoutBeingAsked(t *testing.T) {
	r := startCards(t, withHotkey)
	for _, c := range []string{"searching", "found", "several", "crowd", "failed", "strip"} {
		r.shows(gallery(t)[c])
		r.click(0, openAt)
		r.leave(0)
		r.sync()
		if r.d.typing() >= 0 || r.focus(0) != (Effect{}) {
			t.Fatalf("%s: a card took the keyboard", c)
		}
		// A key sent anyway has no effect.
		r.d.windows[0].h.KeyPressed(window.KeyPress{Key: window.KeyEnter})
		r.d.windows[0].h.KeyPressed(window.KeyPress{Key: window.KeyText, Text: "1"})
	}
	r.opens("the click on the found card", 0)
}

func TestHotkeyHandsOverAndBack(t *testing.T) {
	a, b := gallery(t)["found"], gallery(t)["nobody"]
	b.ID = 2
	r := startCards(t, withHotkey)
	r.hotkey() // no card: nothing to focus
	r.brings(a, b)
	r.hotkey()
	if at := r.d.typing(); at != 1 {
		t.Fatalf("window %d has the keyboard, not the newest card's", at)
	}
	r.action(engine.ActionKeyboard)
	r.hotkey()
	if at := r.d.typing(); at != -1 {
		t.Fatal("pressed again it does not give the keyboard back")
	}
	r.action(engine.ActionKeyboardGone)
	r.d.windows[0].h.PointerMoved(openAt)
	r.sync()
	r.hotkey()
	if at := r.d.typing(); at != 0 {
		t.Fatalf("window %d has the keyboard, not that under the pointer", at)
	}
	if r.focus(0) == (Effect{}) {
		t.Fatal("nothing is in focus on a card with one button to press")
	}
	r.press(window.KeyPress{Key: window.KeyEscape})
	if r.d.typing() != -1 || r.focus(0) != (Effect{}) {
		t.Fatal("Esc does not give the keyboard back")
	}
	r.hotkey()
	r.d.windows[0].h.KeyboardGone() // somebody clicked elsewhere
	r.sync()
	if r.focus(0) != (Effect{}) {
		t.Fatal("a focus ring without the keyboard")
	}
	r.hotkey()
	r.actions(engine.ActionKeyboardGone)
	r.brings(b)
	r.action(engine.ActionKeyboardGone) // its card is gone
}

// TestNoKeyboardOnLayers: if cards cannot get the focus, the
// hotkey for it is reported as not working, and the others work.
func TestNoKeyboardOnLayers(t *testing.T) {
	told := map[Hotkey]error{}
	r := startCards(t, func(c *Config, d *desktop) {
		d.kind = window.Layers
		c.Hotkeys = map[Hotkey]string{HotkeyKeyboard: "F1", HotkeyOpen: "F2"}
		c.HotkeyResult = func(h Hotkey, _ string, err error) { told[h] = err }
	})
	if r.sync(); !errors.Is(told[HotkeyKeyboard], window.ErrUnsupported) || told[HotkeyOpen] != nil || len(r.d.hotkeys) != 1 {
		t.Errorf("told %v", told)
	}
}

// TestMoreHotkeys: hotkeys open the first card's contact, have the card spoken again and close
// it, without moving the focus; one that another program uses does not affect the others.
func TestMoreHotkeys(t *testing.T) {
	told := map[Hotkey]error{}
	h := startHearing(t, func(c *Config, d *desktop) {
		d.taken = "F1"
		c.Hotkeys = map[Hotkey]string{HotkeyKeyboard: "F1", HotkeyOpen: "F2", HotkeyHear: "F3", HotkeyClose: "F4"}
		c.HotkeyResult = func(h Hotkey, _ string, err error) { told[h] = err }
	})
	if !errors.Is(told[HotkeyKeyboard], window.ErrHotkeyTaken) || len(told) != 4 || told[HotkeyOpen] != nil || told[HotkeyHear] != nil || told[HotkeyClose] != nil {
		t.Errorf("told %v", told)
	}
	if want := []string{"De kaart naar voren halen", "De relatie op de kaart openen", "De kaart nog eens horen", "De kaart sluiten"}; !slices.Equal(h.d.does, want) {
		t.Errorf("said to do %q", h.d.does)
	}
	press := func(keys string) { t.Helper(); h.sync(); h.d.hotkeys[keys](); h.sync() }
	for _, keys := range []string{"F2", "F3", "F4"} { // nothing happens without a card
		press(keys)
	}
	if h.hears(""); len(h.e.done) != 0 {
		t.Errorf("asked for %+v", h.e.done)
	}
	g := gallery(t)
	const says = "Inkomend op Schade (020 123 45 67): J. de Vries, 06 12 34 56 78"
	h.reports(g["found"], says)
	press("F2")
	h.none(engine.ActionOpen) // it has only just appeared
	h.pass(time.Second)
	press("F2")
	h.opens("its hotkey", 0)
	press("F3")
	h.hears(says)
	press("F3")
	h.hears(says)
	press("F4")
	if a := h.action(engine.ActionClose); a.Card != 1 {
		t.Errorf("closed %+v", a)
	}
	if h.d.typing() >= 0 {
		t.Error("a card has the keyboard")
	}
	h.shows(g["strip"])
	press("F3")
	h.action(engine.ActionUnfold)
	h.reports(g["answered"], "In gesprek op Schade (020 123 45 67): J. de Vries, 06 12 34 56 78")
	h.shows(g["several"])
	press("F2")
	if h.none(engine.ActionOpen); h.d.typing() != 0 {
		t.Error("nobody can choose")
	}
	h.c.Hotkeys = map[Hotkey]string{HotkeyKeyboard: "F1", HotkeyOpen: "F4", HotkeyHear: "F3", HotkeyClose: "off"}
	h.cs.ConfigChanged()
	if h.sync(); len(h.d.hotkeys) != 2 || h.d.hotkeys["F3"] == nil || h.d.hotkeys["F4"] == nil {
		t.Errorf("has %v", h.d.hotkeys)
	}
}

// TestHotkeyWhileAnotherCallComes: the hotkey acts on what is on screen, even if the next
// call rings while it is being painted.
func TestHotkeyWhileAnotherCallComes(t *testing.T) {
	a, b := gallery(t)["found"], gallery(t)["nobody"]
	b.ID = 2
	r := startCards(t, nil)
	cs, d, e := r.cs, r.d, r.e
	cs.c.Painted = func(Painted) { e.set(0, a, b) }
	e.set(0, a)
	cs.hotkeyDown(HotkeyKeyboard, cs.now())
	if at := d.typing(); at != 0 {
		t.Fatalf("window %d has the keyboard", at)
	}
}

func TestEnterOpensWhatIsInFocus(t *testing.T) {
	r := startCards(t, withHotkey)
	r.shows(gallery(t)["found"])
	r.hotkey()
	r.keys(window.KeyEnter)
	r.pass(clickGuard - time.Millisecond)
	r.keys(window.KeyEnter)
	r.opens("within 300 ms after the keyboard came")
	r.pass(time.Millisecond)
	r.keys(window.KeyEnter)
	r.opens("the keyboard is there for 300 ms", 0)
	r.ctrl("c")
	r.copies("Ctrl+C", "0612345678")
	r.ctrl("r")
	r.copies("Ctrl+R", "100200")
	r.ctrl("d")
	r.copies("Ctrl+D", summary(gallery(t)["found"], 0, "nl"))
	// Tab goes through everything that can be pressed, and starts over.
	seen := map[Effect]bool{}
	for range 12 {
		seen[r.focus(0)] = true
		r.keys(window.KeyTab)
	}
	if len(seen) != 6 { // open, copy, copy relation number, pass on, not this, close
		t.Fatalf("Tab reaches %d things: %v", len(seen), seen)
	}
	stops := r.cs.slots[0].tabStops()
	if last := stops[len(stops)-1]; last != cardEffect(gallery(t)["found"], engine.ActionClose) {
		t.Errorf("Tab comes last to %+v, not to the close button", last)
	}
}

func TestRowsByKeys(t *testing.T) {
	r := startCards(t, withHotkey)
	r.shows(gallery(t)["family"]) // eight, six of them visible
	r.hotkey()
	r.pass(time.Second)
	r.keys(window.KeyEnter)
	r.opens("nothing was chosen")
	r.keys(window.KeyTab)
	if got, want := r.focus(0), r.cs.slots[0].tabStops()[0]; got != want {
		t.Errorf("Tab comes first to %+v, not to %+v", got, want)
	}
	r.types("3")
	r.keys(window.KeyDown, window.KeyDown, window.KeyDown, window.KeyUp, window.KeyEnter)
	r.opens("a digit and Enter", 2, 1)
	r.ctrl("r")
	r.copies("Ctrl+R", "200003")
	// Row 8 is not visible: the key scrolls to it, and only then opens it.
	r.types("8")
	r.opens("it was not to be seen")
	r.types("8")
	r.opens("it has just come to sight")
	r.pass(clickGuard)
	r.types("8")
	r.opens("it is to be seen", 7)
	for range 20 {
		r.keys(window.KeyDown)
	}
	r.pass(clickGuard)
	r.keys(window.KeyEnter)
	r.opens("the last row", 7)
}

// TestRowsWithoutFiles: keys pass over rows whose file cannot be
// opened, and count them when they scroll.
func TestRowsWithoutFiles(t *testing.T) {
	c := gallery(t)["family"] // eight, six of them visible
	for _, i := range []int{0, 2, 3, 7} {
		c.LinkOK[i] = false
	}
	r := startCards(t, withHotkey)
	r.shows(c)
	r.hotkey()
	r.pass(time.Second)
	first := func(what string, want int) {
		t.Helper()
		r.on(func() {
			if got := r.cs.slots[0].rowsState.First; got != want {
				t.Errorf("%s: the first row is %d, want %d", what, got, want)
			}
		})
	}
	r.types("4")
	first("row 4 was visible", 0)
	var focused []int
	for range 5 {
		r.keys(window.KeyDown)
		focused = append(focused, r.focus(0).Action.Index)
	}
	if want := []int{1, 4, 5, 6, 6}; !slices.Equal(focused, want) {
		t.Errorf("down along %v, want %v", focused, want)
	}
	first("down to row 7, and to see row 8", 2)
	r.keys(window.KeyUp, window.KeyUp, window.KeyUp, window.KeyUp)
	if at := r.focus(0).Action.Index; at != 1 {
		t.Errorf("up to row %d", at)
	}
}

// TestNoRowsToScroll: a general number whose rows are
// not shown is not scrolled, so they open at the first.
func TestNoRowsToScroll(t *testing.T) {
	r := startCards(t, withHotkey)
	r.shows(gallery(t)["general"])
	r.hotkey()
	r.pass(time.Second)
	r.types("5")
	r.keys(window.KeyPageDown, window.KeyEnd)
	r.d.windows[0].h.Scrolled(openAt, -3)
	r.on(func() {
		cs := r.cs
		cs.search(cs.slots[0])
		if s := cs.slots[0]; s.rowsState.First != 0 || len(s.view.rows) == 0 {
			t.Errorf("%d rows from %d on", len(s.view.rows), s.rowsState.First)
		}
	})
}

func TestTypingFilters(t *testing.T) {
	c := gallery(t)["general"]
	r := startCards(t, withHotkey)
	r.shows(c)
	r.hotkey()
	r.pass(time.Second)
	r.types("bakk") // collapsed: nothing to filter
	r.keys(window.KeyEnter)
	r.on(func() {
		if s := r.cs.slots[0]; !s.rowsState.Open || s.rowsState.Filter != "" || !s.filterFocused() {
			t.Errorf("the rows are not open for searching: %+v", s.rowsState)
		}
	})
	r.pass(time.Second)
	r.types("BÁkker 1")
	r.on(func() {
		list := matching(c, r.cs.slots[0].rowsState.Filter)
		if len(list) == 0 || len(list) == len(c.Contacts) {
			t.Errorf("%d of %d", len(list), len(c.Contacts))
		}
	})
	r.keys(window.KeyBackspace, window.KeyBackspace)
	want := fmt.Sprint(200002 + 40)
	for range "bakker 1" { // more than there are left
		r.keys(window.KeyBackspace)
	}
	r.types(want) // digits are letters here: they open nothing
	r.opens("typing")
	r.keys(window.KeyEnter)
	r.opens("typing had just left it over")
	r.pass(clickGuard)
	r.keys(window.KeyEnter)
	r.opens("the one left over", 40)
	r.types("zzz")
	r.pass(clickGuard)
	r.keys(window.KeyEnter, window.KeyDown)
	r.opens("none is left over")
	r.on(func() { r.cs.slots[0].rowsState.Filter = strings.Repeat("z", maxFilter-1) })
	for range 3 {
		r.press(window.KeyPress{Key: window.KeyText, Text: "ab"})
	}
	r.on(func() {
		if n := len(r.cs.slots[0].rowsState.Filter); n > maxFilter+1 {
			t.Errorf("a filter of %d letters", n)
		}
	})
}

// TestEnterIsForTheOneWhoWasThere: if the person changes while a finger is on its
// way, Enter, digits and copying have no effect until they can be intentional again.
func TestEnterIsForTheOneWhoWasThere(t *testing.T) {
	a := gallery(t)["found"]
	b := a
	b.Number, b.Contacts = number(t, "0687654321"), []contact.Contact{person("K", "", "Ander")}
	r := startCards(t, withHotkey)
	r.shows(a)
	r.hotkey()
	r.pass(time.Second)
	r.brings(b)
	r.ctrl("c")
	r.ctrl("r")
	r.ctrl("d")
	r.copies("the person has changed", "")
	r.pass(time.Minute)
	r.keys(window.KeyEnter)
	r.opens("Enter was on somebody else")
	r.keys(window.KeyTab)
	for !r.focus(0).requests(engine.ActionOpen) {
		r.keys(window.KeyTab)
	}
	r.keys(window.KeyEnter)
	r.opens("Enter on the new one", 0)
}

// TestTheSameCallerFillsIn: if the card got the focus during
// the lookup, the contact that arrives is the intended one.
func TestTheSameCallerFillsIn(t *testing.T) {
	r := startCards(t, withHotkey)
	r.shows(gallery(t)["searching"])
	r.hotkey()
	r.pass(time.Second)
	r.brings(gallery(t)["found"])
	r.keys(window.KeyEnter)
	r.opens("it has just come")
	r.pass(clickGuard)
	r.keys(window.KeyEnter)
	r.opens("the contact that was asked for", 0)
}

// TestFilterIsForOneCaller: a click into the filter focuses it, as in any text field, and what
// was typed to find one caller hides nobody of the next one.
func TestFilterIsForOneCaller(t *testing.T) {
	c := gallery(t)["crowd"]
	at := spot(t, c, Look{}, func(d Effect) bool { return d.Search })
	r := startCards(t, nil)
	r.shows(c)
	r.click(0, at)
	r.pass(time.Second)
	r.types("visser")
	c.Number = number(t, "0687654321")
	r.brings(c)
	r.on(func() {
		if s := r.cs.slots[0]; s.rowsState != (RowsState{}) || len(s.view.rows) != rowsShown {
			t.Errorf("%+v, %d rows", s.rowsState, len(s.view.rows))
		}
	})
}

func TestTabGoesOnToTheNextCard(t *testing.T) {
	a, b := gallery(t)["nobody"], gallery(t)["withheld"]
	b.ID = 2
	r := startCards(t, withHotkey)
	r.brings(a, b)
	r.hotkey()
	seen := map[int]int{}
	for range 8 {
		r.pass(clickGuard)
		r.keys(window.KeyTab)
		seen[r.d.typing()]++
	}
	if seen[0] < 2 || seen[1] < 1 || len(seen) != 2 {
		t.Fatalf("Tab was on %v", seen)
	}
}

// TestHotkeyObeysTheOrderOfCalls: the hotkey picks the ringing card, then the one in a call,
// and an ended one only if no call is active, whether or not the pointer is on it; Enter has no
// effect on an ended card once another call begins. A call whose card was closed gets it back.
func TestHotkeyObeysTheOrderOfCalls(t *testing.T) {
	over, rings, talks := gallery(t)["over"], gallery(t)["found"], gallery(t)["answered"]
	rings.ID, talks.ID = 2, 3
	aside := over
	aside.Dimmed, aside.Strip = true, true
	r := startCards(t, withHotkey)
	has := func(what string, want engine.CardID) {
		t.Helper()
		var got engine.CardID
		r.on(func() {
			for _, s := range r.cs.order {
				if s.keyboard.active {
					got = s.state.ID
				}
			}
		})
		if got != want {
			t.Fatalf("%s: card %d has the keyboard, want %d", what, got, want)
		}
	}
	r.shows(over)
	r.hotkey()
	has("one that has ended, alone", 1)
	r.pass(time.Second)
	held := over
	held.Dimmed = true // it folds when it loses the focus
	r.brings(held, rings)
	r.pass(time.Second)
	r.keys(window.KeyEnter)
	r.opens("a call that is over, while another rings")
	r.hotkey()
	has("another rings", 2)
	r.hotkey()
	has("pressed again", 0)
	r.d.windows[0].h.PointerMoved(openAt)
	r.sync()
	r.hotkey()
	has("with the pointer on the one that has ended", 2)
	r.hotkey()
	r.leave(0)
	r.brings(talks, aside, rings)
	r.hotkey()
	has("one rings, one talks", 2)
	r.hotkey()
	r.brings(aside, talks)
	r.hotkey()
	has("one talks", 3)
	r.hotkey()
	r.e.show(0, aside)
	r.e.snap.ClosedCard = 3
	r.sync()
	r.hotkey()
	has("the card of the call was closed", 0)
	if a := r.action(engine.ActionShow); a.Card != 3 {
		t.Fatalf("card %d comes back", a.Card)
	}
	r.brings(aside, talks)
	has("and is back", 3)
}
