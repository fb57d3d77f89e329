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
)

// Colours of the strip along a card, in light mode.
const ringing, done = accent, 0x6B7785

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
		if rgb != ringing && rgb != answeredGreen && rgb != done {
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

// TestDayAtTheReception: on a desktop with a task bar, the card of a second caller comes beside
// that of a call that has ended, and stays there. Who was opened among three contacts stands
// first when they call again, and a card that was dragged to another corner is followed by the
// next one. With WIEBELT_SHOTS set, it saves a picture of each step there.
func TestDayAtTheReception(t *testing.T) {
	t.Parallel()
	o := prepareOn(t, "xfwm4", xtest.Options{Width: width, Height: height},
		"[card]\nafter_call = \"6s\"\n\n[phone]\ncall_back = \"off\"\n\n[ui]\ntheme = \"light\"\nlanguage = \"nl\"\n")
	const jansen, family = "+31698760020", "+31698760030"
	for i, name := range []string{"Jansen", "Aarts", "Bos", "Claes"} {
		number := family
		if i == 0 {
			number = jansen
		}
		must.Get(o.hub.AddInvented(t.Context(), localhub.Record{Numbers: []string{number}, Contact: contact.Contact{
			ID: "c-" + strings.ToLower(name), RelationNumber: fmt.Sprint(100400 + i), Initials: "F.", FamilyName: name,
			Address: contact.Address{Street: "Kade", Number: "7", PostalCode: "1234AB", City: "Ons Dorp"}}}))(t)
	}
	notes := o.opener("exit 0")
	bar := o.Terminal(image.Rect(0, height-40, width, height))
	o.Run("xprop", "-id", bar.ID, "-f", "_NET_WM_STRUT_PARTIAL", "32c", "-set", "_NET_WM_STRUT_PARTIAL", fmt.Sprintf("0,0,0,40,0,0,0,0,0,0,0,%d", width-1))
	o.start()
	p := dial(o)
	calls := 0
	ring := func(number string) (over func()) {
		t.Helper()
		calls++
		c := simulate.Call{ID: fmt.Sprint(calls), Number: number}
		must.Do(t, p.Ring(t.Context(), c))
		return func() {
			t.Helper()
			must.Do(t, p.End(t.Context(), c, "completed"))
		}
	}
	// sees waits until the cards on the screen are as they should be.
	sees := func(what string, ok func(all []strip) bool) (all []strip) {
		t.Helper()
		o.Until(what, func() bool { all = o.strips(); return ok(all) }, func() []any { return []any{"there are", all} })
		o.shot("reception-" + strings.ReplaceAll(what, " ", "-"))
		return all
	}
	one := func(all []strip) bool { return len(all) == 1 && all[0].whole() }
	// nobody is the card of a caller whom the hub does not know; one that waits for its answer is higher.
	nobody := func(all []strip) bool { return one(all) && all[0].rgb == done }
	gone := func() {
		t.Helper()
		o.Move(250, 600) // a card under the pointer stays
		sees("no card", func(all []strip) bool { return len(all) == 0 })
	}

	over := ring("+31698760011")
	first := sees("a whole card", one)
	if first[0].y1 > height-40 {
		t.Errorf("the card stands on the task bar, at %d", first[0].y1)
	}
	must.Do(t, p.Answer(t.Context(), simulate.Call{ID: "1"}))
	now := sees("the card in a call", func(all []strip) bool { return one(all) && all[0].rgb == answeredGreen })
	if now[0].y0 != first[0].y0 || now[0].y1 != first[0].y1 {
		t.Errorf("answered, it went from %v to %v", first, now)
	}
	over()
	over = ring(jansen)
	is := func(rgb uint32, whole bool) func(strip) bool {
		return func(s strip) bool { return s.rgb == rgb && s.whole() == whole }
	}
	all := sees("a whole ringing card and the ended one folded", func(all []strip) bool {
		return len(all) == 2 && slices.ContainsFunc(all, is(ringing, true)) && slices.ContainsFunc(all, is(done, false))
	})
	second := all[slices.IndexFunc(all, is(ringing, true))]
	if all := sees("the ringing card alone", func(all []strip) bool { return len(all) == 1 }); all[0] != second {
		t.Errorf("it went from %v to %v", second, all[0])
	}
	over()
	gone()

	for _, row := range []int{183, 129} { // the second of three, which is then the first
		over = ring(family)
		var card strip
		sees("the card of three", func(all []strip) bool { // it grows as they arrive
			if len(all) == 1 {
				card = all[0]
			}
			return len(all) == 1 && card.y1-card.y0 > 290
		})
		before := len(opened(notes))
		at := image.Pt(card.x-2+320, card.y0+row)
		o.Move(at.X, at.Y)
		meant()
		o.Click(at.X, at.Y, 1)
		o.Until("a file is opened", func() bool { return len(opened(notes)) > before })
		if got := opened(notes)[before]; !strings.HasSuffix(got, "/contacts/viewcontact/c-bos") {
			t.Errorf("opened %q", got)
		}
		over()
		gone()
	}

	over = ring("+31698760013")
	card := sees("a card to drag", nobody)[0]
	o.Move(card.x+250, card.y0+50)
	meant()
	o.Run("xdotool", "mousedown", "1", "mousemove", "120", "80", "mouseup", "1", "mousemove", "250", "600")
	corner := func(what string, there bool) {
		t.Helper()
		o.Until(what, func() bool {
			all := o.stripsAt(16 + 2)
			return there == (len(all) == 1 && all[0].y0 < height/2)
		})
	}
	corner("the card in the other corner", true)
	over()
	corner("no card", false)
	over = ring("+31698760014")
	corner("the next card in that corner", true)
	over()
}
