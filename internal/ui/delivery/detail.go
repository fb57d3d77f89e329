package delivery

import (
	"context"
	"reflect"
	"strings"

	"fyne.io/fyne/v2"
	"fyne.io/fyne/v2/container"
	base "fyne.io/fyne/v2/theme"
	"fyne.io/fyne/v2/widget"

	inspect "wiebelt/internal/delivery/message"
	"wiebelt/internal/delivery/outbox"
	"wiebelt/internal/instance/windowapi"
	"wiebelt/internal/text"
	"wiebelt/internal/ui/widgets"
)

// detail shows everything known about a file, and what can be done with it.
type detail struct {
	w        *window
	id       string
	all      receipts
	read     bool // all contains more than the row
	removing bool // the user was asked to confirm removal
	content  fyne.CanvasObject
	sign     *widgets.Shape
	state    *widgets.TextLine
	note     *widgets.Field
	failed   *widgets.Slot // what failed, shown for a moment
	body     *fyne.Container
	decide   []*widgets.Button // disabled until there is a note
}

func newDetail(w *window, r row) *detail {
	l := w.host.Lang
	t := &detail{w: w, id: r.ID, sign: widgets.NewShape(widgets.MarkNone), failed: widgets.NewSlot(), body: container.NewStack()}
	t.all.Row = r
	t.state = widgets.NewTextLine("", base.SizeNameText, base.ColorNameForeground, false).Truncate()
	t.note = widgets.NewField()
	t.note.SetPlaceHolder(l.T(text.DeliveryWindowResolveNote))
	t.note.OnChanged = func(string) { t.enable() }
	back := widgets.NewButtonWithIcon(l.T(text.DeliveryWindowBack), base.NavigateBackIcon(), w.back)
	head := widgets.Padded(20, 8, widgets.Edge, widgets.Edge, widgets.Column(8, container.NewHBox(back), t.failed.Container))
	t.content = container.NewBorder(head, nil, nil, nil, container.NewVScroll(t.body))
	t.draw()
	return t
}

// setReceipts stores what was read. Text being typed stays.
func (t *detail) setReceipts(m receipts) {
	switch {
	case m.Row.ID != t.id && m.Row.ID != "" && notInOutbox(t.id):
		t.id = m.Row.ID // now in the outbox
	case m.Row.ID != t.id:
		return // for another file
	}
	if t.read && reflect.DeepEqual(t.all, m) {
		return
	}
	if m.Row.State != t.all.Row.State {
		t.removing = false
	}
	t.all, t.read = m, true
	typing := t.w.win.Canvas().Focused() == fyne.Focusable(t.note)
	t.draw()
	if typing && m.Row.State == outbox.Uncertain {
		t.w.win.Canvas().Focus(t.note)
	}
}

// showState updates only the state, which changes every second while sending.
func (t *detail) showState() {
	r := t.all.Row
	t.sign.Set(markOf(r.State))
	t.state.SetText(t.w.stateOf(r), widgets.ColourOf(markOf(r.State)))
}

func (t *detail) enable() {
	for _, b := range t.decide {
		widgets.SetEnabled(b, strings.TrimSpace(t.note.Text) != "")
	}
}

func (t *detail) draw() {
	t.showState()
	t.decide = nil
	page := widgets.Column(8, widgets.BigLine(t.all.Row.Name),
		container.NewBorder(nil, nil, container.NewCenter(t.sign), nil, widgets.Padded(0, 0, 4, 0, t.state)))
	if why := t.w.remark(t.all.Row); inView(t.all.Row, viewNeedAction) && why != "" {
		if why = sentence(why); t.all.Row.State == windowapi.DeliveryQuestion {
			why = t.w.questionOf(t.all.Row)
		}
		page.Add(widgets.BodyText(why))
	}
	page.Add(t.actions())
	page.Add(t.fields())
	if found := t.findings(); found != nil {
		page.Add(found)
	}
	if t.read && t.all.Row.SHA256 != "" {
		page.Add(t.receipts())
	}
	t.enable()
	widgets.Fill(t.body, widgets.Padded(4, 24, widgets.Edge, widgets.Edge, page))
}

func sentence(s string) string {
	if s != "" && !strings.HasSuffix(s, ".") && !strings.HasSuffix(s, "?") {
		s += "."
	}
	return text.Capital(s)
}

// actions returns the controls for the file in its state.
func (t *detail) actions() fyne.CanvasObject {
	l, r := t.w.host.Lang, t.all.Row
	if t.removing {
		sure := widgets.NewButton(l.T(text.DeliveryWindowRemove), func() { t.w.remove(t.id); t.w.back() })
		sure.Importance = widget.DangerImportance
		no := widgets.NewButton(l.T(text.DeliveryWindowBack), func() { t.removing = false; t.draw() })
		return widgets.Column(8, container.New(widgets.AtMost(widgets.TextWidth), widgets.BodyText(l.T(text.DeliveryWindowRemoveAsk))),
			widgets.Buttons(no, sure))
	}
	line := widgets.Buttons()
	add := func(label string, do func()) *widgets.Button {
		b := widgets.NewButton(label, do)
		line.Add(b)
		return b
	}
	remove := func() {
		if notInOutbox(t.id) { // nothing of it is kept
			t.w.remove(t.id)
			t.w.back()
			return
		}
		t.removing = true
		t.draw()
	}
	switch {
	case r.State == windowapi.DeliveryQuestion:
		add(l.T(text.DeliveryWindowSkip), remove)
		add(l.T(text.DeliveryWindowSend), func() { t.w.sendRequest(windowapi.DeliveryRequest{ID: t.id, Again: true}); t.w.back() })
		return line
	case r.State == outbox.Uncertain:
		return t.resolveControls(remove)
	case r.State == outbox.Sending, r.State == windowapi.DeliveryAdding:
		return line
	case notInOutbox(t.id):
		add(l.T(text.DeliveryWindowCheck), func() { t.w.send(t.id); t.w.back() })
	case r.State == outbox.Refused && r.HasCopy:
		add(l.T(text.DeliveryWindowRetry), func() { t.w.send(t.id) })
	case r.State == outbox.Waiting:
		add(l.T(text.DeliveryWindowNow), func() { t.w.send(t.id) })
	}
	add(l.T(text.DeliveryWindowRemove), remove)
	return line
}

// resolveControls returns the controls for a file that may have been delivered: somebody who has
// checked decides, with a note.
func (t *detail) resolveControls(remove func()) fyne.CanvasObject {
	l := t.w.host.Lang
	resolve := func(delivered bool) func() {
		return func() {
			id, note := t.id, strings.TrimSpace(t.note.Text)
			t.note.SetText("")
			t.w.change(windowapi.DeliveryRequest{Changed: true}, func(ctx context.Context, b outboxStore) error {
				_, err := b.Resolve(ctx, id, delivered, note)
				if err != nil {
					t.w.host.Post(func() { t.note.SetText(note) }) // to try again
				}
				return err
			})
		}
	}
	yes := widgets.NewButton(l.T(text.DeliveryWindowResolveDelivered), resolve(true))
	again := widgets.NewButton(l.T(text.DeliveryWindowResolveAgain), resolve(false))
	t.decide = append(t.decide, yes)
	if t.all.Row.HasCopy {
		t.decide = append(t.decide, again)
	} else {
		again.Disable() // our copy of it is gone
	}
	return widgets.Padded(8, 0, 0, 0, betweenRules(widgets.BodyText(l.T(text.DeliveryWindowResolve)), t.note,
		widgets.Buttons(yes, again, widgets.NewButton(l.T(text.DeliveryWindowRemove), remove))))
}

func (t *detail) fields() fyne.CanvasObject {
	l, a := t.w.host.Lang, t.all
	rows := widgets.Column(4)
	add := func(label text.Key, value string) {
		if value != "" {
			rows.Add(widgets.Fact(l.T(label), value))
		}
	}
	add(text.DeliveryWindowFieldSize, l.Size(a.Row.Size))
	add(text.DeliveryWindowFieldAdded, t.w.moment(a.Row.Added))
	add(text.DeliveryWindowFieldDecided, t.w.moment(a.Row.Decided))
	if a.Row.State == outbox.Waiting && a.Row.NextTry.After(t.w.host.Now()) {
		add(text.DeliveryWindowFieldNext, t.w.moment(a.Row.NextTry))
	}
	if sum := a.Row.SHA256; sum != "" {
		add(text.DeliveryWindowFieldTo, a.Row.Intermediary)
		add(text.DeliveryWindowFieldNote, a.Row.Note)
		add(text.DeliveryWindowFieldID, a.Row.ID)
		add(text.DeliveryWindowFieldSum, sum[:min(len(sum), 32)]+" "+sum[min(len(sum), 32):])
	}
	return widgets.Padded(8, 0, 0, 0, rows)
}

func part(title string) fyne.CanvasObject {
	return widgets.Padded(12, 0, 0, 0, widgets.Subtitle(title))
}

// findings returns what the check found, one sentence each; nil while unknown.
func (t *detail) findings() fyne.CanvasObject {
	l := t.w.host.Lang
	if !t.read || t.all.Row.SHA256 == "" && len(t.all.Row.Found) == 0 {
		return nil
	}
	rows := widgets.Column(4, part(l.T(text.DeliveryWindowChecked)))
	for _, f := range t.all.Row.Found {
		said := l.T(text.MessageFinding(string(f.Code)))
		where := ""
		if f.Element != "" {
			where = l.T(text.MessageAtElement, f.Element)
		}
		if f.Line > 0 {
			where = widgets.Join(where, l.T(text.MessageAtLine, f.Line))
		}
		if where == "" && f.Entry >= 0 {
			where = l.T(text.MessageAtFile, f.Entry+1)
		}
		rows.Add(widgets.Either(f.Severity >= inspect.Warning, widgets.Trouble(said), widgets.Hint(said)))
		if where != "" {
			rows.Add(widgets.Padded(0, 4, 0, 0, widgets.Small(where)))
		}
	}
	if len(t.all.Row.Found) == 0 {
		rows.Add(widgets.Paragraph(sentence(l.T(text.DeliveryWindowClean))))
	}
	return rows
}

func (t *detail) receipts() fyne.CanvasObject {
	l := t.w.host.Lang
	rows := widgets.Column(4, part(l.T(text.DeliveryWindowReceipts)))
	for _, r := range t.all.Receipts {
		status := ""
		if r.Status != 0 {
			status = l.T(text.DeliveryStatusCode, r.Status)
		}
		said := t.w.explainReason(string(r.Reason))
		if r.Reason == "" {
			said = l.T(text.DeliveryState(string(outbox.Delivered)))
		}
		rows.Add(widgets.Hint(widgets.Join(t.w.moment(r.Ended), said, status)))
		body := r.Body
		if r.Truncated {
			body += " […]"
		}
		if body != "" {
			rows.Add(widgets.Listing(body))
		}
	}
	switch {
	case len(t.all.Receipts) == 0:
		rows.Add(widgets.Paragraph(l.T(text.DeliveryWindowReceiptsNone)))
	case t.all.More > 0:
		rows.Add(widgets.Paragraph(l.N(text.DeliveryWindowReceiptsMore, t.all.More)))
	}
	return rows
}
