package card

import (
	"fmt"
	"image"
	"slices"
	"strings"
	"testing"
	"time"

	"wiebelt/internal/core/contact"
	"wiebelt/internal/core/engine"
	"wiebelt/internal/native/screenreader"
	"wiebelt/internal/native/window"
)

// walk calls f for every node of a tree.
func walk(tree screenreader.Tree, f func(*screenreader.Node)) {
	var down func([]*screenreader.Node)
	down = func(all []*screenreader.Node) {
		for _, n := range all {
			f(n)
			down(n.Children)
		}
	}
	down(tree.Windows)
}

// roles returns the nodes with a role.
func roles(in *screenreader.Node, want screenreader.Role) (found []*screenreader.Node) {
	walk(screenreader.Tree{Windows: []*screenreader.Node{in}}, func(n *screenreader.Node) {
		if n.Role == want {
			found = append(found, n)
		}
	})
	return found
}

// reader is a screen reader with the latest tree.
type reader struct {
	*rig
	tree screenreader.Tree
}

func startReader(t *testing.T) *reader {
	t.Helper()
	r := &reader{}
	r.rig = startCards(t, func(c *Config, d *desktop) {
		withHotkey(c, d)
		c.TreeChanged = func(tree screenreader.Tree) { r.tree = tree }
	})
	return r
}

// find returns the node with a name, or a name that begins with it.
func (r *reader) find(name string) (found *screenreader.Node) {
	r.t.Helper()
	walk(r.tree, func(n *screenreader.Node) {
		if found == nil && n.Role != screenreader.Card && strings.HasPrefix(n.Name, name) {
			found = n
		}
	})
	if found == nil {
		r.t.Fatalf("nothing is called %q", name)
	}
	return found
}

// TestExplored checks that every node on every card has a name and its own place within its
// parent, in both languages and at any scale, and that everything clickable is included.
func TestExplored(t *testing.T) {
	cs := startCards(t, nil).cs
	for name, c := range everyCard(t) {
		for _, l := range languages {
			look := c.in(Look{Language: l})
			cs.c.Language = l
			s := &slot{state: c.Card, view: layout(c.Card, look), rowsState: look.RowsState}
			switch {
			case c.SingleLine:
				s.form.fold = asLine
			case c.Strip:
				s.form.fold = asStrip
			default:
				s.sentence, _ = s.view.spoken(SpeechFull)
				s.times = 1
			}
			for _, scale := range []float32{1, 1.25, 2} {
				cs.monitor.Scale = scale
				s.rect = image.Rect(0, 0, cs.heightPx(s.view.size.Width), cs.heightPx(s.view.size.Height)).Add(image.Pt(400, 300))
				checkNodes(t, fmt.Sprint(name, ", ", l, ", ", scale), s.view, cs.explore(s))
			}
		}
	}
}

func checkNodes(t *testing.T, what string, v *view, card *screenreader.Node) {
	t.Helper()
	places := 0
	for _, a := range v.areas {
		if a.effect.FullText == "" {
			places++
		}
	}
	ids := map[screenreader.ID]bool{}
	walk(screenreader.Tree{Windows: []*screenreader.Node{card}}, func(n *screenreader.Node) {
		if n.Name == "" || ids[n.ID] {
			t.Errorf("%s: role %d, number %d is called %q", what, n.Role, n.ID, n.Name)
		}
		ids[n.ID] = true
		if n.Role == screenreader.Button || n.Role == screenreader.Entry {
			places--
		}
		checkPlaces(t, what, n)
	})
	if places != 0 {
		t.Errorf("%s: %d of the places that can be clicked are missing", what, places)
	}
}

func checkPlaces(t *testing.T, what string, n *screenreader.Node) {
	t.Helper()
	for i, a := range n.Children {
		if a.Bounds.Empty() || !a.Bounds.In(n.Bounds) {
			t.Errorf("%s: %q at %v is not in %v", what, a.Name, a.Bounds, n.Bounds)
		}
		for _, b := range n.Children[i+1:] {
			if a.Bounds.Overlaps(b.Bounds) {
				t.Errorf("%s: %q at %v lies on %q at %v", what, a.Name, a.Bounds, b.Name, b.Bounds)
			}
		}
	}
}

// TestExploredRows: several matches are a list, whose items have their position and
// the total count, including matches not on screen; a filter is a field with its text.
func TestExploredRows(t *testing.T) {
	r := startReader(t)
	r.shows(gallery(t)["crowd"])
	var rows []string
	for _, n := range roles(r.tree.Windows[0], screenreader.Item) {
		rows = append(rows, r.tree.PositionText(n.Position[0], n.Position[1])+": "+n.Name)
	}
	if len(rows) != rowsShown || rows[1] != "2 van 14: B. van der Berg, 200 003, Laan 2, Amsterdam" {
		t.Errorf("rows %q", rows)
	}
	if n := r.find("Openen: C. de Visser"); n.Position != [2]int{3, 14} || !n.CanPress() {
		t.Errorf("%+v", n)
	}
	r.tree.Press(r.find("Volgende relaties").ID)
	r.sync()
	if n := r.find("Openen: G. "); n.Position != [2]int{7, 14} {
		t.Errorf("after turning: %+v", n)
	}
	r.hotkey()
	r.pass(time.Second)
	r.d.windows[0].h.KeyPressed(window.KeyPress{Key: window.KeyText, Text: "visser"})
	r.sync()
	if n := r.find("Zoeken in deze relaties"); n.Role != screenreader.Entry || n.Value != "visser" {
		t.Errorf("%+v", n)
	}
}

// TestPressedByReader: a press by a screen reader acts like a click, without moving the
// focus; anything that has changed since, or has only just appeared, is not pressed.
func TestPressedByReader(t *testing.T) {
	g := gallery(t)
	r := startReader(t)
	r.shows(g["found"])
	open := r.find("Relatie openen")
	r.tree.Press(open.ID)
	if a := r.action(engine.ActionOpen); a.Card != 1 || a.Index != 0 || r.d.typing() >= 0 {
		t.Errorf("%+v, keyboard %d", a, r.d.typing())
	}
	r.tree.Press(r.find("Nummer kopiëren").ID)
	if r.sync(); r.d.copied != "0612345678" || r.find("Gekopieerd").ID == 0 {
		t.Errorf("copied %q", r.d.copied)
	}
	answered := g["answered"]
	r.shows(answered)
	if again := r.find("Relatie openen"); again.ID != open.ID {
		t.Errorf("the button has become another: %d, %d", open.ID, again.ID)
	}
	other := g["found"]
	other.Edition, other.Contacts = 2, other.Contacts[:1:1]
	other.Contacts = []contact.Contact{person("A", "", "Bakker")}
	r.brings(other)
	r.tree.Press(open.ID)
	r.tree.Press(r.find("Relatie openen").ID)
	r.none(engine.ActionOpen)
	r.pass(time.Second)
	r.tree.Press(r.find("Relatie openen").ID)
	r.action(engine.ActionOpen)
	r.shows(g["searching"])
	if n := r.find("Relatie openen"); !n.Disabled || n.CanPress() {
		t.Errorf("%+v", n)
	}
	r.tree.Press(r.find("Relatie openen").ID)
	r.none(engine.ActionOpen)
	strip := g["strip"]
	r.shows(strip)
	r.tree.Press(r.find("J. de Vries, In gesprek").ID)
	r.action(engine.ActionUnfold)
}

// TestExploredFocus: with the focus on a card, a screen reader says what Enter would do.
func TestExploredFocus(t *testing.T) {
	r := startReader(t)
	r.shows(gallery(t)["found"])
	focused := func() (names []string) {
		r.sync()
		walk(r.tree, func(n *screenreader.Node) {
			if n.Focused {
				names = append(names, n.Name)
			}
		})
		return names
	}
	if got := focused(); got != nil {
		t.Errorf("without the keyboard: %q", got)
	}
	r.hotkey()
	if got := focused(); !slices.Equal(got, []string{r.tree.Windows[0].Name, "Relatie openen"}) {
		t.Errorf("%q", got)
	}
}

// TestNobodyReads: nothing is created for screen readers while
// there is none, and one that starts later finds what is on screen.
func TestNobodyReads(t *testing.T) {
	r := startCards(t, nil)
	r.shows(gallery(t)["found"])
	if r.cs.slots[0].nodeIDs != nil {
		t.Error("a tree was made for nobody")
	}
	var tree screenreader.Tree
	r.c.TreeChanged = func(t screenreader.Tree) { tree = t }
	r.cs.ConfigChanged()
	if r.sync(); len(tree.Windows) != 1 {
		t.Errorf("%+v", tree)
	}
	r.e.show(0)
	if r.sync(); len(tree.Windows) != 0 {
		t.Errorf("the card has gone: %+v", tree)
	}
}
