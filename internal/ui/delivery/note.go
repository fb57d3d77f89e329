package delivery

import (
	"fmt"
	"strings"

	"fyne.io/fyne/v2"
	"fyne.io/fyne/v2/container"
	"fyne.io/fyne/v2/widget"

	"wiebelt/internal/delivery/outbox"
	"wiebelt/internal/instance/windowapi"
	"wiebelt/internal/text"
	"wiebelt/internal/ui/widgets"
)

func (w *window) showStatus() {
	l, s := w.host.Lang, w.state
	var parts []string
	for _, c := range []struct {
		n     int
		state outbox.State
	}{{s.Delivered, outbox.Delivered}, {s.Waiting, outbox.Waiting}, {s.Refused, outbox.Refused}, {s.Uncertain, outbox.Uncertain}} {
		if c.n > 0 {
			parts = append(parts, l.T(text.DeliveryWindowCount, c.n, l.T(text.DeliveryState(string(c.state)))))
		}
	}
	if s.Adding > 0 {
		parts = append(parts, l.N(text.DeliveryWindowAdding, s.Adding))
	}
	if s.More > 0 {
		parts = append(parts, l.N(text.DeliveryWindowMore, s.More))
	}
	said := strings.Join(parts, " · ")
	w.status.Put(said, func() fyne.CanvasObject { return widgets.Small(said) })
}

// showNote shows what is wrong or has happened, and what to do.
func (w *window) showNote() {
	l, s := w.host.Lang, w.state
	said, label, do := "", "", func() { w.sendRequest(windowapi.DeliveryRequest{Release: true}) }
	switch {
	case w.failed != "":
		said = w.failed
	case s.Trouble != "":
		said = l.DeliveryTrouble(s.Trouble)
	case s.HoldReason != "":
		said = l.T(text.DeliveryWindowHeld, l.T(text.DeliveryReason(s.HoldReason)), s.Support) + " " + l.T(text.DeliveryWindowHeldHint)
		label = l.T(text.DeliveryWindowNow)
	case !s.SetUp && len(s.Rows) > 0:
		said = l.T(text.DeliveryWindowSetup) + ". " + l.T(text.DeliveryWindowSetupHint, s.Support)
	case s.Notice != "":
		said, label = s.Notice, l.T(text.CallsNoticeOK)
		do = func() {
			w.state.Notice = ""
			w.sendRequest(windowapi.DeliveryRequest{Read: true})
			w.showNote()
		}
	case s.PauseReason != "" && s.Waiting > 0:
		said, label = l.T(text.DeliveryWindowPaused, l.T(text.DeliveryReason(s.PauseReason))), l.T(text.DeliveryWindowNow)
	}
	changed := w.note.Put(said, func() fyne.CanvasObject {
		line := widgets.Trouble(said)
		if label != "" {
			line = widgets.WithButton(line, widgets.NewButton(label, do), 12)
		}
		return widgets.Padded(8, 0, 0, 0, line)
	})
	if changed {
		w.win.Content().Refresh()
	}
}

// fail shows for a moment what failed.
func (w *window) fail(sentence string) {
	widgets.ShowFor(w.host, widgets.FailedFor, &w.failed, sentence, func() {
		w.showNote()
		if w.detail != nil {
			w.detail.failed.Trouble(w.failed)
			w.win.Content().Refresh()
		}
	})
}

// showQuestion asks whether to send a file again that was delivered before.
func (w *window) showQuestion() {
	q, key := w.state.Question, ""
	if q != nil {
		key = fmt.Sprint(q.ID, w.questionOf(*q), w.state.Questions)
	}
	if w.question.Put(key, func() fyne.CanvasObject {
		return widgets.Padded(8, 4, 0, 0, w.questionBox(*q))
	}) {
		w.win.Content().Refresh()
	}
}

// betweenRules puts what somebody has to decide between two rules.
func betweenRules(o ...fyne.CanvasObject) fyne.CanvasObject {
	return container.NewVBox(widget.NewSeparator(), widgets.Padded(8, 8, 0, 0, widgets.Column(12, o...)), widget.NewSeparator())
}

func (w *window) questionOf(r row) string {
	key := text.DeliveryWindowQuestionTaken
	if r.EarlierState == outbox.Delivered {
		key = text.DeliveryWindowQuestionDelivered
	}
	return w.host.Lang.T(key, r.Name, w.moment(r.EarlierTime))
}

func (w *window) questionBox(q row) fyne.CanvasObject {
	l := w.host.Lang
	send := widgets.NewButton(l.T(text.DeliveryWindowSend), func() { w.answer(windowapi.DeliveryRequest{ID: q.ID, Again: true}) })
	skip := widgets.NewButton(l.T(text.DeliveryWindowSkip), func() { w.answer(windowapi.DeliveryRequest{ID: q.ID, Drop: true}) })
	said := widgets.Column(4, widgets.BodyText(w.questionOf(q)))
	if w.state.Questions > 1 {
		said.Add(widgets.Small(l.N(text.DeliveryWindowQuestionMore, w.state.Questions-1)))
	}
	return betweenRules(said, widgets.Buttons(skip, send))
}

func (w *window) answer(m windowapi.DeliveryRequest) {
	w.sendRequest(m)
	w.question.Put("", nil) // the next one arrives with the answer
	w.win.Content().Refresh()
}
