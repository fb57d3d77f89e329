// Package delivery is the window that delivers files: they are dropped or chosen here,
// and shown with their state.
//
// The window reads the outbox and changes what people decide there, alongside the resident,
// which adds files to it and sends them. sharedOutbox does so off Fyne's thread; everything
// else belongs to that thread.
package delivery

import (
	"context"
	"encoding/json"
	"path/filepath"
	"reflect"
	"slices"
	"strings"

	"fyne.io/fyne/v2"
	"fyne.io/fyne/v2/container"
	base "fyne.io/fyne/v2/theme"
	"fyne.io/fyne/v2/widget"

	"wiebelt/internal/config/fromsettings"
	"wiebelt/internal/instance/windowapi"
	"wiebelt/internal/text"
	"wiebelt/internal/ui/widgets"
)

const maxPaths = 32 << 10 // bytes of paths in a message

var windowSize = fyne.NewSize(720, 640)

// window delivers files dropped into it or chosen, and shows their state.
type window struct {
	host     *widgets.Host
	win      fyne.Window
	choose   *widgets.Button
	status   *widgets.Slot // how many there are in each state
	note     *widgets.Slot // what is wrong, or has happened
	question *widgets.Slot // whether to send a file once more
	views    *widgets.Choice
	tools    *fyne.Container
	list     *widgets.List
	body     *widgets.Slot   // the list, or a page that says why there is none
	pages    *fyne.Container // the list page, or one file
	front    fyne.CanvasObject

	state    state
	reading  reading
	view     string
	failed   string // what failed, shown for a moment
	outbox   *sharedOutbox
	resident residentState

	detail  *detail  // nil while no file is shown
	chooser *chooser // nil while not choosing
}

type reading struct {
	done  bool // at least once
	busy  bool
	again bool // the result of the current reading will be out of date
}

type residentState struct {
	report  windowapi.Delivery // complete, with all its files
	partial windowapi.Delivery // the parts received so far
	sent    windowapi.Progress
}

// Open opens the window and requests the deliveries.
func Open(host *widgets.Host) widgets.Page {
	l := host.Lang
	w := &window{host: host, view: viewAll, outbox: &sharedOutbox{open: outboxOpener(fromsettings.OutboxFolder(host.Dirs)),
		settings: host.Settings},
		status: widgets.NewSlot(), note: widgets.NewSlot(), question: widgets.NewSlot(), body: widgets.NewSlot()}
	if before, again := host.Page(windowapi.WindowDelivery).(*window); again {
		w.outbox = before.outbox
	}
	w.choose = widgets.NewPrimary(l.T(text.DeliveryWindowChoose), w.chooseFiles)
	w.views = widgets.NewChoice(func(i int) { w.show(deliveryViews[i]) })
	w.list = widgets.NewList(
		func() int { return len(w.state.Rows) },
		func() fyne.CanvasObject { return newLine(w) },
		func(i int, o fyne.CanvasObject) { o.(*line).set(i) },
		w.openRow) // for the keyboard; the lines handle clicks themselves
	w.list.Name = l.T(text.DeliveryWindowTitle)
	w.views.Name = l.T(text.DeliveryWindowTitle)
	title := widgets.Title(l.T(text.DeliveryWindowTitle))
	w.tools = widgets.Padded(0, 0, -widgets.OptionPad, 0, w.views)
	head := widgets.Padded(20, 12, widgets.Edge, widgets.Edge, widgets.Column(4,
		container.NewBorder(nil, nil, nil, w.choose, container.New(widgets.Middle(), title)), w.status.Container, w.note.Container, w.question.Container, widgets.Gap(4), w.tools))
	w.front = widgets.WithHeader(head, w.body.Container)
	w.pages = container.NewStack(w.front)
	w.win = host.Window(text.DeliveryWindowTitle, w.pages, windowSize)
	w.win.SetOnDropped(func(_ fyne.Position, items []fyne.URI) { w.dropped(items) })
	w.win.Canvas().SetOnTypedKey(func(e *fyne.KeyEvent) {
		switch {
		case e.Name == fyne.KeyEscape && (w.detail != nil || w.chooser != nil):
			w.back()
		case e.Name == fyne.KeyEscape:
			w.win.Close()
		case w.detail == nil && w.chooser == nil && len(w.state.Rows) > 0 && (e.Name == fyne.KeyDown || e.Name == fyne.KeyUp):
			w.win.Canvas().Focus(w.list)
		}
	})
	w.showViews()
	w.draw()
	w.host.Send(windowapi.KindDelivery, windowapi.DeliveryRequest{})
	return w
}

// Closed closes the outbox.
func (w *window) Closed() { w.host.Go(func(context.Context) { w.outbox.close() }) }

// Window implements widgets.Page.
func (w *window) Window() fyne.Window { return w.win }

// HandleMessage implements widgets.Page.
func (w *window) HandleMessage(kind string, raw json.RawMessage) {
	var m windowapi.Delivery
	switch {
	case kind != windowapi.KindDelivery || !w.host.Decode(kind, raw, &m):
	case m.Progress != nil:
		w.showProgress(*m.Progress)
	default:
		w.collectReport(m)
	}
}

// collectReport collects the resident's messages, and rereads the outbox once they are complete.
func (w *window) collectReport(m windowapi.Delivery) {
	if m.Failed {
		w.fail(w.host.Lang.T(widgets.Either(w.host.Welcome.NoResident, text.WindowNeedsResident, text.DeliveryWindowConflict)))
	}
	switch {
	case m.First == 0:
		w.resident.partial = m
	case m.First != len(w.resident.partial.Files):
		return // a part was lost; they will be sent again
	default:
		w.resident.partial.Files = append(w.resident.partial.Files, m.Files...)
	}
	if len(w.resident.partial.Files) == m.Total {
		w.resident.report = w.resident.partial
		w.readOutbox()
		if w.detail != nil {
			w.readDetail(w.detail.id)
		}
	}
}

// readOutbox reads the outbox again; one reading at a time.
func (w *window) readOutbox() {
	if w.reading.busy {
		w.reading.again = true
		return
	}
	w.reading.busy = true
	l, view, told := w.host.Lang, w.view, w.resident.report
	w.host.Go(func(ctx context.Context) {
		s := w.outbox.state(ctx, l, view, told)
		w.host.Post(func() { w.setState(s) })
	})
}

func (w *window) readDetail(id string) {
	files := w.resident.report.Files
	w.host.Go(func(ctx context.Context) {
		all, err := w.outbox.receipts(ctx, id, files)
		w.host.Post(func() {
			switch {
			case w.detail == nil || w.detail.id != id:
			case err != nil:
				w.fail(describeError(w.host.Lang, err))
			default:
				w.detail.setReceipts(all)
			}
		})
	})
}

func (w *window) sendRequest(m windowapi.DeliveryRequest) { w.host.Send(windowapi.KindDelivery, m) }

// change changes the outbox, even if the window is closed meanwhile, and has the
// resident continue from there.
func (w *window) change(then windowapi.DeliveryRequest, do func(context.Context, outboxStore) error) {
	w.host.Go(func(ctx context.Context) {
		ctx = context.WithoutCancel(ctx)
		err := w.outbox.with(ctx, func(b outboxStore) error { return do(ctx, b) })
		w.sendRequest(then)
		if err != nil {
			w.host.Post(func() { w.fail(describeError(w.host.Lang, err)) })
		}
	})
}

// send has a file sent, or checked again, as soon as possible.
func (w *window) send(id string) {
	if notInOutbox(id) {
		w.sendRequest(windowapi.DeliveryRequest{ID: id})
		return
	}
	w.change(windowapi.DeliveryRequest{Release: true}, func(ctx context.Context, b outboxStore) error {
		_, err := b.Retry(ctx, id)
		return err
	})
}

// remove deletes a file with its copy and receipts; the user has confirmed it.
func (w *window) remove(id string) {
	if notInOutbox(id) {
		w.sendRequest(windowapi.DeliveryRequest{ID: id, Drop: true})
		return
	}
	w.change(windowapi.DeliveryRequest{Changed: true}, func(ctx context.Context, b outboxStore) error { return b.Forget(ctx, id, true) })
}

func (w *window) setState(m state) {
	w.reading.busy = false
	if w.reading.again {
		w.reading.again = false
		w.readOutbox()
	}
	if m.View != w.view {
		return // the user switched views meanwhile
	}
	same := w.reading.done && reflect.DeepEqual(w.state, m)
	w.state, w.reading.done = m, true
	if same {
		return
	}
	w.showStatus()
	w.showNote()
	w.showQuestion()
	w.showViews()
	w.draw()
	w.list.Refresh()
}

// row returns a row of the list, false if there is none.
func (w *window) row(i int) (row, bool) {
	if i >= 0 && i < len(w.state.Rows) {
		return w.state.Rows[i], true
	}
	return row{}, false
}

func (w *window) showProgress(m windowapi.Progress) {
	w.resident.sent = m
	for i, r := range w.state.Rows {
		if r.ID == m.ID {
			w.list.RefreshItem(i)
		}
	}
	if w.detail != nil && w.detail.id == m.ID {
		w.detail.showState()
	}
}

// Pages instead of the list. The one for a hub that is not set up is named
// after whom to contact.
const (
	bodyList  = "list"
	bodyBlank = "blank" // not reported yet: nothing, for a moment
	bodyEmpty = "empty" // there are no deliveries
	bodyOff   = "off"
)

var deliveryViews = []string{viewAll, viewOpen, viewNeedAction}

func (w *window) showViews() {
	l := w.host.Lang
	open, act := l.T(text.DeliveryWindowViewOpen), l.T(text.DeliveryWindowViewAct)
	if w.state.Open > 0 {
		open = l.T(text.DeliveryWindowViewOpenCount, w.state.Open)
	}
	if w.state.NeedAction > 0 {
		act = l.T(text.DeliveryWindowViewActCount, w.state.NeedAction)
	}
	w.views.Set([]string{l.T(text.DeliveryWindowViewAll), open, act}, slices.Index(deliveryViews, w.view))
	w.tools.Refresh()
}

func (w *window) show(view string) {
	w.view = view
	w.showViews()
	w.list.ScrollToTop()
	w.readOutbox()
}

// draw shows the list, or the page instead of it.
func (w *window) draw() {
	s := w.state
	p := bodyList
	switch {
	case !w.reading.done:
		p = bodyBlank
	case len(s.Rows) > 0:
	case !s.SetUp:
		p = bodyOff + s.Support
	case w.view != viewAll:
		p = w.view
	default:
		p = bodyEmpty
	}
	widgets.SetEnabled(w.choose, s.SetUp)
	widgets.SetVisible(w.tools, w.reading.done && (len(s.Rows) > 0 || w.view != viewAll))
	if w.body.Put(p, func() fyne.CanvasObject { return w.pageContent(p) }) {
		w.front.Refresh()
	}
}

func (w *window) pageContent(p string) fyne.CanvasObject {
	l := w.host.Lang
	switch {
	case p == bodyList:
		return w.list
	case p == bodyEmpty:
		return w.dropPage()
	case p == viewOpen:
		return widgets.EmptyPage(l.T(text.DeliveryWindowNoneOpen), nil, l.T(text.DeliveryWindowNoneOpenHint))
	case p == viewNeedAction:
		return widgets.EmptyPage(l.T(text.DeliveryWindowNoneAct), nil, l.T(text.DeliveryWindowNoneActHint))
	case strings.HasPrefix(p, bodyOff):
		return widgets.EmptyPage(l.T(text.DeliveryWindowSetup), nil, l.T(text.DeliveryWindowSetupHint, w.state.Support))
	}
	return container.NewWithoutLayout()
}

// dropPage returns a place to drop files on; the whole window accepts them.
func (w *window) dropPage() fyne.CanvasObject {
	l := w.host.Lang
	words := widgets.Column(8,
		widgets.Subtitle(l.T(text.DeliveryWindowDrop)),
		widgets.Paragraph(l.T(text.DeliveryWindowDropHint)), widgets.Paragraph(l.T(text.DeliveryWindowDropClose)))
	icon := widget.NewIcon(base.NewColoredResource(base.UploadIcon(), base.ColorNamePrimary))
	picture := container.NewVBox(container.NewGridWrap(fyne.NewSquareSize(40), icon))
	return container.NewVScroll(widgets.Padded(12, 24, widgets.Edge, widgets.Edge, widgets.NewSoftBox(
		widgets.Padded(32, 32, 24, 24, container.NewBorder(nil, nil,
			widgets.Padded(0, 0, 0, 16, picture), nil, container.New(widgets.AtMost(widgets.TextWidth), words))))))
}

func (w *window) dropped(items []fyne.URI) {
	var paths []string
	for _, u := range items {
		if u.Scheme() == "file" {
			paths = append(paths, filepath.FromSlash(u.Path()))
		}
	}
	w.add(paths)
}

// add delivers files, in as many messages as needed.
func (w *window) add(paths []string) {
	if !w.state.SetUp {
		return // the page says whom to contact
	}
	if w.detail != nil || w.chooser != nil {
		w.back()
	}
	var some []string
	size := 0
	for _, p := range paths {
		if size += len(p); size > maxPaths && len(some) > 0 {
			w.sendRequest(windowapi.DeliveryRequest{Paths: some})
			some, size = nil, len(p)
		}
		some = append(some, p)
	}
	if len(some) > 0 {
		w.sendRequest(windowapi.DeliveryRequest{Paths: some})
	}
}

func (w *window) chooseFiles() {
	w.chooser, w.detail = newChooser(w), nil
	widgets.Fill(w.pages, w.chooser.content)
	w.chooser.start()
}

func (w *window) openRow(i int) {
	r, ok := w.row(i)
	if !ok || r.State == windowapi.DeliveryAdding {
		return
	}
	w.detail = newDetail(w, r)
	widgets.Fill(w.pages, w.detail.content)
	w.win.Canvas().Unfocus()
	w.readDetail(r.ID)
}

func (w *window) back() {
	w.detail, w.chooser = nil, nil
	widgets.Fill(w.pages, w.front)
	w.list.Refresh()
}
