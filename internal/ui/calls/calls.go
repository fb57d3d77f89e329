// Package calls is the window with today's and earlier calls, which can be searched
// and narrowed to a view.
//
// History owns what was read and the open window, on Fyne's thread. The file on disk
// belongs to the goroutine of Follow, which receives requests and returns results
// through the Host's Post.
package calls

import (
	"cmp"
	"context"
	"encoding/json"
	"slices"

	"fyne.io/fyne/v2"
	"fyne.io/fyne/v2/container"
	"fyne.io/fyne/v2/driver/desktop"
	"fyne.io/fyne/v2/layout"
	base "fyne.io/fyne/v2/theme"
	"fyne.io/fyne/v2/widget"

	"wiebelt/internal/instance/windowapi"
	"wiebelt/internal/store/callactions"
	"wiebelt/internal/store/history"
	"wiebelt/internal/text"
	"wiebelt/internal/ui/widgets"
)

type window struct {
	host *widgets.Host
	h    *History
	parts
	contents
	selection

	state       callactions.State
	stateRead   bool          // state was read
	failed      string        // what failed, shown for a moment
	undos       []*undo       // what was just removed and can be restored
	openCallers int           // rows to be called back, regardless of the filter
	question    *widget.PopUp // the question whether to delete everything; nil if not shown
}

type parts struct {
	win    fyne.Window
	sign   *widgets.Shape
	status *widgets.TextLine
	note   *widgets.Slot // what is wrong
	views  *widgets.Choice
	filter *widgets.FilterBox
	tools  *fyne.Container // filter and views
	title  *fyne.Container
	list   *list
	body   *widgets.Slot // the list, or a page that says why there is none
}

// contents is what was read: the calls to be called back, and a run of the others that
// begins at number result.start.
type contents struct {
	query      history.Query
	listNumber int // of the list that is read
	listLayout
	result   readResult
	openRows []row
	rows     []row
	grouped  map[int64][]int64 // the calls of each row of openRows

	pending  *readRequest // to be read next
	inFlight *readRequest // sent to the reader, not answered yet
	cancel   context.CancelFunc
}

// selection is what the user is working on.
type selection struct {
	focusIndex  int           // the row with the keyboard focus, -1 for none
	focusKey    rowKey        // identifies that row
	copied      int64         // the entry whose number was just copied, 0 for none
	lookupEntry history.Entry // the entry being looked up again, as it was then; zero: none
	lookupSeq   int           // number of the last lookup
	people      callactions.LookupOutcome
	unfolded    bool // handled calls are shown
}

type rowKey struct {
	id     int64
	person int
}

func newWindow(h *History) *window {
	host := h.host
	l := host.Lang
	c := &window{host: host, h: h, parts: parts{sign: widgets.NewShape(widgets.MarkNone), body: widgets.NewSlot(), note: widgets.NewSlot()},
		selection: selection{focusIndex: -1}, openCallers: -1}
	if before := h.calls; before != nil { // recreated: its results are not for this one
		before.stop()
		c.inherit(before)
	}
	c.status = widgets.Caption("")
	c.filter = widgets.NewFilterBox(l.T(text.WindowCallsFilter))
	c.filter.SetText(c.query.Filter)
	c.filter.OnChanged = func(string) { c.search() }
	c.filter.OnDown = func() { c.win.Canvas().Focus(c.list) }
	c.views = widgets.NewChoice(func(i int) { c.show(c.viewAt(i)) })
	c.views.Name = l.T(text.WindowCallsTitle)
	c.list = newList(c)

	c.title = container.NewStack()
	c.tools = container.New(&toolsLayout{views: c.views}, c.filter, c.views)
	state := container.NewBorder(nil, nil, container.NewCenter(c.sign), nil, widgets.Padded(0, 0, 4, 0, c.status))
	head := widgets.Padded(16, 8, widgets.Edge, widgets.Edge, widgets.Column(6, c.title, state, c.note.WithGap(), c.tools))
	c.titleLine()
	c.showViews()
	c.showStatus()
	c.win = host.Window(text.WindowCallsTitle, widgets.WithHeader(head, widgets.Padded(0, 12, 0, 0, c.body.WithGap())), fyne.NewSize(720, 640))
	c.shortcuts()
	c.showNote()
	if h.state == readingOK && c.listNumber == 0 {
		c.showResult(h.first) // read before there was a window, so the first frame already has the calls
	} else {
		c.draw()
	}
	if !c.result.exact {
		c.requestRead(readRequest{})
	}
	return c
}

// toolsLayout puts the views beside the filter, or below it in a narrow window. It remembers
// its last width, like wrapping text: its height depends on it.
type toolsLayout struct {
	views *widgets.Choice
	width float32
}

const (
	filterLeast = 160 // width of the filter beside the views
	toolsGap    = 12
)

func (t *toolsLayout) beside() bool {
	return t.width == 0 || t.width >= filterLeast+toolsGap+t.views.Width()
}

// MinSize implements fyne.Layout.
func (t *toolsLayout) MinSize(o []fyne.CanvasObject) fyne.Size {
	filter, views := o[0].MinSize(), o[1].MinSize()
	if t.beside() {
		return filter.Max(views)
	}
	return fyne.NewSize(max(filter.Width, views.Width), filter.Height+views.Height)
}

// Layout implements fyne.Layout.
func (t *toolsLayout) Layout(o []fyne.CanvasObject, size fyne.Size) {
	t.width = size.Width
	if t.beside() {
		left := size.Width - t.views.Width()
		o[0].Resize(fyne.NewSize(left-toolsGap, size.Height))
		o[1].Resize(fyne.NewSize(size.Width-left, size.Height))
		o[1].Move(fyne.NewPos(left, 0))
		return
	}
	filter := o[0].MinSize().Height
	o[0].Resize(fyne.NewSize(size.Width, filter))
	o[1].Resize(fyne.NewSize(size.Width+widgets.OptionPad, size.Height-filter))
	o[1].Move(fyne.NewPos(-widgets.OptionPad, filter)) // its words align with the filter
}

func (c *window) inherit(before *window) {
	c.listNumber, c.query, c.unfolded = before.listNumber+1, before.query, before.unfolded
	c.state, c.stateRead, c.undos = before.state, before.stateRead, slices.Clone(before.undos)
	c.lookupEntry, c.lookupSeq = before.lookupEntry, before.lookupSeq
}

// Window implements widgets.Page.
func (c *window) Window() fyne.Window { return c.win }

// HandleMessage implements widgets.Page.
func (c *window) HandleMessage(kind string, raw json.RawMessage) {
	switch kind {
	case windowapi.KindLookup:
		var m windowapi.LookupResult
		if c.host.Decode(kind, raw, &m) && m.Entry == c.lookupEntry.ID && m.Seq == c.lookupSeq {
			c.storeLookup(m)
		}
	case windowapi.KindCopy:
		if c.copied != 0 {
			c.copied = 0
			c.list.repaintRows()
			c.fail(c.host.Lang.T(text.CallsTroubleCopy))
		}
	case windowapi.KindChanged:
		var m windowapi.Changed
		if c.host.Decode(kind, raw, &m) && m.What == windowapi.ChangedErased {
			c.undos = nil // none of it may be restored
		}
	}
}

// Closed forgets what was read with the window.
func (c *window) Closed() {
	c.stop()
	c.h.calls, c.h.first, c.h.state = nil, readResult{}, readingPending
}

// StatusChanged updates the status shown.
func (c *window) StatusChanged() {
	c.showStatus()
	c.showNote()
	c.readState()
}

func (c *window) stop() {
	if c.cancel != nil {
		c.cancel()
	}
}

// titleLine builds the title line. It ends with the menu
// of all windows, since not every desktop shows the icon.
func (c *window) titleLine() {
	l := c.host.Lang
	buttons := container.New(layout.NewCustomPaddedHBoxLayout(8))
	if c.state.Manual && c.host.Has(windowapi.WindowLookup) {
		buttons.Add(widgets.NewButton(l.T(text.LookupOpen), func() { c.host.Show(windowapi.WindowLookup) }))
	}
	buttons.Add(c.moreButton())
	title := widgets.Title(l.T(text.WindowCallsTitle))
	high := widgets.Gap(widgets.ChoiceHeight) // a button's height, with or without one
	widgets.Fill(c.title, high, container.NewBorder(nil, nil, nil, buttons, container.New(widgets.Middle(), title)))
}

func (c *window) shortcuts() {
	cv := c.win.Canvas()
	find := &desktop.CustomShortcut{KeyName: fyne.KeyF, Modifier: fyne.KeyModifierShortcutDefault}
	cv.AddShortcut(find, func(fyne.Shortcut) { cv.Focus(c.filter) })
	cv.AddShortcut(&fyne.ShortcutUndo{}, func(fyne.Shortcut) { c.undoLast() })
	cv.AddShortcut(&fyne.ShortcutCopy{}, func(fyne.Shortcut) { c.withChosen(c.copy) })
	cv.SetOnTypedKey(func(e *fyne.KeyEvent) { // nothing has the focus yet
		if e.Name == fyne.KeyEscape {
			if c.question != nil {
				c.closeQuestion()
			} else {
				c.win.Close()
			}
			return
		}
		if c.body.ContentName == pageList && c.listLayout.total() > 0 {
			cv.Focus(c.list)
			if e.Name != fyne.KeyDown && e.Name != fyne.KeyUp {
				c.list.TypedKey(e)
			}
		}
	})
	cv.SetOnTypedRune(func(r rune) {
		if c.body.ContentName == pageList {
			c.list.TypedRune(r)
		}
	})
}

func (c *window) showStatus() {
	s := c.host.Welcome.Status
	m := widgets.Either(s.OK, widgets.MarkDot, widgets.MarkTrouble)
	if s.Sentence == "" {
		m = widgets.MarkNone
	}
	c.sign.Set(m)
	c.status.SetText(s.Sentence, base.ColorNamePlaceHolder)
}

func (c *window) readState() {
	c.host.Go(func(ctx context.Context) {
		s := c.h.actions.State(ctx)
		c.host.Post(func() {
			if c.h.calls == c {
				c.setState(s)
			}
		})
	})
}

func (c *window) setState(m callactions.State) {
	was, first := c.state, !c.stateRead
	c.state, c.stateRead = m, true
	if first || m.Manual != was.Manual {
		c.titleLine()
	}
	c.showViews()
	switch {
	case m.Group && !was.Group && c.query.View == history.ViewAll,
		!slices.Contains(c.viewList(), c.query.View): // no longer offered
		c.show(c.viewAt(0))
	case first || m.CallBack != was.CallBack:
		c.list.repaintRows()
	}
}

// showNote shows what is wrong or has happened.
func (c *window) showNote() {
	now := c.host.Welcome.Status
	said := cmp.Or(c.failed, now.Fault, now.Notice)
	changed := c.note.Put(said, func() fyne.CanvasObject {
		if c.failed+now.Fault != "" {
			return widgets.Trouble(said)
		}
		return widgets.WithButton(widgets.Trouble(said), widgets.NewButton(c.host.Lang.T(text.CallsNoticeOK), func() {
			c.host.Welcome.Status.Notice = ""
			c.host.NotifyChanged(windowapi.ChangedNoticeRead)
			c.showNote()
		}), 12)
	})
	if changed {
		c.win.Content().Refresh()
	}
}

// fail shows for a moment what failed.
func (c *window) fail(sentence string) {
	widgets.ShowFor(c.host, widgets.FailedFor, &c.failed, sentence, c.showNote)
}

// viewList returns the available views in order. In a ring group most calls were taken by
// colleagues; only the view of all calls lists them.
func (c *window) viewList() []history.View {
	if c.state.Group {
		return []history.View{history.ViewMine, history.ViewMissedHandled, history.ViewAll}
	}
	return []history.View{history.ViewAll, history.ViewMissedHandled, history.ViewElsewhere, history.ViewUnsure}
}

func (c *window) viewAt(i int) history.View { return c.viewList()[i] }

var viewWords = map[history.View]text.Key{history.ViewAll: text.CallsViewAll, history.ViewMissedHandled: text.CallsViewMissed,
	history.ViewMine: text.CallsViewMine, history.ViewElsewhere: text.CallsViewElsewhere, history.ViewUnsure: text.CallsViewUnsure}

func (c *window) showViews() {
	l, all := c.host.Lang, c.viewList()
	var names []string
	for _, v := range all {
		name := l.T(viewWords[v])
		if v == history.ViewMissedHandled && c.openCallers > 0 {
			name = l.T(text.CallsViewMissedCount, c.openCallers)
		}
		names = append(names, name)
	}
	c.views.Set(names, max(slices.Index(all, c.query.View), 0)) // the view may not be offered any more
	c.tools.Refresh()
}

func (c *window) show(v history.View) {
	if v == c.query.View {
		return
	}
	c.query.View = v
	c.unfolded = false
	c.showViews()
	c.list.scroll.Offset.Y = 0
	c.restartList()
}

// The list, and the pages shown instead of it that are not named after their titles.
const (
	pageList  = "list"
	pageBlank = "blank"   // not read yet: nothing, for a moment
	pageNone  = "none of" // none match the filter, which follows
)
