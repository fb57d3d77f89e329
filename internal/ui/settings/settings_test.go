package settings

import (
	"context"
	"fmt"
	"maps"
	"os"
	"path/filepath"
	"reflect"
	"slices"
	"strings"
	"testing"

	"fyne.io/fyne/v2"
	"fyne.io/fyne/v2/canvas"
	"fyne.io/fyne/v2/test"
	"fyne.io/fyne/v2/widget"

	"wiebelt/internal/config/hubtrial"
	"wiebelt/internal/config/secret"
	"wiebelt/internal/config/settings"
	"wiebelt/internal/core/contact"
	"wiebelt/internal/instance/windowapi"
	"wiebelt/internal/testutil/must"
	"wiebelt/internal/text"
	"wiebelt/internal/ui/theme"
	"wiebelt/internal/ui/uitest"
	"wiebelt/internal/ui/widgets"
)

// TestSettingsHoldEveryKey checks that every key of the table has a row with a field
// in the window, users' keys on one page and administrators' on the other, and that
// every field of the lists is in their boxes. The plan lists each key once.
func TestSettingsHoldEveryKey(t *testing.T) {
	_, w := openOn(t, text.Dutch, officeSettings)
	w.Choose(sectionAdvanced)
	want := map[string]bool{}
	for _, e := range settings.Keys() {
		want[e.Key] = true
		r := w.rows[e.Key]
		if r == nil {
			t.Errorf("%s has no row", e.Key)
			continue
		}
		if e.Key != "card.fields" && r.focus == nil {
			t.Errorf("%s cannot be changed", e.Key)
		}
		if f, ok := r.focus.(fyne.Tabbable); ok && f.AcceptsTab() {
			t.Errorf("%s cannot be left by keyboard", e.Key)
		}
		in := w.general
		if e.Audience == settings.Admin {
			in = w.admins
		}
		if !partOf(in, r.object) {
			t.Errorf("%s does not stand on its page", e.Key)
		}
	}
	for _, e := range settings.AllEntries() {
		want[e.Key] = true
	}
	for _, key := range []string{"softphone.kind", "softphone.name", "softphone.address", "softphone.extension", "softphone.user"} {
		uitest.WantTexts(t, w.win, text.Dutch.T(text.SettingTitle(key)))
	}
	got := map[string]bool{}
	for _, s := range settingsPlan() {
		for _, k := range s.keys {
			if got[k] {
				t.Errorf("%s stands there twice", k)
			}
			got[k] = true
		}
	}
	for k := range want {
		if !got[k] {
			t.Errorf("%s is missing", k)
		}
	}
	if len(got) != len(want) {
		t.Errorf("%d keys, want %d", len(got), len(want))
	}
}

// partOf reports whether an object is part of another one.
func partOf(in, o fyne.CanvasObject) bool {
	if in == o {
		return true
	}
	c, ok := in.(*fyne.Container)
	return ok && slices.ContainsFunc(c.Objects, func(child fyne.CanvasObject) bool { return partOf(child, o) })
}

// TestSettingsFields: values that users select, and numbers
// as written in Dutch or English, become those of the file.
func TestSettingsFields(t *testing.T) {
	_, w := openOn(t, text.Dutch, nothing)
	for key, c := range map[string]struct{ typed, sent string }{
		"card.full_for":         {"90", "90s"},
		"hub.secret_expires":    {"31-1-2027", "2027-01-31"},
		"phone.never_lookup":    {"020 123 45 67\n\n06 98 76 54 32", "020 123 45 67, 06 98 76 54 32"},
		"listener.port":         {" 30000 ", "30000"},
		"support.contact":       {"Jan (IT), toestel 140", "Jan (IT), toestel 140"},
		"hub.proxy":             {"none", "none"},
		"phone.internal_digits": {"5", "5"},
	} {
		typeInto(w, key, c.typed)
		if got := w.draft.texts[key]; got != c.sent {
			t.Errorf("%s: %q became %q, want %q", key, c.typed, got, c.sent)
		}
		if w.rows[key].fault.ContentName != "" {
			t.Errorf("%s: %s", key, w.rows[key].fault.ContentName)
		}
	}
	w.rows["card.corner"].focus.(*widget.Select).SetSelected("Linksboven")
	w.rows["card.monitor"].focus.(*widget.Select).SetSelected("HDMI-1")
	test.Tap(w.rows["history.choices"].focus.(*widget.Check))
	for key, want := range map[string]string{"card.corner": "top-left", "card.monitor": "HDMI-1", "history.choices": "false"} {
		if got := w.draft.texts[key]; got != want {
			t.Errorf("%s is %q, want %q", key, got, want)
		}
	}
	// A monitor that is not connected stays chosen.
	typed := w.draft.texts
	w.draft.texts = map[string]string{"card.monitor": "DP-9"}
	w.rebuild()
	if s := w.rows["card.monitor"].focus.(*widget.Select); s.Selected != "DP-9" || !slices.Contains(s.Options, "HDMI-1") {
		t.Errorf("%q is chosen of %q", s.Selected, s.Options)
	}
	w.draft.texts = typed
	w.rebuild()
	// Changed back to the saved value, it is no longer a change.
	typeInto(w, "card.full_for", "60")
	if _, still := w.draft.texts["card.full_for"]; still {
		t.Error("a value that holds counts as a change")
	}
	for key, bad := range map[string]string{"card.full_for": "1", "listener.port": "80", "hub.base_url": "http://hub.example", "hub.client_id": "a:b",
		"hub.secret_expires": "31-02-2027", "phone.region": "XX", "listener.allowed_origins": "*", "phone.internal_prefixes": "abc"} {
		typeInto(w, key, bad)
		if w.rows[key].fault.ContentName == "" || strings.HasPrefix(w.rows[key].fault.ContentName, "settings_window.") {
			t.Errorf("%s: %q is taken: %q", key, bad, w.rows[key].fault.ContentName)
		}
	}
	// The upper limit of every number of the table is checked.
	for _, e := range settings.Keys() {
		if e.Type == settings.Number {
			typeInto(w, e.Key, fmt.Sprint(e.Max+1))
			if !strings.Contains(w.rows[e.Key].fault.ContentName, fmt.Sprint(e.Max)) {
				t.Errorf("%s: %q", e.Key, w.rows[e.Key].fault.ContentName)
			}
		}
	}
}

// TestSettingsSave: changes are saved all at once, settings in the file,
// whose comments are kept, and secrets in their store and nowhere else. If a
// value is invalid, nothing is saved. The resident is told what has changed.
func TestSettingsSave(t *testing.T) {
	b, w := openOn(t, text.Dutch, "# by hand\n"+officeSettings)
	if !w.footer.save.Disabled() {
		t.Error("there is something to save before anything was changed")
	}
	before := fileOf(t, b.Dirs)
	typeInto(w, "support.contact", "Piet, toestel 12")
	typeInto(w, "hub.base_url", "ftp://hub.example")
	test.Tap(w.footer.save)
	if fileOf(t, b.Dirs) != before || w.shown != sectionHub || !w.draft.isError {
		t.Error("a wrong value was kept")
	}
	typeInto(w, "hub.base_url", "https://api.hub.example") // as it was
	w.lines.fields[0].SetText(strings.Repeat("1", 301))
	test.Tap(w.footer.save)
	if fileOf(t, b.Dirs) != before || w.shown != sectionLines || !w.draft.isError {
		t.Error("a wrong number was kept")
	}
	w.lines.fields[0].SetText("020 123 45 67") // as it was
	w.hubBox.entry.SetText("\x00")
	test.Tap(w.footer.save)
	if fileOf(t, b.Dirs) != before || !w.draft.isError || w.draft.message == "" {
		t.Errorf("what is no secret: %q", w.draft.message)
	}
	w.hubBox.entry.SetText("kanarie-een")
	w.draft.phones[slices.IndexFunc(w.draft.phones, func(p draftPhone) bool { return p.Name == "centrale" })].secret = "kanarie-twee"
	test.Tap(w.footer.save)
	uitest.WantTexts(t, w.win, text.Dutch.T(text.SettingsWindowSaved))
	if now := fileOf(t, b.Dirs); now != strings.Replace(before, "Jan (IT), toestel 140", "Piet, toestel 12", 1) {
		t.Error(now)
	}
	b.WantSent(t, windowapi.Changed{What: windowapi.ChangedSecret})
	if w.unsaved() || w.hubBox.entry.Text != "" || w.currentText("support.contact") != "Piet, toestel 12" || strings.Contains(strings.Join(uitest.Texts(w.win), ""), "kanarie") {
		t.Error("what was saved is not what is shown, or the secret still is")
	}
	if k := w.secret; k.state != secret.IsSet || k.storedAt.IsZero() || k.links["centrale"] != secret.IsSet {
		t.Errorf("%+v", k)
	}
	typeInto(w, "support.contact", "x")
	test.Tap(w.footer.undo)
	if w.unsaved() || w.currentText("support.contact") != "Piet, toestel 12" {
		t.Error("not undone")
	}

	// What is typed while saving stays, to be saved next.
	line := settings.Line{Number: "0201234567"}
	link := draftPhone{Softphone: settings.Softphone{Kind: "ari", Name: "een", Address: "https://pbx.example", Extension: "101", User: "wiebelt"}, secret: "a"}
	w.draft.texts = map[string]string{"support.contact": "y", "hub.client_id": "new", "listener.port": "30000"}
	w.draft.secret, w.draft.lines, w.draft.phones = "a", []settings.Line{line}, []draftPhone{link}
	at, port, typed, shown := b.Go, w.effectiveText("listener.port"), w.draft.clone(), w.state.set
	b.Go = func(func(context.Context)) {} // the saved settings are not read yet
	if w.finishSave(nil, true, typed, shown); w.unsaved() || w.draft.message != text.Dutch.T(text.SettingsWindowSaved) {
		t.Errorf("nothing was typed, and %+v is left", w.draft)
	}
	w.draft, w.state.set = typed, shown
	var save func(context.Context)
	b.Go = func(work func(context.Context)) { save = work }
	w.save()
	b.Go = at
	w.draft.texts = map[string]string{"support.contact": "z", "hub.client_id": "new", "card.full_for": "90s"} // the port is unchanged
	w.draft.secret, w.draft.lines = "b", []settings.Line{{Number: line.Number, Name: "Balie"}}
	w.draft.phones = []draftPhone{link, {Softphone: link.Softphone, secret: "b"}}
	w.draft.phones[0].Extension, w.draft.phones[1].Name = "102", "twee"
	save(t.Context())
	if want := map[string]string{"support.contact": "z", "card.full_for": "90s", "listener.port": port}; !maps.Equal(w.draft.texts, want) {
		t.Errorf("what was typed since: %v, want %v", w.draft.texts, want)
	}
	if d := w.draft; d.secret != "b" || len(d.lines) != 1 || len(d.phones) != 2 || d.phones[0].secret != "" || d.phones[1].secret != "b" || len(d.lists(w.state.set)) != 2 || d.message != "" {
		t.Errorf("%+v", d)
	}
	w.undo()

	// A value that the policy has locked meanwhile is marked; an invalid TOML file is never overwritten.
	typeInto(w, "support.contact", "x")
	w.finishSave(&hubtrial.LockedError{Keys: []string{"support.contact"}}, false, w.draft, w.state.set)
	if !w.unsaved() || w.rows["support.contact"].fault.ContentName == "" {
		t.Error("a refused value is not marked")
	}
	put(t, b, "[hub\n")
	b.Sent = nil
	test.Tap(w.footer.save)
	if b.WantSent(t); fileOf(t, b.Dirs) != "[hub\n" || !w.draft.isError {
		t.Error(w.draft.message)
	}
}

// TestSettingsKeyboard: the focus stays in its place, even if the widgets there are rebuilt.
func TestSettingsKeyboard(t *testing.T) {
	_, w := openOn(t, text.Dutch, officeSettings)
	c := w.win.Canvas()
	key := func(name fyne.KeyName) { c.Focused().TypedKey(&fyne.KeyEvent{Name: name}) }
	up := uitest.All[*widgets.Button](w.rows["card.fields"].object)
	before := strings.Split(w.currentText("card.fields"), ", ")
	c.Focus(up[2])
	key(fyne.KeyReturn)
	key(fyne.KeyReturn)
	if now := strings.Split(w.currentText("card.fields"), ", "); !slices.Equal(now[:3], []string{before[2], before[0], before[1]}) {
		t.Errorf("moved up twice, %v are %v", before, now)
	}
	if on, ok := c.Focused().(*widget.Check); !ok || on.Text != choiceLabel(text.Dutch, "card.fields", before[2]) {
		t.Errorf("the keyboard is on %+v", c.Focused())
	}

	w.Choose(sectionPhones)
	c.Focus(w.phones.stops[0])
	key(fyne.KeyRight)
	if c.Focused() != w.phones.stops[0] {
		t.Error("a link has another kind, and the keyboard is gone")
	}
	press := func(section, label string) {
		w.Choose(section)
		all := uitest.All[*widgets.Button](w.parts[section])
		c.Focus(all[slices.IndexFunc(all, func(b *widgets.Button) bool { return b.Text == label })])
		key(fyne.KeyReturn)
	}
	for _, row := range []int{2, 0, 0} {
		press(sectionPhones, []string{"Verwijderen", "", "Koppeling toevoegen"}[row])
		if c.Focused() != fyne.Focusable(uitest.All[*widget.Select](w.parts[sectionPhones])[row]) {
			t.Errorf("not at link %d: the keyboard is on %+v", row, c.Focused())
		}
	}
	for _, row := range []int{2, 0, 0} {
		press(sectionLines, []string{"Verwijderen", "", "Nummer toevoegen"}[row])
		if c.Focused() != fyne.Focusable(uitest.All[*widgets.Field](w.parts[sectionLines])[2*row]) {
			t.Errorf("not at number %d: the keyboard is on %+v", row, c.Focused())
		}
	}
	press(sectionLines, "Verwijderen")
	if add, ok := c.Focused().(*widgets.Button); !ok || add.Text != "Nummer toevoegen" {
		t.Errorf("no number is left, the keyboard is on %+v", c.Focused())
	}
	press(sectionAdvanced, text.Dutch.T(text.SettingsWindowAdvancedHide))
	if show, ok := c.Focused().(*widgets.Button); !ok || show.Text != text.Dutch.T(text.SettingsWindowAdvancedShow) || w.advanced {
		t.Errorf("hidden, the keyboard is on %+v", c.Focused())
	}

	w.Choose(sectionHub)
	c.Focus(w.rows["hub.client_id"].focus)
	key(fyne.KeyEnd)
	w.rebuild()
	c.Focused().TypedRune('9')
	if got, want := entryOf(w.rows["hub.client_id"].focus).Text, w.effectiveText("hub.client_id")+"9"; got != want {
		t.Errorf("typed on: %q, want %q", got, want)
	}
	for of, typed := range map[string]string{"support.contact": "Jan  ", "card.full_for": "0090", "phone.never_lookup": "020 123 45 67\n"} {
		w.showKey(of)
		entryOf(c.Focused()).SetText(typed)
		key(fyne.KeyPageDown) // to the end
		w.rebuild()
		key(fyne.KeyBackspace)
		if got, want := entryOf(w.rows[of].focus).Text, typed[:len(typed)-1]; got != want {
			t.Errorf("%s: after %q, Backspace left %q", of, typed, got)
		}
	}
	w.Choose(sectionHub)
	c.Focus(w.hubBox.entry)
	c.Focused().TypedRune('a')
	w.rebuild()
	c.Focused().TypedRune('b')
	if w.draft.secret != "ab" {
		t.Errorf("typed on in the secret: %q", w.draft.secret)
	}
	w.Choose(sectionLines)
	press(sectionLines, "Nummer toevoegen")
	name := func() *widgets.Field { return w.lines.fields[len(w.lines.fields)-1] }
	c.Focus(name())
	for _, r := range "Jan de" {
		if r == 'd' {
			w.rebuild()
		}
		c.Focused().TypedRune(r)
	}
	if got := w.draft.lines[len(w.draft.lines)-1].Name; got != "Jan de" || c.Focused() != fyne.Focusable(name()) {
		t.Errorf("typed on in a list: %q", got)
	}
	w.draft.lines = nil
	if w.rebuild(); c.Focused() != nil {
		t.Error("the keyboard is on a field that is gone")
	}
}

// TestSettingsLocked: values set by the policy are shown
// but cannot be changed, with who set them and where.
func TestSettingsLocked(t *testing.T) {
	_, w := openOn(t, text.Dutch, nothing)
	st := locked(t, text.Dutch)
	place := st.set.LockedBy("hub.base_url")
	w.draft.texts = map[string]string{"hub.client_id": "typed", "card.over_fullscreen": "false"}
	w.draft.lines = []settings.Line{{Number: "0201234567"}}
	w.phones.add()
	if w.setState(st); w.unsaved() || !w.rows["card.over_fullscreen"].focus.(*widget.Check).Checked {
		t.Errorf("what was typed before the policy came is still there: %+v", w.draft)
	}
	w.Choose(sectionAdvanced)
	n := 0
	for key, r := range w.rows {
		locked := strings.HasPrefix(key, "hub.") || key == "card.corner" || key == "card.over_fullscreen"
		if !locked {
			continue
		}
		n++
		if c, ok := r.focus.(*widget.Check); r.focus != nil && (!ok || !c.Disabled()) {
			t.Errorf("%s can be changed", key)
		}
	}
	if n < 17 {
		t.Errorf("only %d are locked", n)
	}
	for _, id := range []string{sectionHub, sectionLines, sectionPhones, sectionCard} {
		w.Choose(id)
		uitest.WantTexts(t, w.win, "Vastgelegd door uw organisatie", place)
	}
	w.Choose(sectionLines)
	uitest.WantNoTexts(t, w.win, "Nummer toevoegen")
	uitest.WantTexts(t, w.win, "31-01-2027", text.Dutch.T(text.SettingNone)) // in words
}

// TestSettingsSecretMoves: for another address or client, the window asks
// for the secret again, and does not show the stored one as its own.
func TestSettingsSecretMoves(t *testing.T) {
	b, w := openOn(t, text.Dutch, officeSettings)
	w.Choose(sectionHub)
	w.setSecrets(keptOffice)
	uitest.WantTexts(t, w.win, "Opgeslagen op 12-03-2026")
	for _, address := range []string{"https://api.other.example", "https://api.hub.example:8443"} {
		typeInto(w, "hub.base_url", address)
		uitest.WantTexts(t, w.win, "voer het geheim opnieuw in")
		uitest.WantNoTexts(t, w.win, "Opgeslagen op")
	}
	b.RunDue()
	if k := w.secret; k.base != "https://api.hub.example:8443" || k.state != secret.NotSet {
		t.Errorf("looked for %+v", k)
	}
	keepSecret(t, b.Dirs, w.effectiveText("hub.base_url"), w.effectiveText("hub.client_id"), "kanarie")
	var look func(context.Context)
	b.Go = func(work func(context.Context)) { look = work }
	test.Tap(w.footer.undo)
	uitest.WantTexts(t, w.win, text.Dutch.T(text.SettingsWindowSecretLooking))
	look(t.Context())
	if uitest.WantTexts(t, w.win, savedOn(text.Dutch, w.secret)); w.secret.state != secret.IsSet {
		t.Errorf("undone, and the secret is %+v", w.secret)
	}
	typeInto(w, "hub.base_url", "https://API.hub.example/other") // the same host
	if w.secretMoved() {
		t.Error("the same host and client count as others")
	}
	typeInto(w, "hub.client_id", "another")
	if !w.secretMoved() {
		t.Error("another client counts as the same")
	}
}

// TestSettingsTrial: the test shows its steps as they finish and
// offers the values that worked; once stopped, it reports nothing.
func TestSettingsTrial(t *testing.T) {
	b, w := openOn(t, text.Dutch, officeSettings)
	w.Choose(sectionHub)
	typeInto(w, "hub.organisation_code", "9999")
	w.hubBox.entry.SetText("getypt")
	w.trial.number.SetText("06 98 76 00 11")
	w.trial.begin()
	steps(w, 2, contact.CredentialsRefused)
	uitest.WantTexts(t, w.win, "Het adres van de hub is gevonden.", "De hub zegt", "Client authentication failed", "Beheerder: voer client-id", "toestel 140")
	w.trial.showOutcome(outcome{ok: true, better: map[string]string{"hub.scope_parameter": "scope"}})
	steps(w, 5, "")
	uitest.WantTexts(t, w.win, "De test is geslaagd. Sla de instellingen nog op.", "Zo overnemen", "1 relatie gevonden, in 34 ms.")
	w.trial.adopt()
	if w.draft.texts["hub.scope_parameter"] != "scope" || w.hubBox.entry.Text != "getypt" || w.currentText("hub.organisation_code") != "9999" {
		t.Errorf("%v", w.draft.texts)
	}
	typeInto(w, "hub.organisation_code", "1")
	uitest.WantTexts(t, w.win, "Dit was de test van voor uw laatste wijziging.")

	var begun func(context.Context)
	b.Go = func(work func(context.Context)) { begun = work }
	test.Tap(w.trial.start)
	test.Tap(w.trial.start) // stops it
	begun(t.Context())
	if w.trial.running || w.trial.result != nil || len(w.trial.steps.seen) > 0 {
		t.Error("a test that was stopped is told of")
	}
	typeInto(w, "hub.base_url", "ftp://nonsense")
	test.Tap(w.trial.start)
	uitest.WantTexts(t, w.win, text.Dutch.T(text.SettingsWindowTestBad))
}

// TestSettingsSetupFile: an opened set-up file asks for its passphrase, compares old
// and new values, and changes nothing without a click; once closed, it is forgotten.
func TestSettingsSetupFile(t *testing.T) {
	h, kantoor := testHub(t)
	b, w := openOn(t, text.Dutch, hubText("https://old.example"))
	path, phrase := setupFile(t, hubText(h.BaseURL()), kantoor)
	b.SendFromResident(t, windowapi.KindShow, windowapi.Show{Window: windowapi.WindowSettings, Place: path})
	if w.file == nil || w.footer.object.Visible() || w.Chosen() != "" {
		t.Fatal("the file is not shown")
	}
	uitest.WantTexts(t, w.win, "kantoor.wiebelt", "Wachtwoordzin")
	before := fileOf(t, b.Dirs)
	w.file.open() // without a passphrase
	if w.file.why != "" || w.file.opened != nil {
		t.Error("opened without a passphrase")
	}
	t.Chdir(filepath.Dir(path))
	for _, gone := range []string{"/nowhere/x.wiebelt", filepath.Base(path), t.TempDir()} {
		w.openFile(gone)
		w.file.phrase.SetText(phrase)
		w.file.open()
		uitest.WantTexts(t, w.win, text.Dutch.T(text.SettingsWindowFileGone))
	}
	w.openFile(path)
	w.file.phrase.SetText("vier andere woordjes hier")
	w.file.open()
	uitest.WantTexts(t, w.win, text.Dutch.T(text.SetupPassphraseWrong))
	w.file.phrase.SetText(phrase)
	w.file.open()
	uitest.WantTexts(t, w.win, "https://old.example", "http://127.", "het adres van de hub verandert")
	if w.file.phrase.Text != "" || strings.Contains(strings.Join(uitest.Texts(w.win), ""), kantoor) || fileOf(t, b.Dirs) != before {
		t.Error("the passphrase or the secret is still there, or something changed")
	}
	b.Sent = nil
	uitest.PressIn(t, w.file.object, "Testen en overnemen")
	uitest.WantTexts(t, w.win, text.Dutch.T(text.SettingsWindowFileTaken))
	if s, _ := settings.Load(b.Dirs); s.Hub.BaseURL != h.BaseURL() || w.effectiveText("hub.base_url") != h.BaseURL() {
		t.Error("not taken over, or not shown")
	}
	b.WantSent(t, windowapi.Changed{What: windowapi.ChangedSecret})

	// It is held only for a while, and not once it is no longer shown.
	w.openFile(path)
	w.file.phrase.SetText(phrase)
	b.Later = nil
	w.file.open()
	b.RunDue()
	if w.file.opened != nil {
		t.Error("held for ever")
	}
	w.Choose(sectionHub)
	if w.file != nil {
		t.Error("still held")
	}
}

// TestSetupFileFollows: if what a set-up file changes has the window rebuilt, such as its
// language, the result still stands there, also if that is known only afterwards.
func TestSetupFileFollows(t *testing.T) {
	h, kantoor := testHub(t)
	path, phrase := setupFile(t, hubText(h.BaseURL())+"[ui]\nlanguage = \"en\"\n", kantoor)
	for _, late := range []bool{false, true} {
		b, w := openOn(t, text.Dutch, hubText("https://old.example"))
		w.openFile(path)
		w.file.phrase.SetText(phrase)
		w.file.open()
		var begun []func(context.Context)
		work := b.Go
		if late {
			b.Go = func(do func(context.Context)) { begun = append(begun, do) }
		}
		uitest.PressIn(t, w.file.object, "Testen en overnemen")
		b.Go = work
		w.win.Resize(fyne.NewSize(windowWidth, 200))
		w.scroll.ScrollToBottom()
		b.SendFromResident(t, windowapi.KindWelcome, uitest.Greeting(text.English))
		if opened(b).scroll.Offset.Y == 0 {
			t.Error("the result was scrolled away")
		}
		for _, do := range begun {
			do(t.Context())
		}
		now := opened(b)
		uitest.WantTexts(t, now.win, text.English.T(text.SettingsWindowFileTaken), "kantoor.wiebelt")
		uitest.WantNoTexts(t, now.win, "Testen en overnemen")
		if now == w || now.effectiveText("ui.language") != "en" || now.footer.object.Visible() {
			t.Error("not rebuilt, not taken over, or not shown")
		}
		uitest.PressIn(t, now.file.object, text.English.T(text.SettingsWindowFileClose))
		if now.file != nil || !now.footer.object.Visible() {
			t.Error("not closed")
		}
	}
}

// TestSettingsLists: numbers and links can be added, changed
// and removed; what a link of some kind lacks is shown.
func TestSettingsLists(t *testing.T) {
	b, w := openOn(t, text.Dutch, officeSettings)
	w.Choose(sectionLines)
	tap := func(label string) {
		t.Helper()
		uitest.PressIn(t, w.admins, label)
	}
	tap("Nummer toevoegen")
	if w.unsaved() {
		t.Error("an empty line is a change")
	}
	tap("Verwijderen") // the first number
	if !w.unsaved() || len(filledLines(w.draft.lines)) != 1 || w.draft.lines[0].Name != "Leven" {
		t.Errorf("%v", w.draft.lines)
	}
	tap("Koppeling toevoegen")
	w.draft.phones[2].Kind, w.draft.phones[2].Name = "3cx", "3cx"
	w.phones.build()
	w.edited()
	uitest.WantTexts(t, w.win, "Nodig bij deze soort.")
	before := fileOf(t, b.Dirs)
	test.Tap(w.footer.save)
	if fileOf(t, b.Dirs) != before {
		t.Error("a link without what it needs was kept")
	}
	w.draft.phones[2].Address, w.draft.phones[2].Extension, w.draft.phones[2].User = "https://3cx.example", "101", "wiebelt"
	w.draft.phones[2].secret = "kanarie"
	w.phones.build()
	w.edited()
	test.Tap(w.footer.save)
	now, problems := settings.Load(b.Dirs)
	if len(now.Lines) != 1 || len(now.Softphones) != 3 || now.Softphones[2].Kind != "3cx" || w.secret.links["3cx"] != secret.IsSet || len(problems) > 0 {
		t.Errorf("%v %v", now.Softphones, problems)
	}

	// What others add to the settings meanwhile stays there, and is shown once it is noticed.
	tap("Verwijderen")                                // the last number
	uitest.PressIn(t, w.phones.object, "Verwijderen") // baresip
	add := func(name string) {
		now, _ := settings.Load(b.Dirs)
		must.Do(t, settings.Set(b.Dirs, map[string]any{"softphone": append(now.Softphones, settings.Softphone{Kind: "relay", Name: name, Address: "https://relay.example"}),
			"line": append(now.Lines, settings.Line{Number: "0201234569", Name: name})}))
	}
	add("heard of")
	b.SendFromResident(t, windowapi.KindSources, windowapi.Sources{})
	if all := w.draft.phones; len(all) != 3 || all[2].Name != "heard of" || len(w.draft.lines) != 1 {
		t.Errorf("%v, %v", softphones(all), w.draft.lines)
	}
	add("unheard of")
	test.Tap(w.footer.save)
	now, _ = settings.Load(b.Dirs)
	var names []string
	for _, p := range now.Softphones {
		names = append(names, p.Name)
	}
	if want := []string{"centrale", "3cx", "heard of", "unheard of"}; !slices.Equal(names, want) || len(now.Lines) != 2 || len(w.draft.phones) != 4 {
		t.Errorf("links %v, want %v; numbers %v", names, want, now.Lines)
	}
}

// TestSettingsSpaces: spaces around a text of a list are kept while typing, but not saved.
func TestSettingsSpaces(t *testing.T) {
	b, w := openOn(t, text.Dutch, officeSettings)
	w.Choose(sectionLines)
	fields := uitest.All[*widgets.Field](w.parts[sectionLines])
	if fields[1].SetText("Schade "); w.unsaved() {
		t.Error("a space is a change")
	}
	fields[0].SetText(" 020 123 45 60")
	if fields[1].SetText("Jan de "); fields[1].Text != "Jan de " {
		t.Errorf("typed a space, and the field has %q", fields[1].Text)
	}
	test.Tap(w.footer.save)
	if now, _ := settings.Load(b.Dirs); now.Lines[0] != (settings.Line{Number: "020 123 45 60", Name: "Jan de"}) {
		t.Errorf("saved %+v", now.Lines)
	}
	if w.unsaved() {
		t.Errorf("saved, and %+v is left", w.draft)
	}
	uitest.WantTexts(t, w.win, text.Dutch.T(text.SettingsWindowSaved))
}

// TestSettingsChangedWhileSaving: what others add while the window saves is no change of its own.
func TestSettingsChangedWhileSaving(t *testing.T) {
	b, w := openOn(t, text.Dutch, officeSettings)
	typeInto(w, "support.contact", "Piet")
	var save func(context.Context)
	at := b.Go
	b.Go = func(work func(context.Context)) { save = work }
	w.save()
	b.Go = at
	relay := settings.Softphone{Kind: "relay", Name: "kantoor", Address: "https://relay.example"}
	must.Do(t, settings.Set(b.Dirs, map[string]any{"softphone": append(softphones(w.draft.phones), relay)}))
	b.SendFromResident(t, windowapi.KindSources, windowapi.Sources{})
	b.Go = func(func(context.Context)) {} // the saved settings are not read yet
	save(t.Context())
	if w.unsaved() || len(w.draft.phones) != 3 {
		t.Errorf("saved, and %+v is left", w.draft)
	}
	uitest.WantTexts(t, w.win, text.Dutch.T(text.SettingsWindowSaved))
}

// TestSettingsRowsGone: rows that are no longer on the page change nothing, even if
// a key or a screen reader still reaches them; their open menus close.
func TestSettingsRowsGone(t *testing.T) {
	b, _ := openOn(t, text.Dutch, officeSettings)
	for _, follow := range []func(){
		func() {
			less, _, _ := strings.Cut(officeSettings, "[[line]]")
			put(t, b, less+"[[line]]\nnumber = \"020 123 45 68\"\n[[softphone]]\nkind = \"bria\"\n")
			b.SendFromResident(t, windowapi.KindSources, windowapi.Sources{})
		},
		func() { b.SendFromResident(t, windowapi.KindWelcome, uitest.Greeting(text.English)) },
		func() { opened(b).undo() },
	} {
		before := opened(b)
		before.Choose(sectionCard)
		test.Tap(before.rows["card.corner"].focus.(fyne.Tappable))
		if before.win.Canvas().Overlays().Top() == nil {
			t.Fatal("no menu")
		}
		lists := widgets.Column(0, before.parts[sectionLines], before.parts[sectionPhones], before.rows["card.fields"].object)
		all := widgets.Column(0, before.general, before.admins)
		follow()
		now := opened(b)
		if now.win.Canvas().Overlays().Top() != nil {
			t.Error("the menu of a row that is gone is open")
		}
		want := now.draft.clone()
		for _, f := range uitest.All[*widgets.Field](all) {
			f.SetText("x")
			f.TypedRune('y')
		}
		for _, s := range uitest.All[*widget.Select](all) {
			s.SetSelectedIndex(0)
			s.SetSelectedIndex(1)
		}
		for _, s := range uitest.All[*widget.SelectEntry](all) {
			s.SetText("x")
		}
		for _, c := range uitest.All[*widget.Check](all) {
			test.Tap(c)
		}
		for _, button := range uitest.All[*widgets.Button](lists) {
			if !button.Disabled() {
				button.OnTapped()
			}
		}
		if !reflect.DeepEqual(now.draft, want) {
			t.Errorf("%+v, want %+v", now.draft, want)
		}
		b.Page(windowapi.WindowRecipes).Window().Close() // Fyne's test driver shows menus in the newest window
	}
	if d := opened(b).draft; len(d.lines) != 1 || len(d.phones) != 1 {
		t.Errorf("%+v", d)
	}
}

// TestSettingsFollow: if language or look change while the user is
// typing, the window reads its data again and keeps what was typed.
func TestSettingsFollow(t *testing.T) {
	b, w := openOn(t, text.Dutch, officeSettings)
	w.Choose(sectionHub)
	typeInto(w, "support.contact", "Piet")
	w.hubBox.entry.SetText("getypt")
	english := uitest.Greeting(text.English)
	b.SendFromResident(t, windowapi.KindWelcome, english)
	now := opened(b)
	if now == w || now.win != w.win {
		t.Fatal("not built anew in its place")
	}
	uitest.WantTexts(t, now.win, "For administrators", "Client id")
	if now.currentText("support.contact") != "Piet" || now.hubBox.entry.Text != "getypt" || now.shown != sectionHub {
		t.Error("what was typed is gone")
	}
	now.Choose(sectionCard)
	english.Theme = "dark"
	b.SendFromResident(t, windowapi.KindWelcome, english)
	for _, check := range uitest.All[*widget.Check](now.general) {
		if got := uitest.All[*canvas.Text](check)[0]; got.Text != "" && got.Color != theme.Dark.Ink {
			t.Errorf("in the dark %q is %v", got.Text, got.Color)
		}
	}
	put(t, b, officeSettings+"[ui]\ntheme = \"dark\"\n")
	b.SendFromResident(t, windowapi.KindWelcome, english)
	if got := now.currentText("ui.theme"); got != "dark" {
		t.Errorf("the window is dark, and says %q", got)
	}
}

// TestSettingsClose: closing the window never loses
// what was typed, and ends what the window started.
func TestSettingsClose(t *testing.T) {
	b, w := openOn(t, text.Dutch, officeSettings)
	typeInto(w, "support.contact", "Piet")
	w.openFile("")
	w.escape()
	if w.file != nil || w.question != nil {
		t.Error("Escape does not lead back from a set-up file")
	}
	w.close()
	w.close()
	if b.Page(windowapi.WindowSettings) == nil {
		t.Fatal("closed without asking")
	}
	if n := len(w.win.Canvas().Overlays().List()); n != 1 {
		t.Errorf("asked %d times", n)
	}
	w.escape() // goes back: an accidental Escape must lose nothing
	if b.Page(windowapi.WindowSettings) == nil || w.question != nil {
		t.Fatal("Escape did not go back to the settings")
	}
	test.Tap(w.footer.undo)
	var begun func(context.Context)
	b.Go = func(work func(context.Context)) { begun = work }
	test.Tap(w.trial.start)
	w.close()
	begun(t.Context())
	if b.Page(windowapi.WindowSettings) != nil || !w.trial.running {
		t.Error("still open, or told of a test that nobody waits for")
	}
}

// TestQuestionFollows: the question whether to close without saving is still asked, once and in
// the new language, after the window was rebuilt, and is answered there.
func TestQuestionFollows(t *testing.T) {
	for _, answer := range []text.Key{text.SettingsWindowStay, text.SettingsWindowDrop} {
		b, old := openOn(t, text.Dutch, officeSettings)
		typeInto(old, "support.contact", "Piet")
		old.close()
		b.SendFromResident(t, windowapi.KindWelcome, uitest.Greeting(text.English))
		w := opened(b)
		overlays := w.win.Canvas().Overlays()
		if w == old || w.question == nil || len(overlays.List()) != 1 {
			t.Fatalf("rebuilt %v, asks %v, %d overlays", w != old, w.question != nil, len(overlays.List()))
		}
		w.rebuild() // closes menus only
		w.close()
		if n := len(overlays.List()); n != 1 {
			t.Errorf("asked %d times", n)
		}
		uitest.PressIn(t, overlays.Top(), text.English.T(answer))
		open := b.Page(windowapi.WindowSettings) != nil
		if stays := answer == text.SettingsWindowStay; open != stays || stays && (w.question != nil || overlays.Top() != nil || !w.unsaved()) {
			t.Errorf("%s: open %v, asks on %v", answer, open, w.question != nil)
		}
	}
}

// TestSettingsLive: what only the running Wiebelt knows is updated
// live, that is the state of links and a hotkey that does not work.
func TestSettingsLive(t *testing.T) {
	b, w := openOn(t, text.Dutch, officeSettings)
	hotkey := text.Dutch.T(text.SettingsWindowHotkeyOff)
	uitest.WantNoTexts(t, w.win, hotkey)
	b.SendFromResident(t, windowapi.KindStatus, windowapi.Status{OK: true, Hotkeys: map[string]string{"card.hotkey": "taken"}})
	uitest.WantTexts(t, w.win, hotkey)
	w.Choose(sectionPhones)
	b.SendFromResident(t, windowapi.KindSources, windowapi.Sources{Sources: []windowapi.SourceState{{Kind: "ari", Name: "centrale", Phase: windowapi.LinkRefused, Why: "denied"}}})
	uitest.WantTexts(t, w.win, text.Dutch.T(text.SettingsWindowPhase(windowapi.LinkRefused))+". "+text.LinkTrouble(text.Dutch, "denied"))
	b.SendFromResident(t, windowapi.KindSources, windowapi.Sources{})
	uitest.WantNoTexts(t, w.win, text.Dutch.T(text.SettingsWindowPhase(windowapi.LinkRefused)))
}

// TestSettingsLongLists: for lists too long to be edited here, the window
// shows their length; it shows mistakes in the file without quoting it.
func TestSettingsLongLists(t *testing.T) {
	var src strings.Builder
	src.WriteString(nothing + "[phone]\nnever_lookup = [")
	for i := range 500 {
		fmt.Fprintf(&src, "\"020%s%03d\",\n", strings.Repeat("1", 100), i)
	}
	src.WriteString("]\n[card]\ncorner = 5\n[nonsense]\nx = \"kanarie\"\n")
	for i := range 500 {
		fmt.Fprintf(&src, "[[line]]\nnumber = \"0201234%03d\"\nname = \"x\"\n[[softphone]]\nkind = \"bria\"\nname = \"n%d\"\n", i, i)
	}
	_, w := openOn(t, text.Dutch, src.String())
	for _, section := range []string{sectionAdvanced, sectionLines, sectionPhones} {
		w.Choose(section)
		uitest.WantTexts(t, w.win, "500")
	}
	if s := strings.Join(w.state.problems, ""); len(w.state.problems) != 2 || strings.Contains(s, "kanarie") || !strings.Contains(s, "card.corner") {
		t.Errorf("%q", w.state.problems)
	}
}

// TestSetupFileByPath: a set-up file is opened by its path, as Windows copies it too.
func TestSetupFileByPath(t *testing.T) {
	_, w := openOn(t, text.Dutch, officeSettings)
	path := filepath.Join(t.TempDir(), "kantoor.wiebelt")
	for typed, want := range map[string]string{path: path, ` "` + path + `" `: path, "kantoor.wiebelt": "", "": ""} {
		w.openFile("")
		uitest.All[*widgets.Field](w.file.object)[0].SetText(typed)
		w.file.show() // the usual folders have been searched
		uitest.PressIn(t, w.file.object, text.Dutch.T(text.SettingsWindowFileShow))
		if w.file.path != want {
			t.Errorf("%q opens %q", typed, w.file.path)
		}
		if want == "" {
			uitest.WantTexts(t, w.win, text.Dutch.T(text.SettingsWindowFileWhole))
		}
	}
}

func TestSetupFilesAreFound(t *testing.T) {
	home := t.TempDir()
	for _, f := range []string{"Downloads/kantoor.wiebelt", "Downloads/foto.png", "Documents/A.WIEBELT", "b.wiebelt", "Pictures/c.wiebelt"} {
		path := filepath.Join(home, f)
		must.Do(t, os.MkdirAll(filepath.Dir(path), 0o700))
		must.Do(t, os.WriteFile(path, nil, 0o600))
	}
	must.Do(t, os.Mkdir(filepath.Join(home, "folder.wiebelt"), 0o700))
	var got []string
	for _, f := range setupFiles(home) {
		got = append(got, filepath.Base(f))
	}
	slices.Sort(got)
	if want := []string{"A.WIEBELT", "b.wiebelt", "kantoor.wiebelt"}; !slices.Equal(got, want) {
		t.Errorf("%v, want %v", got, want)
	}
}

// TestListFollowsScrolling: the list marks the
// section being read, however the page was scrolled.
func TestListFollowsScrolling(t *testing.T) {
	_, w := openOn(t, text.Dutch, officeSettings)
	uitest.Scaled(w.win, fyne.NewSize(720, 688), 1)
	var marked []string
	for range 200 {
		if n := len(marked); n == 0 || marked[n-1] != w.Chosen() {
			marked = append(marked, w.Chosen())
		}
		w.scroll.Scrolled(&fyne.ScrollEvent{Scrolled: fyne.NewDelta(0, -40)})
	}
	if want := []string{sectionCard, sectionLooks, sectionAccess, sectionCalls}; !slices.Equal(marked, want) {
		t.Errorf("marked %v, want %v", marked, want)
	}
	w.Choose(sectionSupport)
	w.scroll.Scrolled(&fyne.ScrollEvent{Scrolled: fyne.NewDelta(0, -4000)})
	if w.Chosen() != sectionAdvanced {
		t.Errorf("at the end of the administrators' page %q is marked", w.Chosen())
	}

	// From the end of one page to another that is less high.
	_, w = openOn(t, text.Dutch, nothing)
	uitest.Scaled(w.win, fyne.NewSize(720, 688), 1)
	for _, id := range []string{sectionSupport, sectionCalls, sectionSupport} {
		if w.Choose(id); w.Chosen() != id {
			t.Errorf("%q is marked where %q was chosen", w.Chosen(), id)
		}
	}
}

// TestValuesInWords: the values of a setting are shown in words that staff know,
// none of them cut, and other text may be typed where a setting accepts it.
func TestValuesInWords(t *testing.T) {
	for _, l := range []text.Language{text.Dutch, text.English} {
		_, w := openOn(t, l, officeSettings)
		field := widget.NewSelect(nil, nil)
		field.Resize(fyne.NewSize(choiceWidth, field.MinSize().Height))
		for _, e := range settings.Keys() {
			for _, v := range e.Choices {
				if choiceLabel(l, e.Key, v) == v && l.T(text.SettingsWindowChoice(e.Key, v)) != v {
					t.Errorf("%s: %s of %s has no words", l, v, e.Key)
				}
				label := choiceLabel(l, e.Key, v)
				field.Options = []string{label}
				field.SetSelected(label)
				if shown := uitest.All[*canvas.Text](field); len(shown) != 1 || shown[0].Text != label {
					t.Errorf("%s: %q of %s is cut", l, label, e.Key)
				}
			}
		}
		for key, values := range wellKnown {
			for _, v := range values {
				label := choiceLabel(l, key, v)
				if label == v && v != "Ctrl+Alt+W" {
					t.Errorf("%s: %s is shown as %q", l, key, v)
				}
				typeInto(w, key, label)
				if got := w.currentText(key); got != v {
					t.Errorf("%s: %s: %q means %q, want %q", l, key, label, got, v)
				}
			}
		}
		typeInto(w, "phone.call_back", "bel {number}")
		if got := w.currentText("phone.call_back"); got != "bel {number}" {
			t.Errorf("a command became %q", got)
		}
	}
}

// TestLinksOfOneKind: each link of a kind gets its own name, and a
// typed secret stays with its link, whatever names are typed meanwhile.
func TestLinksOfOneKind(t *testing.T) {
	_, w := openOn(t, text.Dutch, "")
	w.Choose(sectionPhones)
	for range 12 {
		w.phones.add()
	}
	names := map[string]bool{}
	for _, p := range w.draft.phones {
		names[p.Name] = true
	}
	if len(names) != 12 {
		t.Errorf("%d names: %v", len(names), names)
	}
	kind := w.draft.phones[0].Kind
	w.draft.phones[0].secret, w.draft.phones[1].secret = "kanarie-een", "kanarie-twee"
	name := uitest.All[*widgets.Field](newPhoneBox(w.phones, 0, false))[0]
	for _, s := range []string{kind + "-", kind + "-2", kind + "-20"} { // via the second one's
		name.SetText(s)
	}
	want, err := w.draftSettings()
	if secrets := map[string]string{kind + "-20": "kanarie-een", kind + "-2": "kanarie-twee"}; err != nil ||
		!maps.Equal(want.LinkSecrets, secrets) {
		t.Errorf("the secrets of %v, %v", slices.Collect(maps.Keys(want.LinkSecrets)), err)
	}
	w.draft.phones[0].Kind = "3cx"
	w.phones.build()
	if w.phones.stops[0].(*widget.Select).SetSelected(text.Dutch.T(text.LinkKind("baresip"))); w.draft.phones[0].secret != "" {
		t.Error("a kind without a secret has one")
	}
}
