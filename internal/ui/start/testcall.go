package start

import (
	"context"
	"encoding/json"
	"time"

	"fyne.io/fyne/v2"
	"fyne.io/fyne/v2/container"
	"fyne.io/fyne/v2/layout"
	base "fyne.io/fyne/v2/theme"
	"fyne.io/fyne/v2/widget"

	"wiebelt/internal/instance/windowapi"
	"wiebelt/internal/text"
	"wiebelt/internal/ui/theme"
	"wiebelt/internal/ui/widgets"
)

type testCall struct {
	seq             int
	until           time.Time // end of waiting, zero when not waiting
	seen            *windowapi.TestSeen
	suggestedChecks []check // what to check, since no call came
}

// testPanel waits for a real call and shows the result. It is part of two windows. Its
// button stays in place, whatever is shown below it.
type testPanel struct {
	host      *widgets.Host
	window    string            // the window it is part of
	weight    widget.Importance // of the start button
	call      testCall
	button    *widgets.Button
	content   *fyne.Container   // the result
	onResult  func()            // called when there is a result
	countdown *widgets.TextLine // the remaining seconds, nil when not waiting
}

func newTestPanel(host *widgets.Host, window string, weight widget.Importance) *testPanel {
	p := &testPanel{host: host, window: window, weight: weight, button: widgets.NewButton("", nil), content: widgets.Column(12), onResult: func() {}}
	p.show()
	return p
}

// takeOver continues another panel's test call.
func (p *testPanel) takeOver(c testCall) {
	p.call = c
	p.show()
	p.tick(c.seq)
}

func (p *testPanel) begin() {
	p.call = testCall{seq: p.call.seq + 1, until: p.host.Now().Add(windowapi.TestWait)}
	p.host.Send(windowapi.KindTest, windowapi.Test{Action: windowapi.TestBegin, Window: p.window, Seq: p.call.seq})
	p.show()
	p.tick(p.call.seq)
}

func (p *testPanel) stop() {
	if p.call.until.IsZero() && p.call.seen == nil {
		return
	}
	p.host.Send(windowapi.KindTest, windowapi.Test{Action: windowapi.TestStop})
	p.call = testCall{seq: p.call.seq + 1}
	p.show()
}

// tick updates the remaining seconds, every second while waiting.
func (p *testPanel) tick(seq int) {
	if p.call.seq != seq || p.call.until.IsZero() || p.countdown == nil {
		return
	}
	p.countdown.SetText(p.waiting(), base.ColorNameForeground)
	p.host.Later(time.Second, func() { p.tick(seq) })
}

func (p *testPanel) waiting() string {
	left := int(p.call.until.Sub(p.host.Now()).Round(time.Second) / time.Second)
	return p.host.Lang.T(text.TestWaiting, max(left, 0))
}

func (p *testPanel) handleMessage(kind string, raw json.RawMessage) {
	var m windowapi.Test
	if kind != windowapi.KindTest || !p.host.Decode(kind, raw, &m) || m.Window != p.window || m.Seq != p.call.seq {
		return
	}
	if m.Seen != nil {
		p.call.until, p.call.seen = time.Time{}, m.Seen
		p.show()
		p.onResult()
		return
	}
	host, l, sources, now := p.host, p.host.Lang, p.host.Sources, p.host.Now()
	p.host.Work(func(ctx context.Context, post func(func())) {
		all := checks(ctx, host.Dirs, l, sources, now)
		post(func() { p.showMissed(m.Seq, all) })
	})
}

// showMissed shows what to check, since no call came.
func (p *testPanel) showMissed(seq int, all []check) {
	if seq == p.call.seq && p.call.seen == nil {
		p.call.until, p.call.suggestedChecks = time.Time{}, all
		p.show()
		p.onResult()
	}
}

func (p *testPanel) show() {
	l, c := p.host.Lang, p.call
	p.countdown = nil
	var all []fyne.CanvasObject
	label, do := text.TestAgain, p.begin
	p.button.Importance = widget.MediumImportance
	switch {
	case !c.until.IsZero():
		label, do = text.TestStop, p.stop
		p.countdown = widgets.NewTextLine(p.waiting(), base.SizeNameText, base.ColorNameForeground, true)
		all = []fyne.CanvasObject{widgets.WithMark(widgets.MarkRing, signBelow, p.countdown.Truncate())}
	case c.seen != nil:
		all = p.describeSeenCall(*c.seen)
	case c.suggestedChecks != nil:
		p.button.Importance = p.weight
		all = []fyne.CanvasObject{widgets.WithMark(widgets.MarkTrouble, signBelow, widgets.NewTextLine(l.T(text.TestNothing),
			base.SizeNameText, base.ColorNameWarning, true).Truncate())}
		all = append(all, indented(widgets.Paragraph(l.T(text.TestNothingHint))))
		for _, k := range c.suggestedChecks {
			all = append(all, indented(widgets.Column(2, widgets.NewTextLine(k.name, theme.SizeHint, base.ColorNameForeground, true).Truncate(),
				widgets.Hint(k.sentence))))
		}
	default:
		p.button.Importance = p.weight
		label = text.TestBegin
	}
	p.button.OnTapped = do
	p.button.SetText(l.T(label))
	widgets.Fill(p.content, all...)
}

// describeSeenCall says from which source a call came, what was seen of it and, once known, what
// that source can report.
func (p *testPanel) describeSeenCall(m windowapi.TestSeen) []fyne.CanvasObject {
	l := p.host.Lang
	heading := l.T(text.TestSeen, l.Clock(m.At), nameOf(l, m.Kind, m.Name))
	seen := widgets.Buttons()
	for _, s := range []struct {
		key text.Key
		yes bool
	}{{text.TestRang, true}, {text.TestAnswered, m.Answered}, {text.TestEnded, m.Ended}} {
		mark, colour := widgets.MarkQuiet, base.ColorNamePlaceHolder
		if s.yes {
			mark, colour = widgets.MarkDot, base.ColorNameForeground
		}
		seen.Add(container.New(layout.NewCustomPaddedHBoxLayout(6), container.NewCenter(widgets.NewShape(mark)), widgets.NewTextLine(l.T(s.key), theme.SizeHint, colour, false)))
	}
	all := []fyne.CanvasObject{
		widgets.WithMark(widgets.MarkDot, signBelow, widgets.Bold(heading, base.SizeNameText)),
		indented(seen),
	}
	if m.ReportLevel != "" {
		all = append(all, indented(widgets.Hint(l.T(text.TestReports(m.ReportLevel)))))
	}
	return all
}

// indented aligns an object with text that has a mark before it.
func indented(o fyne.CanvasObject) fyne.CanvasObject {
	return widgets.Padded(0, 0, widgets.MarkWidth, 0, o)
}

// testWindow is a window with only a test call.
type testWindow struct {
	win   fyne.Window
	panel *testPanel
}

// OpenTest opens the window of a test call.
func OpenTest(host *widgets.Host) widgets.Page {
	w := &testWindow{panel: newTestPanel(host, windowapi.WindowTest, widget.HighImportance)}
	l := host.Lang
	how := widgets.NewQuiet(l.T(text.StartHow), func() { host.Show(windowapi.WindowRecipes) })
	content := widgets.Column(16,
		widgets.Column(8,
			widgets.BigLine(l.T(text.TestTitle)), widgets.Paragraph(l.T(text.TestIntro))),
		w.panel.content)
	foot := widgets.Footer(widgets.Buttons(w.panel.button, how))
	w.win = host.Window(text.TestTitle, container.New(widgets.AtLeast(leastWidth), container.NewBorder(nil, foot, nil, nil,
		container.NewVScroll(widgets.Padded(20, 16, widgets.Edge, widgets.Edge, content)))), fyne.NewSize(560, 480))
	host.Send(windowapi.KindSources, nil)
	if old, ok := host.Page(windowapi.WindowTest).(*testWindow); ok {
		w.panel.takeOver(old.panel.call)
	}
	return w
}

// Window implements widgets.Page.
func (w *testWindow) Window() fyne.Window { return w.win }

// Closed implements widgets.Page's closer.
func (w *testWindow) Closed() { w.panel.stop() }

// HandleMessage implements widgets.Page.
func (w *testWindow) HandleMessage(kind string, raw json.RawMessage) {
	w.panel.handleMessage(kind, raw)
}
