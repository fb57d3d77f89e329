package desk

import (
	"strings"
	"time"

	"fyne.io/fyne/v2"
	"fyne.io/fyne/v2/container"
	"fyne.io/fyne/v2/driver/desktop"
	"fyne.io/fyne/v2/layout"
	base "fyne.io/fyne/v2/theme"
	"fyne.io/fyne/v2/widget"

	"wiebelt/internal/deskapi"
	"wiebelt/internal/text"
)

const (
	edge     = 24 // from a window's border to its text
	copiedIs = time.Second
)

// callsWindow lists the calls of today and those before.
type callsWindow struct {
	d      *windows
	win    fyne.Window
	rows   []row
	sign   *shape
	status *words
	filter *widget.Entry
	list   *widget.List
	body   *fyne.Container // the list, or a page that says why there is none
	page   pageKind        // which page body shows
	copied int64           // the entry whose number was just copied, 0 none
	chosen int             // the row that the keyboard is on, -1 none
}

func newCallsWindow(d *windows) *callsWindow {
	c := &callsWindow{d: d, sign: newShape(markNone), filter: widget.NewEntry(), body: container.NewStack(), chosen: -1}
	c.status = newWords("", base.SizeNameCaptionText, base.ColorNamePlaceHolder, false).cutting()
	c.filter.SetPlaceHolder(d.lang.T(text.DeskCallsFilter))
	c.filter.OnChanged = func(string) {
		c.refresh()
		c.list.ScrollToTop()
	}
	c.list = widget.NewList(
		func() int { return len(c.rows) },
		func() fyne.CanvasObject { return newRowView(c) },
		func(i widget.ListItemID, o fyne.CanvasObject) {
			if i < len(c.rows) {
				o.(*rowView).set(c.rows[i])
			}
		})
	c.list.HideSeparators = true
	c.list.OnHighlighted = func(i widget.ListItemID) { c.chosen = i }
	c.list.OnSelected = func(i widget.ListItemID) { // by the keyboard; the rows take clicks themselves
		c.list.Unselect(i)
		if i < len(c.rows) {
			c.open(c.rows[i])
		}
	}

	title := newWords(d.lang.T(text.DeskCallsTitle), base.SizeNameHeadingText, base.ColorNameForeground, true)
	state := container.NewBorder(nil, nil, container.NewCenter(c.sign), nil,
		container.New(layout.NewCustomPaddedLayout(0, 0, 4, 0), c.status))
	head := container.New(layout.NewCustomPaddedLayout(20, 12, edge, edge),
		container.New(layout.NewCustomPaddedVBoxLayout(4), c.titleLine(title), state, gap(4), c.filter))
	c.showStatus()
	c.win = d.window(text.DeskCallsTitle, container.NewBorder(head, gap(8), nil, nil, c.body), fyne.NewSize(720, 640))
	c.shortcuts()
	c.refresh()
	if d.state == readingNot {
		d.kick()
	}
	return c
}

// titleLine has the way to the recipes at its end; the demo has none, since its
// port and tokens are gone with it.
func (c *callsWindow) titleLine(title *words) fyne.CanvasObject {
	if len(c.d.welcome.Demo) > 0 {
		return title
	}
	connect := widget.NewButton(c.d.lang.T(text.RecipesMenu), func() { c.d.show(deskapi.WindowRecipes) })
	return container.NewBorder(nil, nil, container.New(middle{}, title), connect)
}

func (c *callsWindow) shortcuts() {
	find := &desktop.CustomShortcut{KeyName: fyne.KeyF, Modifier: fyne.KeyModifierShortcutDefault}
	c.win.Canvas().AddShortcut(find, func(fyne.Shortcut) { c.win.Canvas().Focus(c.filter) })
	c.win.Canvas().AddShortcut(&fyne.ShortcutCopy{}, func(fyne.Shortcut) { c.copyChosen() })
}

func (c *callsWindow) copyChosen() {
	if c.chosen >= 0 && c.chosen < len(c.rows) {
		c.copy(c.rows[c.chosen])
	}
}

// gap is empty height.
func gap(height float32) fyne.CanvasObject {
	return container.New(layout.NewCustomPaddedLayout(height, 0, 0, 0))
}

func (c *callsWindow) showStatus() {
	s := c.d.welcome.Status
	m := markNone
	switch {
	case s.Sentence == "":
	case s.OK:
		m = markDot
	default:
		m = markTrouble
	}
	c.sign.set(m)
	c.status.say(s.Sentence, base.ColorNamePlaceHolder)
}

// refresh shows the entries as they are now.
func (c *callsWindow) refresh() {
	c.rows = rowsOf(c.d.lang, c.d.entries, c.filter.Text, c.d.now())
	page := c.pageNow()
	visible(c.filter, len(c.d.entries) > 0) // there is nothing to search in
	if page == pageList {
		for i, r := range c.rows {
			height := float32(rowHeight)
			if r.heading {
				height = headingHeight
			}
			c.list.SetItemHeight(i, height)
		}
		c.list.Refresh()
	}
	// The page about a filter quotes it, so it is made anew with every letter.
	if page != c.page || page == pageNone {
		c.page = page
		c.body.Objects = []fyne.CanvasObject{c.pageContent(page)}
		c.body.Refresh()
	}
}

// pageKind is what stands below the filter.
type pageKind uint8

const (
	pageBlank  pageKind = iota // not read yet: nothing, for a moment
	pageList                   // the calls
	pageEmpty                  // there are none
	pageNone                   // none match the filter
	pageOff                    // none are kept
	pageBroken                 // they cannot be read
)

func (c *callsWindow) pageNow() pageKind {
	switch {
	case len(c.rows) > 0:
		return pageList
	case c.d.welcome.History == "":
		return pageOff
	case c.d.state == readingFailed:
		return pageBroken
	case c.d.state == readingNot:
		return pageBlank
	case len(c.d.entries) > 0 && strings.TrimSpace(c.filter.Text) != "":
		return pageNone
	}
	return pageEmpty
}

func (c *callsWindow) pageContent(p pageKind) fyne.CanvasObject {
	l := c.d.lang
	switch p {
	case pageList:
		return c.list
	case pageEmpty:
		if len(c.d.welcome.Demo) == 0 {
			return emptyPage(l.T(text.DeskCallsEmpty), nil,
				l.T(text.DeskCallsEmptyHint), l.T(text.DeskCallsEmptyCommand))
		}
		demo := widget.NewButton(l.T(text.DeskDemoOpen), func() { c.d.show(deskapi.WindowDemo) })
		demo.Importance = widget.HighImportance
		return emptyPage(l.T(text.DeskCallsEmpty), demo, l.T(text.DeskCallsEmptyHint), l.T(text.DeskCallsEmptyDemo))
	case pageNone:
		clear := widget.NewButton(l.T(text.DeskCallsNoneClear), func() { c.filter.SetText("") })
		return emptyPage(l.T(text.DeskCallsNone, strings.TrimSpace(c.filter.Text)), clear, l.T(text.DeskCallsNoneHint))
	case pageOff:
		return emptyPage(l.T(text.DeskCallsOff), nil, l.T(text.DeskCallsOffHint))
	case pageBroken:
		return emptyPage(l.T(text.DeskCallsBroken), nil, l.T(text.DeskCallsBrokenHint))
	}
	return container.NewWithoutLayout()
}

func (c *callsWindow) open(r row) {
	if r.openable {
		c.d.send(deskapi.KindOpen, deskapi.Open{Entry: r.id})
	}
}

func (c *callsWindow) copy(r row) {
	if r.number == "" || r.heading {
		return
	}
	c.d.send(deskapi.KindCopy, deskapi.Copy{Text: r.number})
	c.copied = r.id
	c.list.Refresh()
	c.d.after(copiedIs, func() {
		c.d.post(func() {
			if c.copied == r.id {
				c.copied = 0
				c.list.Refresh()
			}
		})
	})
}
