package card

import (
	"image"
	"slices"
	"testing"
	"time"

	"wiebelt/internal/core/engine"
	"wiebelt/internal/native/window"
	"wiebelt/internal/testutil/must"
)

func TestMonitorAndCorner(t *testing.T) {
	two := func(d *desktop) {
		d.monitors = append(d.monitors, window.Monitor{Name: "two", Area: image.Rect(1000, 0, 3000, 1500), Work: image.Rect(1000, 40, 3000, 1500), Scale: 2})
	}
	found := gallery(t)["found"]
	for name, c := range map[string]struct {
		change func(*Config, *desktop)
		want   image.Rectangle
	}{
		"active":                 {func(_ *Config, d *desktop) { two(d); d.active = 1 }, image.Rect(2208, 900, 2968, 1468)},
		"primary":                {func(c *Config, d *desktop) { two(d); d.active = 1; c.Monitor = "primary" }, image.Rect(604, 460, 984, 744)},
		"by name":                {func(c *Config, d *desktop) { two(d); c.Monitor = "two" }, image.Rect(2208, 900, 2968, 1468)},
		"by a name that is gone": {func(c *Config, d *desktop) { two(d); c.Monitor = "three" }, image.Rect(604, 460, 984, 744)},
		"top left":               {func(c *Config, d *desktop) { two(d); c.Corner, d.active = TopLeft, 1 }, image.Rect(1032, 72, 1792, 640)},
		"a corner of its own": {func(c *Config, d *desktop) {
			two(d)
			c.Corners, d.active = map[string]Corner{"two": BottomLeft, "one": TopRight}, 1
		}, image.Rect(1032, 900, 1792, 1468)},
		"no scale, no work area": {func(_ *Config, d *desktop) {
			d.monitors = []window.Monitor{{Name: "odd", Area: image.Rect(0, 0, 800, 600)}}
		}, image.Rect(404, 300, 784, 584)},
	} {
		t.Run(name, func(t *testing.T) {
			r := startCards(t, c.change)
			r.shows(found)
			if got := r.d.up()[0]; got != c.want {
				t.Fatalf("at %v, want %v", got, c.want)
			}
		})
	}
}

func TestMonitorGoes(t *testing.T) {
	r := startCards(t, func(c *Config, d *desktop) {
		d.monitors = append(d.monitors, window.Monitor{Name: "two", Area: image.Rect(1000, 0, 2000, 800), Work: image.Rect(1000, 0, 2000, 800), Scale: 1.5})
		c.Monitor = "two"
	})
	r.shows(gallery(t)["found"])
	r.d.windows[0].h.PointerMoved(openAt) // not even the pointer keeps it on a monitor that is gone
	r.d.monitors = r.d.monitors[:1]
	r.d.windows[0].h.DisplayChanged()
	r.is("on the one monitor that is left", func() bool { u := r.d.up()[0]; return u.In(image.Rect(0, 0, 1000, 760)) && u.Dx() == 380 })
}

// TestNeverOutside: whatever the monitor, corner, scale and cards, all
// cards are within the work area, and none overlap if there is space.
func TestNeverOutside(t *testing.T) {
	g := gallery(t)
	many := g["crowd"]
	cs := must.Get(New(func() Config { return Config{Language: "nl", Appearance: "light"} }, newScript(), newDesktop()))(t)
	for _, size := range []image.Point{{1920, 1040}, {3840, 2100}, {1080, 1880}, {800, 560}} {
		for _, scale := range []float32{1, 1.5, 3, 4, 6} {
			for _, corner := range []Corner{BottomRight, BottomLeft, TopRight, TopLeft} {
				for _, kinds := range [][]engine.Card{{g["found"], g["several"], g["failed"]}, {many, many, many}, {g["general"], g["withheld"], g["strip"]}} {
					work := image.Rectangle{Max: size}.Add(image.Pt(300, 40))
					cs.c.Corner = corner
					cs.monitor = window.Monitor{Name: "one", Area: work, Work: work, Scale: scale}
					stack := []*slot{cs.slots[0], cs.slots[1], cs.slots[2], cs.slots[engine.MaxShown]}
					for i, c := range kinds { // at their painted size, without painting them
						cs.free(stack[i])
						stack[i].state, stack[i].state.ID = c, engine.CardID(i+1)
						cs.layOut(stack[i])
					}
					cs.free(stack[3])
					cs.showMore(2)
					var all []image.Rectangle
					for _, p := range cs.space().arrange(cs.items(stack)) {
						all = append(all, cs.rectAt(p.position, cs.heightPx(cardWidth), p.height))
					}
					need := 0
					for _, r := range all {
						need = max(need, r.Dy())
						if !r.In(work) && r.Dy() <= work.Dy() && r.Dx() <= work.Dx() {
							t.Errorf("%v %v %s: %v is outside", size, scale, corner, r)
						}
					}
					// Two columns of two cards fit.
					fits := size.X >= int(800*scale) && size.Y >= 2*need+int(60*scale)
					for i, a := range all {
						for _, b := range all[i+1:] {
							if fits && a.Overlaps(b) {
								t.Errorf("%v %v %s: %v lies on %v", size, scale, corner, a, b)
							}
						}
					}
				}
			}
		}
	}
}

// TestKeyboardNeedsNoRoom: a card that shows fewer rows, for lack of room, shows
// as many when it gets the keyboard focus.
func TestKeyboardNeedsNoRoom(t *testing.T) {
	r := startCards(t, func(c *Config, d *desktop) {
		withHotkey(c, d)
		d.monitors[0].Work = image.Rect(0, 0, 420, 760) // a single column
	})
	a, b := gallery(t)["found"], gallery(t)["family"]
	b.ID = 2
	r.brings(a, b)
	before := r.d.up()
	r.hotkey()
	if got := r.d.up(); r.d.typing() != 1 || !slices.Equal(got, before) || before[0].Overlaps(before[1]) {
		t.Errorf("window %d has the keyboard; at %v, before %v", r.d.typing(), got, before)
	}
}

// TestDragToAnotherCorner: the user drags a card by a spot
// without a button; that monitor keeps the new corner.
func TestDragToAnotherCorner(t *testing.T) {
	type move struct {
		monitor string
		to      Corner
	}
	var told []move
	r := startCards(t, func(c *Config, d *desktop) { c.Moved = func(m string, to Corner) { told = append(told, move{m, to}) } })
	r.shows(gallery(t)["found"])
	h := r.d.windows[0].h
	h.PointerMoved(image.Pt(200, 60))
	h.PointerPressed(image.Pt(200, 60), window.Left)
	h.PointerReleased(image.Pt(230, 70), window.Left) // a shaking pointer
	h.PointerPressed(image.Pt(200, 60), window.Left)
	h.PointerMoved(image.Pt(230, 70))
	r.is("no frame for a pointer that shakes", func() bool { return len(r.d.up()) == 1 })
	h.PointerMoved(image.Pt(-400, -300))
	r.is("a frame where the card will stand", func() bool {
		return slices.Contains(r.d.up(), image.Rect(16, 16, 396, 300))
	})
	h.PointerMoved(image.Pt(150, 60))
	r.is("none on the way back", func() bool { return len(r.d.up()) == 1 })
	h.PointerMoved(image.Pt(-400, -300))
	r.brings()
	r.is("none when the card goes", func() bool { return len(r.d.up()) == 0 })
	r.shows(gallery(t)["found"])
	h.PointerMoved(image.Pt(200, 60))
	h.PointerPressed(image.Pt(200, 60), window.Left)
	h.PointerMoved(image.Pt(-400, -300))
	h.PointerReleased(image.Pt(-400, -300), window.Left)
	r.sync()
	if !slices.Equal(told, []move{{"one", TopLeft}}) {
		t.Fatalf("told %v", told)
	}
	r.is("the card where the frame was", func() bool { u := r.d.up(); return u[0].Min == image.Pt(16, 16) && len(u) == 1 })
	r.brings()
	r.shows(gallery(t)["nobody"])
	r.is("the next card there too", func() bool { return r.d.up()[0].Min == image.Pt(16, 16) })
	r.c.Corner = BottomLeft // later the settings change
	r.cs.ConfigChanged()
	r.is("moved", func() bool { u := r.d.up(); return u[0].Min.X == 16 && u[0].Max.Y == 744 })
}

// TestDragToAnotherScale: a card dragged from a monitor at 100 % to one at 200 % goes to the
// corner there, at twice the size in pixels; a stored corner applies only to its own monitor.
func TestDragToAnotherScale(t *testing.T) {
	r := startCards(t, func(c *Config, d *desktop) {
		d.monitors = append(d.monitors, window.Monitor{Name: "two", Area: image.Rect(1000, 0, 3000, 1500), Work: image.Rect(1000, 40, 3000, 1500), Scale: 2})
		c.Corners = map[string]Corner{"one": TopRight, "gone": TopLeft}
	})
	r.shows(gallery(t)["found"])
	r.is("in the corner that was kept", func() bool { return r.d.up()[0] == image.Rect(604, 16, 984, 300) })
	h := r.d.windows[0].h
	h.PointerMoved(image.Pt(200, 60))
	h.PointerPressed(image.Pt(200, 60), window.Left)
	h.PointerReleased(image.Pt(1200-604, 1200-16), window.Left) // desktop (1200,1200): lower left of "two"
	r.is("twice as large on the other monitor", func() bool { return r.d.up()[0] == image.Rect(1032, 900, 1792, 1468) })
	r.brings()
	r.shows(gallery(t)["nobody"]) // the user works on the first monitor
	r.is("the next card in the corner that was kept", func() bool { u := r.d.up()[0].Min; return u.Y == 16 && u.X <= 984 })
}

// TestSettingsHoldAtOnce: every setting takes effect on visible cards.
func TestSettingsHoldAtOnce(t *testing.T) {
	r := startCards(t, nil)
	r.shows(gallery(t)["found"])
	r.c.Language, r.c.Fields, r.c.FileWord = "en", []string{fieldProducer}, "dossier"
	r.cs.ConfigChanged()
	r.is("English", func() bool { return r.says("Incoming") && r.says("Open file") && !r.says("Address") })
	r.c.Privacy = PrivacyInitials
	r.cs.ConfigChanged()
	if !r.says("J. de V.") {
		t.Fatal("the name is still there")
	}
	r.c.Privacy = PrivacyNumber
	r.cs.ConfigChanged()
	if r.says("J. de V.") || !r.says("06 12 34 56 78") {
		t.Fatal("quiet, and the name is still there")
	}
	r.c.Privacy = PrivacyFull
	before := r.d.painted
	r.c.Appearance = "dark"
	r.cs.ConfigChanged()
	r.is("painted", func() bool { return r.d.painted > before })
	dark := false
	r.on(func() { dark = r.cs.slots[0].view.background.R < 0x80 })
	if !dark {
		t.Fatal("the card is light")
	}
	// The desktop's own look, and its changes.
	r.c.Appearance = "system"
	r.cs.ConfigChanged()
	for _, now := range []bool{true, false} {
		r.on(func() { r.d.dark = now })
		r.d.windows[0].h.DisplayChanged()
		r.is("as the desktop", func() bool { return (r.cs.slots[0].view.background.R < 0x80) == now })
	}
	r.c.HideFromCapture = true
	r.cs.ConfigChanged()
	r.is("kept out of capture", func() bool {
		return !slices.ContainsFunc(r.d.windows, func(p *pane) bool { return !p.hidden })
	})
}

// TestHiddenShowsNothing: while hidden, cards are not shown,
// not even for a moment; those still active appear afterwards.
func TestHiddenShowsNothing(t *testing.T) {
	var painted []engine.CardID
	r := startCards(t, func(c *Config, _ *desktop) {
		c.Hidden = true
		c.Painted = func(p Painted) { painted = append(painted, p.Card.ID) }
	})
	a, b := gallery(t)["found"], gallery(t)["nobody"]
	b.ID = 2
	r.e.show(2, a)
	r.sync()
	if r.d.painted != 0 || len(r.d.up()) != 0 {
		t.Fatal("something was shown")
	}
	r.c.Hidden = false
	r.cs.ConfigChanged()
	r.is("the card and the line that counts", func() bool { return len(r.d.up()) == 2 })
	r.d.windows[0].h.PointerMoved(image.Pt(50, 50))
	r.action(engine.ActionHover)
	before := r.d.painted
	r.cs.ConfigChanged()
	r.c.Hidden = true // after a change that the cards have not read yet
	r.c.Language = "en"
	r.is("nothing", func() bool { return len(r.d.up()) == 0 })
	r.action(engine.ActionLeave) // no pointer can be on it
	r.brings(a, b)
	if r.d.painted != before {
		t.Fatal("something was painted")
	}
	r.e.show(0, b)
	r.c.Hidden = false
	r.cs.ConfigChanged()
	r.is("the one that is alive", func() bool { return len(r.d.up()) == 1 })
	var id engine.CardID
	r.on(func() { id = r.cs.order[0].state.ID })
	if id != 2 {
		t.Fatalf("card %d is up", id)
	}
}

// TestTickIsSmall: a tick of the clock repaints only its own small area, not the card.
func TestTickIsSmall(t *testing.T) {
	r := startCards(t, nil)
	c := gallery(t)["found"]
	c.Rang = r.cs.now()
	r.shows(c)
	before := r.d.painted
	var parts []image.Point
	r.d.windows[0].updated = func(p *window.Picture) { parts = append(parts, image.Pt(p.W, p.H)) }
	for range 5 {
		r.pass(time.Second)
		r.cs.handleTick()
	}
	if n := r.d.painted - before; n != 5 || len(parts) != 5 {
		t.Fatalf("%d paintings, %d of them small, for five seconds", n, len(parts))
	}
	for _, p := range parts {
		if p.X > 50 || p.Y > 20 {
			t.Errorf("a tick paints %v", p)
		}
	}
}

// TestSameLook checks that a change in any field of a card is painted.
func TestSameLook(t *testing.T) {
	c := gallery(t)["earlier"]
	if !sameLook(c, c) {
		t.Fatal("the same card is painted again")
	}
	for name, f := range map[string]func(*engine.Card){
		"edition":  func(c *engine.Card) { c.Edition++ },
		"contacts": func(c *engine.Card) { c.Contacts = slices.Clone(c.Contacts) },
		"links":    func(c *engine.Card) { c.LinkOK = []bool{true, false, true} },
	} {
		d := c
		f(&d)
		if sameLook(c, d) {
			t.Errorf("%s: not painted", name)
		}
	}
}
