package phones

import (
	"slices"
	"strings"
	"time"

	"fyne.io/fyne/v2"
	base "fyne.io/fyne/v2/theme"
	"fyne.io/fyne/v2/widget"

	"wiebelt/internal/core/call"
	"wiebelt/internal/guide"
	"wiebelt/internal/instance/windowapi"
	"wiebelt/internal/text"
	"wiebelt/internal/ui/theme"
	"wiebelt/internal/ui/widgets"
)

const sourcesPage = "sources"

// SourcesChanged shows the current state of the sources; the listener's
// port may have changed.
func (w *window) SourcesChanged() {
	w.read()
	if taken := w.portTaken(); taken != w.wasTaken {
		w.wasTaken = taken
		w.page()
		return
	}
	w.fillStates()
}

// sourceOf returns the kind of source a block is for, "" for none.
func sourceOf(b guide.Block) string {
	switch b.Kind {
	case guide.URL, guide.ActionURL:
		return call.KindHTTP
	case guide.Link:
		return call.KindURL
	case guide.Run, guide.Program, guide.Arguments, guide.MicroSIP, guide.Twinkle:
		return call.KindCommand
	case guide.Message:
		return call.KindWebSocket
	case guide.Settings:
		for line := range strings.Lines(b.Text) {
			if k, v, ok := strings.Cut(line, "="); ok && strings.TrimSpace(k) == "kind" {
				return strings.Trim(strings.TrimSpace(v), `"`)
			}
		}
	}
	return ""
}

// fillStates shows the state of the page's sources: all of them on their own page, those
// of its recipe on any other.
func (w *window) fillStates() {
	if w.states == nil || w.host.Sources == nil {
		return
	}
	all := w.shown == sourcesPage
	var kinds []string
	if i := slices.IndexFunc(w.all, func(r guide.Recipe) bool { return r.ID == w.shown }); i >= 0 {
		for _, b := range w.all[i].Blocks() {
			kinds = append(kinds, sourceOf(b))
		}
	}
	w.states.Clear()
	for _, s := range w.host.Sources.Sources {
		if all || slices.Contains(kinds, s.Kind) {
			w.states.Add(w.sourceState(s), nil)
		}
	}
	widgets.SetVisible(w.states, w.states.Len() > 0)
	w.states.Refresh()
	w.pages.Refresh()
}

// sourceState shows the state of one source: a mark, its name and details.
func (w *window) sourceState(s windowapi.SourceState) fyne.CanvasObject {
	l := w.host.Lang
	name := l.T(text.StartSource(s.Kind))
	if name == string(text.StartSource(s.Kind)) { // a link
		name = l.T(text.Source(s.Kind))
		if s.Name != "" && s.Name != s.Kind {
			name = s.Name + " (" + name + ")"
		}
	}
	m, sentence := sourceLine(l, s, w.host.Now())
	lines := widgets.Column(2,
		widgets.NewTextLine(name, theme.SizeHint, base.ColorNameForeground, true).Truncate(),
		widgets.Plain(sentence, theme.SizeHint, widgets.Either(m == widgets.MarkTrouble, widget.WarningImportance, widget.MediumImportance)))
	return widgets.NewSoftBox(widgets.Padded(8, 8, 12, 12, widgets.WithMark(m, widgets.HintMarkTop, lines)))
}

// sourceLine describes the state of a source. Only a link with a heartbeat is
// ever called connected.
func sourceLine(l text.Language, s windowapi.SourceState, now time.Time) (widgets.Mark, string) {
	m, phase := widgets.MarkTrouble, s.Phase
	switch s.Phase {
	case windowapi.LinkUp:
		m = widgets.MarkDot
	case windowapi.LinkUnknown:
		m, phase = widgets.MarkQuiet, "trying"
	case windowapi.SourceNotDefault: // only needed by users of links
		m = widgets.MarkQuiet
	case windowapi.SourceListens:
		m = widgets.MarkQuiet
		if !s.LastCallAt.IsZero() {
			m = widgets.MarkTarget
		}
	}
	var said string
	switch {
	case s.Phase == windowapi.SourcePortTaken:
		said = l.T(text.SourcesPhase(phase), s.Port)
	case s.Phase == windowapi.SourceListens:
		said = l.T(text.SourcesPhase(phase))
	case s.Since.IsZero():
		said = l.T(text.SourcesPhase(phase)) + "."
	default:
		said = l.T(text.SourcesSince, l.T(text.SourcesPhase(phase)), l.Moment(s.Since, now))
	}
	if why := text.LinkTrouble(l, s.Why); why != "" && s.Phase != windowapi.LinkUp {
		said += " " + why
	}
	last := l.T(text.SourcesNever)
	if !s.LastCallAt.IsZero() {
		last = l.T(text.SourcesLast, l.Moment(s.LastCallAt, now))
	}
	return m, said + " " + last
}

func (w *window) overview() fyne.CanvasObject {
	l := w.host.Lang
	w.states = widgets.NewRows(l.T(text.SourcesTitle), 8, w.scroll)
	w.fillStates()
	test := widgets.NewPrimary(l.T(text.TestBegin), func() { w.host.Show(windowapi.WindowTest) })
	start := widgets.NewButton(l.T(text.SourcesStart), func() { w.host.Show(windowapi.WindowStart) })
	return widgets.OnPage(widgets.Column(12,
		widgets.Title(l.T(text.SourcesTitle)),
		widgets.Paragraph(l.T(text.SourcesIntro)), w.states, widget.NewSeparator(),
		widgets.Buttons(test, start)))
}
