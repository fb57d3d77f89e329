package phones

import (
	"slices"
	"strings"
	"time"

	"fyne.io/fyne/v2"
	"fyne.io/fyne/v2/canvas"
	"fyne.io/fyne/v2/container"
	"fyne.io/fyne/v2/layout"
	base "fyne.io/fyne/v2/theme"
	"fyne.io/fyne/v2/widget"

	"wiebelt/internal/call"
	"wiebelt/internal/deskapi"
	"wiebelt/internal/guide"
	"wiebelt/internal/text"
	"wiebelt/internal/ui/kit"
	"wiebelt/internal/ui/theme"
)

// waysPage is the page of the recipes' window on which all ways in stand.
const waysPage = "ways"

// WaysChanged makes it one that shows the ways in.
func (w *window) WaysChanged() {
	if taken := w.taken(); taken != w.wasTaken {
		w.wasTaken = taken
		w.page()
		return
	}
	w.fillStates()
}

// wayOf gives the kind of way in that a block is for, "" for none.
func wayOf(b guide.Block) string {
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

// fillStates shows how the ways in of the page are doing: all of them on their
// own page, those of its recipe on any other.
func (w *window) fillStates() {
	if w.states == nil || w.d.Ways == nil {
		return
	}
	all := w.shown == waysPage
	var kinds []string
	if i := slices.IndexFunc(w.all, func(r guide.Recipe) bool { return r.ID == w.shown }); i >= 0 {
		for _, b := range w.all[i].Blocks() {
			kinds = append(kinds, wayOf(b))
		}
	}
	w.states.Objects = nil
	for _, s := range w.d.Ways.Ways {
		if all || slices.Contains(kinds, s.Kind) {
			w.states.Add(w.wayState(s))
		}
	}
	w.states.Refresh()
	w.pages.Refresh()
}

// wayState is how one way in is doing: a mark, its name and what is known.
func (w *window) wayState(s deskapi.WayState) fyne.CanvasObject {
	l := w.d.Lang
	name := l.T(text.StartWay(s.Kind))
	if name == string(text.StartWay(s.Kind)) { // a link
		name = l.T(text.Way(s.Kind))
		if s.Name != "" && s.Name != s.Kind {
			name = s.Name + " (" + name + ")"
		}
	}
	m, sentence := wayLine(l, s, w.d.Now())
	lines := container.New(layout.NewCustomPaddedVBoxLayout(2),
		kit.NewWords(name, theme.SizeHint, base.ColorNameForeground, true).Cutting(),
		kit.Plain(sentence, theme.SizeHint, kit.Either(m == kit.MarkTrouble, widget.WarningImportance, widget.MediumImportance)))
	return kit.NewSoftBox(container.New(layout.NewCustomPaddedLayout(8, 8, 12, 12),
		container.New(kit.Columns(kit.SignWidth), container.New(layout.NewCustomPaddedLayout(4, 0, 0, 0), container.NewVBox(container.NewHBox(kit.NewShape(m)))), lines)))
}

// wayLine says how a way in is doing. Only a link that has a heartbeat is ever
// called connected.
func wayLine(l text.Language, s deskapi.WayState, now time.Time) (kit.Mark, string) {
	m, phase := kit.MarkTrouble, s.Phase
	switch s.Phase {
	case deskapi.LinkUp:
		m = kit.MarkDot
	case deskapi.LinkUnknown:
		m, phase = kit.MarkQuiet, "trying"
	case deskapi.WayListens:
		m = kit.MarkQuiet
		if !s.Last.IsZero() {
			m = kit.MarkTarget
		}
	}
	var said string
	switch {
	case s.Phase == deskapi.WayTaken:
		said = l.T(text.WaysPhase(phase), s.Port)
	case s.Phase == deskapi.WayListens:
		said = l.T(text.WaysPhase(phase))
	case s.Since.IsZero():
		said = l.T(text.WaysPhase(phase)) + "."
	default:
		said = l.T(text.WaysSince, l.T(text.WaysPhase(phase)), when(l, s.Since, now))
	}
	if why := text.LinkTrouble(l, s.Why); why != "" && s.Phase != deskapi.LinkUp {
		said += " " + why
	}
	last := l.T(text.WaysNever)
	if !s.Last.IsZero() {
		last = l.T(text.WaysLast, when(l, s.Last, now))
	}
	return m, said + " " + last
}

// when writes a moment: the time, and the day where that is another one.
func when(l text.Language, at, now time.Time) string {
	ay, am, ad := at.Local().Date()
	ny, nm, nd := now.Local().Date()
	if ay == ny && am == nm && ad == nd {
		return l.Clock(at)
	}
	return l.Day(at, now) + " " + l.Clock(at)
}

// overview is the page with all ways in.
func (w *window) overview() fyne.CanvasObject {
	l := w.d.Lang
	w.states = container.New(layout.NewCustomPaddedVBoxLayout(8))
	w.fillStates()
	test := kit.NewButton(l.T(text.TestBegin), func() { w.d.Show(deskapi.WindowTest) })
	test.Importance = widget.HighImportance
	start := kit.NewButton(l.T(text.WaysStart), func() { w.d.Show(deskapi.WindowStart) })
	return container.New(layout.NewCustomPaddedLayout(20, 24, kit.Edge, kit.Edge), container.New(layout.NewCustomPaddedVBoxLayout(12),
		kit.NewWords(l.T(text.WaysTitle), base.SizeNameHeadingText, base.ColorNameForeground, true).Cutting(),
		kit.Paragraph(l.T(text.WaysIntro)), w.states, kit.NewRule(canvas.NewRectangle(nil)),
		kit.Buttons(test, start)))
}
