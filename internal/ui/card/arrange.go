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
	call  engine.Standing
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
	out := make([]placed, len(items))
	have := make([]bool, len(items)) // out is a place that is taken
	put := func(i int, s position, f form) { out[i], have[i] = placed{s, f}, true }
	overlap := func(s position, h int, o placed) bool {
		return o.column == s.column && s.near < o.near+g.fit(o.height)+g.gap && o.near < s.near+h+g.gap
	}
	free := func(i int, s position, f form) bool {
		h := g.fit(f.height)
		if s.near+h+g.edge > g.height {
			return false
		}
		for k, o := range out {
			if k != i && have[k] && !o.over && overlap(s, h, o) {
				return false
			}
		}
		return true
	}
	// find puts an item where it can be as one of its forms down to folded to.
	find := func(i int, to fold) bool {
		for _, f := range items[i].forms {
			if f.fold > to {
				break
			}
			for column := range g.columns {
				nears := []int{g.edge}
				for k, o := range out {
					if have[k] && o.column == column && k != i {
						nears = append(nears, o.near+g.fit(o.height)+g.gap)
					}
				}
				slices.Sort(nears)
				for _, near := range nears {
					if s := (position{column: column, near: near}); free(i, s, f) {
						put(i, s, f)
						return true
					}
				}
			}
		}
		return false
	}
	keep := func(i int, to fold) bool {
		for _, f := range items[i].forms {
			if f.fold <= to && free(i, items[i].at, f) {
				put(i, items[i].at, f)
				return true
			}
		}
		return false
	}
	for i, it := range items {
		if it.at.over && !it.held {
			items[i].up, it.up = false, false
		}
		if it.up && it.stays && !it.asked && !it.at.over {
			put(i, it.at, it.form)
			out[i].height = min(it.form.height, it.forms[0].height)
		}
	}
	for i, it := range items {
		if !it.asked || it.up && keep(i, it.forms[0].fold) || find(i, it.forms[0].fold) {
			continue
		}
		h := g.fit(it.forms[0].height)
		s, least := position{near: g.edge}, -1
		try := func(at position) {
			if at.near+h+g.edge > g.height {
				return
			}
			cost := 0
			for k, o := range out {
				if have[k] && overlap(at, h, o) {
					cost += items[k].worth(o)
				}
			}
			if least < 0 || cost < least {
				s, least = at, cost
			}
		}
		if it.up {
			try(position{column: it.at.column, near: it.at.near})
		}
		for k := len(out) - 1; k >= 0; k-- {
			if have[k] {
				try(position{column: out[k].column, near: out[k].near})
			}
		}
		try(position{near: g.edge})
		for k, o := range out {
			if have[k] && overlap(s, h, o) {
				have[k], items[k].up = false, false
			}
		}
		put(i, s, it.forms[0])
	}
	order := make([]int, len(items))
	for i := range order {
		order[i] = i
	}
	first := func(i int) int { // what stays, what lives, what has ended
		switch it := items[i]; {
		case have[i]:
			return 0
		case it.call.Lives():
			return 1
		}
		return 2
	}
	slices.SortStableFunc(order, func(a, b int) int { return cmp.Compare(first(a), first(b)) })
	for _, i := range order {
		it := items[i]
		switch {
		case it.asked && have[i]:
		case it.held && it.up && it.at.over:
			put(i, it.at, it.form)
		case it.up && keep(i, asStrip): // as a card
		case it.up && it.form.fold < asLine && it.stays && keep(i, asLine):
		case find(i, asStrip), it.up && keep(i, asLine), find(i, asLine):
		case !have[i]: // there is no room left for anything
			f := it.forms[len(it.forms)-1]
			put(i, position{near: max(g.edge, g.height-g.edge-f.height), over: true}, f)
		}
	}
	return out
}

// fit is what a height takes of the space: what is too high for it takes all.
func (g space) fit(h int) int { return min(h, g.height-2*g.edge) }
