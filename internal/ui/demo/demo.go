// Package demo is the window of the demonstration: a button for every invented call, and
// the result of the last one.
//
// The resident plays the calls; the window records which one was requested last. Everything
// runs on Fyne's thread.
package demo

import (
	"encoding/json"

	"fyne.io/fyne/v2"
	"fyne.io/fyne/v2/container"
	base "fyne.io/fyne/v2/theme"
	"fyne.io/fyne/v2/widget"

	"wiebelt/internal/instance/windowapi"
	"wiebelt/internal/text"
	"wiebelt/internal/ui/theme"
	"wiebelt/internal/ui/widgets"
)

const demoButtonWidth = 216

// window has a button for every invented call.
type window struct {
	host    *widgets.Host
	win     fyne.Window
	sign    *widgets.Shape
	last    *widgets.TextLine
	playing string // id of the call that was asked for last, "" if it was answered
}

// Open opens the window with the calls of the resident's welcome.
func Open(host *widgets.Host) widgets.Page {
	w := &window{host: host, sign: widgets.NewShape(widgets.MarkNone)}
	l := host.Lang
	w.last = widgets.NewTextLine(l.T(text.WindowDemoFirst), theme.SizeHint, base.ColorNamePlaceHolder, false).Truncate()
	if len(host.Welcome.Demo) == 0 {
		w.win = host.Window(text.WindowDemoTitle, widgets.EmptyPage(l.T(text.WindowDemoEmpty), nil, l.T(text.WindowDemoEmptyHint)),
			fyne.NewSize(640, 320))
		return w
	}

	title := widgets.NewTextLine(l.T(text.WindowDemoTitle), base.SizeNameHeadingText, base.ColorNameForeground, true)
	calls := widgets.NewButton(l.T(text.WindowDemoCalls), func() { host.Show(windowapi.WindowCalls) })
	head := widgets.Padded(20, 8, widgets.Edge, widgets.Edge,
		container.NewBorder(nil, nil, title, calls))

	rows := widgets.Column(8,
		container.New(widgets.AtMost(560), widgets.Paragraph(l.T(text.WindowDemoIntro))), widgets.Gap(0))
	for i, c := range host.Welcome.Demo {
		b := widgets.NewButton(c.Title, func() { w.play(c.ID) })
		b.Alignment = widget.ButtonAlignLeading
		if i == 0 {
			b.Importance = widget.HighImportance
		}
		rows.Add(container.New(widgets.Layout{Least: leastBeside, Arrange: arrangeBeside}, b, widgets.Paragraph(c.Hint)))
	}
	list := container.NewVScroll(widgets.Padded(4, 16, widgets.Edge, widgets.Edge, rows))

	foot := widgets.Padded(0, 16, widgets.Edge, widgets.Edge, widgets.NewSoftBox(
		widgets.Padded(10, 10, 16, 16,
			container.NewBorder(nil, nil, container.NewCenter(w.sign), nil,
				widgets.Padded(0, 0, 4, 0, w.last)))))
	w.showSign()

	height := float32(212 + 44*len(host.Welcome.Demo))
	w.win = host.Window(text.WindowDemoTitle, container.NewBorder(head, foot, nil, nil, list),
		fyne.NewSize(720, min(height, 688)))
	return w
}

func (w *window) play(id string) {
	w.playing = id
	w.last.SetText(w.host.Lang.T(text.WindowDemoPlaying), base.ColorNameForeground)
	w.showSign()
	w.host.Send(windowapi.KindPlay, windowapi.Play{ID: id})
}

// Window implements widgets.Page.
func (w *window) Window() fyne.Window { return w.win }

// HandleMessage implements widgets.Page.
func (w *window) HandleMessage(kind string, raw json.RawMessage) {
	var m windowapi.PlayResult
	if kind == windowapi.KindPlay && w.host.Decode(kind, raw, &m) {
		w.played(m)
	}
}

// played shows the result of the last call; results of earlier calls are ignored.
func (w *window) played(m windowapi.PlayResult) {
	if w.playing != "" && m.ID != w.playing {
		return
	}
	w.playing = ""
	w.last.SetText(m.Line, base.ColorNameForeground)
	w.showSign()
}

func (w *window) showSign() {
	switch {
	case w.playing != "":
		w.sign.Set(widgets.MarkRing)
	case w.last.Colour == base.ColorNameForeground:
		w.sign.Set(widgets.MarkDot)
	default:
		w.sign.Set(widgets.MarkQuiet)
	}
}

const besideGap = 16

func leastBeside(o []fyne.CanvasObject) fyne.Size {
	b, t := o[0].MinSize(), o[1].MinSize()
	return fyne.NewSize(b.Width+besideGap+t.Width, max(b.Height, t.Height))
}

// arrangeBeside puts a text beside a button of fixed height. It may take more lines.
func arrangeBeside(o []fyne.CanvasObject, size fyne.Size) {
	b := o[0].MinSize()
	wide := max(b.Width, min(demoButtonWidth, size.Width/2))
	o[0].Resize(fyne.NewSize(wide, b.Height))
	o[1].Resize(fyne.NewSize(size.Width-wide-besideGap, 0)) // wraps, which sets its height
	t := o[1].MinSize()
	o[1].Resize(fyne.NewSize(size.Width-wide-besideGap, t.Height))
	o[0].Move(fyne.NewPos(0, (size.Height-b.Height)/2))
	o[1].Move(fyne.NewPos(wide+besideGap, (size.Height-t.Height)/2))
}
