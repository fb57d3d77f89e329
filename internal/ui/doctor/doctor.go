// Package doctor is the window that shows the doctor's results check by check, and the
// contents of a support bundle before it is handed over.
//
// The window owns the results and the gathered bundle. Everything belongs to Fyne's thread;
// checking, gathering and writing run off it, one at a time, and end with the window.
package doctor

import (
	"context"
	"strings"

	"fyne.io/fyne/v2"
	"fyne.io/fyne/v2/container"
	base "fyne.io/fyne/v2/theme"

	"wiebelt/internal/doctor"
	"wiebelt/internal/instance/windowapi"
	"wiebelt/internal/native/screenreader"
	"wiebelt/internal/text"
	"wiebelt/internal/ui/explore"
	"wiebelt/internal/ui/theme"
	"wiebelt/internal/ui/widgets"
)

const (
	verdictWidth = 88  // of a sign and its label
	checkWidth   = 144 // of a check's name
)

// window shows what Wiebelt depends on, every check in its place from the start and filled
// in as it completes; and on request the contents of a file for the help desk.
type window struct {
	host    *widgets.Host
	win     fyne.Window
	end     context.CancelFunc        // cancels the running work
	found   map[string][]doctor.Check // of this run
	running bool                      // checks are running
	cfg     doctor.Config             // of the last run
	report  *doctor.Report            // its result, nil until then
	busy    bool                      // a bundle is being gathered
	parts
	shownBundle *bundleView // nil while the checks are shown
}

type parts struct {
	summary *widgets.TextLine
	note    *widgets.Slot // trouble with the window itself, or what was done
	list    *widgets.Rows // with headings between them
	rows    map[string]*fyne.Container
	again   *widgets.Button
	copyAll *widgets.Button
	bundle  *widgets.Button
	scroll  *container.Scroll
	checks  *fyne.Container
	holder  *fyne.Container // the checks, or the bundle
}

// Open opens the window and runs all checks.
func Open(host *widgets.Host) widgets.Page {
	if before, ok := host.Page(windowapi.WindowDoctor).(*window); ok {
		before.end()
	}
	w := newWindow(host)
	w.run()
	return w
}

func newWindow(host *widgets.Host) *window {
	l := host.Lang
	w := &window{host: host, end: func() {}, parts: parts{rows: map[string]*fyne.Container{}, note: widgets.NewSlot(), holder: container.NewStack()}}
	w.summary = widgets.NewTextLine("", base.SizeNameText, base.ColorNameForeground, true).Truncate()
	w.again = widgets.NewButton(l.T(text.DoctorWindowAgain), w.run)
	w.copyAll = host.CopyButton(text.DoctorWindowCopy, text.DoctorWindowCopied, w.words)
	w.bundle = widgets.NewButton(l.T(text.DoctorWindowBundle), w.gather)
	top := widgets.Column(12)
	w.scroll = container.NewVScroll(widgets.OnPage(top))
	w.list = widgets.NewRows(l.T(text.DoctorWindowTitle), 8, w.scroll)
	for i, g := range text.DoctorGroups {
		if i > 0 {
			w.list.AddUnfocusable(widgets.Gap(4))
		}
		w.list.AddUnfocusable(widgets.Subtitle(l.T(text.DoctorGroup(g.Group))))
		for _, id := range g.Checks {
			w.rows[id] = widgets.Column(8)
			w.list.Add(w.rows[id], nil)
		}
	}
	summary := explore.WithDescription(w.summary, func() explore.Description { // the result is announced
		return explore.Description{Role: widgets.Either(w.running, screenreader.Label, screenreader.News), Name: w.summary.Text, Leaf: true}
	})
	top.Objects = []fyne.CanvasObject{widgets.Title(l.T(text.DoctorWindowTitle)), summary, w.note.Container, widgets.Gap(0), w.list}
	w.checks = container.NewBorder(nil, widgets.Footer(widgets.Buttons(w.again, w.copyAll, w.bundle)), nil, nil, w.scroll)
	w.holder.Add(w.checks)
	w.win = host.Window(text.DoctorWindowTitle, w.holder, fyne.NewSize(720, 688))
	w.win.Canvas().SetOnTypedKey(widgets.OnEscape(func() {
		if w.shownBundle != nil {
			w.back()
		} else {
			w.win.Close()
		}
	}))
	w.show()
	return w
}

// Window implements widgets.Page.
func (w *window) Window() fyne.Window { return w.win }

// Closed implements widgets.Page's closer.
func (w *window) Closed() { w.end() }

func (w *window) run() {
	w.showPending()
	host, l := w.host, w.host.Lang
	w.end = host.Work(func(ctx context.Context, post func(func())) {
		cfg, err := doctor.NewConfig(ctx, host.Dirs, host.Program.ProfileDir, host.Program.Version, host.Program.Commit)
		if err != nil {
			host.Log.Warn("nothing can be looked at", "why", err)
			post(func() { w.running = false; w.showSummary(); w.showNote(l.T(text.DoctorWindowFailed), true) })
			return
		}
		cfg.Language = l
		report := doctor.Stream(ctx, cfg, func(id string, lines []doctor.Check) { post(func() { w.setResult(id, lines) }) })
		post(func() { w.finishRun(cfg, report) })
	})
}

func (w *window) showPending() {
	w.end()
	w.found, w.running, w.report = map[string][]doctor.Check{}, true, nil
	w.showNote("", false)
	w.show()
}

func (w *window) setResult(id string, lines []doctor.Check) {
	w.found[id] = lines
	w.row(id)
	w.scroll.Content.Refresh() // the row's height has changed
	w.showSummary()
}

func (w *window) finishRun(cfg doctor.Config, r doctor.Report) {
	w.cfg, w.report, w.running = cfg, &r, false
	w.showSummary()
}

// showNote shows trouble, or what was done, below the summary; "" removes it.
func (w *window) showNote(s string, bad bool) {
	if w.note.Put(s, func() fyne.CanvasObject { return widgets.Either(bad, widgets.Trouble(s), widgets.Hint(s)) }) {
		w.checks.Refresh() // everything below moves
	}
}

func (w *window) show() {
	for id := range w.rows {
		w.row(id)
	}
	w.scroll.Content.Refresh()
	w.showSummary()
}

func (w *window) showSummary() {
	l := w.host.Lang
	switch {
	case w.running:
		w.summary.SetText(l.N(text.DoctorWindowRunning, max(1, len(w.rows)-len(w.found))), base.ColorNamePlaceHolder)
	case w.report != nil:
		w.summary.SetText(w.report.Sentence(l), widgets.Either(w.report.OK, base.ColorNameSuccess, base.ColorNameError))
	default:
		w.summary.SetText("", base.ColorNameForeground)
	}
	widgets.SetEnabled(w.again, !w.running && !w.busy)
	widgets.SetEnabled(w.copyAll, w.report != nil)
	widgets.SetEnabled(w.bundle, w.report != nil && !w.busy)
	w.bundle.SetText(l.T(widgets.Either(w.busy, text.DoctorWindowGathering, text.DoctorWindowBundle)))
}

func (w *window) row(id string) {
	row := w.rows[id]
	row.Objects = nil
	lines, in := w.found[id]
	if !in {
		lines = []doctor.Check{{State: statePending}}
	}
	for i, c := range lines {
		name := ""
		if i == 0 {
			name = w.host.Lang.T(text.DoctorName(id))
		}
		row.Add(w.line(name, c))
	}
}

// line returns a sign with its label, the check's name, and its result.
func (w *window) line(name string, c doctor.Check) fyne.CanvasObject {
	l := w.host.Lang
	colour := signColour(c.State)
	if c.State == doctor.OK || c.State == doctor.Off || c.State == statePending {
		colour = base.ColorNamePlaceHolder // nothing to do: not emphasised
	}
	state := container.New(widgets.Columns(signSize+6), widgets.Padded(3, 0, 0, 0, container.NewVBox(newSign(c.State))),
		container.NewVBox(widgets.NewTextLine(l.T(text.DoctorState(string(c.State))), theme.SizeHint, colour, c.State == doctor.Fail || c.State == doctor.Warn)))
	said := widgets.Column(2)
	if c.Message != "" {
		said.Add(widgets.Either(c.State == doctor.Off, widgets.Paragraph(c.Message), widgets.Hint(c.Message)))
	}
	if c.Hint != "" && c.State != doctor.Off {
		said.Add(widgets.Paragraph(w.withResponsible(c.Hint)))
	}
	return container.New(widgets.Columns(verdictWidth), state, container.New(widgets.Columns(checkWidth),
		container.NewVBox(widgets.NewTextLine(name, theme.SizeHint, base.ColorNameForeground, true).Truncate()), said))
}

// withResponsible puts the person responsible before a hint. Hints for others than the user start with
// that person; if the settings name an administrator, the name is added.
func (w *window) withResponsible(hint string) string {
	who, do, ok := strings.Cut(hint, ": ")
	if !ok || !strings.HasPrefix(who, w.host.Lang.T(text.DoctorAdministrator)) {
		return w.host.Lang.T(text.DoctorWindowYou) + ": " + hint
	}
	if c := w.cfg.Settings; c != nil && c.Support.Contact != "" && !strings.Contains(who, " ") {
		who += " (" + c.Support.Contact + ")"
	}
	return who + ": " + text.Capital(do)
}

func (w *window) words() string {
	l := w.host.Lang
	var b strings.Builder
	for _, g := range text.DoctorGroups {
		for _, id := range g.Checks {
			for _, c := range w.found[id] {
				b.WriteString(l.T(text.DoctorState(string(c.State))) + "\t" + l.T(text.DoctorName(id)) + "\t" + strings.TrimSpace(c.Message+" "+c.Hint) + "\n")
			}
		}
	}
	return b.String() + w.report.Sentence(l) + "\n"
}

// gather makes the file for the help desk in memory, and shows it before it is written.
func (w *window) gather() {
	w.busy = true
	w.showNote("", false)
	w.showSummary()
	host, cfg, report := w.host, w.cfg, *w.report
	w.end = host.Work(func(ctx context.Context, post func(func())) {
		all, err := doctor.Collect(ctx, cfg, report)
		files, path := bundleFiles(all), bundlePath(host.Now())
		post(func() {
			w.busy = false
			w.showSummary()
			if err != nil {
				host.Log.Warn("the help desk's bundle is not made", "why", err)
				w.showNote(host.Lang.T(text.DoctorWindowFailed), true)
				return
			}
			w.shownBundle = newBundleView(w, all, files, path)
			widgets.Fill(w.holder, w.shownBundle.object)
		})
	})
}

func (w *window) back() {
	w.shownBundle = nil
	widgets.Fill(w.holder, w.checks)
}
