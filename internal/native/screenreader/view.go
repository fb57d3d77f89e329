package screenreader

import "slices"

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
