package delivery

import (
	"image/color"
	"time"

	"fyne.io/fyne/v2"
	base "fyne.io/fyne/v2/theme"

	inspect "wiebelt/internal/delivery/message"
	"wiebelt/internal/delivery/outbox"
	"wiebelt/internal/instance/windowapi"
	"wiebelt/internal/text"
	"wiebelt/internal/ui/explore"
	"wiebelt/internal/ui/widgets"
)

type rowWords struct {
	time, day     string
	title, detail string
	state         string
	mark          widgets.Mark
}

func (w *window) wordsOf(r row) rowWords {
	l, now := w.host.Lang, w.host.Now()
	s := rowWords{time: l.Clock(r.Added), title: r.Name, state: w.stateOf(r), mark: markOf(r.State)}
	if !text.SameDay(r.Added, now) {
		s.day = l.Day(r.Added, now)
	}
	s.detail = w.remark(r)
	if r.Size > 0 {
		s.detail = widgets.Join(l.Size(r.Size), s.detail)
	}
	return s
}

// stateOf returns the word for a row's state.
func (w *window) stateOf(r row) string {
	l := w.host.Lang
	switch {
	case r.State == windowapi.DeliveryAdding, r.State == windowapi.DeliveryQuestion:
		return l.T(text.DeliveryWindowState(string(r.State)))
	case r.State == outbox.Sending && w.resident.sent.ID == r.ID && w.resident.sent.Size > 0:
		return l.T(text.DeliveryWindowSending, int(w.resident.sent.Sent*100/w.resident.sent.Size))
	}
	return l.T(text.DeliveryState(string(r.State)))
}

func markOf(state outbox.State) widgets.Mark {
	switch state {
	case outbox.Delivered:
		return widgets.MarkDot
	case outbox.Sending:
		return widgets.MarkRing
	case outbox.Waiting, windowapi.DeliveryAdding:
		return widgets.MarkQuiet
	}
	return widgets.MarkTrouble
}

// remark explains a row's state, or says what the check found.
func (w *window) remark(r row) string {
	l := w.host.Lang
	switch r.State {
	case windowapi.DeliveryAdding:
		return ""
	case windowapi.DeliveryQuestion:
		return w.moment(r.EarlierTime)
	case outbox.Waiting:
		if r.Reason == "" {
			break
		}
		next := ""
		if r.NextTry.Sub(w.host.Now()) > time.Second {
			next = l.T(text.DeliveryWindowNext, l.Clock(r.NextTry))
		}
		return widgets.Join(w.explainReason(string(r.Reason)), next)
	case outbox.Refused, outbox.Uncertain, windowapi.DeliveryNotTaken:
		return w.explainReason(string(r.Reason))
	}
	switch {
	case len(r.Found) > 0 && r.Found[0].Severity >= inspect.Warning:
		return l.T(text.MessageFinding(string(r.Found[0].Code)))
	case len(r.Found) > 0:
		return l.N(text.DeliveryWindowFindings, len(r.Found))
	}
	return l.T(text.DeliveryWindowClean)
}

// explainReason explains a reason, whatever its origin.
func (w *window) explainReason(reason string) string {
	l := w.host.Lang
	for _, key := range []text.Key{text.DeliveryReason(reason), text.MessageFinding(reason), text.DeliveryWindowCode(reason), text.DeliveryTroubleOf(reason)} {
		if s := l.T(key); reason != "" && s != string(key) {
			return s
		}
	}
	return ""
}

func (w *window) moment(t time.Time) string {
	l, now := w.host.Lang, w.host.Now()
	if t.IsZero() {
		return ""
	}
	if text.SameDay(t, now) {
		return l.T(text.DeliveryWindowToday, l.Clock(t))
	}
	return l.T(text.DeliveryWindowMoment, l.Day(t, now), l.Clock(t))
}

const stateWidth = 176

// line shows one file of the list. It handles clicks itself, so that the list
// does not keep it selected.
type line struct {
	widgets.PointerWidget
	w     *window
	n     int
	id    string
	known bool
	since time.Time

	widgets.Row
}

var _ fyne.Tappable = (*line)(nil)

func newLine(w *window) *line {
	v := &line{w: w, Row: widgets.NewRow()}
	v.Title.TruncateMiddle() // names often differ only near the end
	v.Extend(v, nil)
	return v
}

// set shows another file, or updates the current one.
func (v *line) set(n int) {
	v.n = n
	r, known := v.w.row(n)
	if r.ID != v.id {
		v.since = v.w.host.Now()
	}
	v.id, v.known = r.ID, known
	v.Refresh()
}

// Tapped implements fyne.Tappable. Clicks while the list moves are ignored: they were meant
// for the row there before.
func (v *line) Tapped(*fyne.PointEvent) {
	if v.known && v.w.host.Now().Sub(v.since) >= widgets.SettleTime {
		v.w.openRow(v.n)
	}
}

// Describe implements explore.Describer.
func (v *line) Describe() explore.Description { return explore.Text(v.SpokenText(), 0) }

// CreateRenderer implements fyne.Widget.
func (v *line) CreateRenderer() fyne.WidgetRenderer {
	return widgets.Draw(v, widgets.Drawing{Parts: v.Row.Objects(),
		Least: func() fyne.Size { return fyne.NewSize(widgets.RowMinWidth, widgets.RowHeight) },
		Arrange: func(size fyne.Size) {
			right := size.Width - widgets.Edge
			v.Row.Layout(size, right-stateWidth, right)
		},
		Paint: func(func(fyne.ThemeColorName) color.Color) {
			v.Highlight(v.known && v.Hover())
			var s rowWords
			if row, known := v.w.row(v.n); known {
				s = v.w.wordsOf(row)
			}
			v.Time.SetText(s.time, base.ColorNameForeground)
			v.Day.SetText(s.day, base.ColorNamePlaceHolder)
			v.Title.SetText(s.title, widgets.Either(v.Hover(), base.ColorNamePrimary, base.ColorNameForeground))
			v.Detail.SetText(s.detail, base.ColorNamePlaceHolder)
			v.Shape.Set(s.mark)
			v.Result.SetText(s.state, widgets.ColourOf(s.mark))
		}})
}
