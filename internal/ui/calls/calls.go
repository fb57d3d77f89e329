// Package calls is the window of the calls: those of today and those before,
// searched in and narrowed to a view.
//
// History owns what was read and the window while it is open, on Fyne's thread.
// The file on disk belongs to the goroutine of Follow, which is told what to read
// and hands over what it read by the desk's Post.
package calls

import (
	"context"
	"encoding/json"
	"image/color"
	"strings"

	"fyne.io/fyne/v2"
	"fyne.io/fyne/v2/canvas"
	"fyne.io/fyne/v2/container"
	"fyne.io/fyne/v2/driver/desktop"
	"fyne.io/fyne/v2/layout"
	base "fyne.io/fyne/v2/theme"
	"fyne.io/fyne/v2/widget"

	"wiebelt/internal/deskapi"
	"wiebelt/internal/history"
	"wiebelt/internal/text"
	"wiebelt/internal/ui/kit"
)

// window lists the calls of today and those before.
type window struct {
	d      *kit.Desk
	h      *History
	win    fyne.Window
	sign   *kit.Shape
	status *kit.Words
	note   *fyne.Container // what is wrong, or has happened
	views  *kit.Choice
	filter *kit.FilterBox
	tools  *fyne.Container // filter and views
	title  *fyne.Container
	list   *list
	body   *fyne.Container // the list, or a page that says why there is none
	page   string          // which page body shows

	state  deskapi.CallsState
	stated bool   // the resident has told its state
	failed string // what did not work, for a moment
	noted  string // what note says

	// What is read: a run of calls that begins at number start of the list.
	query history.Query
	edition
	plan
	exact  bool // plan says how many there are, not only how many at least
	long   bool // they are searched for, and that takes a while
	start  int
	rows   []row
	places []history.Place
	all    []history.Entry // the run itself

	next    *answer // a reading that refresh is about to show
	pending *wish   // to be read next
	asked   *wish   // told to the reader, not answered
	cancel  context.CancelFunc

	chosen  int     // the call that the keyboard is on, -1 none
	picked  int64   // its entry
	copied  int64   // the entry whose number was just copied, 0 none
	looking int64   // the entry that is looked up again, 0 none
	removed []int64 // entries that were just removed and can come back
}

func newWindow(h *History) *window {
	d := h.d
	l := d.Lang
	c := &window{d: d, h: h, sign: kit.NewShape(kit.MarkNone), body: container.NewStack(), note: container.NewStack(), chosen: -1, looking: -1}
	if before := h.calls; before != nil { // made anew: what its readings say is not for this one
		before.stop()
		c.follow(before)
	}
	c.status = kit.NewWords("", base.SizeNameCaptionText, base.ColorNamePlaceHolder, false).Cutting()
	c.filter = kit.NewFilterBox(l.T(text.DeskCallsFilter))
	c.filter.OnChanged = func(string) { c.search() }
	c.filter.Down = func() { c.win.Canvas().Focus(c.list) }
	c.views = kit.NewChoice(func(i int) { c.show(c.viewAt(i)) })
	c.list = newList(c)

	state := container.NewBorder(nil, nil, container.NewCenter(c.sign), nil,
		container.New(layout.NewCustomPaddedLayout(0, 0, 4, 0), c.status))
	c.title = container.NewStack()
	c.tools = container.NewBorder(nil, nil, nil, container.New(layout.NewCustomPaddedLayout(0, 0, 12, 0), c.views), c.filter)
	head := container.New(layout.NewCustomPaddedLayout(20, 12, kit.Edge, kit.Edge),
		container.New(layout.NewCustomPaddedVBoxLayout(4), c.title, state, c.note, kit.Gap(4), c.tools))
	c.titleLine()
	c.showViews()
	c.showStatus()
	c.win = d.Window(text.DeskCallsTitle, container.NewBorder(head, kit.Gap(8), nil, nil, c.body), fyne.NewSize(720, 640))
	c.shortcuts()
	if h.state == readingOK && c.edition == (edition{}) {
		// Read before there was a window, so the first frame has them.
		n := len(h.entries)
		c.put(answer{entries: h.entries, count: n, today: today(h.entries, d.Now()), exact: n < block})
	} else {
		c.draw()
	}
	if !c.exact {
		c.want(wish{})
	}
	return c
}

// follow goes on with the edition of the window before.
func (c *window) follow(before *window) {
	c.edition = edition{before.edition.list + 1}
	c.state, c.stated, c.removed = before.state, before.stated, before.removed
}

// Window and Take make it a page.
func (c *window) Window() fyne.Window { return c.win }

// Take implements kit.Page.
func (c *window) Take(kind string, raw json.RawMessage) {
	switch kind {
	case deskapi.KindCallsState:
		var m deskapi.CallsState
		if c.d.Decode(kind, raw, &m) {
			c.takeState(m)
		}
	case deskapi.KindCallsLooked:
		var m deskapi.CallsLooked
		if c.d.Decode(kind, raw, &m) {
			c.looked(m)
		}
	case deskapi.KindCallsRemoved:
		var m deskapi.CallsEntry
		if c.d.Decode(kind, raw, &m) {
			c.canUndo(m.Entry)
		}
	case deskapi.KindCallsFailed:
		var m deskapi.CallsFailed
		if c.d.Decode(kind, raw, &m) {
			if c.looking == m.Entry {
				c.looking = -1
				c.list.again()
			}
			c.fail(m.Sentence)
		}
	}
}

// Closed forgets what was read with the window.
func (c *window) Closed() {
	c.stop()
	c.h.calls, c.h.entries, c.h.state = nil, nil, readingNot
}

// StatusChanged makes it one that shows the status.
func (c *window) StatusChanged() { c.showStatus() }

func (c *window) stop() {
	if c.cancel != nil {
		c.cancel()
	}
}

// titleLine has the ways to other windows at its end; the demo has no recipes,
// since its port and tokens are gone with it.
func (c *window) titleLine() {
	l := c.d.Lang
	buttons := container.New(layout.NewCustomPaddedHBoxLayout(8))
	if c.state.Manual && c.d.Has(deskapi.WindowLookup) {
		buttons.Add(widget.NewButton(l.T(text.LookupOpen), func() { c.d.Show(deskapi.WindowLookup) }))
	}
	if len(c.d.Welcome.Demo) == 0 {
		buttons.Add(widget.NewButton(l.T(text.RecipesMenu), func() { c.d.Show(deskapi.WindowRecipes) }))
	}
	title := kit.NewWords(l.T(text.DeskCallsTitle), base.SizeNameHeadingText, base.ColorNameForeground, true).Cutting()
	high := canvas.NewRectangle(color.Transparent) // that of a button, there or not
	high.SetMinSize(fyne.NewSize(0, kit.ChoiceHigh))
	c.title.Objects = []fyne.CanvasObject{high, container.NewBorder(nil, nil, nil, buttons, container.New(kit.Middle(), title))}
	c.title.Refresh()
}

func (c *window) shortcuts() {
	cv := c.win.Canvas()
	find := &desktop.CustomShortcut{KeyName: fyne.KeyF, Modifier: fyne.KeyModifierShortcutDefault}
	cv.AddShortcut(find, func(fyne.Shortcut) { cv.Focus(c.filter) })
	cv.AddShortcut(&fyne.ShortcutUndo{}, func(fyne.Shortcut) { c.undo() })
	cv.AddShortcut(&fyne.ShortcutCopy{}, func(fyne.Shortcut) { c.withChosen(c.copy) })
	cv.SetOnTypedKey(func(e *fyne.KeyEvent) { // nothing has the keyboard yet
		if c.page == "" && c.plan.count > 0 {
			cv.Focus(c.list)
			if e.Name != fyne.KeyDown && e.Name != fyne.KeyUp {
				c.list.TypedKey(e)
			}
		}
	})
	cv.SetOnTypedRune(func(r rune) {
		if c.page == "" {
			c.list.TypedRune(r)
		}
	})
}

func (c *window) showStatus() {
	s := c.d.Welcome.Status
	m := kit.MarkNone
	switch {
	case s.Sentence == "":
	case s.OK:
		m = kit.MarkDot
	default:
		m = kit.MarkTrouble
	}
	c.sign.Set(m)
	c.status.Say(s.Sentence, base.ColorNamePlaceHolder)
	c.d.Send(deskapi.KindCallsAsk, nil)
}

// takeState takes over what the resident says beside the calls.
func (c *window) takeState(m deskapi.CallsState) {
	was, first := c.state, !c.stated
	c.state, c.stated = m, true
	if m.Manual != was.Manual {
		c.titleLine()
	}
	c.showNote()
	c.showViews()
	switch {
	case m.Group != was.Group && m.Group && c.query.View == history.ViewAll,
		m.Group != was.Group && !m.Group && c.query.View == history.ViewMine:
		c.show(c.viewAt(0))
	case first || m.CallBack != was.CallBack:
		c.list.again()
	}
}

// showNote says what is wrong, or has happened.
func (c *window) showNote() {
	said := c.failed
	dismiss := false
	switch {
	case said != "":
	case len(c.removed) > 0:
		said = c.d.Lang.N(text.CallsRemoved, len(c.removed))
	case c.state.Fault != "":
		said = c.state.Fault
	case c.state.Notice != "":
		said, dismiss = c.state.Notice, true
	}
	if said == c.noted {
		return
	}
	c.noted = said
	c.note.Objects = nil
	if said != "" {
		line := kit.Trouble(said)
		if c.failed == "" && len(c.removed) > 0 {
			line = c.undoLine(said)
		}
		if dismiss {
			ok := widget.NewButton(c.d.Lang.T(text.CallsNoticeOk), func() {
				c.state.Notice = ""
				c.d.Send(deskapi.KindCallsDismiss, nil)
				c.showNote()
			})
			line = container.NewBorder(nil, nil, nil, container.New(layout.NewCustomPaddedLayout(0, 0, 12, 0), container.NewCenter(ok)),
				container.New(kit.Middle(), line))
		}
		c.note.Objects = []fyne.CanvasObject{container.New(layout.NewCustomPaddedLayout(8, 0, 0, 0), line)}
	}
	c.note.Refresh()
	c.win.Content().Refresh()
}

// fail says for a moment what did not work.
func (c *window) fail(sentence string) {
	c.failed = sentence
	c.showNote()
	c.d.After(kit.FailedIs, func() {
		c.d.Post(func() {
			if c.failed == sentence {
				c.failed = ""
				c.showNote()
			}
		})
	})
}

// viewList are the views that are offered, in their order.
func (c *window) viewList() []history.View {
	if c.state.Group {
		return []history.View{history.ViewMine, history.ViewMissed, history.ViewAll}
	}
	return []history.View{history.ViewAll, history.ViewMissed}
}

func (c *window) viewAt(i int) history.View { return c.viewList()[i] }

func (c *window) showViews() {
	l := c.d.Lang
	var names []string
	now := 0
	for i, v := range c.viewList() {
		name := l.T(text.CallsViewAll)
		switch v {
		case history.ViewMine:
			name = l.T(text.CallsViewMine)
		case history.ViewMissed:
			if name = l.T(text.CallsViewMissed); c.state.Missed > 0 {
				name = l.T(text.CallsViewMissedCount, c.state.Missed)
			}
		}
		names = append(names, name)
		if v == c.query.View {
			now = i
		}
	}
	c.views.Set(names, now)
	c.tools.Refresh()
}

// show shows another view of the calls.
func (c *window) show(v history.View) {
	if v == c.query.View {
		return
	}
	c.query.View = v
	c.showViews()
	c.list.scroll.Offset.Y = 0
	c.begin()
}

// search follows the filter.
func (c *window) search() {
	was := c.query
	c.query.Filter = c.filter.Text
	c.list.scroll.Offset.Y = 0
	c.chosen, c.picked = -1, 0
	if c.h.state != readingOK || c.start != 0 || !strings.HasPrefix(c.filter.Text, was.Filter) {
		c.begin()
		return
	}
	// A longer filter only leaves out more, so the first of what it finds are
	// among what is here; or all of it, if all was here.
	whole := c.exact && len(c.all) == c.plan.count
	var left []history.Entry
	for _, e := range c.all {
		if e.Fits(c.filter.Text) {
			left = append(left, e)
		}
	}
	c.renew()
	c.put(answer{wish: wish{query: c.query, edition: c.edition}, entries: left, count: len(left), today: today(left, c.d.Now()), exact: whole})
	if !whole {
		c.want(wish{})
	}
}

// begin reads another list from its beginning.
func (c *window) begin() {
	c.renew()
	c.want(wish{})
}

// renew makes what is being read that of another list.
func (c *window) renew() {
	c.stop()
	c.edition.list++
	c.pending, c.asked = nil, nil
}

// want asks for a reading.
func (c *window) want(w wish) {
	w.query, w.edition = c.query, c.edition
	c.pending = &w
	c.d.Kick()
}

// refresh shows what was read last.
func (c *window) refresh() {
	a := c.next
	c.next = nil
	switch {
	case c.h.state != readingOK:
		if a == nil || len(c.all) == 0 {
			c.draw()
		}
		return // what was read before stays
	case a == nil:
		all := c.h.entries
		a = &answer{entries: all, count: len(all), today: today(all, c.d.Now()), exact: true}
	}
	c.put(*a)
	if a.exact {
		c.d.Send(deskapi.KindCallsAsk, nil)
	}
}

// put takes over a run of calls. What is on screen stays where it is when calls
// have come above it.
func (c *window) put(a answer) {
	offset := c.list.scroll.Offset.Y
	var anchor history.Place
	lead := float32(0)
	if offset > 0 && a.place != (history.Place{}) {
		anchor = a.place
		lead = offset - c.plan.y(a.index)
	}
	now := c.d.Now()
	c.all, c.start, c.exact, c.long = a.entries, a.start, a.exact, a.long
	c.plan = plan{count: max(a.count, a.start+len(a.entries)), today: a.today}
	c.rows, c.places = make([]row, len(a.entries)), make([]history.Place, len(a.entries))
	chosen := -1
	for i, e := range a.entries {
		c.rows[i], c.places[i] = rowOf(c.d.Lang, e, now), e.Place()
		if e.ID == c.picked {
			chosen = a.start + i
		}
		if anchor != (history.Place{}) && e.Place() == anchor {
			c.list.scroll.Offset.Y = c.plan.y(a.start+i) + lead
			anchor = history.Place{}
		}
	}
	switch {
	case chosen >= 0:
		c.chosen = chosen
	case c.chosen >= c.plan.count:
		c.choose(c.plan.count - 1)
	case c.chosen >= 0: // what was chosen has gone: the one in its place
		c.choose(c.chosen)
	}
	c.draw()
}

// row gives a call of the list, false if it is not read.
func (c *window) row(n int) (row, bool) {
	if i := n - c.start; i >= 0 && i < len(c.rows) {
		return c.rows[i], true
	}
	return row{}, false
}

// need has the calls around those on screen read before they are.
func (c *window) need(first, last int) {
	const ahead = block / 4
	low, high := max(first-ahead, 0), min(last+ahead, c.plan.count-1)
	if last < first || len(c.rows) > 0 && low >= c.start && high < c.start+len(c.rows) {
		return
	}
	at := first + (last-first)/2
	for _, w := range []*wish{c.pending, c.asked} {
		if w != nil && w.edition == c.edition && (w.place != (history.Place{}) || w.jump) && max(w.index-at, at-w.index) < ahead {
			return // on its way
		}
	}
	w := wish{index: at}
	if i := at - c.start; i >= 0 && i < len(c.places) {
		w.place = c.places[i]
	} else {
		w.jump = true
	}
	c.want(w)
}

// draw shows the list, or the page in its place.
func (c *window) draw() {
	p := c.pageNow()
	kit.Visible(c.tools, c.plan.count > 0 || c.query.View != c.viewAt(0) || c.filter.Text != "") // else there is nothing to search in
	if p == "" {
		c.list.show()
	}
	if p == c.page && len(c.body.Objects) > 0 {
		return
	}
	c.page = p
	c.body.Objects = []fyne.CanvasObject{c.pageContent(p)}
	c.body.Refresh()
}

// Pages in place of the list. The one about a filter is called after it.
const (
	pageBlank  = "blank"   // not read yet: nothing, for a moment
	pageEmpty  = "empty"   // there are none
	pageMine   = "mine"    // none for this user
	pageMissed = "missed"  // none missed
	pageSearch = "search"  // none match the filter so far
	pageNone   = "none of" // none match the filter
	pageOff    = "off"     // none are kept
	pageBroken = "broken"  // they cannot be read
)

func (c *window) pageNow() string {
	filter := strings.TrimSpace(c.filter.Text)
	switch {
	case c.plan.count > 0:
		return ""
	case c.d.Welcome.History == "":
		return pageOff
	case c.h.state == readingFailed:
		return pageBroken
	case c.h.state == readingNot:
		return pageBlank
	case filter != "" && !c.exact && c.long:
		return pageSearch
	case filter != "" && !c.exact:
		return pageBlank // nothing yet
	case filter != "":
		return pageNone + filter
	case c.query.View == history.ViewMissed:
		return pageMissed
	case c.query.View == history.ViewMine:
		return pageMine
	}
	return pageEmpty
}

func (c *window) pageContent(p string) fyne.CanvasObject {
	l := c.d.Lang
	switch p {
	case "":
		return c.list
	case pageEmpty:
		if len(c.d.Welcome.Demo) == 0 {
			return kit.EmptyPage(l.T(text.DeskCallsEmpty), nil,
				l.T(text.DeskCallsEmptyHint), l.T(text.DeskCallsEmptyCommand))
		}
		demo := widget.NewButton(l.T(text.DeskDemoOpen), func() { c.d.Show(deskapi.WindowDemo) })
		demo.Importance = widget.HighImportance
		return kit.EmptyPage(l.T(text.DeskCallsEmpty), demo, l.T(text.DeskCallsEmptyHint), l.T(text.DeskCallsEmptyDemo))
	case pageSearch:
		return kit.EmptyPage(l.T(text.CallsSearching), nil)
	case pageMissed:
		return kit.EmptyPage(l.T(text.CallsNoneMissed), nil, l.T(text.CallsNoneMissedHint))
	case pageMine:
		all := widget.NewButton(l.T(text.CallsNoneShow), func() { c.show(history.ViewAll) })
		return kit.EmptyPage(l.T(text.CallsNoneMine), all, l.T(text.CallsNoneMineHint))
	case pageOff:
		return kit.EmptyPage(l.T(text.DeskCallsOff), nil, l.T(text.DeskCallsOffHint))
	case pageBroken:
		return kit.EmptyPage(l.T(text.DeskCallsBroken), nil, l.T(text.DeskCallsBrokenHint))
	}
	if filter, ok := strings.CutPrefix(p, pageNone); ok {
		clear := widget.NewButton(l.T(text.DeskCallsNoneClear), func() { c.filter.SetText("") })
		return kit.EmptyPage(l.T(text.DeskCallsNone, filter), clear, l.T(text.DeskCallsNoneHint))
	}
	return container.NewWithoutLayout()
}
