package settings

import (
	"context"
	"errors"
	"path/filepath"
	"runtime/debug"
	"time"

	"fyne.io/fyne/v2"
	"fyne.io/fyne/v2/container"
	base "fyne.io/fyne/v2/theme"
	"fyne.io/fyne/v2/widget"

	"wiebelt/internal/config/hubtrial"
	"wiebelt/internal/config/profile"
	"wiebelt/internal/config/settings"
	"wiebelt/internal/instance/windowapi"
	"wiebelt/internal/text"
	"wiebelt/internal/ui/explore"
	"wiebelt/internal/ui/theme"
	"wiebelt/internal/ui/widgets"
)

// setupView shows a set-up file: first the passphrase, then old and new values side by
// side. Nothing changes before the user clicks and the test has passed.
type setupView struct {
	w       *window
	path    string
	object  *fyne.Container
	body    *fyne.Container
	typed   *widgets.Field // the path of a file to open
	phrase  *widgets.Field
	number  *widgets.Field
	steps   *stepList
	opened  *hubtrial.SetupFile // nil before that
	why     string              // why it could not be opened
	opening bool
	testing bool
	applied bool
	refused string   // why it was not applied
	found   []string // paths of set-up files on this computer
}

// openedFor is how long an opened file, including its secret, is held for
// the user to apply it.
const openedFor = 15 * time.Minute

// openFile shows a set-up file instead of the pages.
func (w *window) openFile(path string) {
	if w.testingFile() {
		return
	}
	w.closeFile()
	v := &setupView{w: w, path: path, body: widgets.Column(12), typed: widgets.NewField(), phrase: w.newSecretField(), number: widgets.NewField(), steps: newStepList(w.host.Lang)}
	v.phrase.OnSubmitted = func(string) { v.open() }
	v.object = onPage(v.body)
	w.file = v
	v.show()
	w.show()
	w.scroll.ScrollToTop()
	if path != "" {
		w.win.Canvas().Focus(v.phrase)
	}
}

// moveTo moves the file to the window that replaces its own: what was applied may have
// changed the language, and its result is still to be read.
func (v *setupView) moveTo(w *window) {
	v.w, w.file = w, v
	if v.steps.l != w.host.Lang { // in the previous language
		v.steps.l = w.host.Lang
		v.steps.begin(v.steps.support)
	}
	v.show()
}

func (w *window) closeFile() {
	w.background.file()
	w.file = nil
	w.show()
}

// open decrypts the file and shows what it would change, without changing anything.
func (v *setupView) open() {
	if v.opening || v.phrase.Text == "" {
		return
	}
	v.opening, v.opened, v.why = true, nil, ""
	v.show()
	dirs, l, path, phrase := v.w.host.Dirs, v.w.host.Lang, v.path, v.phrase.Text
	v.w.background.file = v.w.runInBackground(func(_ context.Context, post func(func(*window))) {
		o, why := openSetup(dirs, l, path, phrase)
		post(func(w *window) {
			if w.file == v {
				v.takeOpened(o, why)
			}
		})
	})
}

// openSetup reads a set-up file, or returns why it cannot be read.
func openSetup(d profile.Dirs, l text.Language, path, phrase string) (f *hubtrial.SetupFile, why string) {
	if !filepath.IsAbs(path) {
		return nil, l.T(text.SettingsWindowFileGone)
	}
	b, err := hubtrial.ReadSetup(path)
	if err != nil {
		return nil, l.T(text.SettingsWindowFileGone)
	}
	before, _ := settings.Load(d)
	f, err = hubtrial.OpenSetup(b, phrase, "", before)
	debug.FreeOSMemory() // one attempt takes 256 MB
	if err != nil {
		return nil, shortened(l.Error(err))
	}
	return f, ""
}

// takeOpened shows the contents of the file, or why it cannot be opened.
func (v *setupView) takeOpened(o *hubtrial.SetupFile, why string) {
	v.opening, v.opened, v.why = false, o, why
	if o != nil {
		v.phrase.SetText("")
		v.w.host.Later(openedFor, func() {
			if v.opened == o && !v.testing && !v.applied {
				v.opened = nil
				v.show()
			}
		})
	}
	v.show()
}

// testAndApply tests the file's hub and applies the file if the test passes.
func (v *setupView) testAndApply() {
	v.testing, v.refused = true, ""
	v.steps.begin(v.opened.Support)
	v.show()
	dirs, o, number := v.w.host.Dirs, v.opened, v.number.Text
	v.w.background.file = v.w.runInBackground(func(ctx context.Context, post func(func(*window))) {
		_, err := o.Apply(ctx, dirs, number, nil, func(st hubtrial.Step) { post(func(*window) { v.steps.step(st) }) })
		post(func(w *window) { v.finishApply(w, err) })
	})
}

func (v *setupView) finishApply(w *window, err error) {
	v.testing, v.applied = false, err == nil
	v.steps.end()
	var said *text.Error
	switch {
	case errors.As(err, &said):
		v.refused = w.host.Lang.Error(said)
	case err != nil:
		_, v.refused = w.notSaved(err)
	default:
		if w.state != nil { // what was typed belongs to a previous hub
			w.undo()
		}
		w.stale = true
		w.host.NotifyChanged(windowapi.ChangedSecret)
		w.load()
	}
	v.show()
}

func (v *setupView) show() {
	l := v.w.host.Lang
	b := v.body
	b.Objects = nil
	v.number.SetPlaceHolder(l.T(text.SettingsWindowTestNumber))
	b.Add(widgets.Title(l.T(text.SettingsWindowFileTitle)))
	if v.path != "" {
		b.Add(widgets.Plain(filepath.Base(v.path), base.SizeNameText, widget.LowImportance))
	}
	switch {
	case v.path == "":
		v.showPicking(b)
	case v.opened == nil:
		v.showLocked(b)
	default:
		v.showRows(b)
	}
	b.Refresh()
}

// showLocked asks for the passphrase.
func (v *setupView) showLocked(b *fyne.Container) {
	l := v.w.host.Lang
	b.Add(widgets.Paragraph(l.T(text.SettingsWindowFileIntro)))
	b.Add(widgets.Column(4, fieldLabel(l.T(text.SettingsWindowFilePhrase)),
		explore.WithName(v.phrase, l.T(text.SettingsWindowFilePhrase), "", nil)))
	if v.opening {
		b.Add(widgets.Paragraph(l.T(text.SettingsWindowFileOpening)))
	} else if v.why != "" {
		b.Add(widgets.Trouble(v.why))
	}
	open := widgets.NewPrimary(l.T(text.SettingsWindowFileShow), v.open)
	widgets.SetEnabled(open, !v.opening)
	b.Add(widgets.Buttons(widgets.NewButton(l.T(text.SettingsWindowFileCancel), v.w.closeFile), open))
}

func (v *setupView) showRows(b *fyne.Container) {
	l := v.w.host.Lang
	if v.opened.HubMoved {
		b.Add(widgets.Trouble(l.T(text.SetupMoved)))
	}
	b.Add(widgets.Paragraph(l.T(text.SettingsWindowFileCheck)))
	table := widgets.Column(8)
	head := func(k text.Key) fyne.CanvasObject { return widgets.Caption(l.T(k)) }
	table.Add(container.New(sideBySide{}, head(text.SetupSetting), head(text.SetupNow), head(text.SetupNew)))
	for _, r := range v.opened.Rows {
		table.Add(widget.NewSeparator())
		changed := r.Current != r.New
		value := func(s string, strong bool) fyne.CanvasObject {
			if s == "" {
				return widgets.Paragraph(l.T(text.SetupNothing))
			}
			if strong {
				return widgets.Bold(s, theme.SizeHint)
			}
			return widgets.Hint(s)
		}
		table.Add(container.New(sideBySide{}, widgets.Paragraph(l.T(titleOfRow(r.Key))), value(shortened(r.Current), false), value(shortened(r.New), changed)))
	}
	table.Add(widget.NewSeparator())
	b.Add(table)
	if !v.applied && !v.opened.WithoutHub {
		b.Add(widgets.Column(4, fieldLabel(l.T(text.SettingsWindowFileNumber)),
			explore.WithName(v.number, l.T(text.SettingsWindowFileNumber), "", nil)))
	}
	b.Add(v.steps.object)
	switch {
	case v.testing:
		b.Add(widgets.Paragraph(l.T(text.SettingsWindowFileTesting)))
	case v.applied:
		b.Add(successLine(l.T(text.SettingsWindowFileTaken)))
	case v.refused != "":
		b.Add(widgets.Trouble(v.refused))
	}
	if v.applied {
		end := widgets.NewPrimary(l.T(text.SettingsWindowFileClose), v.w.closeFile)
		b.Add(container.NewHBox(end))
		return
	}
	take := widgets.NewPrimary(l.T(text.SettingsWindowFileTake), v.testAndApply)
	widgets.SetEnabled(take, !v.testing)
	b.Add(widgets.Buttons(widgets.NewButton(l.T(text.SettingsWindowFileCancel), v.w.closeFile), take))
}

// titleOfRow returns the name of a setting or list.
func titleOfRow(key string) text.Key {
	if key == "line" || key == "softphone" {
		return text.SettingGroup(key)
	}
	return text.SettingTitle(key)
}

type sideBySide struct{}

// MinSize implements fyne.Layout.
func (sideBySide) MinSize(o []fyne.CanvasObject) (s fyne.Size) {
	for _, x := range o {
		s.Height = max(s.Height, x.MinSize().Height)
	}
	return s
}

// Layout implements fyne.Layout.
func (sideBySide) Layout(o []fyne.CanvasObject, size fyne.Size) {
	const gap = 12
	x, wide := float32(0), min(132, size.Width/3)
	rest := (size.Width - wide - 2*gap) / 2
	for _, c := range o {
		c.Resize(fyne.NewSize(wide, size.Height))
		c.Move(fyne.NewPos(x, 0))
		x += wide + gap
		wide = rest
	}
}
