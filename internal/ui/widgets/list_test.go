package widgets

import (
	"fmt"
	"testing"

	"fyne.io/fyne/v2"
	"fyne.io/fyne/v2/container"
	"fyne.io/fyne/v2/test"
	"fyne.io/fyne/v2/widget"
)

// keys types keys into the focused object.
func keys(c fyne.Canvas, names ...fyne.KeyName) {
	for _, n := range names {
		c.Focused().TypedKey(&fyne.KeyEvent{Name: n})
	}
}

// TestListByKeys: the arrow keys skip lines that cannot be selected and stop
// at the ends, Enter acts like a click, and Escape is passed to the window.
func TestListByKeys(t *testing.T) {
	test.NewTempApp(t)
	var chosen []int
	l := NewList(func() int { return 30 }, func() fyne.CanvasObject { return widget.NewLabel("") },
		func(i int, o fyne.CanvasObject) { o.(*widget.Label).SetText(fmt.Sprint(i)) }, func(i int) { chosen = append(chosen, i) })
	l.Skip = func(i int) bool { return i == 0 || i == 3 }
	l.Mark = func(i int) bool { return i == 2 }
	w := test.NewWindow(l)
	defer w.Close()
	w.Resize(fyne.NewSize(200, 300))
	escaped := 0
	w.Canvas().SetOnTypedKey(OnEscape(func() { escaped++ }))
	w.Canvas().Focus(l)
	for _, step := range []struct {
		key  fyne.KeyName
		want int
	}{{"", 2}, {fyne.KeyDown, 4}, {fyne.KeyUp, 2}, {fyne.KeyUp, 1}, {fyne.KeyUp, 1}, {fyne.KeyEnd, 29}, {fyne.KeyDown, 29}, {fyne.KeyHome, 1}} {
		if step.key != "" {
			keys(w.Canvas(), step.key)
		}
		if l.focusedLine != step.want {
			t.Errorf("%s: at %d, want %d", step.key, l.focusedLine, step.want)
		}
	}
	keys(w.Canvas(), fyne.KeyReturn, fyne.KeyDown, fyne.KeySpace)
	if fmt.Sprint(chosen) != "[1 2]" {
		t.Errorf("chosen %v", chosen)
	}
	keys(w.Canvas(), fyne.KeyPageDown)
	if l.focusedLine < 6 {
		t.Errorf("a page on is %d", l.focusedLine)
	}
	keys(w.Canvas(), fyne.KeyEscape)
	if escaped != 1 {
		t.Error("Escape is not the window's")
	}
}

// TestRowsByKeys is TestListByKeys for rows of any
// height; the focused row is scrolled into view.
func TestRowsByKeys(t *testing.T) {
	test.NewTempApp(t)
	page := container.NewVBox()
	scroll := container.NewVScroll(page)
	r := NewRows("rows", 4, scroll)
	page.Add(r)
	done := -1
	for i := range 20 {
		r.AddUnfocusable(widget.NewSeparator())
		r.Add(widget.NewLabel(fmt.Sprint(i)), func() { done = i })
	}
	r.Add(widget.NewLabel("nothing to do"), nil)
	w := test.NewWindow(scroll)
	defer w.Close()
	w.Resize(fyne.NewSize(200, 120))
	escaped := 0
	w.Canvas().SetOnTypedKey(OnEscape(func() { escaped++ }))
	w.Canvas().Focus(r)
	if !r.all[0].HasKeyboard() {
		t.Error("nothing has the keyboard")
	}
	keys(w.Canvas(), fyne.KeyUp, fyne.KeyDown, fyne.KeyDown, fyne.KeyReturn)
	if done != 2 || r.all[0].HasKeyboard() || !r.all[2].HasKeyboard() {
		t.Errorf("did %d, the keyboard is on %d", done, r.at)
	}
	keys(w.Canvas(), fyne.KeyEnd, fyne.KeySpace)
	if at := scroll.Offset.Y; r.at != 20 || done != 2 || at == 0 {
		t.Errorf("the keyboard is on %d, did %d, at %v", r.at, done, at)
	}
	keys(w.Canvas(), fyne.KeyHome, fyne.KeyEscape)
	if scroll.Offset.Y > 20 || escaped != 1 {
		t.Errorf("at %v, Escape %d times", scroll.Offset.Y, escaped)
	}
	w.Canvas().Unfocus()
	if r.all[0].HasKeyboard() {
		t.Error("one keeps the keyboard")
	}
}
