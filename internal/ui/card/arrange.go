package card

import (
	"cmp"
	"slices"

	"wiebelt/internal/core/engine"
)

// fold is how far a call's card is folded.
type fold uint8

const (
	asCard fold = iota
	asStrip
	asLine
)

// form is one way to show a call.
type form struct {
	fold   fold
	rows   int // of several matches; 0 is as many as there are
	height int // pixels
}

// position is where a card stands: its column, counted from the corner, and how far
// its near edge is from the corner's side, in pixels.
type position struct {
	column, near int
	over         bool // it lies on others: there was no room left
}

// item is a card that is to get its place.
type item struct {
	forms []form // the first is the best
	up    bool   // it is on screen, at
	at    position
	form  form
	stays bool // it does not move: its call lives, or
	held  bool // pointer or keyboard is on a card
	asked bool // the user has just asked for it
	inUse bool // or on this very card
	call  engine.Rank
}

// worth is what it takes to have an item that stands as o go: all lines together
// are less than one card of an ended call, all of those than one that rings.
func (it item) worth(o placed) int {
	switch {
	case it.inUse:
		return 10_000
	case o.fold == asLine:
		return 1
	}
	return [...]int{engine.InCall: 1000, engine.Rings: 100, engine.Launched: 10, engine.Ended: 10}[it.call]
}

// placed is where an item stands and as what.
type placed struct {
	position
	form
}

// space is what cards can stand on, in pixels.
type space struct{ height, columns, edge, gap int }

// arrange gives every item a place. What stays keeps its edge that faces the
// corner; it grows as far as there is room and folds where there is none. The
// others get the first place that is free, calls that live first. Only for what
// the user has just asked for, what stays has to go, and only if there is no
// other room: the last in the order of calls, and nothing in use.
func (g space) arrange(items []item) []placed {
	a := arrangement{g, items, make([]placed, len(items)), make([]bool, len(items))}
	for i, it := range items {
		if it.at.over && !it.held {
			items[i].up, it.up = false, false
		}
		if it.up && it.stays && !it.asked && !it.at.over {
			a.put(i, it.at, it.form)
			a.out[i].height = min(it.form.height, it.forms[0].height)
		}
	}
	for i, it := range items {
		if best := it.forms[0].fold; it.asked && !(it.up && a.keep(i, best)) && !a.find(i, best) {
			a.makeRoom(i)
		}
	}
	for _, i := range a.order() {
		a.settle(i)
	}
	return a.out
}

// arrangement is items on their way to their places.
type arrangement struct {
	space
	items []item
	out   []placed
	have  []bool // out is a place that is taken
}

func (a *arrangement) put(i int, at position, f form) { a.out[i], a.have[i] = placed{at, f}, true }

// overlaps reports whether something of height h at a position comes too near to
// item k, which has its place.
func (a *arrangement) overlaps(at position, h, k int) bool {
	o := a.out[k]
	return a.have[k] && o.column == at.column && at.near < o.near+a.fit(o.height)+a.gap && o.near < at.near+h+a.gap
}

// inside reports whether something of height h at a position is on the monitor.
func (a *arrangement) inside(at position, h int) bool { return at.near+h+a.edge <= a.height }

func (a *arrangement) free(i int, at position, f form) bool {
	h := a.fit(f.height)
	if !a.inside(at, h) {
		return false
	}
	for k, o := range a.out {
		if k != i && !o.over && a.overlaps(at, h, k) {
			return false
		}
	}
	return true
}

// find puts an item where it can be as one of its forms down to folded to.
func (a *arrangement) find(i int, to fold) bool {
	for _, f := range a.items[i].forms {
		for column := 0; column < a.columns && f.fold <= to; column++ {
			nears := []int{a.edge}
			for k, o := range a.out {
				if a.have[k] && o.column == column && k != i {
					nears = append(nears, o.near+a.fit(o.height)+a.gap)
				}
			}
			slices.Sort(nears)
			for _, near := range nears {
				if at := (position{column: column, near: near}); a.free(i, at, f) {
					a.put(i, at, f)
					return true
				}
			}
		}
	}
	return false
}

// keep leaves an item where it is, as one of its forms down to folded to.
func (a *arrangement) keep(i int, to fold) bool {
	for _, f := range a.items[i].forms {
		if f.fold <= to && a.free(i, a.items[i].at, f) {
			a.put(i, a.items[i].at, f)
			return true
		}
	}
	return false
}

// makeRoom puts an item, as its best form, where what has to go for it is worth
// least.
func (a *arrangement) makeRoom(i int) {
	it := a.items[i]
	h := a.fit(it.forms[0].height)
	at, least := position{near: a.edge}, -1
	try := func(to position) {
		if !a.inside(to, h) {
			return
		}
		cost := 0
		for k, o := range a.out {
			if a.overlaps(to, h, k) {
				cost += a.items[k].worth(o)
			}
		}
		if least < 0 || cost < least {
			at, least = to, cost
		}
	}
	if it.up {
		try(position{column: it.at.column, near: it.at.near})
	}
	for k, o := range slices.Backward(a.out) {
		if a.have[k] {
			try(position{column: o.column, near: o.near})
		}
	}
	try(position{near: a.edge})
	for k := range a.out {
		if a.overlaps(at, h, k) {
			a.have[k], a.items[k].up = false, false
		}
	}
	a.put(i, at, it.forms[0])
}

// order is that in which places are given: what has one, what lives, what has
// ended.
func (a *arrangement) order() []int {
	rank := func(i int) int {
		switch {
		case a.have[i]:
			return 0
		case a.items[i].call.Lives():
			return 1
		}
		return 2
	}
	order := make([]int, len(a.items))
	for i := range order {
		order[i] = i
	}
	slices.SortStableFunc(order, func(i, k int) int { return cmp.Compare(rank(i), rank(k)) })
	return order
}

// settle gives an item its place.
func (a *arrangement) settle(i int) {
	it := a.items[i]
	switch {
	case it.asked && a.have[i]:
	case it.held && it.up && it.at.over:
		a.put(i, it.at, it.form)
	case it.up && a.keep(i, asStrip): // as a card
	case it.up && it.form.fold < asLine && it.stays && a.keep(i, asLine):
	case a.find(i, asStrip), it.up && a.keep(i, asLine), a.find(i, asLine):
	case !a.have[i]: // there is no room left for anything
		f := it.forms[len(it.forms)-1]
		a.put(i, position{near: max(a.edge, a.height-a.edge-f.height), over: true}, f)
	}
}

// fit is what a height takes of the space: what is too high for it takes all.
func (g space) fit(h int) int { return min(h, g.height-2*g.edge) }
