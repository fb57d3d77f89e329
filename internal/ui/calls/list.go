package calls

import (
	"strconv"

	"fyne.io/fyne/v2"
	"fyne.io/fyne/v2/container"
	"fyne.io/fyne/v2/driver/desktop"
	base "fyne.io/fyne/v2/theme"
	"fyne.io/fyne/v2/widget"

	"wiebelt/internal/text"
	"wiebelt/internal/ui/kit"
)

// plan tells where the rows of a list stand: the calls of today below a heading,
// the earlier ones below another. Any number of calls costs the same.
type plan struct{ count, today int }

func (p plan) earlier() int { return p.count - p.today }

// y is where a call begins; number p.count is where the list ends.
func (p plan) y(i int) float32 {
	y := float32(i) * rowHeight
	if p.today > 0 {
		y += headingHeight
	}
	if p.earlier() > 0 && i >= p.today {
		y += headingHeight
	}
	return y
}

// at is the call that stands at y, or the next one below.
func (p plan) at(y float32) int {
	if p.today > 0 {
		y -= headingHeight
	}
	i := int(y / rowHeight)
	if i >= p.today && p.earlier() > 0 {
		i = max(int((y-headingHeight)/rowHeight), p.today)
	}
	return min(max(i, 0), max(p.count-1, 0))
}

// list shows the calls that can be seen, and no others. It takes the
// keyboard.
type list struct {
	widget.BaseWidget
	c        *window
	scroll   *container.Scroll
	body     *fyne.Container
	views    []*rowView // the view of call i is number i modulo their count
	headings [2]*heading
	focused  bool
}

var _ fyne.Focusable = (*list)(nil)

func newList(c *window) *list {
	l := &list{c: c}
	l.body = container.New(&bodyLayout{l})
	l.scroll = container.NewVScroll(l.body)
	l.scroll.OnScrolled = func(fyne.Position) { l.place() }
	for i, k := range []text.Key{text.DeskCallsToday, text.DeskCallsEarlier} {
		l.headings[i] = newHeading(c.d.Lang.T(k))
	}
	l.ExtendBaseWidget(l)
	return l
}

// CreateRenderer implements fyne.Widget.
func (l *list) CreateRenderer() fyne.WidgetRenderer { return widget.NewSimpleRenderer(l.scroll) }

// Resize implements fyne.Widget.
func (l *list) Resize(s fyne.Size) {
	l.BaseWidget.Resize(s)
	l.place()
}

// bodyLayout leaves the rows where place has put them.
type bodyLayout struct{ l *list }

func (b *bodyLayout) MinSize([]fyne.CanvasObject) fyne.Size {
	p := b.l.c.plan
	return fyne.NewSize(rowLeast, p.y(p.count))
}

func (b *bodyLayout) Layout([]fyne.CanvasObject, fyne.Size) { b.l.place() }

// place puts views on the calls that can be seen, and has the calls around them
// read.
func (l *list) place() {
	p, size := l.c.plan, l.scroll.Size()
	if size.Height <= 0 {
		return
	}
	l.grow(int(size.Height/rowHeight) + 3)
	top := l.scroll.Offset.Y
	first, last := p.at(top), p.at(top+size.Height)
	if p.count == 0 {
		last = -1
	}
	width := size.Width
	for i, v := range l.views {
		n := first + (i-first%len(l.views)+len(l.views))%len(l.views)
		if n > last {
			v.Hide()
			continue
		}
		v.Resize(fyne.NewSize(width, rowHeight))
		v.Move(fyne.NewPos(0, p.y(n)))
		r, known := l.c.row(n)
		v.set(n, r, known)
		v.Show()
	}
	for i, n := range []int{p.today, p.earlier()} {
		h := l.headings[i]
		kit.Visible(h, n > 0)
		h.say(n, l.c.exact || i == 0 && p.earlier() > 0)
		h.Resize(fyne.NewSize(width, headingHeight))
		h.Move(fyne.NewPos(0, 0))
		if i == 1 {
			h.Move(fyne.NewPos(0, p.y(p.today)-headingHeight))
		}
	}
	l.c.need(first, last)
}

// grow makes sure that there are enough views.
func (l *list) grow(n int) {
	if len(l.views) >= n && len(l.body.Objects) > 0 {
		return
	}
	for len(l.views) < n {
		l.views = append(l.views, newRowView(l.c))
	}
	l.body.Objects = []fyne.CanvasObject{l.headings[0], l.headings[1]}
	for _, v := range l.views {
		l.body.Objects = append(l.body.Objects, v)
	}
}

// show shows the calls as they are now.
func (l *list) show() {
	if l.scroll.Size().Height > 0 {
		l.scroll.ScrollToOffset(fyne.NewPos(0, l.within(l.scroll.Offset.Y)))
	}
	l.place()
	l.scroll.Refresh()
}

// within keeps an offset inside the list.
func (l *list) within(y float32) float32 {
	p := l.c.plan
	return max(min(y, p.y(p.count)-l.scroll.Size().Height), 0)
}

// scrollTo scrolls to an offset.
func (l *list) scrollTo(y float32) {
	l.scroll.ScrollToOffset(fyne.NewPos(0, l.within(y)))
	l.place()
}

// reveal scrolls as little as it takes to see call i.
func (l *list) reveal(i int) {
	y, top, height := l.c.plan.y(i), l.scroll.Offset.Y, l.scroll.Size().Height
	above := y
	if i == 0 || i == l.c.plan.today {
		above -= headingHeight
	}
	switch {
	case above < top:
		l.scrollTo(above)
	case y+rowHeight > top+height:
		l.scrollTo(y + rowHeight - height)
	default:
		l.place()
	}
}

// again paints the views anew.
func (l *list) again() {
	for _, v := range l.views {
		v.Refresh()
	}
}

// FocusGained implements fyne.Focusable.
func (l *list) FocusGained() {
	l.focused = true
	if l.c.chosen < 0 && l.c.plan.count > 0 {
		l.c.choose(l.c.plan.at(l.scroll.Offset.Y))
	}
	l.again()
}

// FocusLost implements fyne.Focusable.
func (l *list) FocusLost() {
	l.focused = false
	l.again()
}

// TypedRune implements fyne.Focusable: whoever types in the list is searching.
func (l *list) TypedRune(r rune) {
	if r == ' ' {
		return // the row's own key
	}
	l.c.win.Canvas().Focus(l.c.filter)
	l.c.filter.TypedRune(r)
}

// TypedKey implements fyne.Focusable.
func (l *list) TypedKey(e *fyne.KeyEvent) {
	c := l.c
	page := max(int(l.scroll.Size().Height/rowHeight)-1, 1)
	switch e.Name {
	case fyne.KeyDown:
		c.choose(c.chosen + 1)
	case fyne.KeyUp:
		if c.chosen == 0 {
			l.scrollTo(0)
		}
		c.choose(c.chosen - 1)
	case fyne.KeyPageDown:
		c.choose(c.chosen + page)
	case fyne.KeyPageUp:
		c.choose(c.chosen - page)
	case fyne.KeyHome:
		c.choose(0)
	case fyne.KeyEnd:
		c.choose(c.plan.count - 1)
	case fyne.KeyReturn, fyne.KeyEnter, fyne.KeySpace:
		c.withChosen(c.open)
	case fyne.KeyDelete:
		c.withChosen(c.remove)
	case desktop.KeyMenu, fyne.KeyF10:
		c.withChosen(func(r row) { c.menu(r, l.below(c.chosen)) })
	case fyne.KeyEscape:
		c.win.Canvas().Unfocus()
	}
}

// below is where a menu of call i begins, in the window.
func (l *list) below(i int) fyne.Position {
	at := fyne.CurrentApp().Driver().AbsolutePositionForObject(l)
	return at.AddXY(kit.Edge+kit.TimeWidth, l.c.plan.y(i)-l.scroll.Offset.Y+rowHeight-8)
}

// heading stands above the calls of today, or the earlier ones.
type heading struct {
	widget.BaseWidget
	title, count *kit.Words
}

func newHeading(s string) *heading {
	h := &heading{title: kit.NewWords(s, base.SizeNameCaptionText, base.ColorNameForeground, true),
		count: kit.NewWords("", base.SizeNameCaptionText, base.ColorNamePlaceHolder, false)}
	h.ExtendBaseWidget(h)
	return h
}

// say tells how many there are, if that is known.
func (h *heading) say(n int, known bool) {
	s := ""
	if known {
		s = strconv.Itoa(n)
	}
	h.count.Say(s, base.ColorNamePlaceHolder)
}

// CreateRenderer implements fyne.Widget.
func (h *heading) CreateRenderer() fyne.WidgetRenderer {
	return widget.NewSimpleRenderer(container.New(headingLayout{}, h.title, h.count))
}

type headingLayout struct{}

func (headingLayout) MinSize([]fyne.CanvasObject) fyne.Size { return fyne.NewSize(0, headingHeight) }

func (headingLayout) Layout(o []fyne.CanvasObject, size fyne.Size) {
	y, w := size.Height-24, o[0].MinSize().Width+1
	o[0].Move(fyne.NewPos(kit.Edge, y))
	o[0].Resize(fyne.NewSize(w, 18))
	o[1].Move(fyne.NewPos(kit.Edge+w+8, y))
	o[1].Resize(fyne.NewSize(80, 18))
}
