package card

import (
	"image"
	"slices"
	"strings"
	"testing"
	"time"

	"wiebelt/internal/core/contact"
	"wiebelt/internal/core/engine"
	"wiebelt/internal/native/window"
)

// openAt is a point on the button of a found card.
var openAt = image.Pt(120, 230)

func TestCornerAndStack(t *testing.T) {
	r := startCards(t, nil)
	a, b := gallery(t)["found"], gallery(t)["nobody"]
	b.ID = 2
	r.e.show(0, a)
	r.is("one card in the corner", func() bool {
		return slices.Equal(r.d.up(), []image.Rectangle{image.Rect(604, 460, 984, 744)})
	})
	r.e.show(2, a, b)
	r.is("the second above it, and the line that counts", func() bool {
		u := r.d.up()
		return len(u) == 3 && u[0] == image.Rect(604, 460, 984, 744) && u[1].Max.Y == 460-gap && u[2].Max.Y == u[1].Min.Y-gap
	})
	second := r.d.up()[1]
	r.e.show(0, b)
	r.is("the second stays: its call lives", func() bool { return slices.Equal(r.d.up(), []image.Rectangle{second}) })
	c := gallery(t)["strip-reported"]
	c.ID = 3
	r.e.show(0, b, c)
	r.is("what has ended in the corner, as long as that is free", func() bool {
		u := r.d.up()
		return len(u) == 2 && slices.Contains(u, second) && slices.ContainsFunc(u, func(r image.Rectangle) bool { return r.Max.Y == 744 })
	})
	a.ID = 4
	r.e.show(0, b, c, a)
	r.is("the next that rings in the corner", func() bool {
		u := r.d.up()
		return len(u) == 3 && slices.Contains(u, second) && slices.Contains(u, image.Rect(604, 460, 984, 744))
	})
}

func TestCardsKeepTheirPlaceUnderThePointer(t *testing.T) {
	r := startCards(t, nil)
	a, b := gallery(t)["found"], gallery(t)["nobody"]
	b.ID = 2
	r.e.show(0, a, b)
	r.is("two cards", func() bool { return len(r.d.up()) == 2 })
	second := r.d.up()[1]
	r.d.windows[1].h.PointerMoved(image.Pt(50, 50))
	r.action(engine.ActionHover)
	r.e.show(0, b)
	r.is("the second alone, where it was", func() bool { return slices.Equal(r.d.up(), []image.Rectangle{second}) })
	// A third card is not put into the gap, where it would overlap the second.
	a.ID = 3
	r.e.show(0, b, a)
	r.is("the third beyond the second", func() bool {
		u := r.d.up()
		return len(u) == 2 && u[1] == second && !u[0].Overlaps(second)
	})
	r.leave(1)
	r.is("still there when the pointer has just left", func() bool { return r.d.up()[1] == second })
	r.pass(freezeAfterLeave)
	r.is("closed up", func() bool {
		return slices.ContainsFunc(r.d.up(), func(r image.Rectangle) bool { return r.Max.Y == 744 })
	})
}

func TestClickOpens(t *testing.T) {
	c := gallery(t)["found"]
	c.Edition = 7
	r := startCards(t, nil)
	r.shows(c)
	r.click(0, openAt)
	if a := r.action(engine.ActionOpen); a.Card != 1 || a.Index != 0 || a.Edition != 7 {
		t.Fatalf("%+v", a)
	}
	r.click(0, image.Pt(300, 230))
	r.is("copied", func() bool { return r.d.copied == "0612345678" })
}

// TestSmallWords: the links in the card's last line pass the call on, remove the contact
// and undo that; clicking the relation number copies it.
func TestSmallWords(t *testing.T) {
	c := gallery(t)["found"]
	pass := spot(t, c, Look{}, func(d Effect) bool { return strings.Contains(d.Copy, "Vries") })
	not := spot(t, c, Look{}, does(engine.ActionRemoveContact))
	relation := spot(t, c, Look{}, func(d Effect) bool { return d.Copy == "100200" })
	removed := extras(t)["undo"].Card
	undo := spot(t, removed, Look{}, does(engine.ActionUndo))
	r := startCards(t, nil)
	r.shows(c)
	r.click(0, pass)
	want := "J. de Vries · relatie 100200 · 0612345678 · gebeld om 10:42 · op Schade · https://hub.example/contacts/viewcontact/c1"
	r.is("one line on the clipboard", func() bool { return r.d.copied == want })
	r.click(0, relation)
	r.is("digits only", func() bool { return r.d.copied == "100200" })
	r.click(0, not)
	if a := r.action(engine.ActionRemoveContact); a.Card != 1 || a.Index != 0 {
		t.Fatalf("%+v", a)
	}
	r.shows(removed)
	r.click(0, undo)
	r.action(engine.ActionUndo)
}

func TestPassOnLeavesOutWhatIsNotKnown(t *testing.T) {
	g := gallery(t)
	bare := g["found"]
	bare.Contacts, bare.LinkOK, bare.LineName, bare.LineText, bare.Rang = make([]contact.Contact, 1), []bool{false}, "", "", time.Time{}
	outside := g["possible"]
	for name, c := range map[string]struct {
		card engine.Card
		who  int
		want string
	}{
		"nothing but the number": {bare, 0, "0612345678"},
		"nobody found":           {g["nobody"], -1, "P. Jansen · 0612345678 · gebeld om 10:42 · op Schade"},
		"a link that is off":     {g["nolink"], 0, "J. de Vries · relatie 100200 · 0612345678 · gebeld om 10:42 · op Schade"},
		"foreign":                {outside, 0, "Mogelijk: J. de Vries · relatie 100200 · 00493012345678 · gebeld om 10:42 · op Schade · " + outside.Contacts[0].Link},
		"one of several":         {g["several"], 1, "B.M. Bakker-van den Heuvel · relatie 200003 · 0209876543 · gebeld om 10:42 · op 020 123 45 67 · " + g["several"].Contacts[1].Link},
	} {
		if got := summary(c.card, c.who, "nl"); got != c.want {
			t.Errorf("%s:\n got %q\nwant %q", name, got, c.want)
		}
	}
}

// TestClickOfAPointerThatRests: it is aimed at what is there, even if the person has changed since
// the pointer came, but not a moment ago. What moving pointers open, TestNeverAnotherFile checks.
func TestClickOfAPointerThatRests(t *testing.T) {
	c := gallery(t)["found"]
	r := startCards(t, nil)
	r.shows(c)
	r.d.windows[0].h.PointerMoved(openAt)
	r.action(engine.ActionHover)
	r.pass(time.Second)
	c.Number, c.Contacts = number(t, "0687654321"), []contact.Contact{person("K", "", "Ander")}
	r.brings(c)
	r.click(0, openAt)
	r.none(engine.ActionOpen)
	r.pass(time.Second)
	r.click(0, openAt)
	if got := r.action(engine.ActionOpen); got.Card != 1 {
		t.Fatalf("%+v", got)
	}
}

func TestPressedHereReleasedThere(t *testing.T) {
	r := startCards(t, nil)
	r.shows(gallery(t)["found"])
	h := r.d.windows[0].h
	h.PointerPressed(image.Pt(50, 60), window.Left)
	h.PointerReleased(openAt, window.Left)
	h.PointerPressed(openAt, window.Right)
	h.PointerReleased(openAt, window.Right)
	h.PointerMoved(openAt)
	r.pass(time.Second)
	h.PointerPressed(openAt, window.Left)
	h.PointerReleased(image.Pt(200, 60), window.Left) // where nothing is
	h.PointerLeft()
	r.none(engine.ActionOpen)
}

func TestRowsTurn(t *testing.T) {
	c := gallery(t)["crowd"]
	row := spot(t, c, Look{RowsState: RowsState{First: 3}}, does(engine.ActionOpen))
	r := startCards(t, nil)
	r.shows(c)
	r.d.windows[0].h.Scrolled(image.Pt(100, 200), -3)
	r.sync()
	r.pass(time.Second)
	r.click(0, row)
	if a := r.action(engine.ActionOpen); a.Index != 3 {
		t.Fatalf("%+v", a)
	}
}

// TestFastHandLosesMovesOnly: a pointer that moves and turns its wheel faster than cards
// are painted never loses its leave event; without that, the card would stay forever.
func TestFastHandLosesMovesOnly(t *testing.T) {
	cs := &Cards{input: make(chan input, 64), now: time.Now}
	h := &handler{cs, &slot{}}
	cs.slots[0] = h.s
	for i := range 1000 {
		h.PointerMoved(image.Pt(i, 1))
		h.Scrolled(image.Pt(i, 1), 1)
		(&handler{cs, &slot{}}).DisplayChanged() // reported to the first window too
	}
	h.PointerPressed(image.Pt(1, 1), window.Left)
	h.PointerReleased(image.Pt(1, 1), window.Left)
	h.PointerLeft()
	n := len(cs.input)
	for range n {
		in := <-cs.input
		in.handle(in.when)
	}
	if cs.pointer.last.IsZero() {
		t.Fatalf("the pointer's leaving was lost behind %d others", n)
	}
}

// TestACutNameCanBeRead: hovering over a cut name shows
// it in full; the name cannot be clicked or focused.
func TestACutNameCanBeRead(t *testing.T) {
	long := extras(t)["long"].Card
	whole := long.Contacts[0].Name()
	at := spot(t, long, Look{}, func(d Effect) bool { return d.FullText == whole })
	r := startCards(t, nil)
	r.shows(long)
	says := func() (last string) {
		r.on(func() {
			for _, w := range r.cs.slots[0].view.texts {
				last += " " + w.shown
			}
		})
		return last
	}
	if strings.Contains(says(), "Nieuwenkerk") {
		t.Fatal("it is not cut: the test shows nothing")
	}
	r.click(0, at)
	if s := says(); !strings.Contains(s, "Rijckevorsel tot Nieuwenkerk") && !strings.Contains(s, "tot Nieuwenkerk") {
		t.Errorf("the card says %q", s)
	}
	r.on(func() {
		if slices.ContainsFunc(r.cs.slots[0].tabStops(), func(d Effect) bool { return d.FullText != "" }) {
			t.Error("the keyboard stops at it")
		}
	})
	r.leave(0)
	if strings.Contains(says(), "Nieuwenkerk") {
		t.Error("it stays when the pointer has left")
	}
}
