package driver

import (
	"image"
	"maps"
	"slices"
	"strings"

	"fyne.io/fyne/v2"
	fynecanvas "fyne.io/fyne/v2/canvas"

	"wiebelt/internal/native/screenreader"
	"wiebelt/internal/native/window"
	"wiebelt/internal/ui/explore"
	"wiebelt/internal/ui/offscreen"
)

// OnTreeChanged reports the windows' contents to screen readers: after each frame in which
// they changed, show receives all of it. With a nil show, nothing is reported. Only
// for the goroutine of Run.
func (a *App) OnTreeChanged(show func(screenreader.Tree)) {
	a.reader = readerState{show: show, lastID: a.reader.lastID, known: map[any]screenreader.ID{}, treeChanged: true}
}

type readerState struct {
	show        func(screenreader.Tree)
	treeChanged bool // changed since the last report
	lastID      screenreader.ID
	known       map[any]screenreader.ID
	actions     map[screenreader.ID]nodeActions
}

// nodeActions is what readers can do with an object. Any of it may be nil.
type nodeActions struct {
	press, focus func()
	set          func(string)
}

// Keys of known nodes other than objects.
type (
	partKey struct{ in, key any }
	newsKey struct {
		w    *frame
		text string
	}
)

type focus struct {
	object fyne.Focusable
	active bool
}

// readerView is what readers know about a window besides its contents.
type readerView struct {
	unread bool // its contents may have changed
	focus  focus
	bounds image.Rectangle // on the desktop
}

// noteReaderChanges notes what readers do not know yet of a window.
func (w *frame) noteReaderChanges() {
	if w.app.reader.show == nil {
		return
	}
	now := focus{w.canvas.Focused(), w.focused}
	if place, err := w.native.Place(); err == nil && place != w.canvas.bounds || now != w.canvas.focus || w.canvas.unread {
		w.canvas.readerView, w.app.reader.treeChanged = readerView{focus: now, bounds: place}, true
	}
}

// reportTree reports what is on screen to screen readers, if there are any.
func (a *App) reportTree() {
	r := &a.reader
	if r.show == nil || !r.treeChanged {
		return
	}
	r.treeChanged, r.actions = false, map[screenreader.ID]nodeActions{}
	t := screenreader.Tree{
		Press: func(id screenreader.ID) { a.queue.add(func() { callIfSet(a.reader.actions[id].press) }) },
		Focus: func(id screenreader.ID) { a.queue.add(func() { callIfSet(a.reader.actions[id].focus) }) },
		Set: func(id screenreader.ID, value string) {
			a.queue.add(func() {
				if set := a.reader.actions[id].set; set != nil {
					set(value)
				}
			})
		},
	}
	seen := map[any]bool{}
	for _, w := range a.windows {
		if w.native != nil {
			t.Windows = append(t.Windows, (&explorer{w: w, seen: seen}).window())
		}
	}
	maps.DeleteFunc(r.known, func(k any, _ screenreader.ID) bool { return !seen[k] })
	r.show(t)
}

type explorer struct {
	w    *frame
	seen map[any]bool
}

// spot is a position in the window, and the visible part of the window, in pixels.
type spot struct {
	at   fyne.Position
	clip image.Rectangle
}

func (e *explorer) window() *screenreader.Node {
	_, known := e.w.app.reader.known[e.w]
	n := e.node(e.w, screenreader.Window)
	if !known {
		window.SetReaderNode(e.w.native, n.ID)
	}
	n.Name, n.Focused, n.Bounds = e.w.title, e.w.focused, e.w.canvas.bounds
	e.addObject(n, e.w.canvas.top(), spot{clip: image.Rectangle{Max: e.w.size}}, explore.Description{})
	return n
}

// node creates the node for a key.
func (e *explorer) node(key any, role screenreader.Role) *screenreader.Node {
	r := &e.w.app.reader
	e.seen[key] = true
	id, ok := r.known[key]
	if !ok {
		r.lastID++
		id = r.lastID
		r.known[key] = id
	}
	return &screenreader.Node{ID: id, Role: role}
}

// addObject adds an object and its contents to a node. words are those of a field
// for the controls in it.
func (e *explorer) addObject(n *screenreader.Node, o fyne.CanvasObject, where spot, words explore.Description) {
	if o == nil || !o.Visible() {
		return
	}
	where.at = where.at.Add(o.Position())
	children, clips := offscreen.Children(o)
	if clips {
		where.clip = where.clip.Intersect(e.pixels(where.at, o.Size()))
	}
	if named, ok := explore.NameOf(o); ok {
		if named.Leaf {
			return
		}
		words = named
	}
	if said, ok := e.describe(o); ok {
		in := n
		n = e.add(in, o, said, where, o.Size(), words)
		e.addObject(in, said.Sibling, where, words)
		if said.Leaf {
			return
		}
		if said.Name != "" && said.Role != screenreader.List {
			words = explore.Description{}
		}
	}
	if _, plain := o.(*fyne.Container); plain {
		children = inReadingOrder(children)
	}
	for _, c := range children {
		e.addObject(n, c, where, words)
	}
	if n.Focused && slices.ContainsFunc(n.Children, func(c *screenreader.Node) bool { return c.Focused }) {
		n.Focused = n.Role == screenreader.Window // a part of it has the focus
	}
}

// inReadingOrder returns objects from top to bottom, and in a line from left to right.
func inReadingOrder(all []fyne.CanvasObject) []fyne.CanvasObject {
	all = slices.Clone(all)
	before := func(a, b fyne.CanvasObject) bool {
		top, end := max(a.Position().Y, b.Position().Y), min(a.Position().Y+a.Size().Height, b.Position().Y+b.Size().Height)
		if end-top > min(a.Size().Height, b.Size().Height)/2 {
			return a.Position().X < b.Position().X
		}
		return a.Position().Y < b.Position().Y
	}
	for i := range all { // insertion sort: the order is not transitive
		for j := i; j > 0 && before(all[j], all[j-1]); j-- {
			all[j], all[j-1] = all[j-1], all[j]
		}
	}
	return all
}

func (e *explorer) describe(o fyne.CanvasObject) (explore.Description, bool) {
	if t, ok := o.(*fynecanvas.Text); ok {
		return explore.Text(t.Text, 0), t.Text != ""
	}
	said, ok := explore.DescriptionOf(o)
	if ok && said.Name == "" {
		switch said.Role {
		case screenreader.Item, screenreader.News, screenreader.Heading, screenreader.Label:
			said.Name = strings.Join(texts(o, nil), ", ")
		case screenreader.Dialog:
			said.Name, _, _ = strings.Cut(strings.Join(texts(o, nil), "\x00"), "\x00") // its question
		}
	}
	return said, ok && (said.Name != "" || said.State != 0 || said.Role != screenreader.Label && said.Role != screenreader.Heading)
}

// add adds a node for what was said below another, and returns it.
func (e *explorer) add(in *screenreader.Node, o fyne.CanvasObject, said explore.Description, where spot, size fyne.Size, words explore.Description) *screenreader.Node {
	var key any = o
	switch {
	case said.Role == screenreader.News: // repeated text is not news
		key = newsKey{e.w, said.Name}
	case said.Key != nil:
		key = partKey{in.ID, said.Key}
	}
	for e.seen[key] {
		key = partKey{key, nil}
	}
	n := e.node(key, said.Role)
	in.Children = append(in.Children, n)
	n.State, n.Name, n.Value, n.Help = said.State, said.Name, said.Value, said.Help
	n.Disabled, n.Position, n.Level, n.Caret, n.Selection = said.Disabled, said.Position, said.Level, said.Caret, said.Selection
	e.describeControl(n, &said, words)
	n.Focused = e.w.focused && (said.Focused || said.Key == nil && sameObject(o, e.w.canvas.Focused()))
	e.put(n, where, size)
	e.addActions(in, n, o, said)
	for _, p := range said.Parts {
		e.add(n, o, p.Description, spot{where.at.Add(p.At), where.clip}, p.Size, explore.Description{})
	}
	if slices.ContainsFunc(n.Children, func(c *screenreader.Node) bool { return c.Focused }) {
		n.Focused = false
	}
	return n
}

// describeControl gives a control the description around it.
func (e *explorer) describeControl(n *screenreader.Node, said *explore.Description, words explore.Description) {
	if n.State&screenreader.Focusable == 0 {
		return
	}
	if n.Name == "" {
		n.Name = words.Name
	}
	if hint := said.Hint; n.Name == "" { // otherwise only the hint says what it is for
		n.Name = hint
	} else if n.Value == "" {
		n.Help = screenreader.JoinSentences(n.Help, hint)
	}
	switch fault := screenreader.JoinSentences(said.Fault, words.Fault); {
	case n.Role == screenreader.Button:
	case fault != "":
		n.State |= screenreader.Invalid
		n.Help = screenreader.JoinSentences(fault, n.Help)
	default:
		n.Help = screenreader.JoinSentences(n.Help, words.Help)
	}
}

func (e *explorer) put(n *screenreader.Node, where spot, size fyne.Size) {
	all := e.pixels(where.at, size)
	n.Bounds = all.Intersect(where.clip)
	if n.Bounds.Empty() {
		n.Bounds = all
		n.State |= screenreader.OffScreen
	}
	n.Bounds = n.Bounds.Add(e.w.canvas.bounds.Min)
}

func (e *explorer) pixels(at fyne.Position, size fyne.Size) image.Rectangle {
	s := e.w.canvas.Scale()
	px := func(v float32) int { return int(v*s + 0.5) }
	return image.Rect(px(at.X), px(at.Y), px(at.X+size.Width), px(at.Y+size.Height))
}

// addActions makes a press on a node act like a click, and adds the other reader actions.
// Lines of a list get the keyboard focus with it.
func (e *explorer) addActions(in, n *screenreader.Node, o fyne.CanvasObject, said explore.Description) {
	does := nodeActions{press: said.Press, focus: e.w.app.reader.actions[in.ID].focus}
	if f, ok := o.(fyne.Focusable); ok {
		does.focus = func() { e.w.canvas.Focus(f) }
	}
	tap, tappable := o.(fyne.Tappable)
	if entry, ok := o.(interface{ SetText(string) }); ok && n.Role == screenreader.Entry {
		does.set = entry.SetText
	}
	switch {
	case does.press != nil:
		if n.Role == screenreader.Item {
			n.State |= screenreader.Pressable
		}
	case n.Role == screenreader.Entry && does.focus != nil:
		does.press = does.focus
	case tappable:
		does.press = func() { tap.Tapped(&fyne.PointEvent{Position: fyne.NewPos(o.Size().Width/2, o.Size().Height/2)}) }
	}
	e.w.app.reader.actions[n.ID] = does
}

func texts(o fyne.CanvasObject, all []string) []string {
	if o == nil || !o.Visible() {
		return all
	}
	if t, ok := o.(*fynecanvas.Text); ok {
		if t.Text != "" {
			all = append(all, t.Text)
		}
		return all
	}
	if said, ok := explore.DescriptionOf(o); ok && said.Name != "" {
		return append(all, said.Name)
	}
	if named, ok := explore.NameOf(o); ok && named.Leaf {
		return all
	}
	children, _ := offscreen.Children(o)
	for _, c := range children {
		all = texts(c, all)
	}
	return all
}
