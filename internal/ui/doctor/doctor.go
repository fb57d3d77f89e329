// Package doctor is the window that shows what the doctor finds, check by check,
// and what a bundle for support holds before it is handed over.
//
// The resident looks and gathers; the window owns the answers to its last
// question, and no others. All of it belongs to Fyne's thread; nothing here runs
// beside it.
package doctor

import (
	"encoding/json"
	"strings"
	"time"

	"fyne.io/fyne/v2"
	"fyne.io/fyne/v2/container"
	"fyne.io/fyne/v2/layout"
	base "fyne.io/fyne/v2/theme"
	"fyne.io/fyne/v2/widget"

	"wiebelt/internal/deskapi"
	"wiebelt/internal/text"
	"wiebelt/internal/ui/kit"
	"wiebelt/internal/ui/theme"
)

const (
	verdictWidth = 76               // of a sign and its word
	checkWidth   = 144              // of a check's name
	doctorSilent = 15 * time.Second // checks take at most ten
)

// groups are the checks under their headings.
var groups = []struct {
	id     string
	checks []string
}{
	{"settings", []string{"settings", "policy", "setup", "secret", "expiry"}},
	{"hub", []string{"hub.name", "hub.connection", "hub.certificate", "hub.clock", "hub.token", "hub.lookup"}},
	{"phones", []string{"resident", "version", "listener", "link", "scheme", "autostart", "microsip"}},
	{"desktop", []string{"tray", "cards", "lock", "browser"}},
	{"disk", []string{"disk", "folders", "program", "log", "crash", "history", "audit", "delivery"}},
}

// window shows what Wiebelt depends on, each check in its place from the
// beginning on and filled in as it ends; and, asked for, what a file for the
// help desk would hold.
type window struct {
	d       *kit.Desk
	win     fyne.Window
	seq     int
	found   map[string][]deskapi.DoctorLine // of this run
	done    *deskapi.DoctorDone             // nil while checks run
	said    string                          // trouble with the window itself, or what was done
	bad     bool                            // said is trouble
	busy    bool                            // a bundle is being gathered
	copied  bool
	summary *kit.Words
	notes   *fyne.Container // said
	top     *fyne.Container // summary, notes and what was found
	list    *fyne.Container // headings and rows
	rows    map[string]*fyne.Container
	again   *kit.Button
	copyAll *kit.Button
	bundle  *kit.Button
	scroll  *container.Scroll
	checks  *fyne.Container
	holder  *fyne.Container // the checks, or the bundle
	holds   *bundleView     // nil while the checks are shown
}

// Open opens the window and has everything looked at.
func Open(d *kit.Desk) kit.Page {
	w := newWindow(d)
	w.run()
	return w
}

func newWindow(d *kit.Desk) *window {
	l := d.Lang
	w := &window{d: d, rows: map[string]*fyne.Container{}, notes: newStack(8), holder: container.NewStack()}
	w.summary = kit.NewWords("", base.SizeNameText, base.ColorNameForeground, true).Cutting()
	w.again = kit.NewButton(l.T(text.DoctorWindowAgain), w.run)
	w.copyAll = kit.NewButton(l.T(text.DoctorWindowCopy), w.copy)
	w.bundle = kit.NewButton(l.T(text.DoctorWindowBundle), w.gather)
	w.list = newStack(8)
	for i, g := range groups {
		if i > 0 {
			w.list.Add(kit.Gap(4))
		}
		w.list.Add(kit.NewWords(l.T(text.DoctorGroup(g.id)), theme.SizeStart, base.ColorNameForeground, true).Cutting())
		for _, id := range g.checks {
			w.rows[id] = newStack(8)
			w.list.Add(w.rows[id])
		}
	}
	w.top = newStack(12)
	w.top.Add(kit.NewWords(l.T(text.DoctorWindowTitle), base.SizeNameHeadingText, base.ColorNameForeground, true).Cutting())
	w.top.Add(w.summary)
	w.top.Add(w.notes)
	w.top.Add(kit.Gap(0))
	w.top.Add(w.list)
	w.scroll = container.NewVScroll(container.New(layout.NewCustomPaddedLayout(20, 24, kit.Edge, kit.Edge), w.top))
	w.checks = container.NewBorder(nil, kit.Foot(kit.Buttons(w.again, w.copyAll, w.bundle)), nil, nil, w.scroll)
	w.holder.Add(w.checks)
	w.win = d.Window(text.DoctorWindowTitle, w.holder, fyne.NewSize(720, 688))
	w.show()
	return w
}

// newStack is a column with a distance between its parts.
func newStack(distance float32) *fyne.Container {
	return container.New(layout.NewCustomPaddedVBoxLayout(distance))
}

// Window implements kit.Page.
func (w *window) Window() fyne.Window { return w.win }

// run has everything looked at anew.
func (w *window) run() {
	w.seq++
	w.found, w.done, w.said = map[string][]deskapi.DoctorLine{}, nil, ""
	w.d.Send(deskapi.KindDoctorRun, deskapi.DoctorRun{Seq: w.seq})
	seq := w.seq
	w.later(doctorSilent, func() {
		if w.seq == seq && w.done == nil {
			w.done = &deskapi.DoctorDone{Seq: seq}
			w.say(w.d.Lang.T(text.DoctorWindowSilent), true)
		}
	})
	w.show()
}

// later does something on the UI thread, if this window is still there.
func (w *window) later(t time.Duration, do func()) {
	w.d.After(t, func() {
		w.d.Post(func() {
			if w.d.Page(deskapi.WindowDoctor) == kit.Page(w) {
				do()
			}
		})
	})
}

// Take implements kit.Page.
func (w *window) Take(kind string, raw json.RawMessage) {
	switch kind {
	case deskapi.KindDoctorFound:
		var m deskapi.DoctorFound
		if w.d.Decode(kind, raw, &m) && m.Seq == w.seq && w.rows[m.ID] != nil {
			w.found[m.ID] = m.Lines
			w.row(m.ID)
			w.scroll.Content.Refresh() // the row has another height
			w.head()
		}
	case deskapi.KindDoctorDone:
		var m deskapi.DoctorDone
		if w.d.Decode(kind, raw, &m) && m.Seq == w.seq {
			w.done = &m
			w.head()
		}
	case deskapi.KindDoctorHolds:
		var m deskapi.DoctorHolds
		if w.d.Decode(kind, raw, &m) && w.busy {
			w.busy = false
			w.hold(m)
		}
	case deskapi.KindDoctorPiece:
		var m deskapi.DoctorPiece
		if w.d.Decode(kind, raw, &m) && w.holds != nil {
			w.holds.take(m)
		}
	case deskapi.KindDoctorWritten:
		var m deskapi.DoctorWritten
		if w.d.Decode(kind, raw, &m) && w.holds != nil {
			w.written(m)
		}
	}
}

// say shows a sentence below the summary; "" takes it away.
func (w *window) say(s string, bad bool) {
	w.said, w.bad = s, bad
	w.head()
}

// show fills everything in.
func (w *window) show() {
	for id := range w.rows {
		w.row(id)
	}
	w.scroll.Content.Refresh()
	w.head()
}

// head shows how far the run is, and how it ended.
func (w *window) head() {
	l := w.d.Lang
	switch {
	case w.done == nil:
		w.summary.Say(l.N(text.DoctorWindowRunning, max(1, len(w.rows)-len(w.found))), base.ColorNamePlaceHolder)
	case w.done.Sentence != "":
		colour := base.ColorNameSuccess
		if !w.done.OK {
			colour = base.ColorNameError
		}
		w.summary.Say(w.done.Sentence, colour)
	default:
		w.summary.Say("", base.ColorNameForeground)
	}
	w.notes.Objects = nil
	switch {
	case w.said != "" && w.bad:
		w.notes.Add(kit.Trouble(w.said))
	case w.said != "":
		w.notes.Add(kit.Plain(w.said, theme.SizeHint, widget.MediumImportance))
	}
	if none := len(w.notes.Objects) == 0; !none || !w.notes.Hidden {
		w.notes.Hidden = none
		w.checks.Refresh() // what stands below moves
	}
	ready := w.done != nil && w.done.Sentence != ""
	kit.Able(w.again, w.done != nil)
	kit.Able(w.copyAll, ready)
	kit.Able(w.bundle, ready && !w.busy)
	label := text.DoctorWindowBundle
	if w.busy {
		label = text.DoctorWindowGathering
	}
	w.bundle.SetText(l.T(label))
	label = text.DoctorWindowCopy
	if w.copied {
		label = text.DoctorWindowCopied
	}
	w.copyAll.SetText(l.T(label))
}

// row shows what is known of a check.
func (w *window) row(id string) {
	row := w.rows[id]
	row.Objects = nil
	lines, in := w.found[id]
	if !in {
		lines = []deskapi.DoctorLine{{State: "wait"}}
	}
	for i, c := range lines {
		name := ""
		if i == 0 {
			name = w.d.Lang.T(text.DoctorName(id))
		}
		row.Add(w.line(name, c))
	}
}

// line is a sign with its word, the check's name, and what it says.
func (w *window) line(name string, c deskapi.DoctorLine) fyne.CanvasObject {
	l := w.d.Lang
	colour := signColour(c.State)
	if c.State == "ok" || c.State == "off" || c.State == "wait" {
		colour = base.ColorNamePlaceHolder // what needs nobody keeps quiet
	}
	state := container.New(kit.Columns(signSize+6), container.New(layout.NewCustomPaddedLayout(3, 0, 0, 0), container.NewVBox(newSign(c.State))),
		container.NewVBox(kit.NewWords(l.T(text.DoctorState(c.State)), theme.SizeHint, colour, c.State == "fail" || c.State == "warn")))
	said := newStack(2)
	importance := widget.MediumImportance
	if c.State == "off" {
		importance = widget.LowImportance
	}
	if c.Message != "" {
		said.Add(kit.Plain(c.Message, theme.SizeHint, importance))
	}
	if c.Hint != "" && c.State != "off" {
		whom := c.Whom
		if whom == "" {
			whom = l.T(text.DoctorWindowYou)
		}
		said.Add(kit.Plain(whom+": "+c.Hint, theme.SizeHint, widget.LowImportance))
	}
	return container.New(kit.Columns(verdictWidth), state, container.New(kit.Columns(checkWidth),
		container.NewVBox(kit.NewWords(name, theme.SizeHint, base.ColorNameForeground, true).Cutting()), said))
}

// copy puts all that is shown on the clipboard, as text.
func (w *window) copy() {
	l := w.d.Lang
	var b strings.Builder
	for _, g := range groups {
		for _, id := range g.checks {
			for _, c := range w.found[id] {
				b.WriteString(l.T(text.DoctorState(c.State)) + "\t" + l.T(text.DoctorName(id)) + "\t" + strings.TrimSpace(c.Message+" "+c.Hint) + "\n")
			}
		}
	}
	b.WriteString(w.done.Sentence + "\n")
	w.d.App.Clipboard().SetContent(b.String())
	w.copied = true
	w.head()
	w.later(kit.CopiedIs, func() { w.copied = false; w.head() })
}

// gather asks what a file for the help desk would hold.
func (w *window) gather() {
	w.busy = true
	w.say("", false)
	w.d.Send(deskapi.KindDoctorBundle, nil)
	seq := w.seq
	w.later(doctorSilent, func() {
		if w.busy && w.seq == seq {
			w.busy = false
			w.say(w.d.Lang.T(text.DoctorWindowSilent), true)
		}
	})
}

// hold shows what was gathered, before anything is written.
func (w *window) hold(m deskapi.DoctorHolds) {
	if m.Error != "" || len(m.Files) == 0 {
		w.say(m.Error, true)
		return
	}
	w.head()
	w.holds = newBundleView(w, m)
	w.holder.Objects = []fyne.CanvasObject{w.holds.object}
	w.holder.Refresh()
}

// back shows the checks again; what was gathered is forgotten.
func (w *window) back() {
	w.holds = nil
	w.d.Send(deskapi.KindDoctorDrop, nil)
	w.holder.Objects = []fyne.CanvasObject{w.checks}
	w.holder.Refresh()
}

func (w *window) written(m deskapi.DoctorWritten) {
	if m.Error != "" {
		w.holds.fail(m.Error)
		return
	}
	w.back()
	w.say(w.d.Lang.T(text.DoctorWindowWritten, m.Path), false)
}
