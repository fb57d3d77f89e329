package settings

import (
	"context"
	"maps"
	"slices"
	"strings"

	"fyne.io/fyne/v2"
	"fyne.io/fyne/v2/container"
	"fyne.io/fyne/v2/layout"

	"wiebelt/internal/config/hubtrial"
	"wiebelt/internal/config/secret"
	"wiebelt/internal/config/settings"
	"wiebelt/internal/instance/windowapi"
	"wiebelt/internal/text"
	"wiebelt/internal/ui/explore"
	"wiebelt/internal/ui/widgets"
)

// settingsFooter shows whether everything is saved, and saves.
type settingsFooter struct {
	w          *window
	object     fyne.CanvasObject
	message    *fyne.Container
	save, undo *widgets.Button
}

func newSettingsFooter(w *window) *settingsFooter {
	l := w.host.Lang
	f := &settingsFooter{w: w, message: container.NewStack()}
	f.save = widgets.NewPrimary(l.T(text.SettingsWindowSave), w.save)
	f.undo = widgets.NewButton(l.T(text.SettingsWindowUndo), w.undo)
	buttons := container.New(layout.NewCustomPaddedHBoxLayout(8), f.undo, f.save)
	bar := container.NewBorder(nil, nil, nil, widgets.Padded(0, 0, 12, 0, container.New(widgets.Middle(), buttons)),
		container.New(widgets.Middle(), f.message))
	f.object = widgets.NewFrame(widgets.Footer(bar), false)
	return f
}

func (f *settingsFooter) show() {
	w := f.w
	if w.state == nil {
		return
	}
	d, l := w.draft, w.host.Lang
	unsaved := w.unsaved()
	said, bad := d.message, d.isError
	switch {
	case d.saving:
		said, bad = l.T(text.SettingsWindowSaving), false
	case said == "" && unsaved:
		said = l.T(text.SettingsWindowUnsaved)
	}
	var line fyne.CanvasObject = container.NewWithoutLayout()
	switch {
	case bad:
		line = widgets.Trouble(said)
	case said != "":
		line = widgets.Paragraph(said)
		if !unsaved && !d.saving { // the result of saving is announced
			line = explore.Announced(line)
		}
	}
	widgets.Fill(f.message, line)
	widgets.SetEnabled(f.save, unsaved && !d.saving)
	widgets.SetEnabled(f.undo, unsaved && !d.saving)
}

func (w *window) undo() {
	w.draft = newDraft(w.state.set)
	w.rebuild()
	w.loadSecrets() // another address's secret may have been looked up
	w.trial.edited()
}

// rebuild recreates the pages in place; the focus stays in its row.
func (w *window) rebuild() {
	w.closeMenus()
	at, before, focused := w.scroll.Offset, w.built, w.win.Canvas().Focused()
	w.build()
	w.scroll.Offset = at
	w.scroll.Refresh()
	for key, r := range before.rows {
		if focused != nil && r.focus == focused {
			w.rows[key].resume(r)
		}
	}
	if before.lines != nil { // the settings were shown before
		if focused == fyne.Focusable(before.hubBox.entry) {
			w.moveFocus(focused, w.hubBox.entry)
		}
		w.lines.resume(before.lines.fields, focused)
		w.phones.resume(before.phones.fields, focused)
	}
}

// firstInvalid returns the first key whose text cannot be saved, "" if there is none.
func (w *window) firstInvalid() string {
	for _, s := range settingsPlan() {
		for _, key := range s.keys {
			r := w.rows[key]
			if _, typed := w.draft.texts[key]; typed && r != nil && !r.check(w.currentText(key)) {
				return key
			}
		}
	}
	changed := w.draft.lists(w.state.set)
	switch {
	case changed["line"] != nil && slices.ContainsFunc(w.draft.lines, lineWrong):
		return "line"
	case changed["softphone"] != nil && !phonesFine(w.draft.phones):
		return "softphone"
	}
	return ""
}

// save saves the draft: all of it, or nothing.
func (w *window) save() {
	l, d := w.host.Lang, &w.draft
	if key := w.firstInvalid(); key != "" {
		d.message, d.isError = l.T(text.SettingsWindowBadValues), true
		w.footer.show()
		w.showKey(key)
		return
	}
	want, err := w.draftSettings()
	if err != nil {
		d.message, d.isError = secretSentence(l, err), true
		w.footer.show()
		return
	}
	saved := d.clone()
	d.saving, d.message, d.isError = true, "", false
	w.footer.show()
	dirs, shown := w.host.Dirs, w.state.set
	w.background.save = w.runInBackground(func(ctx context.Context, post func(func(*window))) {
		ctx, cancel := context.WithTimeout(ctx, saveTimeout)
		defer cancel()
		before, _ := settings.Load(dirs)
		maps.Copy(want.Changes, saved.edits(shown))
		_, err := hubtrial.Save(ctx, dirs, before, want)
		post(func(w *window) { w.finishSave(err, want.Secret != "" || len(want.LinkSecrets) > 0, saved, shown) })
	})
}

// draftSettings returns the draft without its lists, once its values are valid; the
// error is about a secret.
func (w *window) draftSettings() (hubtrial.SaveRequest, error) {
	d := w.draft
	want := hubtrial.SaveRequest{LinkSecrets: map[string]string{}}
	want.Changes, _ = w.changes()
	var err error
	if d.secret != "" {
		want.Secret, err = secret.ReadSecret(strings.NewReader(d.secret))
	}
	for _, p := range d.phones {
		if err == nil && p.secret != "" {
			want.LinkSecrets[p.Name], err = secret.ReadSecret(strings.NewReader(p.secret))
		}
	}
	return want, err
}

// clone returns a draft that further typing does not change.
func (d settingsDraft) clone() settingsDraft {
	d.texts, d.lines, d.phones = maps.Clone(d.texts), slices.Clone(d.lines), slices.Clone(d.phones)
	return d
}

// lists returns the lists that differ from those of settings, as for settings.Set.
func (d settingsDraft) lists(set *settings.Settings) map[string]any {
	all := map[string]any{}
	if lines := filledLines(d.lines); !slices.Equal(lines, set.Lines) {
		all["line"] = lines
	}
	if phones := softphones(d.phones); !slices.Equal(phones, set.Softphones) {
		all["softphone"] = phones
	}
	return all
}

// edits returns the lists that the draft changes, as functions for settings.Set.
func (d settingsDraft) edits(shown *settings.Settings) map[string]any {
	all := d.lists(shown)
	if all["line"] != nil {
		all["line"] = func(lines []settings.Line) []settings.Line {
			now := *shown
			now.Lines = lines
			return filledLines(d.rebase(shown, &now).lines)
		}
	}
	if all["softphone"] != nil {
		all["softphone"] = func(phones []settings.Softphone) []settings.Softphone {
			now := *shown
			now.Softphones = phones
			return softphones(d.rebase(shown, &now).phones)
		}
	}
	return all
}

// rebase rebases a draft onto settings that have changed since it was started: a list
// gains what others have added since, mostly a link to a joined relay, and loses
// what they have removed. A list that the policy has locked is the policy's.
func (d settingsDraft) rebase(was, now *settings.Settings) settingsDraft {
	changed, next := d.lists(was), newDraft(now)
	if changed["line"] != nil && !now.Locked("line") {
		next.lines = merged(d.lines, was.Lines, now.Lines, func(a, b settings.Line) bool { return a == b })
	}
	if changed["softphone"] != nil && !now.Locked("softphone") || d.phoneSecrets() {
		next.phones = merged(d.phones, draftPhones(was.Softphones), next.phones, func(a, b draftPhone) bool { return a.Softphone == b.Softphone })
	}
	d.lines, d.phones = next.lines, next.phones
	return d
}

// merged applies to a list the changes made to the one it is based on.
func merged[T any](mine, was, now []T, same func(a, b T) bool) []T {
	in := func(all []T, x T) bool { return slices.ContainsFunc(all, func(o T) bool { return same(o, x) }) }
	left := slices.DeleteFunc(slices.Clone(mine), func(x T) bool { return in(was, x) && !in(now, x) })
	for _, x := range now {
		if !in(was, x) && !in(left, x) {
			left = append(left, x)
		}
	}
	return left
}

// typedSince returns what was typed while the previous draft was being saved.
func (w *window) typedSince(before settingsDraft) settingsDraft {
	later := w.draft.clone()
	for key := range before.texts {
		later.texts[key] = w.currentText(key) // it may have been changed back
	}
	maps.DeleteFunc(later.texts, func(key, s string) bool {
		saved, was := before.texts[key]
		return was && saved == s
	})
	if later.secret == before.secret {
		later.secret = ""
	}
	for i, p := range later.phones {
		if slices.ContainsFunc(before.phones, func(o draftPhone) bool { return o.Name == p.Name && o.secret == p.secret }) {
			later.phones[i].secret = ""
		}
	}
	return later
}

// finishSave handles the result of saving a draft of changes to settings; others may have
// changed them meanwhile.
func (w *window) finishSave(err error, secrets bool, draft settingsDraft, was *settings.Settings) {
	l := w.host.Lang
	w.draft.saving = false
	if err == nil {
		w.draft = w.typedSince(draft)
		now := w.state.set
		if set, err := now.With(draft.rebase(was, now).lists(now)); err == nil {
			w.state.set = set // the base of what was typed since
		}
		if !w.unsaved() {
			w.draft.message = l.T(text.SettingsWindowSaved)
		}
		w.stale = true // the saved settings are read next
		w.footer.show()
		w.trial.show() // what was tested has been saved
		w.host.NotifyChanged(widgets.Either(secrets, windowapi.ChangedSecret, windowapi.ChangedSettings))
		w.load()
		return
	}
	bad, why := w.notSaved(err)
	w.draft.message, w.draft.isError = why, true
	for _, key := range bad {
		if r := w.rows[key]; r != nil {
			r.fault.Trouble(wantOf(l, r.entry))
		}
	}
	if len(bad) > 0 {
		w.showKey(bad[0])
	}
	w.footer.show()
}

func (w *window) showKey(key string) {
	for _, s := range settingsPlan() {
		if listSections[key] == s.id || slices.Contains(s.keys, key) {
			w.Choose(s.id)
		}
	}
	if r := w.rows[key]; r != nil {
		w.goTo(r.object)
		if r.focus != nil {
			w.win.Canvas().Focus(r.focus)
		}
	}
}
