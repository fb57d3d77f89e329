package card

import (
	"cmp"
	"image"
	"slices"

	"wiebelt/internal/core/engine"
	"wiebelt/internal/native/screenreader"
	"wiebelt/internal/native/window"
	"wiebelt/internal/text"
)

// exploring is what screen readers know of the cards.
type exploring struct {
	untold bool // changed since the last report
	lastID screenreader.ID
}

// thing identifies something across layouts: it does the same, or says the same.
type thing struct {
	role screenreader.Role
	do   Do
	name string
	nth  int // counts identical ones
}

// tell reports what is on screen to screen readers, if there are any.
func (cs *Cards) tell() {
	if !cs.untold || cs.c.Explored == nil {
		return
	}
	cs.untold = false
	lang := cs.c.Language
	t := screenreader.Tree{
		Press:        func(id screenreader.ID) { cs.send(input{kind: chosenByReader, node: id}) },
		PositionText: func(i, of int) string { return lang.T(text.CardRowAt, i, of) },
	}
	for _, s := range append(slices.Clone(cs.order), cs.slots[engine.MaxShown]) {
		if s.up && s.face != nil {
			t.Windows = append(t.Windows, cs.explore(s))
		}
	}
	cs.c.Explored(t)
}

// readerPressed performs what a screen reader's user chose.
func (cs *Cards) readerPressed(in input) {
	for _, s := range cs.order {
		for t, id := range s.known {
			if id == in.node && s.up && s.face != nil {
				cs.chosen(s, t.do, in.when)
				return
			}
		}
	}
}

// explorer builds the tree of one card.
type explorer struct {
	cs   *Cards
	s    *slot
	card *screenreader.Node
	list *screenreader.Node // of several matches
	seen map[thing]bool
}

// explore returns the card's node for screen readers: its texts and
// controls, in layout order.
func (cs *Cards) explore(s *slot) *screenreader.Node {
	if s.known == nil {
		s.known = map[thing]screenreader.ID{}
	}
	e := &explorer{cs: cs, s: s, seen: map[thing]bool{}}
	root := thing{role: screenreader.Card}
	_, known := s.known[root]
	e.card = e.node(root, s.rect)
	e.card.Focused = s.keys.here
	if !known {
		window.Explored(s.win, e.card.ID)
	}
	var last *screenreader.Node // the close button, last as with the keys
	word := 0
	for i := range s.face.areas {
		a := &s.face.areas[i]
		for ; word < a.word; word++ {
			e.word(word)
		}
		if n := e.control(a); n != nil && a.do.Engine && a.do.Action.Do == engine.DoClose {
			last = n
		} else if n != nil {
			e.put(a.item, n)
		}
	}
	for ; word < len(s.face.words); word++ {
		e.word(word)
	}
	if last != nil {
		e.put(0, last)
	}
	if e.card.Name, _ = s.face.spoken(cs.c.Speech); s.form.fold != asCard || s.more > 0 {
		e.card.Name = e.words()
	}
	for t := range s.known { // what was spoken is not repeated when a card unfolds
		if !e.seen[t] && t.role != screenreader.News {
			delete(s.known, t)
		}
	}
	return e.card
}

// node makes a node of a thing.
func (e *explorer) node(t thing, at image.Rectangle) *screenreader.Node {
	for e.seen[t] {
		t.nth++
	}
	e.seen[t] = true
	id, ok := e.s.known[t]
	if !ok {
		e.cs.lastID++
		id = e.cs.lastID
		e.s.known[t] = id
	}
	return &screenreader.Node{ID: id, Role: t.role, Name: unmarked(t.name), Bounds: at}
}

// put adds a node to the card, or to one of its rows.
func (e *explorer) put(item int, n *screenreader.Node) {
	in := e.card
	if item > 0 {
		in = e.row(item - 1)
	}
	in.Children = append(in.Children, n)
}

// row returns the node of a row of several matches.
func (e *explorer) row(i int) *screenreader.Node {
	f := e.s.face
	if e.list == nil {
		e.list = e.node(thing{role: screenreader.List, name: f.words[f.headline-1].said}, e.at(left, f.items[0].y, textWidth, float32(len(f.items))*rowPitch))
		e.put(0, e.list)
		for _, r := range f.items {
			n := e.node(thing{role: screenreader.Item, name: joined(r.says[:], ", ")}, e.at(left, r.y, textWidth, rowPitch))
			n.Position = r.which
			e.list.Children = append(e.list.Children, n)
		}
	}
	return e.list.Children[i]
}

// word adds a text that belongs to nothing else. On a folded card, the texts are the name
// of the button that unfolds it.
func (e *explorer) word(i int) {
	w := &e.s.face.words[i]
	if w.part || e.s.more == 0 && e.s.form.fold != asCard {
		return
	}
	high := w.font.size // without the line spacing
	at := e.at(w.x, w.y+(w.font.line-high)/2, w.width, high)
	if i+1 != e.s.face.headline || e.s.times == 0 {
		e.put(0, e.node(thing{role: screenreader.Label, name: w.said}, at))
		return
	}
	n := e.node(thing{role: screenreader.News, nth: e.s.times}, at)
	n.Name = e.s.sentence
	e.put(0, n)
}

// control returns the node of a control, nil for one that only shows a cut text in full.
func (e *explorer) control(a *area) *screenreader.Node {
	if a.do.Whole != "" {
		return nil
	}
	t := thing{role: a.role, do: a.do}
	if a.do.Off { // all disabled controls do the same
		t.name = a.name
	}
	n := e.node(t, e.at(a.x, a.y, a.w, a.h))
	n.Name, n.Off = unmarked(a.name), a.do.Off
	n.Focused = e.s.keys.here && !a.do.none() && a.do == e.s.keys.focus
	switch {
	case a.role == screenreader.Entry:
		n.Value = e.s.list.Filter
	case a.do.Engine && a.do.Action.Do == engine.DoUnfold:
		n.Name, n.About = e.words(), n.Name
	case a.item > 0:
		r := e.s.face.items[a.item-1]
		n.Name, n.Position = n.Name+": "+unmarked(cmp.Or(r.says[0], r.says[2])), r.which
	}
	return n
}

// words returns all text on a card outside its buttons and rows.
func (e *explorer) words() string {
	var all []string
	for _, w := range e.s.face.words {
		if !w.part {
			all = append(all, w.said)
		}
	}
	return joined(all, ", ")
}

// at converts a rectangle on a card to desktop pixels.
func (e *explorer) at(x, y, w, h float32) image.Rectangle {
	return e.cs.pixels(&area{x: x, y: y, w: w, h: h}).Add(e.s.rect.Min)
}
