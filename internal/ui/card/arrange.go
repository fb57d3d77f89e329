package card

import (
	"slices"

	"wiebelt/internal/core/engine"
)

type fold uint8

const (
	asCard fold = iota
	asStrip
	asLine
)

// form is one way to show a call.
type form struct {
	fold   fold
	rows   int // number of matches shown; 0 means all
	height int // pixels
}

// position is where a card is: its column, counted from the corner, and the distance of its
// near edge from the corner's side, in pixels.
type position struct {
	column, cornerDistance int
	overlapping            bool // it overlaps others: there was no room left
}

type item struct {
	forms     []form // the first is the best
	visible   bool   // it is on screen, at
	at        position
	form      form
	fixed     bool // it does not move: its call is active, or
	frozen    bool // pointer or keyboard is on a card
	requested bool // the user has just requested it
	inUse     bool // or on this very card
	rank      engine.Rank
}

// evictionCost is the cost of evicting an item placed as o: all lines together cost less than one
// card of an ended call, and all of those less than a ringing one.
func (it item) evictionCost(o placedForm) int {
	switch {
	case it.inUse:
		return 10_000
	case o.fold == asLine:
		return 1
	}
	return [...]int{engine.RankInCall: 1000, engine.RankRinging: 100, engine.RankLaunched: 10, engine.RankEnded: 10}[it.rank]
}

type placedForm struct {
	position
	form
}

// space is the area available for cards, in pixels.
type space struct{ height, columns, edge, gap int }

// arrange places every item. Items that stay keep their edge facing the corner; they
// grow as far as there is room and fold where there is none. The others get the first
// free place, active calls first. Items that stay are only evicted for what the user
// has just requested, and only if there is no other room: the last in call order
// first, never one in use.
func (g space) arrange(items []item) []placedForm {
	a := arrangement{g, items, make([]placedForm, len(items)), make([]bool, len(items))}
	for i, it := range items {
		if it.at.overlapping && !it.frozen {
			items[i].visible, it.visible = false, false
		}
		if it.visible && it.fixed && !it.requested && !it.at.overlapping {
			a.put(i, it.at, it.form)
			a.out[i].height = min(it.form.height, it.forms[0].height)
		}
	}
	for i, it := range items {
		if best := it.forms[0].fold; it.requested && !(it.visible && a.keepPlace(i, best)) && !a.findPlace(i, best) {
			a.makeRoom(i)
		}
	}
	for _, i := range a.order() {
		a.placeOne(i)
	}
	return a.out
}

type arrangement struct {
	space
	items    []item
	out      []placedForm
	occupied []bool // out is an occupied place
}

func (a *arrangement) put(i int, at position, f form) {
	a.out[i], a.occupied[i] = placedForm{at, f}, true
}

// overlaps reports whether something of height h at a position would be too close to item
// k, which has been placed.
func (a *arrangement) overlaps(at position, h, k int) bool {
	o := a.out[k]
	return a.occupied[k] && o.column == at.column && at.cornerDistance < o.cornerDistance+a.fit(o.height)+a.gap && o.cornerDistance < at.cornerDistance+h+a.gap
}

func (a *arrangement) inside(at position, h int) bool { return at.cornerDistance+h+a.edge <= a.height }

func (a *arrangement) isFree(i int, at position, f form) bool {
	h := a.fit(f.height)
	if !a.inside(at, h) {
		return false
	}
	for k, o := range a.out {
		if k != i && !o.overlapping && a.overlaps(at, h, k) {
			return false
		}
	}
	return true
}

// findPlace places an item wherever it fits, in one of its forms no more folded than to.
func (a *arrangement) findPlace(i int, to fold) bool {
	for _, f := range a.items[i].forms {
		for column := 0; column < a.columns && f.fold <= to; column++ {
			nears := []int{a.edge}
			for k, o := range a.out {
				if a.occupied[k] && o.column == column && k != i {
					nears = append(nears, o.cornerDistance+a.fit(o.height)+a.gap)
				}
			}
			slices.Sort(nears)
			for _, near := range nears {
				if at := (position{column: column, cornerDistance: near}); a.isFree(i, at, f) {
					a.put(i, at, f)
					return true
				}
			}
		}
	}
	return false
}

// keepPlace leaves an item in place, in one of its forms no more folded than to.
func (a *arrangement) keepPlace(i int, to fold) bool {
	for _, f := range a.items[i].forms {
		if f.fold <= to && a.isFree(i, a.items[i].at, f) {
			a.put(i, a.items[i].at, f)
			return true
		}
	}
	return false
}

// makeRoom places an item, in its best form, where evicting others costs least.
func (a *arrangement) makeRoom(i int) {
	it := a.items[i]
	h := a.fit(it.forms[0].height)
	at, least := position{cornerDistance: a.edge}, -1
	try := func(to position) {
		if !a.inside(to, h) {
			return
		}
		cost := 0
		for k, o := range a.out {
			if a.overlaps(to, h, k) {
				cost += a.items[k].evictionCost(o)
			}
		}
		if least < 0 || cost < least {
			at, least = to, cost
		}
	}
	if it.visible {
		try(position{column: it.at.column, cornerDistance: it.at.cornerDistance})
	}
	for k, o := range slices.Backward(a.out) {
		if a.occupied[k] {
			try(position{column: o.column, cornerDistance: o.cornerDistance})
		}
	}
	try(position{cornerDistance: a.edge})
	for k := range a.out {
		if a.overlaps(at, h, k) {
			a.occupied[k], a.items[k].visible = false, false
		}
	}
	a.put(i, at, it.forms[0])
}

// order returns the order of placement: placed items, active calls, ended ones.
func (a *arrangement) order() []int {
	var placed, live, ended []int
	for i, it := range a.items {
		switch {
		case a.occupied[i]:
			placed = append(placed, i)
		case it.rank.IsLive():
			live = append(live, i)
		default:
			ended = append(ended, i)
		}
	}
	return slices.Concat(placed, live, ended)
}

func (a *arrangement) placeOne(i int) {
	it := a.items[i]
	switch {
	case it.requested && a.occupied[i]:
	case it.frozen && it.visible && it.at.overlapping:
		a.put(i, it.at, it.form)
	case it.visible && it.fixed && a.keepPlace(i, asStrip): // as a card
	case it.visible && it.form.fold < asLine && it.fixed && a.keepPlace(i, asLine):
	case a.findPlace(i, asStrip), it.visible && a.keepPlace(i, asLine), a.findPlace(i, asLine):
	case !a.occupied[i]: // no room left at all
		f := it.forms[len(it.forms)-1]
		a.put(i, position{cornerDistance: max(a.edge, a.height-a.edge-f.height), overlapping: true}, f)
	}
}

// fit limits a height to the space.
func (g space) fit(h int) int { return min(h, g.height-2*g.edge) }
