package settings

import (
	"path/filepath"

	"fyne.io/fyne/v2"
	"fyne.io/fyne/v2/canvas"
	"fyne.io/fyne/v2/container"
	"fyne.io/fyne/v2/layout"
	base "fyne.io/fyne/v2/theme"
	"fyne.io/fyne/v2/widget"

	"wiebelt/internal/deskapi"
	"wiebelt/internal/text"
	"wiebelt/internal/ui/kit"
	"wiebelt/internal/ui/theme"
)

// setupView shows a set-up file: the passphrase first, then what is and what
// would be side by side, and nothing changes before somebody clicks and the test
// has passed.
type setupView struct {
	w       *window
	path    string
	object  *fyne.Container
	body    *fyne.Container
	phrase  *field
	number  *field
	steps   *stepList
	seq     int
	office  *deskapi.SettingsOffice // nil before it was opened
	opening bool
	testing bool
	done    *deskapi.SettingsTaken
	found   []string // set-up files on this computer, by their paths
}

// openFile shows a set-up file in the place of the pages.
func (w *window) openFile(path string) {
	if w.file != nil {
		w.closeFile()
	}
	w.draft.seq++
	v := &setupView{w: w, path: path, body: newColumn(12), phrase: w.newSecretField(), number: w.newField(),
		steps: newStepList(w.d.Lang), seq: w.draft.seq}
	v.phrase.OnSubmitted = func(string) { v.open() }
	v.number.SetPlaceHolder(w.d.Lang.T(text.PrefsTestNumber))
	v.object = container.New(kit.AtMost(settingsWidth), container.New(layout.NewCustomPaddedLayout(20, 24, kit.Edge, kit.Edge), v.body))
	w.file = v
	v.show()
	w.show()
	w.scroll.ScrollToTop()
	if path != "" {
		w.win.Canvas().Focus(v.phrase)
	}
}

// closeFile goes back to the pages; the resident forgets the file.
func (w *window) closeFile() {
	w.file = nil
	w.d.Send(deskapi.KindSettingsStop, nil)
	w.show()
}

func (v *setupView) open() {
	if v.opening || v.phrase.Text == "" {
		return
	}
	v.opening, v.office = true, nil
	v.w.draft.seq++
	v.seq = v.w.draft.seq
	v.w.d.Send(deskapi.KindSettingsFile, deskapi.SettingsFile{Seq: v.seq, Path: v.path, Passphrase: v.phrase.Text})
	v.show()
}

// opened takes what stands in the file.
func (v *setupView) opened(m deskapi.SettingsOffice) {
	if m.Seq != v.seq {
		return
	}
	v.opening, v.office = false, &m
	if m.Why == "" {
		v.phrase.SetText("")
	}
	v.show()
}

// take has the resident test the file and take it over.
func (v *setupView) take() {
	v.testing, v.done = true, nil
	v.steps.begin(v.seq)
	v.w.d.Send(deskapi.KindSettingsTake, deskapi.SettingsTake{Seq: v.seq, Number: v.number.Text})
	v.show()
}

// taken takes how that went.
func (v *setupView) taken(m deskapi.SettingsTaken) {
	if m.Seq != v.seq {
		return
	}
	v.testing, v.done = false, &m
	v.steps.end()
	if m.OK { // what was typed before belongs to a hub of before
		seq := v.w.draft.seq
		v.w.draft = newDraft()
		v.w.draft.seq, v.w.stale = seq, true
	}
	v.show()
}

func (v *setupView) show() {
	l := v.w.d.Lang
	b := v.body
	b.Objects = nil
	b.Add(kit.NewWords(l.T(text.PrefsFileTitle), base.SizeNameHeadingText, base.ColorNameForeground, true).Cutting())
	if v.path == "" {
		v.showPicking(b)
		b.Refresh()
		return
	}
	b.Add(kit.Plain(filepath.Base(v.path), base.SizeNameText, widget.LowImportance))
	if v.office == nil || v.office.Why != "" {
		v.showLocked(b)
	} else {
		v.showRows(b)
	}
	b.Refresh()
}

// showLocked asks for the passphrase.
func (v *setupView) showLocked(b *fyne.Container) {
	l := v.w.d.Lang
	b.Add(kit.Paragraph(l.T(text.PrefsFileIntro)))
	b.Add(container.New(layout.NewCustomPaddedVBoxLayout(4), fieldLabel(l.T(text.PrefsFilePhrase)), v.phrase))
	if v.opening {
		b.Add(kit.Paragraph(l.T(text.PrefsFileOpening)))
	} else if v.office != nil {
		b.Add(kit.Trouble(v.office.Why))
	}
	open := kit.NewButton(l.T(text.PrefsFileShow), v.open)
	open.Importance = widget.HighImportance
	kit.Able(open, !v.opening)
	b.Add(kit.Buttons(kit.NewButton(l.T(text.PrefsFileCancel), v.w.closeFile), open))
}

// showRows shows old and new side by side.
func (v *setupView) showRows(b *fyne.Container) {
	l := v.w.d.Lang
	if v.office.Moved {
		b.Add(kit.Trouble(l.T(text.SetupMoved)))
	}
	b.Add(kit.Paragraph(l.T(text.PrefsFileCheck)))
	table := newColumn(8)
	head := func(k text.Key) fyne.CanvasObject { return caption(l.T(k)) }
	table.Add(container.New(sideBySide{}, head(text.SetupSetting), head(text.SetupNow), head(text.SetupNew)))
	for _, r := range v.office.Rows {
		table.Add(kit.NewRule(canvas.NewRectangle(nil)))
		changed := r.Now != r.New
		value := func(s string, strong bool) fyne.CanvasObject {
			if s == "" {
				return kit.Plain(l.T(text.SetupNothing), theme.SizeHint, widget.LowImportance)
			}
			if strong {
				return kit.Bold(s, theme.SizeHint)
			}
			return kit.Plain(s, theme.SizeHint, widget.MediumImportance)
		}
		table.Add(container.New(sideBySide{}, kit.Plain(l.T(titleOfRow(r.Key)), theme.SizeHint, widget.LowImportance), value(r.Now, false), value(r.New, changed)))
	}
	table.Add(kit.NewRule(canvas.NewRectangle(nil)))
	b.Add(table)
	if v.done == nil || !v.done.OK {
		b.Add(container.New(layout.NewCustomPaddedVBoxLayout(4), fieldLabel(l.T(text.PrefsFileNumber)), v.number))
	}
	b.Add(v.steps.object)
	switch {
	case v.testing:
		b.Add(kit.Paragraph(l.T(text.PrefsFileTesting)))
	case v.done != nil && v.done.OK:
		b.Add(good(l.T(text.PrefsFileTaken)))
	case v.done != nil:
		b.Add(kit.Trouble(v.done.Why))
	}
	if v.done != nil && v.done.OK {
		end := kit.NewButton(l.T(text.PrefsFileClose), v.w.closeFile)
		end.Importance = widget.HighImportance
		b.Add(container.NewHBox(end))
		return
	}
	take := kit.NewButton(l.T(text.PrefsFileTake), v.take)
	take.Importance = widget.HighImportance
	kit.Able(take, !v.testing)
	b.Add(kit.Buttons(kit.NewButton(l.T(text.PrefsFileCancel), v.w.closeFile), take))
}

// titleOfRow is the name of a setting, or of a whole list.
func titleOfRow(key string) text.Key {
	if key == "line" || key == "softphone" {
		return text.SettingGroup(key)
	}
	return text.SettingTitle(key)
}

// sideBySide is a layout of a name and two values.
type sideBySide struct{}

const sideGap = 12

func (sideBySide) widths(all float32) [3]float32 {
	name := min(132, all/3)
	rest := (all - name - 2*sideGap) / 2
	return [3]float32{name, rest, rest}
}

// MinSize implements fyne.Layout.
func (sideBySide) MinSize(o []fyne.CanvasObject) (s fyne.Size) {
	for _, x := range o {
		s.Height = max(s.Height, x.MinSize().Height)
	}
	return s
}

// Layout implements fyne.Layout.
func (c sideBySide) Layout(o []fyne.CanvasObject, size fyne.Size) {
	x := float32(0)
	for i, w := range c.widths(size.Width) {
		o[i].Resize(fyne.NewSize(w, size.Height))
		o[i].Move(fyne.NewPos(x, 0))
		x += w + sideGap
	}
}
