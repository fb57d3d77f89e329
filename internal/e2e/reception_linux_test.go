package e2e

import (
	"fmt"
	"image"
	"slices"
	"strings"
	"testing"

	"wiebelt/internal/core/contact"
	"wiebelt/internal/localhub"
	"wiebelt/internal/simulate"
	"wiebelt/internal/testutil/must"
	"wiebelt/internal/testutil/xtest"
	"wiebelt/internal/text"
)

// Colours of the strip along a card, in light mode.
const (
	ringing, talking, done = accent, answeredGreen, 0x6B7785
)

// strip is one card, as seen from the coloured strip along its left border.
type strip struct {
	rgb       uint32
	x, y0, y1 int
}

func (s strip) whole() bool { return s.y1-s.y0 > 150 }

func (s strip) String() string { return fmt.Sprintf("%06x %d,%d-%d", s.rgb, s.x, s.y0, s.y1) }

// strips returns the cards on the screen: from the right, and within a column from the top.
func (o *office) strips() (all []strip) {
	for x := width - 16 - 380 + 2; x > 0; x -= 380 + 8 {
		all = append(all, o.stripsAt(x)...)
	}
	return all
}

// stripsAt returns the cards whose left border is at x.
func (o *office) stripsAt(x int) (all []strip) {
	img := o.look(image.Rect(x, 0, x+1, height))
	for y := range img.Rect.Dy() {
		c := img.RGBAAt(0, y)
		rgb := uint32(c.R)<<16 | uint32(c.G)<<8 | uint32(c.B)
		if rgb != ringing && rgb != talking && rgb != done {
			continue
		}
		if n := len(all); n > 0 && all[n-1].rgb == rgb && all[n-1].y1 == y {
			all[n-1].y1++
			continue
		}
		all = append(all, strip{rgb, x, y, y + 1})
	}
	// Anything lower is the outline of a card with the focus.
	return slices.DeleteFunc(all, func(s strip) bool { return s.y1-s.y0 < 10 })
}

// TestDayAtTheReception is an hour of overlapping calls, with real keys and clicks on a
// desktop with a task bar: every step does what a receptionist would, and checks what they
// would see. With WIEBELT_SHOTS set, it saves a picture of each step there.
func TestDayAtTheReception(t *testing.T) {
	t.Parallel()
	const l = text.Dutch
	o := prepareOn(t, "xfwm4", xtest.Options{Width: width, Height: height},
		"[card]\nafter_call = \"6s\"\n\n[phone]\ncall_back = \"off\"\n\n[ui]\ntheme = \"light\"\nlanguage = \""+string(l)+"\"\n")
	people := map[string]string{} // contact by number
	for i, name := range []string{"Jansen", "Prins", "Bakker", "Visser", "Smit"} {
		number := fmt.Sprintf("+3169876002%d", i)
		people[name] = number
		must.Get(o.hub.AddInvented(t.Context(), localhub.Record{Numbers: []string{number}, Contact: contact.Contact{ID: "c-" + strings.ToLower(name), RelationNumber: fmt.Sprint(100300 + i),
			Initials: "A.", FamilyName: name, Address: contact.Address{Street: "Laan", Number: fmt.Sprint(i + 1), PostalCode: "1234AB", City: "Ons Dorp"}}}))(t)
	}
	const family = "+31698760030"
	for i, name := range []string{"Aarts", "Bos", "Claes"} {
		must.Get(o.hub.AddInvented(t.Context(), localhub.Record{Numbers: []string{family}, Contact: contact.Contact{ID: "c-" + strings.ToLower(name), RelationNumber: fmt.Sprint(100400 + i),
			Initials: "F.", FamilyName: name, Address: contact.Address{Street: "Kade", Number: "7", PostalCode: "1234AB", City: "Ons Dorp"}}}))(t)
	}
	people["the family"] = family
	notes := o.opener("exit 0")
	bar := o.Terminal(image.Rect(0, height-40, width, height))
	o.Run("xprop", "-id", bar.ID, "-f", "_NET_WM_STRUT_PARTIAL", "32c", "-set", "_NET_WM_STRUT_PARTIAL", fmt.Sprintf("0,0,0,40,0,0,0,0,0,0,0,%d", width-1))
	o.start()
	term := o.Terminal(image.Rect(40, 40, 600, 400))
	p := dial(o)
	ring := func(id, name string) {
		t.Helper()
		number := people[name]
		if name == "De Vries" {
			number = "+31698760011"
		}
		must.Do(t, p.Ring(t.Context(), simulate.Call{ID: id, Number: number}))
	}
	answer := func(id string) {
		t.Helper()
		must.Do(t, p.Answer(t.Context(), simulate.Call{ID: id}))
	}
	end := func(id, reason string) {
		t.Helper()
		must.Do(t, p.End(t.Context(), simulate.Call{ID: id}, reason))
	}
	// sees waits until the cards on the screen are as they should be.
	sees := func(what string, ok func(all []strip) bool) (all []strip) {
		t.Helper()
		o.Until(what, func() bool { all = o.strips(); return ok(all) }, func() []any { return []any{"there are", all} })
		return all
	}
	of := func(all []strip, rgb uint32) (n int) {
		for _, s := range all {
			if s.rgb == rgb {
				n++
			}
		}
		return n
	}
	lines := func(all []strip) []strip {
		return slices.DeleteFunc(slices.Clone(all), strip.whole)
	}
	one := func(rgb uint32) func([]strip) bool {
		return func(all []strip) bool { return len(all) == 1 && all[0].rgb == rgb && all[0].whole() }
	}
	hotkey := func() {
		t.Helper()
		was := o.FocusedWindow()
		o.Key("ctrl+alt+w")
		o.Until("a card has the keyboard", func() bool { return o.FocusedWindow() != was })
		meant()
	}
	opens := func(what, id string, do func()) {
		t.Helper()
		before := len(opened(notes))
		do()
		o.Until(what, func() bool { return len(opened(notes)) > before })
		if all := opened(notes); !strings.HasSuffix(all[len(all)-1], "/contacts/viewcontact/"+id) {
			t.Errorf("%s: opened %q", what, all[before:])
		}
	}
	// on clicks at a place of a card, from the left and from its top, or from its
	// bottom if y is negative.
	on := func(s strip, x, y int) {
		t.Helper()
		at := image.Pt(s.x-2+x, s.y0+y)
		if y < 0 {
			at.Y = s.y1 + y
		}
		o.Move(at.X, at.Y)
		meant()
		o.Click(at.X, at.Y, 1)
	}
	gone := func() {
		t.Helper()
		o.Move(250, 600) // a card under the pointer stays
		sees("no card", func(all []strip) bool { return len(all) == 0 })
	}
	// accents returns how many pixels of a card have the buttons' colour.
	accents := func(s strip) int {
		return xtest.Count(o.Crop(image.Rect(s.x+20, s.y0, s.x+370, s.y1)), 0x0B6BCB, 0)
	}
	primary := func(s strip) bool { return accents(s) > 3000 }
	// alone returns the only card, once its contacts are known; a card grows as they arrive.
	alone := func(what string, known func(strip) bool) (card strip) {
		t.Helper()
		sees(what, func(all []strip) bool {
			if len(all) == 1 {
				card = all[0]
			}
			return len(all) == 1 && card.whole() && known(card)
		})
		return card
	}
	three := func(s strip) bool { return s.y1-s.y0 > 290 && accents(s) > 300 && !primary(s) }
	var second strip // place of the second caller's card

	for i, step := range []struct {
		name string
		do   func()
	}{
		{"a call is answered and ends", func() {
			ring("1", "De Vries")
			rang := sees("a whole card", one(ringing))
			answer("1")
			if now := sees("the same card in a call", one(talking)); now[0].y0 != rang[0].y0 || now[0].y1 != rang[0].y1 {
				t.Errorf("answered, it went from %v to %v", rang, now)
			}
			if now := rang[0].y1; now > height-40 {
				t.Errorf("the card stands on the task bar, at %d", now)
			}
			end("1", "completed")
		}},
		{"the next one rings beside the ended card", func() {
			ring("2", "Jansen")
			all := sees("a whole ringing card, and the ended one folded", func(all []strip) bool {
				return len(all) == 2 && of(all, ringing) == 1 && slices.ContainsFunc(all, func(s strip) bool { return s.rgb == ringing && s.whole() }) &&
					slices.ContainsFunc(all, func(s strip) bool { return s.rgb != ringing && !s.whole() })
			})
			second = all[slices.IndexFunc(all, func(s strip) bool { return s.rgb == ringing })]
			hotkey()
			opens("Enter opens the file of who rings", "c-jansen", func() { o.Key("Return") })
			o.Key("Escape")
			term.Focus()
		}},
		{"the ended card goes and the ringing one stays where it is", func() {
			if all := sees("the ringing card alone", func(all []strip) bool { return len(all) == 1 }); all[0] != second {
				t.Errorf("it went from %v to %v", second, all[0])
			}
			answer("2")
			sees("in a call", func(all []strip) bool { return len(all) == 1 && all[0].rgb == talking })
		}},
		{"closed during the call, the hotkey brings it back", func() {
			o.Click(width-16-19, second.y0+19, 1)
			sees("no card", func(all []strip) bool { return len(all) == 0 })
			o.Move(700, 500)
			o.Key("ctrl+alt+w")
			sees("the card of the call", func(all []strip) bool { return len(all) == 1 && all[0].rgb == talking })
			o.Key("Escape")
			term.Focus()
		}},
		{"five calls, and the fifth is answered", func() {
			end("2", "completed")
			for i, name := range []string{"De Vries", "Jansen", "Prins", "Bakker", "Visser"} {
				ring(fmt.Sprint(10+i), name)
			}
			answer("14")
			sees("a whole card of the call in progress, and four that ring", func(all []strip) bool {
				return of(all, ringing) == 4 && slices.ContainsFunc(all, func(s strip) bool { return s.rgb == talking && s.whole() })
			})
		}},
		{"a click on the line of the fourth brings its card", func() {
			all := sees("one line", func(all []strip) bool { return len(lines(all)) == 1 })
			line := lines(all)[0]
			o.Move(line.x+200, (line.y0+line.y1)/2)
			meant()
			o.Click(line.x+200, (line.y0+line.y1)/2, 1)
			now := sees("five whole cards", func(all []strip) bool { return len(all) == 5 && len(lines(all)) == 0 })
			for _, s := range all {
				if s != line && !slices.Contains(now, s) {
					t.Errorf("the card at %v moved: there are %v", s, now)
				}
			}
			o.Move(250, 600)
		}},
		{"among five the hotkey goes to one that rings", func() {
			hotkey()
			before := len(opened(notes))
			o.Key("Return")
			o.Until("Enter opens a file", func() bool { return len(opened(notes)) > before })
			got := opened(notes)[before]
			if !slices.ContainsFunc([]string{"vries", "jansen", "prins", "bakker"}, func(who string) bool { return strings.HasSuffix(got, "/c-"+who) }) {
				t.Errorf("opened %q", got)
			}
			o.Key("Escape")
			term.Focus()
		}},
		{"all have gone", func() {
			end("14", "completed")
			for i := range 4 {
				end(fmt.Sprint(10+i), "missed")
			}
			gone()
		}},
		{"who was opened among three stands first when they call again", func() {
			ring("20", "the family")
			card := alone("the card of three", three)
			opens("the second of three", "c-bos", func() { on(card, 320, 183) })
			end("20", "missed")
			gone()
			ring("21", "the family")
			card = alone("the card of three again", three)
			opens("the first, which is the one opened before", "c-bos", func() { on(card, 320, 129) })
			end("21", "missed")
			gone()
		}},
		{"reception passes a call on, and the card follows the caller", func() {
			must.Do(t, p.Ring(t.Context(), simulate.Call{ID: "23", Number: "101", Name: "Receptie"}))
			sees("a colleague's card", func(all []strip) bool { return len(all) == 1 })
			must.Do(t, p.Answer(t.Context(), simulate.Call{ID: "23"}))
			must.Do(t, p.Answer(t.Context(), simulate.Call{ID: "23", Number: people["Smit"], Via: "Receptie"}))
			alone("the card of who is on the line now", func(s strip) bool { return s.rgb == talking && primary(s) })
			hotkey()
			opens("Enter opens the file of who is on the line", "c-smit", func() { o.Key("Return") })
			o.Key("Escape")
			term.Focus()
			end("23", "completed")
			gone()
		}},
		{"a card is dragged, and the next one comes up there", func() {
			ring("24", "Prins")
			card := alone("her card", primary)
			o.Move(card.x+250, card.y0+50)
			meant()
			o.Run("xdotool", "mousedown", "1", "mousemove", "120", "80", "mouseup", "1", "mousemove", "250", "600")
			left := func(all []strip) bool { return len(all) == 1 && all[0].x < width/2 && all[0].y0 < height/2 }
			o.Until("her card in the other corner", func() bool { return left(o.stripsAt(16 + 2)) })
			end("24", "completed")
			o.Until("no card", func() bool { return len(o.stripsAt(16+2)) == 0 })
			ring("25", "Bakker")
			o.Until("the next card in that corner", func() bool { return left(o.stripsAt(16 + 2)) })
			end("25", "completed")
			o.Until("no card there either", func() bool { return len(o.stripsAt(16+2)) == 0 })
		}},
	} {
		t.Log(step.name)
		step.do()
		o.shot(fmt.Sprintf("day-%s-%d", l, i))
	}
}
