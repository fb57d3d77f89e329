package settings

import (
	"fyne.io/fyne/v2"
	"fyne.io/fyne/v2/container"
	"fyne.io/fyne/v2/layout"
	"fyne.io/fyne/v2/widget"

	"wiebelt/internal/deskapi"
	"wiebelt/internal/text"
	"wiebelt/internal/ui/kit"
	"wiebelt/internal/ui/theme"
)

// settingsFooter says whether everything is saved, and saves.
type settingsFooter struct {
	w          *window
	object     *fyne.Container
	said       *fyne.Container
	save, undo *kit.Button
}

func newSettingsFooter(w *window) *settingsFooter {
	l := w.d.Lang
	f := &settingsFooter{w: w, said: container.NewStack()}
	f.save = kit.NewButton(l.T(text.PrefsSave), w.save)
	f.save.Importance = widget.HighImportance
	f.undo = kit.NewButton(l.T(text.PrefsUndo), w.undo)
	buttons := container.New(layout.NewCustomPaddedHBoxLayout(8), f.undo, f.save)
	bar := container.NewBorder(nil, nil, nil, container.New(layout.NewCustomPaddedLayout(0, 0, 12, 0), container.New(kit.Middle(), buttons)),
		container.New(kit.Middle(), f.said))
	f.object = container.NewStack(kit.NewFrame(kit.Foot(bar), false))
	return f
}

// show shows how things are.
func (f *settingsFooter) show() {
	w := f.w
	if w.state == nil {
		return
	}
	d, l := w.draft, w.d.Lang
	unsaved := w.unsaved()
	said, bad := d.said, d.bad
	switch {
	case d.saving:
		said, bad = l.T(text.PrefsSaving), false
	case said == "" && unsaved:
		said = l.T(text.PrefsUnsaved)
	}
	var line fyne.CanvasObject = container.NewWithoutLayout()
	switch {
	case bad:
		line = kit.Trouble(said)
	case said != "":
		line = kit.Plain(said, theme.SizeHint, widget.LowImportance)
	}
	f.said.Objects = []fyne.CanvasObject{line}
	f.said.Refresh()
	kit.Able(f.save, unsaved && !d.saving)
	kit.Able(f.undo, unsaved && !d.saving)
}

// undo goes back to what holds.
func (w *window) undo() {
	seq := w.draft.seq
	w.draft = newDraft()
	w.draft.seq = seq
	w.rebuild()
	w.trial.edited()
}

// rebuild makes the pages anew where they stand.
func (w *window) rebuild() {
	at := w.scroll.Offset
	w.build()
	w.scroll.Offset = at
	w.scroll.Refresh()
}

// wrong is the first key whose text cannot be saved, "" if there is none.
func (w *window) wrong() string {
	for _, s := range settingsPlan() {
		for _, key := range s.keys {
			r := w.rows[key]
			if _, typed := w.draft.texts[key]; typed && r != nil && !r.check(w.now(key)) {
				return key
			}
		}
	}
	if w.draft.linesIn && !linesFine(w.draft.lines) {
		return "line"
	}
	if w.draft.phoneIn && phonesFault(w.draft.phones) >= 0 {
		return "softphone"
	}
	return ""
}

// save asks the resident to keep the draft.
func (w *window) save() {
	l := w.d.Lang
	if key := w.wrong(); key != "" {
		w.draft.said, w.draft.bad = l.T(text.PrefsBadValues), true
		w.footer.show()
		w.showKey(key)
		return
	}
	d := &w.draft
	d.seq++
	d.saving, d.said, d.bad = true, "", false
	m := deskapi.SettingsSave{Seq: d.seq, Changes: w.changes(), Secret: d.secret}
	if d.linesIn {
		lines := filledLines(d.lines)
		m.Lines = &lines
	}
	if d.phoneIn {
		m.Phones = &d.phones
	}
	for name, s := range d.secrets {
		m.Secrets = append(m.Secrets, deskapi.PhoneSecret{Name: name, Secret: s})
	}
	w.d.Send(deskapi.KindSettingsSave, m)
	w.footer.show()
	seq := d.seq
	w.d.After(savingSilent, func() {
		w.d.Post(func() {
			if w.current() && w.draft.saving && w.draft.seq == seq {
				w.draft.saving, w.draft.said, w.draft.bad = false, l.T(text.PrefsTestSilent), true
				w.footer.show()
			}
		})
	})
}

// saved takes the answer.
func (w *window) saved(m deskapi.SettingsSaved) {
	l := w.d.Lang
	w.draft.saving = false
	if m.OK {
		seq := w.draft.seq
		w.draft = newDraft()
		w.draft.seq, w.draft.said = seq, l.T(text.PrefsSaved)
		w.stale = true // what holds now comes with the next message
		w.footer.show()
		w.trial.savedNow()
		return
	}
	w.draft.said, w.draft.bad = m.Sentence, true
	if len(m.Bad) > 0 {
		w.draft.said = l.T(text.PrefsBadValues)
		for _, key := range m.Bad {
			if r := w.rows[key]; r != nil {
				r.fault.say(wantOf(l, r.entry))
			}
		}
		w.showKey(m.Bad[0])
	}
	w.footer.show()
}

// showKey brings a key's row into view.
func (w *window) showKey(key string) {
	for _, s := range settingsPlan() {
		has := s.id == sectionLines && key == "line" || s.id == sectionPhones && key == "softphone"
		for _, k := range s.keys {
			has = has || k == key
		}
		if !has {
			continue
		}
		w.Choose(s.id)
		if r := w.rows[key]; r != nil {
			w.goTo(r.object)
			if r.focus != nil {
				w.win.Canvas().Focus(r.focus)
			}
		}
		return
	}
}
