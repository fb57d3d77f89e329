package screenreader

import (
	"image"
	"slices"
	"sync/atomic"
)

// place is where a node is in the tree.
type place struct {
	*Node
	parent *place // nil for a card or a window
	index  int    // in the parent
}

// top is the card or window that it is in.
func (p *place) top() *place {
	for p.parent != nil {
		p = p.parent
	}
	return p
}

// under is the innermost that is at a point of p and in sight.
func (p *place) under(at image.Point) *place {
	for i, c := range p.Children {
		if at.In(c.Bounds) && !c.Is(Outside) {
			return (&place{c, p, i}).under(at)
		}
	}
	return p
}

// focusable tells whether the keyboard can come to it.
func (p *place) focusable() bool {
	return !p.Off && (p.Is(Focusable) || p.top().Role == Card && p.Acts())
}

// selects tells whether something in it is selected. Where nothing is, readers would say
// so of each.
func (n *Node) selects() bool {
	return slices.ContainsFunc(n.Children, func(c *Node) bool { return c.Is(Selected) })
}

// view is a tree as it is asked for. Nobody changes one.
type view struct {
	Tree
	nodes   map[ID]*place
	inOrder []*place
	news    []*place // all that was told of the cards and windows that are there
}

// maxNews is how much news is kept for a reader that asks for it when there is
// newer already.
const maxNews = 16

// viewOf is a tree after some news.
func viewOf(t Tree, news []*place) *view {
	v := &view{Tree: t, nodes: map[ID]*place{}}
	v.add(nil, t.Windows)
	had := func(p *place) bool { return v.nodes[p.ID] != nil || v.nodes[p.parent.ID] == nil }
	v.news = append(slices.DeleteFunc(slices.Clone(news[max(0, len(news)-maxNews):]), had), v.news...)
	return v
}

// find is what has an id, or had it when it was news; nil if nothing has.
func (v *view) find(id ID) *place {
	if p := v.nodes[id]; p != nil {
		return p
	}
	if i := slices.IndexFunc(v.news, func(p *place) bool { return p.ID == id }); i >= 0 {
		return v.news[i]
	}
	return nil
}

func (v *view) add(parent *place, all []*Node) {
	for i, n := range all {
		p := &place{n, parent, i}
		v.nodes[n.ID], v.inOrder = p, append(v.inOrder, p)
		if n.Role == News {
			v.news = append(v.news, p)
		}
		v.add(p, n.Children)
	}
}

// newsSince is the news that was not there in old. What a window opens with is none.
func (v *view) newsSince(old *view) (all []*place) {
	for _, p := range v.inOrder {
		if p.Role == News && old.find(p.ID) == nil && (p.top().Role == Card || old.nodes[p.top().ID] != nil) {
			all = append(all, p)
		}
	}
	return all
}

// screen is what a Bridge shows, and what it is to show next.
type screen struct {
	next chan Tree
	now  atomic.Pointer[view]
}

// New makes one. It is seen by nobody before Run.
func New() *Bridge {
	b := &Bridge{screen: screen{next: make(chan Tree, 1)}}
	b.now.Store(viewOf(Tree{}, nil))
	return b
}

// Show makes t what is on screen and returns at once; of several in a row the last
// one counts. It may be called from one goroutine.
func (s *screen) Show(t Tree) {
	select {
	case <-s.next:
	default:
	}
	s.next <- t
}

// set makes t what readers find from now on.
func (s *screen) set(t Tree) (old, now *view) {
	old = s.now.Load()
	now = viewOf(t, old.news)
	s.now.Store(now)
	return old, now
}
