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

// listLayout computes the positions of a list's rows: calls to be called back below one heading,
// the rest of today's below another, and earlier ones below a third. Its cost does not
// depend on the number of calls.
type listLayout struct {
	openCount, count, today int
	oneHeading              bool // the others share one heading,
	shut                    bool // which hides them
}

func (p listLayout) sectionCounts() [3]int {
	switch {
	case p.shut:
		return [3]int{p.openCount, 0, 0}
	case p.oneHeading:
		return [3]int{p.openCount, 0, p.count}
	}
	return [3]int{p.openCount, p.today, p.count - p.today}
}

func (p listLayout) total() int {
	n := p.sectionCounts()
	return n[0] + n[1] + n[2]
}

// hasHeadings reports which headings exist.
func (p listLayout) hasHeadings() [3]bool {
	n := p.sectionCounts()
	return [3]bool{n[0] > 0, n[1] > 0, n[2] > 0 || p.shut && p.count > 0}
}

// heading returns the position of a heading; for the fourth, the end of the list.
func (p listLayout) heading(k int) (y float32) {
	n, headed := p.sectionCounts(), p.hasHeadings()
	for i := range k {
		y += float32(n[i]) * rowHeight
		if headed[i] {
			y += headingHeight
		}
	}
	return y
}

func (p listLayout) end() float32 { return p.heading(3) }

func (p listLayout) y(i int) float32 {
	for k, n := range p.sectionCounts() {
		if i < n {
			return p.heading(k) + headingHeight + float32(i)*rowHeight
		}
		i -= n
	}
	return p.end() + float32(i)*rowHeight
}

// at returns the row at y, or the next one below.
func (p listLayout) at(y float32) int {
	before := 0
	for k, n := range p.sectionCounts() {
		if top := p.heading(k) + headingHeight; n > 0 && y < top+float32(n)*rowHeight {
			return before + max(int((y-top)/rowHeight), 0)
		}
		before += n
	}
	return max(before-1, 0)
}

// first reports whether a row is the first below its heading.
func (p listLayout) first(i int) bool {
	n := p.sectionCounts()
	return i == 0 || i == n[0] || i == n[0]+n[1]
}

// list shows only the visible calls. It takes the keyboard focus.
type list struct {
	widget.BaseWidget
	c            *window
	scroll       *container.Scroll
	body         *fyne.Container
	views        []*rowView // call i uses view i modulo their count
	headings     [3]*heading
	focused      bool
	keyboardUsed bool // the keyboard is in use: a ring shows the focus
}

var _ fyne.Focusable = (*list)(nil)

func newList(c *window) *list {
	l := &list{c: c}
	l.body = container.New(widgets.Layout{
		Least:   func([]fyne.CanvasObject) fyne.Size { return fyne.NewSize(widgets.RowMinWidth, c.listLayout.end()) },
		Arrange: func([]fyne.CanvasObject, fyne.Size) { l.place() }})
	l.scroll = container.NewVScroll(l.body)
	l.scroll.SetMinSize(fyne.NewSize(0, headingHeight+rowHeight))
	l.scroll.OnScrolled = func(fyne.Position) { l.place() }
	for i := range l.headings {
		l.headings[i] = newHeading(c.toggleHandled)
		l.body.Objects = append(l.body.Objects, l.headings[i])
	}
	l.ExtendBaseWidget(l)
	return l
}

// Describe implements explore.Describer.
func (l *list) Describe() explore.Description {
	return explore.Description{Role: screenreader.List, State: screenreader.Focusable, Name: l.c.host.Lang.T(text.WindowCallsTitle)}
}

// CreateRenderer implements fyne.Widget.
func (l *list) CreateRenderer() fyne.WidgetRenderer { return widget.NewSimpleRenderer(l.scroll) }

// Resize implements fyne.Widget.
func (l *list) Resize(s fyne.Size) {
	l.BaseWidget.Resize(s)
	l.place()
}

// place assigns views to the visible calls and requests the calls around them.
func (l *list) place() {
	p, size := l.c.listLayout, l.scroll.Size()
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
	l.updateHeadings(p, width)
	l.c.prefetch(first, last)
}

func (l *list) updateHeadings(p listLayout, width float32) {
	c, n := l.c, p.sectionCounts()
	words := [3]text.Key{text.CallsOpen, text.WindowCallsToday, text.WindowCallsEarlier}
	if n[2] = p.count - n[1]; p.oneHeading {
		words[2] = text.CallsHandledHeading
	}
	for i, rows := range [][]row{c.openRows, c.rows} { // people are not calls
		for _, r := range rows {
			if r.person != 0 {
				n[widgets.Either(i == 0, 0, widgets.Either(r.day == "" && !p.oneHeading, 1, 2))]--
			}
		}
	}
	for i, headed := range p.hasHeadings() {
		h := l.headings[i]
		h.setTitle(c.host.Lang.T(words[i]), n[i], c.result.exact || i == 0 || i == 1 && n[2] > 0)
		h.setCollapse(i == 2 && p.oneHeading && p.openCount > 0 && c.query.Filter == "", p.shut)
		h.Resize(fyne.NewSize(width, headingHeight))
		h.Move(fyne.NewPos(0, p.heading(i)))
		widgets.SetVisible(h, headed)
	}
}

func (l *list) show() { l.scrollTo(l.scroll.Offset.Y) }

// scrollTo scrolls to an offset, or as far as possible.
func (l *list) scrollTo(y float32) {
	widgets.ScrollTo(l.scroll, y)
	l.place()
}

// reveal scrolls just enough to show call i.
func (l *list) reveal(i int) {
	y, top, height := l.c.listLayout.y(i), l.scroll.Offset.Y, l.scroll.Size().Height
	above := y
	if l.c.listLayout.first(i) {
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

func (l *list) repaintRows() {
	for _, v := range l.views {
		v.Refresh()
	}
}

// ShowsFocus marks the list as drawing its own focus.
func (*list) ShowsFocus() {}

// FocusGained implements fyne.Focusable.
func (l *list) FocusGained() {
	l.focused, l.keyboardUsed = true, true
	if l.c.focusIndex < 0 && l.c.listLayout.total() > 0 {
		l.c.focusRow(l.c.listLayout.at(l.scroll.Offset.Y))
	}
	l.repaintRows()
}

// FocusLost implements fyne.Focusable.
func (l *list) FocusLost() {
	l.focused = false
	l.repaintRows()
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
	l.keyboardUsed = true
	switch e.Name {
	case fyne.KeyDown:
		c.focusRow(c.focusIndex + 1)
	case fyne.KeyUp:
		c.focusRow(c.focusIndex - 1)
	case fyne.KeyPageDown:
		c.focusRow(c.focusIndex + page)
	case fyne.KeyPageUp:
		c.focusRow(c.focusIndex - page)
	case fyne.KeyHome:
		c.focusRow(0)
	case fyne.KeyEnd:
		c.focusRow(c.listLayout.total() - 1)
	case fyne.KeyReturn, fyne.KeyEnter, fyne.KeySpace:
		c.withChosen(func(r row) {
			if !r.undo || !c.justHandled(r.id) {
				c.act(r)
			}
		})
	case fyne.KeyRight, fyne.KeyLeft:
		c.withChosen(func(r row) { c.setExpanded(r, e.Name == fyne.KeyRight) })
	case fyne.KeyDelete:
		c.withChosen(func(r row) { c.remove(r, c.callsOf(r)) })
	case desktop.KeyMenu, fyne.KeyF10:
		c.withChosen(func(r row) { c.menu(r, l.menuPosition(c.focusIndex)) })
	case fyne.KeyEscape:
		if len(c.people.Contacts) > 0 {
			c.hidePeople()
			return
		}
		c.win.Canvas().Unfocus()
	}
}

// menuPosition returns where a menu of call i begins, in window coordinates.
func (l *list) menuPosition(i int) fyne.Position {
	at := fyne.CurrentApp().Driver().AbsolutePositionForObject(l)
	return at.AddXY(widgets.Edge+widgets.TimeWidth, l.c.listLayout.y(i)-l.scroll.Offset.Y+rowHeight-8)
}

// setExpanded shows or hides what is below a row: people to choose from, or
// else the handled calls.
func (c *window) setExpanded(r row, show bool) {
	switch {
	case r.several && (c.people.Entry == r.id) != show, r.person != 0 && !show:
		if r.person != 0 {
			c.hidePeople()
			return
		}
		c.act(r)
	case c.listLayout.oneHeading && c.listLayout.openCount > 0 && c.listLayout.shut == show:
		c.toggleHandled()
	}
}

// toggleHandled shows or hides the handled calls.
func (c *window) toggleHandled() {
	c.unfolded = !c.unfolded
	c.build()
}

type heading struct {
	widgets.PointerWidget // Locked where there is nothing to show or hide
	title, count          *widgets.TextLine
	arrow                 *widget.Icon
	tapped                func()
	shut                  bool // the part is hidden
}

var _ fyne.Tappable = (*heading)(nil)

func newHeading(tapped func()) *heading {
	h := &heading{title: widgets.NewTextLine("", base.SizeNameCaptionText, base.ColorNameForeground, true), tapped: tapped,
		count: widgets.NewTextLine("", base.SizeNameCaptionText, base.ColorNamePlaceHolder, false), arrow: widget.NewIcon(base.MenuExpandIcon())}
	h.Extend(h, nil)
	return h
}

// setTitle sets the title, and the number of calls below if known.
func (h *heading) setTitle(title string, n int, known bool) {
	s := ""
	if known {
		s = strconv.Itoa(n)
	}
	h.title.SetText(title, base.ColorNameForeground)
	h.count.SetText(s, base.ColorNamePlaceHolder)
}

// setCollapse sets whether the part can be shown and hidden, and whether it is hidden.
func (h *heading) setCollapse(folds, shut bool) {
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

// Describe implements explore.Describer.
func (h *heading) Describe() explore.Description {
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
	least := func([]fyne.CanvasObject) fyne.Size { return fyne.NewSize(0, headingHeight) }
	return widget.NewSimpleRenderer(container.New(widgets.Layout{Least: least, Arrange: h.arrange}, h.title, h.count, h.arrow))
}

func (h *heading) arrange(_ []fyne.CanvasObject, size fyne.Size) {
	y, w, x := size.Height-22, h.title.MinSize().Width+1, float32(widgets.Edge)
	if h.arrow.Visible() {
		h.arrow.Move(fyne.NewPos(x-4, y))
		h.arrow.Resize(fyne.NewSquareSize(18))
		x += 18
	}
	h.title.Move(fyne.NewPos(x, y))
	h.title.Resize(fyne.NewSize(w, 18))
	h.count.Move(fyne.NewPos(x+w+8, y))
	h.count.Resize(fyne.NewSize(80, 18))
}
