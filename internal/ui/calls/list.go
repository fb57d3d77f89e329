package calls

import (
	"strconv"

	"fyne.io/fyne/v2"
	"fyne.io/fyne/v2/container"
	"fyne.io/fyne/v2/driver/desktop"
	base "fyne.io/fyne/v2/theme"
	"fyne.io/fyne/v2/widget"

	"wiebelt/internal/native/screenreader"
	"wiebelt/internal/text"
	"wiebelt/internal/ui/explore"
	"wiebelt/internal/ui/widgets"
)

// plan computes the positions of a list's rows: calls to be called back below one heading,
// the rest of today's below another, and earlier ones below a third. Its cost does not
// depend on the number of calls.
type plan struct {
	work, count, today int
	folded             bool // the others share one heading,
	shut               bool // which hides them
}

// parts returns the number of rows below each heading.
func (p plan) parts() [3]int {
	switch {
	case p.shut:
		return [3]int{p.work, 0, 0}
	case p.folded:
		return [3]int{p.work, 0, p.count}
	}
	return [3]int{p.work, p.today, p.count - p.today}
}

// total returns the number of rows.
func (p plan) total() int {
	n := p.parts()
	return n[0] + n[1] + n[2]
}

// headed reports which headings exist.
func (p plan) headed() [3]bool {
	n := p.parts()
	return [3]bool{n[0] > 0, n[1] > 0, n[2] > 0 || p.shut && p.count > 0}
}

// heading returns the position of a heading; for the fourth, the end of the list.
func (p plan) heading(k int) (y float32) {
	n, headed := p.parts(), p.headed()
	for i := range k {
		y += float32(n[i]) * rowHeight
		if headed[i] {
			y += headingHeight
		}
	}
	return y
}

func (p plan) end() float32 { return p.heading(3) }

// y returns the position of a row.
func (p plan) y(i int) float32 {
	for k, n := range p.parts() {
		if i < n {
			return p.heading(k) + headingHeight + float32(i)*rowHeight
		}
		i -= n
	}
	return p.end() + float32(i)*rowHeight
}

// at returns the row at y, or the next one below.
func (p plan) at(y float32) int {
	before := 0
	for k, n := range p.parts() {
		if top := p.heading(k) + headingHeight; n > 0 && y < top+float32(n)*rowHeight {
			return before + max(int((y-top)/rowHeight), 0)
		}
		before += n
	}
	return max(before-1, 0)
}

// first reports whether a row is the first below its heading.
func (p plan) first(i int) bool {
	n := p.parts()
	return i == 0 || i == n[0] || i == n[0]+n[1]
}

// list shows only the visible calls. It takes the keyboard focus.
type list struct {
	widget.BaseWidget
	c        *window
	scroll   *container.Scroll
	body     *fyne.Container
	views    []*rowView // call i uses view i modulo their count
	headings [3]*heading
	focused  bool
	keys     bool // the keyboard is in use: a ring shows the focus
}

var _ fyne.Focusable = (*list)(nil)

func newList(c *window) *list {
	l := &list{c: c}
	l.body = container.New(&bodyLayout{l})
	l.scroll = container.NewVScroll(l.body)
	l.scroll.OnScrolled = func(fyne.Position) { l.place() }
	for i := range l.headings {
		l.headings[i] = newHeading(c.toggleHandled)
		l.body.Objects = append(l.body.Objects, l.headings[i])
	}
	l.ExtendBaseWidget(l)
	return l
}

// Explore implements explore.Speaker.
func (l *list) Explore() explore.Said {
	return explore.Said{Role: screenreader.List, State: screenreader.Focusable, Name: l.c.host.Lang.T(text.WindowCallsTitle)}
}

// CreateRenderer implements fyne.Widget.
func (l *list) CreateRenderer() fyne.WidgetRenderer { return widget.NewSimpleRenderer(l.scroll) }

// Resize implements fyne.Widget.
func (l *list) Resize(s fyne.Size) {
	l.BaseWidget.Resize(s)
	l.place()
}

// bodyLayout leaves arranging the rows to place.
type bodyLayout struct{ l *list }

func (b *bodyLayout) MinSize([]fyne.CanvasObject) fyne.Size {
	return fyne.NewSize(rowLeast, b.l.c.plan.end())
}

func (b *bodyLayout) Layout([]fyne.CanvasObject, fyne.Size) { b.l.place() }

// place assigns views to the visible calls and requests the calls around them.
func (l *list) place() {
	p, size := l.c.plan, l.scroll.Size()
	if size.Height <= 0 {
		return
	}
	for n := int(size.Height/rowHeight) + 3; len(l.views) < n; {
		v := newRowView(l.c)
		l.views, l.body.Objects = append(l.views, v), append(l.body.Objects, v)
	}
	top := l.scroll.Offset.Y
	first, last := p.at(top), p.at(top+size.Height)
	if p.total() == 0 {
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
	l.head(p, width)
	l.c.need(first, last)
}

// head updates the headings.
func (l *list) head(p plan, width float32) {
	c, n := l.c, p.parts()
	words := [3]text.Key{text.CallsOpen, text.WindowCallsToday, text.WindowCallsEarlier}
	if n[2] = p.count - n[1]; p.folded {
		words[2] = text.CallsHandledHeading
	}
	for i, rows := range [][]row{c.work, c.rows} { // people are not calls
		for _, r := range rows {
			if r.person != 0 {
				n[widgets.Either(i == 0, 0, widgets.Either(r.day == "" && !p.folded, 1, 2))]--
			}
		}
	}
	for i, headed := range p.headed() {
		h := l.headings[i]
		h.say(c.host.Lang.T(words[i]), n[i], c.got.exact || i == 0 || i == 1 && n[2] > 0)
		h.fold(i == 2 && p.folded && p.work > 0 && c.query.Filter == "", p.shut)
		h.Resize(fyne.NewSize(width, headingHeight))
		h.Move(fyne.NewPos(0, p.heading(i)))
		widgets.SetVisible(h, headed)
	}
}

// show updates the list to the current calls.
func (l *list) show() { l.scrollTo(l.scroll.Offset.Y) }

// scrollTo scrolls to an offset, or as far as possible.
func (l *list) scrollTo(y float32) {
	widgets.ScrollTo(l.scroll, y)
	l.place()
}

// reveal scrolls just enough to show call i.
func (l *list) reveal(i int) {
	y, top, height := l.c.plan.y(i), l.scroll.Offset.Y, l.scroll.Size().Height
	above := y
	if l.c.plan.first(i) {
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

// again repaints the views.
func (l *list) again() {
	for _, v := range l.views {
		v.Refresh()
	}
}

// ShowsFocus marks the list as drawing its own focus.
func (*list) ShowsFocus() {}

// FocusGained implements fyne.Focusable.
func (l *list) FocusGained() {
	l.focused, l.keys = true, true
	if l.c.chosen < 0 && l.c.plan.total() > 0 {
		l.c.choose(l.c.plan.at(l.scroll.Offset.Y))
	}
	l.again()
}

// FocusLost implements fyne.Focusable.
func (l *list) FocusLost() {
	l.focused = false
	l.again()
}

// TypedRune implements fyne.Focusable: typing in the list starts a search.
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
	l.keys = true
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
		c.choose(c.plan.total() - 1)
	case fyne.KeyReturn, fyne.KeyEnter, fyne.KeySpace:
		c.withChosen(func(r row) {
			if !r.undo || !c.justLeft(r.id) {
				c.act(r)
			}
		})
	case fyne.KeyRight, fyne.KeyLeft:
		c.withChosen(func(r row) { c.turn(r, e.Name == fyne.KeyRight) })
	case fyne.KeyDelete:
		c.withChosen(c.remove)
	case desktop.KeyMenu, fyne.KeyF10:
		c.withChosen(func(r row) { c.menu(r, l.below(c.chosen)) })
	case fyne.KeyEscape:
		if len(c.people.Contacts) > 0 {
			c.fold()
			return
		}
		c.win.Canvas().Unfocus()
	}
}

// below returns where a menu of call i begins, in window coordinates.
func (l *list) below(i int) fyne.Position {
	at := fyne.CurrentApp().Driver().AbsolutePositionForObject(l)
	return at.AddXY(widgets.Edge+widgets.TimeWidth, l.c.plan.y(i)-l.scroll.Offset.Y+rowHeight-8)
}

// turn shows or hides what is below a row: people to choose from, or
// else the handled calls.
func (c *window) turn(r row, show bool) {
	switch {
	case r.several && (c.people.Entry == r.id) != show, r.person != 0 && !show:
		if r.person != 0 {
			c.fold()
			return
		}
		c.act(r)
	case c.plan.folded && c.plan.work > 0 && c.plan.shut == show:
		c.toggleHandled()
	}
}

// toggleHandled shows or hides the handled calls.
func (c *window) toggleHandled() {
	c.unfolded = !c.unfolded
	c.build()
}

// heading is the heading of a part of the list.
type heading struct {
	widgets.Pointed // Locked where there is nothing to show or hide
	title, count    *widgets.TextLine
	arrow           *widget.Icon
	tapped          func()
	shut            bool // the part is hidden
}

var _ fyne.Tappable = (*heading)(nil)

func newHeading(tapped func()) *heading {
	h := &heading{title: widgets.NewTextLine("", base.SizeNameCaptionText, base.ColorNameForeground, true), tapped: tapped,
		count: widgets.NewTextLine("", base.SizeNameCaptionText, base.ColorNamePlaceHolder, false), arrow: widget.NewIcon(base.MenuExpandIcon())}
	h.Extend(h, nil)
	return h
}

// say sets the title, and the number of calls below if known.
func (h *heading) say(title string, n int, known bool) {
	s := ""
	if known {
		s = strconv.Itoa(n)
	}
	h.title.Say(title, base.ColorNameForeground)
	h.count.Say(s, base.ColorNamePlaceHolder)
}

// fold sets whether the part can be shown and hidden, and whether it is hidden.
func (h *heading) fold(folds, shut bool) {
	h.Locked, h.shut = !folds, shut
	h.arrow.SetResource(widgets.Either(shut, base.MenuExpandIcon(), base.MenuDropDownIcon()))
	widgets.SetVisible(h.arrow, folds)
	h.Refresh()
}

// Tapped implements fyne.Tappable.
func (h *heading) Tapped(*fyne.PointEvent) {
	if !h.Locked {
		h.tapped()
	}
}

// Explore implements explore.Speaker.
func (h *heading) Explore() explore.Said {
	s := explore.Text(h.title.Text, 2)
	if h.count.Text != "" {
		s.Name += " " + h.count.Text
	}
	if !h.Locked {
		s.Role, s.Press = screenreader.Button, h.tapped
		s.State = screenreader.Expandable | widgets.Either(h.shut, 0, screenreader.Expanded)
	}
	return s
}

// CreateRenderer implements fyne.Widget.
func (h *heading) CreateRenderer() fyne.WidgetRenderer {
	return widget.NewSimpleRenderer(container.New(headingLayout{}, h.title, h.count, h.arrow))
}

type headingLayout struct{}

func (headingLayout) MinSize([]fyne.CanvasObject) fyne.Size { return fyne.NewSize(0, headingHeight) }

func (headingLayout) Layout(o []fyne.CanvasObject, size fyne.Size) {
	y, w, x := size.Height-22, o[0].MinSize().Width+1, float32(widgets.Edge)
	if o[2].Visible() {
		o[2].Move(fyne.NewPos(x-4, y))
		o[2].Resize(fyne.NewSquareSize(18))
		x += 18
	}
	o[0].Move(fyne.NewPos(x, y))
	o[0].Resize(fyne.NewSize(w, 18))
	o[1].Move(fyne.NewPos(x+w+8, y))
	o[1].Resize(fyne.NewSize(80, 18))
}
