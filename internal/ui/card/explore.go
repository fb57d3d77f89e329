package card

import (
	"cmp"
	"image"
	"slices"
	"time"

	"wiebelt/internal/core/engine"
	"wiebelt/internal/native/screenreader"
	"wiebelt/internal/native/window"
	"wiebelt/internal/text"
)

type readerState struct {
	treeChanged bool // changed since the last report
	lastID      screenreader.ID
}

// nodeKey identifies a node across layouts, by what it does or says.
type nodeKey struct {
	role   screenreader.Role
	effect Effect
	name   string
	nth    int // counts identical ones
}

// reportTree reports what is on screen to screen readers, if there are any.
func (cs *Cards) reportTree() {
	if !cs.treeChanged || cs.c.TreeChanged == nil {
		return
	}
	cs.treeChanged = false
	lang := cs.c.Language
	t := screenreader.Tree{
		Press:        func(id screenreader.ID) { cs.send(func(when time.Time) { cs.readerPressed(id, when) }) },
		PositionText: func(i, of int) string { return lang.T(text.CardRowAt, i, of) },
	}
	for _, s := range append(slices.Clone(cs.order), cs.slots[engine.MaxShown]) {
		if s.visible {
			t.Windows = append(t.Windows, cs.explore(s))
		}
	}
	cs.c.TreeChanged(t)
}

// readerPressed performs what a screen reader's user chose.
func (cs *Cards) readerPressed(chosen screenreader.ID, when time.Time) {
	for _, s := range cs.order {
		for t, id := range s.nodeIDs {
			if id == chosen && s.visible {
				cs.activate(s, t.effect, when)
				return
			}
		}
	}
}

type explorer struct {
	cs   *Cards
	s    *slot
	card *screenreader.Node
	list *screenreader.Node // of several matches
	seen map[nodeKey]bool
}

// explore returns the card's node for screen readers: its texts and
// controls, in layout order.
func (cs *Cards) explore(s *slot) *screenreader.Node {
	if s.nodeIDs == nil {
		s.nodeIDs = map[nodeKey]screenreader.ID{}
	}
	e := &explorer{cs: cs, s: s, seen: map[nodeKey]bool{}}
	root := nodeKey{role: screenreader.Card}
	_, known := s.nodeIDs[root]
	e.card = e.node(root, s.rect)
	e.card.Focused = s.keyboard.active
	if !known {
		window.SetReaderNode(s.win, e.card.ID)
	}
	word := 0
	for i := range s.view.areas {
		a := &s.view.areas[i]
		for ; word < a.textsBefore; word++ {
			e.text(word)
		}
		if n := e.control(a); n != nil {
			e.add(a.row, n)
		}
	}
	for ; word < len(s.view.texts); word++ {
		e.text(word)
	}
	if e.card.Name, _ = s.view.spoken(cs.c.Speech); s.form.fold != asCard {
		e.card.Name = e.allText()
	}
	for t := range s.nodeIDs { // what was spoken is not repeated when a card unfolds
		if !e.seen[t] && t.role != screenreader.News {
			delete(s.nodeIDs, t)
		}
	}
	return e.card
}

// node creates the node for a key.
func (e *explorer) node(t nodeKey, at image.Rectangle) *screenreader.Node {
	for e.seen[t] {
		t.nth++
	}
	e.seen[t] = true
	id, ok := e.s.nodeIDs[t]
	if !ok {
		e.cs.lastID++
		id = e.cs.lastID
		e.s.nodeIDs[t] = id
	}
	return &screenreader.Node{ID: id, Role: t.role, Name: unmarked(t.name), Bounds: at}
}

// add adds a node to the card, or to one of its rows.
func (e *explorer) add(item int, n *screenreader.Node) {
	in := e.card
	if item > 0 {
		in = e.row(item - 1)
	}
	in.Children = append(in.Children, n)
}

func (e *explorer) row(i int) *screenreader.Node {
	v := e.s.view
	if e.list == nil {
		at := e.at(textLeft, v.rows[0].y, textWidth, float32(len(v.rows))*rowPitch)
		e.list = e.node(nodeKey{role: screenreader.List, name: v.texts[v.headline-1].full}, at)
		e.add(0, e.list)
		for _, r := range v.rows {
			n := e.node(nodeKey{role: screenreader.Item, name: joined(r.texts[:], ", ")}, e.at(textLeft, r.y, textWidth, rowPitch))
			n.Position = r.position
			e.list.Children = append(e.list.Children, n)
		}
	}
	return e.list.Children[i]
}

// text adds a text that belongs to nothing else. On a folded
// card, the texts are the name of the button that unfolds it.
func (e *explorer) text(i int) {
	w := &e.s.view.texts[i]
	if w.inControl || e.s.more == 0 && e.s.form.fold != asCard {
		return
	}
	high := w.font.size // without the line spacing
	at := e.at(w.x, w.y+(w.font.line-high)/2, w.width, high)
	if i+1 != e.s.view.headline || e.s.times == 0 {
		e.add(0, e.node(nodeKey{role: screenreader.Label, name: w.full}, at))
		return
	}
	n := e.node(nodeKey{role: screenreader.News, nth: e.s.times}, at)
	n.Name = e.s.sentence
	e.add(0, n)
}

// control returns the node of a control, nil for one that only shows a cut text in full.
func (e *explorer) control(a *area) *screenreader.Node {
	if a.effect.FullText != "" {
		return nil
	}
	t := nodeKey{role: a.role, effect: a.effect}
	if a.effect.Disabled { // all disabled controls do the same
		t.name = a.name
	}
	n := e.node(t, e.at(a.x, a.y, a.w, a.h))
	n.Name, n.Disabled = unmarked(a.name), a.effect.Disabled
	n.Focused = e.s.keyboard.active && !a.effect.isNone() && a.effect == e.s.keyboard.focus
	switch {
	case a.role == screenreader.Entry:
		n.Value = e.s.rowsState.Filter
	case a.effect.requests(engine.ActionUnfold):
		n.Name, n.Help = e.allText(), n.Name
	case a.row > 0:
		r := e.s.view.rows[a.row-1]
		n.Name, n.Position = n.Name+": "+unmarked(cmp.Or(r.texts[0], r.texts[2])), r.position
	}
	return n
}

// allText returns all text on a card outside its buttons and rows.
func (e *explorer) allText() string {
	var all []string
	for _, w := range e.s.view.texts {
		if !w.inControl {
			all = append(all, w.full)
		}
	}
	return joined(all, ", ")
}

func (e *explorer) at(x, y, w, h float32) image.Rectangle { return e.cs.onDesktop(e.s, x, y, w, h) }
