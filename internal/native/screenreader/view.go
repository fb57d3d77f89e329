package screenreader

import (
	"image"
	"slices"
	"sync/atomic"
)

// treeNode is a node's position in the tree.
type treeNode struct {
	*Node
	parent *treeNode // nil for a card or a window
	index  int       // in the parent
}

// top returns the card or window that contains p.
func (p *treeNode) top() *treeNode {
	for p.parent != nil {
		p = p.parent
	}
	return p
}

// nodeAt returns the innermost visible node at a point of p.
func (p *treeNode) nodeAt(at image.Point) *treeNode {
	for i, c := range p.Children {
		if at.In(c.Bounds) && !c.Is(OffScreen) {
			return (&treeNode{c, p, i}).nodeAt(at)
		}
	}
	return p
}

// focusable reports whether p can get the keyboard focus.
func (p *treeNode) focusable() bool {
	return !p.Disabled && (p.Is(Focusable) || p.top().Role == Card && p.CanPress())
}

func boolNumber(is bool) int32 {
	if is {
		return 1
	}
	return 0
}

// hasSelection reports whether something in the node is selected. If nothing is, no selection is
// reported, since readers would say of every item that it is not selected.
func (n *Node) hasSelection() bool {
	return slices.ContainsFunc(n.Children, func(c *Node) bool { return c.Is(Selected) })
}

// view is a tree prepared for queries. It is immutable.
type view struct {
	Tree
	nodes   map[ID]*treeNode
	inOrder []*treeNode
	news    []*treeNode // all news reported for the current cards and windows
}

// maxNews is how much news is kept for a reader that queries it after
// newer news has arrived.
const maxNews = 16

func viewOf(t Tree, news []*treeNode) *view {
	v := &view{Tree: t, nodes: map[ID]*treeNode{}}
	v.add(nil, t.Windows)
	had := func(p *treeNode) bool { return v.nodes[p.ID] != nil || v.nodes[p.parent.ID] == nil }
	v.news = append(slices.DeleteFunc(slices.Clone(news[max(0, len(news)-maxNews):]), had), v.news...)
	return v
}

// find returns the node that has an ID, or had it as news, or nil if there is none.
func (v *view) find(id ID) *treeNode {
	if p := v.nodes[id]; p != nil {
		return p
	}
	if i := slices.IndexFunc(v.news, func(p *treeNode) bool { return p.ID == id }); i >= 0 {
		return v.news[i]
	}
	return nil
}

func (v *view) add(parent *treeNode, all []*Node) {
	for i, n := range all {
		p := &treeNode{n, parent, i}
		v.nodes[n.ID], v.inOrder = p, append(v.inOrder, p)
		if n.Role == News {
			v.news = append(v.news, p)
		}
		v.add(p, n.Children)
	}
}

// newsSince returns the news that old does not have. A window's initial contents are not news.
func (v *view) newsSince(old *view) (all []*treeNode) {
	for _, p := range v.inOrder {
		if p.Role == News && old.find(p.ID) == nil && (p.top().Role == Card || old.nodes[p.top().ID] != nil) {
			all = append(all, p)
		}
	}
	return all
}

// treeState is what a Bridge shows, and what it shows next.
type treeState struct {
	next chan Tree
	now  atomic.Pointer[view]
}

// New returns a Bridge. It is invisible until Run.
func New() *Bridge {
	b := &Bridge{treeState: treeState{next: make(chan Tree, 1)}}
	b.now.Store(viewOf(Tree{}, nil))
	return b
}

// Show makes t the current tree and returns immediately. If it is called several times in a
// row, the last tree is used. It must be called from a single goroutine.
func (s *treeState) Show(t Tree) {
	select {
	case <-s.next:
	default:
	}
	s.next <- t
}

func (s *treeState) set(t Tree) (old, now *view) {
	old = s.now.Load()
	now = viewOf(t, old.news)
	s.now.Store(now)
	return old, now
}
