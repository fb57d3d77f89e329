package driver

import (
	"slices"
	"sync"
	"testing"

	"fyne.io/fyne/v2"
	"fyne.io/fyne/v2/container"
	"fyne.io/fyne/v2/widget"

	"wiebelt/internal/native/screenreader"
	"wiebelt/internal/ui/explore"
)

// reader records what screen readers were told last, and how often.
type reader struct {
	mu    sync.Mutex
	tree  screenreader.Tree
	times int
}

func (r *reader) show(t screenreader.Tree) {
	r.mu.Lock()
	defer r.mu.Unlock()
	r.tree = t
	r.times++
}

func (r *reader) told() int {
	r.mu.Lock()
	defer r.mu.Unlock()
	return r.times
}

// find returns the node with a role and a name, nil if there is none.
func (r *reader) find(role screenreader.Role, name string) (found *screenreader.Node) {
	r.mu.Lock()
	defer r.mu.Unlock()
	var look func([]*screenreader.Node)
	look = func(all []*screenreader.Node) {
		for _, n := range all {
			if n.Role == role && n.Name == name {
				found = n
			}
			look(n.Children)
		}
	}
	look(r.tree.Windows)
	return found
}

// row is a line of a list.
type row struct {
	widget.Label
	at int
}

func (r *row) Describe() explore.Description {
	return explore.Description{Role: screenreader.Item, Key: r.at, Position: [2]int{r.at, 3}, Leaf: true, Name: r.Text}
}

// TestExplored: a screen reader is told the contents of a window,
// every change to them and nothing else, and can press what it finds.
func TestExplored(t *testing.T) {
	b := newBench(t)
	r := &reader{}
	fault := ""
	far := widget.NewButton("far below", nil)
	b.do(func() {
		b.entry.Validator = nil
		one := &row{at: 2}
		one.Text = "a row"
		one.ExtendBaseWidget(one)
		tall := container.NewVScroll(container.NewVBox(widget.NewLabel("1"), widget.NewLabel("2"), widget.NewLabel("3"), widget.NewLabel("4"), far))
		b.w.SetContent(container.NewBorder(container.NewVBox(widget.NewLabel("beside"), explore.WithName(b.entry, "field", "help", func() string { return fault }),
			b.button, one), nil, nil, nil, tall))
		b.w.Resize(fyne.NewSize(400, 260))
		b.w.Canvas().Focus(b.entry)
		b.app.OnTreeChanged(r.show)
	})
	told := func(what string, ok func() bool) {
		t.Helper()
		b.until(what, ok, func() []any { return []any{r.tree.Windows} })
	}
	told("the field has the keyboard", func() bool { n := r.find(screenreader.Entry, "field"); return n != nil && n.Focused })
	window := r.find(screenreader.Window, "bench")
	if window == nil || !window.Focused {
		t.Fatalf("the window is %+v", window)
	}
	if n := r.find(screenreader.Entry, "field"); n.Help != "help" || n.Is(screenreader.Invalid) || !n.Bounds.In(window.Bounds) || n.Bounds.Empty() {
		t.Errorf("the field is %+v in %v", n, window.Bounds)
	}
	if n := r.find(screenreader.Item, "a row"); n == nil || n.Position != [2]int{2, 3} {
		t.Errorf("the row is %+v", n)
	}
	if n := r.find(screenreader.Button, "far below"); n == nil || !n.Is(screenreader.OffScreen) {
		t.Errorf("what is out of sight is %+v", n)
	}
	id := r.find(screenreader.Button, "button").ID
	b.do(func() { r.tree.Press(id) })
	b.until("pressed", func() bool { return b.taps == 1 })
	if r.find(screenreader.Button, "button").ID != id {
		t.Error("the same button is another one")
	}

	field := r.find(screenreader.Entry, "field").ID
	b.do(func() { r.tree.Focus(field) })
	told("a reader gives the keyboard", func() bool { return r.find(screenreader.Entry, "field").Focused })
	b.do(func() { r.tree.Set(field, "by a reader") })
	told("what a reader writes", func() bool { return r.find(screenreader.Entry, "field").Value == "by a reader" })
	b.do(func() { r.tree.Set(id, "no field"); b.entry.SetText("") })
	b.Type("x", 0)
	told("what was typed", func() bool { n := r.find(screenreader.Entry, "field"); return n.Value == "x" && n.Caret == 1 })
	b.until("the button is at rest", func() bool { return len(b.app.animations) <= 1 })
	b.do(func() { fault = "wrong"; b.entry.Refresh() })
	told("what is wrong", func() bool {
		n := r.find(screenreader.Entry, "field")
		return n.Is(screenreader.Invalid) && n.Help == "wrong"
	})
	blinked(b, r)

	question := widget.NewModalPopUp(widget.NewLabel("Sure?"), b.w.Canvas())
	b.do(question.Show)
	told("what is asked, and nothing below it", func() bool {
		return r.find(screenreader.Dialog, "Sure?") != nil && r.find(screenreader.Entry, "field") == nil
	})
	b.do(question.Hide)
	told("the field again", func() bool { return r.find(screenreader.Entry, "field") != nil })
	b.do(func() { b.app.OnTreeChanged(nil); b.label.SetText("other") })
	was := r.told()
	b.do(func() { b.entry.SetText("gone") })
	b.do(func() {})
	if r.told() != was {
		t.Error("nobody is there, and is told")
	}
}

// blinked fails if a blinking caret is reported.
func blinked(b *bench, r *reader) {
	b.t.Helper()
	b.do(func() {})
	was, frames := r.told(), 0
	b.until("the caret blinks", func() bool {
		if slices.ContainsFunc(b.app.animations, func(a *animation) bool { return !a.stopped }) {
			frames++
		}
		return frames > 20
	})
	if r.told() != was {
		b.t.Errorf("told %d times of a caret", r.told()-was)
	}
}
