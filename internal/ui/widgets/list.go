package widgets

import (
	"fyne.io/fyne/v2"
	"fyne.io/fyne/v2/widget"

	"wiebelt/internal/native/screenreader"
	"wiebelt/internal/ui/explore"
)

// List is a list of lines of equal height: the arrow keys, Home, End and the page
// keys move between lines, Enter and the space bar act like a click, and Escape
// is passed to its window.
type List struct {
	widget.List
	Name string           // for screen readers
	Skip func(i int) bool // lines to skip; nil for none
	Mark func(i int) bool // the current lines, where the focus starts; nil for none

	focusedLine int // the line with the focus
	focused     bool
}

type listLine struct {
	widget.BaseWidget
	l *List
	o fyne.CanvasObject
	n int
}

// NewList returns a list of n lines, each shown in an object from make, filled by write;
// chosen performs the action of choosing a line.
func NewList(n func() int, make func() fyne.CanvasObject, write func(i int, o fyne.CanvasObject), chosen func(i int)) *List {
	l := &List{}
	l.Length = n
	l.CreateItem = func() fyne.CanvasObject {
		line := &listLine{l: l, o: make()}
		line.ExtendBaseWidget(line)
		return line
	}
	l.UpdateItem = func(i widget.ListItemID, o fyne.CanvasObject) {
		line := o.(*listLine)
		line.n = i
		write(i, line.o)
	}
	l.HideSeparators = true
	l.OnSelected = func(i widget.ListItemID) {
		l.focusedLine = i
		l.Unselect(i) // a list keeps no selection
		chosen(i)
	}
	l.ExtendBaseWidget(l)
	return l
}

func (l *List) skipped(i int) bool { return l.Skip != nil && l.Skip(i) }

// reach moves the focus to line i, or the next one in the direction of step
// that is not skipped.
func (l *List) reach(i, step int) {
	n := l.Length()
	i = min(max(i, 0), n-1)
	for i >= 0 && i < n && l.skipped(i) {
		i += step
	}
	if i >= 0 && i < n {
		l.focusedLine = i
		l.Highlight(i)
	}
}

// FocusGained implements fyne.Focusable.
func (l *List) FocusGained() {
	l.focused = true
	l.List.FocusGained()
	if l.Mark != nil && !l.Mark(l.focusedLine) {
		for i := range l.Length() {
			if l.Mark(i) {
				l.focusedLine = i
				break
			}
		}
	}
	l.reach(l.focusedLine, 1)
}

// FocusLost implements fyne.Focusable.
func (l *List) FocusLost() {
	l.focused = false
	l.List.FocusLost()
}

// TypedKey implements fyne.Focusable.
func (l *List) TypedKey(e *fyne.KeyEvent) {
	page := 1
	if item := l.MinSize().Height; item > 0 {
		page = max(int(l.Size().Height/item)-1, 1)
	}
	switch e.Name {
	case fyne.KeyDown:
		l.reach(l.focusedLine+1, 1)
	case fyne.KeyUp:
		l.reach(l.focusedLine-1, -1)
	case fyne.KeyPageDown:
		l.reach(l.focusedLine+page, 1)
	case fyne.KeyPageUp:
		l.reach(l.focusedLine-page, -1)
	case fyne.KeyHome:
		l.reach(0, 1)
	case fyne.KeyEnd:
		l.reach(l.Length()-1, -1)
	case fyne.KeyReturn, fyne.KeyEnter, fyne.KeySpace:
		if l.focusedLine < l.Length() && !l.skipped(l.focusedLine) {
			l.Select(l.focusedLine)
		}
	default:
		PassEscape(l, e)
	}
}

// Describe implements explore.Describer.
func (l *List) Describe() explore.Description {
	return explore.Description{Role: screenreader.List, State: screenreader.Focusable, Name: l.Name}
}

// CreateRenderer implements fyne.Widget.
func (l *listLine) CreateRenderer() fyne.WidgetRenderer { return widget.NewSimpleRenderer(l.o) }

// HasKeyboard reports whether keys act on it.
func (l *listLine) HasKeyboard() bool { return l.l.focused && l.l.focusedLine == l.n }

// Describe implements explore.Describer.
func (l *listLine) Describe() explore.Description {
	if l.l.skipped(l.n) {
		return explore.Description{Role: screenreader.Heading, Level: 2, Key: l.n, Leaf: true}
	}
	s := explore.Description{Role: screenreader.Item, State: screenreader.Focusable, Key: l.n, Leaf: true,
		Focused: l.HasKeyboard(), Press: func() { l.l.Select(l.n) }}
	for i := range l.l.Length() {
		if !l.l.skipped(i) {
			s.Position[1]++
			if i <= l.n {
				s.Position[0]++
			}
		}
	}
	if l.l.Mark != nil && l.l.Mark(l.n) {
		s.State |= screenreader.Selected
	}
	return s
}
