package settings

import (
	"encoding/json"
	"fmt"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"testing"

	"fyne.io/fyne/v2"
	"fyne.io/fyne/v2/test"
	"fyne.io/fyne/v2/widget"

	"wiebelt/internal/deskapi"
	"wiebelt/internal/settings"
	"wiebelt/internal/text"
	"wiebelt/internal/ui/kit"
	"wiebelt/internal/ui/kittest"
)

// only gives what was said of a kind since the last take.
func only[T any](b *kittest.Bench, kind string) (all []T) {
	for _, m := range b.Said {
		if v, ok := m.M.(T); ok && m.Kind == kind {
			all = append(all, v)
		}
	}
	b.Said = nil
	return all
}

// Every key of the table has a row with a field in the window, of everybody's
// keys on the one page and of administrators' on the other, and every field of
// the lists stands in their boxes. Keys says the same.
func TestSettingsHoldEveryKey(t *testing.T) {
	b := openSettingsWith(t, text.Dutch, "light", stateOf(parsed(t, officeSettings)))
	w := opened(b)
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
		in := w.general
		if e.Who == settings.Admin {
			in = w.admins
		}
		if !partOf(in, r.object) {
			t.Errorf("%s does not stand on its page", e.Key)
		}
	}
	for _, a := range settings.Arrays() {
		for _, e := range a.Fields {
			want[e.Key] = true
		}
	}
	all := strings.Join(kittest.Texts(w.win), "|")
	for _, key := range []string{"softphone.kind", "softphone.name", "softphone.address", "softphone.extension", "softphone.user"} {
		if !strings.Contains(all, text.Dutch.T(text.SettingTitle(key))) {
			t.Errorf("%s is not written", key)
		}
	}
	got := map[string]bool{}
	for _, k := range Keys() {
		if got[k] {
			t.Errorf("%s stands there twice", k)
		}
		got[k] = true
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

// partOf tells whether an object is part of another one.
func partOf(in, o fyne.CanvasObject) bool {
	if in == o {
		return true
	}
	c, ok := in.(*fyne.Container)
	return ok && slices.ContainsFunc(c.Objects, func(child fyne.CanvasObject) bool { return partOf(child, o) })
}

// Values that people choose, and those that Dutch or English people write, are
// those of the file.
func TestSettingsFields(t *testing.T) {
	b := openSettingsWith(t, text.Dutch, "light", stateOf(settings.Defaults()))
	w := opened(b)
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
		if w.rows[key].fault.said != "" {
			t.Errorf("%s: %s", key, w.rows[key].fault.said)
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
	// Back to what holds: nothing is changed any more.
	typeInto(w, "card.full_for", "60")
	if _, still := w.draft.texts["card.full_for"]; still {
		t.Error("a value that holds counts as a change")
	}
	for key, bad := range map[string]string{"card.full_for": "1", "listener.port": "80", "hub.base_url": "http://hub.example", "hub.client_id": "a:b",
		"hub.secret_expires": "31-02-2027", "phone.region": "XX", "listener.allowed_origins": "*", "phone.internal_prefixes": "abc"} {
		typeInto(w, key, bad)
		if w.rows[key].fault.said == "" || strings.HasPrefix(w.rows[key].fault.said, "prefs.") {
			t.Errorf("%s: %q is taken: %q", key, bad, w.rows[key].fault.said)
		}
	}
	// The same bounds for every number and time of the table.
	for _, e := range settings.Keys() {
		if e.Type == settings.Number {
			typeInto(w, e.Key, fmt.Sprint(e.Most+1))
			if !strings.Contains(w.rows[e.Key].fault.said, fmt.Sprint(e.Most)) {
				t.Errorf("%s: %q", e.Key, w.rows[e.Key].fault.said)
			}
		}
		if least, most := boundsOf(e); e.Type == settings.Duration && (most <= 0 || least > most) {
			t.Errorf("%s: bounds %v to %v out of %q", e.Key, least, most, e.Allowed)
		}
	}
}

// What is typed is sent when it is saved, all at once and nothing else; a value
// that cannot be keeps everything here.
func TestSettingsSave(t *testing.T) {
	b := openSettingsWith(t, text.Dutch, "light", stateOf(parsed(t, officeSettings)))
	w := opened(b)
	if !w.footer.save.Disabled() {
		t.Error("there is something to save before anything was changed")
	}
	typeInto(w, "support.contact", "Piet, toestel 12")
	typeInto(w, "hub.base_url", "ftp://hub.example")
	b.Said = nil
	test.Tap(w.footer.save)
	if got := only[deskapi.SettingsSave](b, deskapi.KindSettingsSave); len(got) != 0 || w.shown != sectionHub || !w.draft.bad {
		t.Errorf("a wrong value was sent: %v", got)
	}
	typeInto(w, "hub.base_url", "https://api.hub.example") // as it was
	w.hubBox.entry.SetText("kanarie")
	test.Tap(w.footer.save)
	got := only[deskapi.SettingsSave](b, deskapi.KindSettingsSave)
	if len(got) != 1 || len(got[0].Changes) != 1 || got[0].Changes[0] != (deskapi.SettingsChange{Key: "support.contact", Text: "Piet, toestel 12"}) ||
		got[0].Secret != "kanarie" || got[0].Lines != nil || got[0].Phones != nil {
		t.Fatalf("%#v", got)
	}
	if s := fmt.Sprintf("%v %+v %#v", got[0], got[0], got[0]); strings.Contains(s, "kanarie") {
		t.Error("printed: " + s)
	}
	b.Tell(t, deskapi.KindSettingsSaved, deskapi.SettingsSaved{Seq: got[0].Seq, Bad: []string{"support.contact"}})
	if !w.unsaved() || w.rows["support.contact"].fault.said == "" {
		t.Error("a refused value is not marked")
	}
	test.Tap(w.footer.save)
	got = only[deskapi.SettingsSave](b, deskapi.KindSettingsSave)
	b.Tell(t, deskapi.KindSettingsSaved, deskapi.SettingsSaved{Seq: got[0].Seq - 1, OK: true}) // of before
	if !w.unsaved() {
		t.Error("an old answer counts")
	}
	b.Tell(t, deskapi.KindSettingsSaved, deskapi.SettingsSaved{Seq: got[0].Seq, OK: true})
	b.Tell(t, deskapi.KindSettingsState, stateOf(parsed(t, strings.Replace(officeSettings, "Jan (IT), toestel 140", "Piet, toestel 12", 1))))
	if w.unsaved() || w.hubBox.entry.Text != "" || w.now("support.contact") != "Piet, toestel 12" || strings.Contains(strings.Join(kittest.Texts(w.win), ""), "kanarie") {
		t.Error("what was saved is not what is shown, or the secret still is")
	}
	typeInto(w, "support.contact", "x")
	test.Tap(w.footer.undo)
	if w.unsaved() || w.now("support.contact") != "Piet, toestel 12" {
		t.Error("not undone")
	}
}

// What the policy sets is shown and cannot be changed, and it says who set it and
// where.
func TestSettingsLocked(t *testing.T) {
	st := stateOf(parsed(t, officeSettings))
	const place = "/etc/wiebelt/policy.toml"
	for i := range st.Values {
		if k := st.Values[i].Key; strings.HasPrefix(k, "hub.") || k == "card.corner" || k == "card.over_fullscreen" {
			st.Values[i].By = place
		}
	}
	st.LinesBy, st.PhonesBy = place, place
	b := openSettingsWith(t, text.Dutch, "light", st)
	w := opened(b)
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
		kittest.WantTexts(t, w.win, "Vastgelegd door uw organisatie", place)
	}
	w.Choose(sectionLines)
	if strings.Contains(strings.Join(kittest.Texts(w.win), "|"), "Nummer toevoegen") {
		t.Error("a number can be added")
	}
}

// Another address or client asks for the secret anew, and shows none of another
// address.
func TestSettingsSecretMoves(t *testing.T) {
	b := openSettingsWith(t, text.Dutch, "light", stateOf(parsed(t, officeSettings)))
	w := opened(b)
	w.Choose(sectionHub)
	b.Tell(t, deskapi.KindSettingsKept, keptOffice)
	kittest.WantTexts(t, w.win, "Opgeslagen op 12-03-2026")
	for _, address := range []string{"https://api.other.example", "https://api.hub.example:8443"} {
		typeInto(w, "hub.base_url", address)
		if all := strings.Join(kittest.Texts(w.win), "|"); !strings.Contains(all, "voer het geheim opnieuw in") || strings.Contains(all, "Opgeslagen op") {
			t.Errorf("%s: %s", address, all)
		}
	}
	b.Said = nil
	for _, f := range b.Later {
		f()
	}
	if asked := only[deskapi.SettingsSecretAsk](b, deskapi.KindSettingsSecret); len(asked) != 1 || asked[0].BaseURL != "https://api.hub.example:8443" {
		t.Errorf("asked %v", asked)
	}
	typeInto(w, "hub.base_url", "https://API.hub.example/other") // the same host
	if w.moved() {
		t.Error("the same host and client count as others")
	}
	typeInto(w, "hub.client_id", "another")
	if !w.moved() {
		t.Error("another client counts as the same")
	}
}

// The test speaks of what stands in the window, shows its steps as they come and
// offers what worked; another one overtakes it.
func TestSettingsTrial(t *testing.T) {
	b := openSettingsWith(t, text.Dutch, "light", stateOf(parsed(t, officeSettings)))
	w := opened(b)
	w.Choose(sectionHub)
	typeInto(w, "hub.organisation_code", "9999")
	w.hubBox.entry.SetText("getypt")
	w.trial.number.SetText("06 98 76 00 11")
	b.Said = nil
	test.Tap(w.trial.start)
	sent := only[deskapi.SettingsTest](b, deskapi.KindSettingsTest)
	if len(sent) != 1 || sent[0].Secret != "getypt" || sent[0].Number != "06 98 76 00 11" ||
		!slices.Equal(sent[0].Changes, []deskapi.SettingsChange{{Key: "hub.organisation_code", Text: "9999"}}) {
		t.Fatalf("%#v", sent)
	}
	steps(t, b, text.Dutch, 2, "credentials_refused")
	kittest.WantTexts(t, w.win, "Het adres van de hub is gevonden.", "De hub zegt", "Client authentication failed", "Beheerder: voer client-id", "toestel 140")
	b.Tell(t, deskapi.KindSettingsStep, deskapi.SettingsStep{Seq: sent[0].Seq + 5, Step: "lookup", State: "ok", Sentence: "van een ander"})
	if strings.Contains(strings.Join(kittest.Texts(w.win), ""), "van een ander") {
		t.Error("a step of another test")
	}
	b.Tell(t, deskapi.KindSettingsTested, deskapi.SettingsTested{Seq: sent[0].Seq, OK: true, Better: []deskapi.SettingsChange{{Key: "hub.scope_parameter", Text: "scope"}}})
	kittest.WantTexts(t, w.win, "De test is geslaagd. Sla de instellingen nog op.", "Zo overnemen")
	w.trial.adopt()
	if w.draft.texts["hub.scope_parameter"] != "scope" || w.hubBox.entry.Text != "getypt" || w.now("hub.organisation_code") != "9999" {
		t.Errorf("%v", w.draft.texts)
	}
	typeInto(w, "hub.organisation_code", "1")
	kittest.WantTexts(t, w.win, "Dit was de test van voor uw laatste wijziging.")
	b.Said = nil
	test.Tap(w.trial.start)
	test.Tap(w.trial.start) // stops it
	if len(b.Said) != 2 || b.Said[1].Kind != deskapi.KindSettingsStop || w.trial.running {
		t.Errorf("%v", b.Said)
	}
}

// A set-up file only shows: it is asked for with its passphrase and taken over
// after a click.
func TestSettingsSetupFile(t *testing.T) {
	b := openSettingsWith(t, text.Dutch, "light", stateOf(parsed(t, officeSettings)))
	w := opened(b)
	st := stateOf(parsed(t, officeSettings))
	st.File = "/home/jan/kantoor.wiebelt"
	b.Said = nil
	b.Tell(t, deskapi.KindSettingsState, st)
	if w.file == nil || len(b.Said) != 0 || w.footer.object.Visible() || w.Chosen() != "" {
		t.Fatal("the file is not shown, or something was asked already")
	}
	kittest.WantTexts(t, w.win, "kantoor.wiebelt", "Wachtwoordzin")
	w.file.open() // without a passphrase
	w.file.phrase.SetText("vier willekeurige woorden")
	w.file.open()
	w.file.open() // it is on its way
	asked := only[deskapi.SettingsFile](b, deskapi.KindSettingsFile)
	if len(asked) != 1 || asked[0].Path != st.File || asked[0].Passphrase == "" {
		t.Fatalf("%#v", asked)
	}
	b.Tell(t, deskapi.KindSettingsOffice, deskapi.SettingsOffice{Seq: asked[0].Seq, Moved: true, Rows: []deskapi.SettingsRow{
		{Key: "hub.base_url", Now: "https://api.hub.example", New: "https://evil.example"}}})
	kittest.WantTexts(t, w.win, "https://api.hub.example", "https://evil.example", "het adres van de hub verandert")
	if len(b.Said) != 0 || w.file.phrase.Text != "" {
		t.Error("something was asked without a click, or the passphrase is still there")
	}
	for _, button := range buttonsIn(w.file.object) {
		if button.Text == "Testen en overnemen" {
			test.Tap(button)
		}
	}
	took := only[deskapi.SettingsTake](b, deskapi.KindSettingsTake)
	if len(took) != 1 || took[0].Seq != asked[0].Seq {
		t.Fatalf("%v", took)
	}
	b.Tell(t, deskapi.KindSettingsStep, deskapi.SettingsStep{Seq: took[0].Seq, Step: "name", State: "failed", Sentence: "Het adres is niet te vinden."})
	b.Tell(t, deskapi.KindSettingsTaken, deskapi.SettingsTaken{Seq: took[0].Seq, Why: "De proef is mislukt. Er is niets veranderd."})
	kittest.WantTexts(t, w.win, "Het adres is niet te vinden.", "Er is niets veranderd.")
	w.Choose(sectionHub)
	if w.file != nil || len(b.Said) != 1 || b.Said[0].Kind != deskapi.KindSettingsStop {
		t.Error("the resident still holds the file")
	}
}

func buttonsIn(o fyne.CanvasObject) (all []*kit.Button) {
	switch o := o.(type) {
	case *kit.Button:
		return []*kit.Button{o}
	case *fyne.Container:
		for _, child := range o.Objects {
			all = append(all, buttonsIn(child)...)
		}
	case *kit.Box:
		for _, child := range test.WidgetRenderer(o).Objects() {
			all = append(all, buttonsIn(child)...)
		}
	}
	return all
}

// Numbers and links can be added, changed and removed; what a kind needs is told
// while it is not there.
func TestSettingsLists(t *testing.T) {
	b := openSettingsWith(t, text.Dutch, "light", stateOf(parsed(t, officeSettings)))
	w := opened(b)
	w.Choose(sectionLines)
	tap := func(label string) {
		t.Helper()
		for _, button := range buttonsIn(w.admins) {
			if button.Text == label {
				test.Tap(button)
				return
			}
		}
		t.Fatalf("no button %q", label)
	}
	tap("Nummer toevoegen")
	if w.unsaved() {
		t.Error("an empty line is a change")
	}
	tap("Verwijderen") // the first number
	if !w.draft.linesIn || len(filledLines(w.draft.lines)) != 1 || w.draft.lines[0].Name != "Leven" {
		t.Errorf("%v", w.draft.lines)
	}
	tap("Koppeling toevoegen")
	w.phones.all[2].Kind, w.phones.all[2].Name = "3cx", "3cx"
	w.phones.build()
	w.phones.changed()
	kittest.WantTexts(t, w.win, "Nodig bij deze soort.")
	b.Said = nil
	test.Tap(w.footer.save)
	if len(only[deskapi.SettingsSave](b, deskapi.KindSettingsSave)) != 0 {
		t.Error("a link without what it needs was sent")
	}
	w.phones.all[2].Address, w.phones.all[2].Extension, w.phones.all[2].User = "https://3cx.example", "101", "wiebelt"
	w.phones.build()
	w.phones.changed()
	w.draft.secrets["3cx"] = "kanarie"
	test.Tap(w.footer.save)
	got := only[deskapi.SettingsSave](b, deskapi.KindSettingsSave)
	if len(got) != 1 || len(*got[0].Lines) != 1 || len(*got[0].Phones) != 3 || (*got[0].Phones)[2].Kind != "3cx" || len(got[0].Secrets) != 1 {
		t.Fatalf("%#v", got)
	}
}

// Another language or look while something is typed: the window reads anew, and
// what was typed is still there.
func TestSettingsFollow(t *testing.T) {
	b := openSettingsWith(t, text.Dutch, "light", stateOf(parsed(t, officeSettings)))
	w := opened(b)
	w.Choose(sectionHub)
	typeInto(w, "support.contact", "Piet")
	w.hubBox.entry.SetText("getypt")
	english := kittest.Greeting(text.English)
	b.Tell(t, deskapi.KindWelcome, english)
	now := opened(b)
	if now == w || now.win != w.win {
		t.Fatal("not built anew in its place")
	}
	kittest.WantTexts(t, now.win, "For administrators", "Client id")
	if now.now("support.contact") != "Piet" || now.hubBox.entry.Text != "getypt" || now.shown != sectionHub {
		t.Error("what was typed is gone")
	}
}

// Nobody loses what was typed by closing the window, and a window that was closed
// has the resident end what it did for it.
func TestSettingsClose(t *testing.T) {
	b := openSettingsWith(t, text.Dutch, "light", stateOf(parsed(t, officeSettings)))
	w := opened(b)
	typeInto(w, "support.contact", "Piet")
	w.close()
	if b.Page(deskapi.WindowSettings) == nil {
		t.Fatal("closed without asking")
	}
	w.escape() // goes back: nothing may be lost to a finger on Escape
	if b.Page(deskapi.WindowSettings) == nil || w.asking != nil {
		t.Fatal("Escape did not go back to the settings")
	}
	test.Tap(w.footer.undo)
	b.Said = nil
	w.close()
	if b.Page(deskapi.WindowSettings) != nil || len(b.Said) != 1 || b.Said[0].Kind != deskapi.KindSettingsStop {
		t.Errorf("still open, or said %v", b.Said)
	}
}

// Without an answer the window says so, and strange messages are passed over.
func TestSettingsSilent(t *testing.T) {
	b := kittest.New(t, kittest.Greeting(text.Dutch), map[string]kit.Opener{deskapi.WindowSettings: Open})
	b.Show(deskapi.WindowSettings)
	w := opened(b)
	for _, kind := range []string{"settings.kept", "settings.saved", "settings.step", "settings.tested", "settings.office", "settings.taken", "settings.unheard"} {
		for _, raw := range []string{`{}`, `[]`, `null`, `x`} {
			b.Handle(kind, json.RawMessage(raw))
		}
	}
	w.Choose(sectionHub)
	for _, f := range b.Later {
		f()
	}
	kittest.WantTexts(t, w.win, "Wiebelt antwoordt niet.")
	b.Tell(t, deskapi.KindSettingsState, stateOf(settings.Defaults()))
	kittest.WantTexts(t, w.win, "Algemeen", "Hoek")
}

func TestSetupFilesAreFound(t *testing.T) {
	home := t.TempDir()
	for _, f := range []string{"Downloads/kantoor.wiebelt", "Downloads/foto.png", "Documents/A.WIEBELT", "b.wiebelt", "Pictures/c.wiebelt"} {
		path := filepath.Join(home, f)
		if err := os.MkdirAll(filepath.Dir(path), 0o700); err != nil {
			t.Fatal(err)
		}
		if err := os.WriteFile(path, nil, 0o600); err != nil {
			t.Fatal(err)
		}
	}
	if err := os.Mkdir(filepath.Join(home, "folder.wiebelt"), 0o700); err != nil {
		t.Fatal(err)
	}
	var got []string
	for _, f := range setupFiles(home) {
		got = append(got, filepath.Base(f))
	}
	slices.Sort(got)
	if want := []string{"A.WIEBELT", "b.wiebelt", "kantoor.wiebelt"}; !slices.Equal(got, want) {
		t.Errorf("%v, want %v", got, want)
	}
}

// The list marks the section that is read, whoever scrolled to it.
func TestListFollowsScrolling(t *testing.T) {
	b := openSettingsWith(t, text.Dutch, "light", stateOf(parsed(t, officeSettings)))
	w := opened(b)
	kittest.Scaled(w.win, fyne.NewSize(720, 688), 1)
	var marked []string
	for range 200 {
		if n := len(marked); n == 0 || marked[n-1] != w.Chosen() {
			marked = append(marked, w.Chosen())
		}
		w.scroll.Scrolled(&fyne.ScrollEvent{Scrolled: fyne.NewDelta(0, -40)})
	}
	if want := []string{sectionCard, sectionLooks, sectionCalls}; !slices.Equal(marked, want) {
		t.Errorf("marked %v, want %v", marked, want)
	}
	w.Choose(sectionSupport)
	w.scroll.Scrolled(&fyne.ScrollEvent{Scrolled: fyne.NewDelta(0, -4000)})
	if w.Chosen() != sectionAdvanced {
		t.Errorf("at the end of the administrators' page %q is marked", w.Chosen())
	}
}

// What a setting can be stands in words that staff know, and what is typed beside
// them holds too.
func TestValuesInWords(t *testing.T) {
	for _, l := range []text.Language{text.Dutch, text.English} {
		w := opened(openSettingsWith(t, l, "light", stateOf(parsed(t, officeSettings))))
		for key, values := range wellKnown {
			for _, v := range values {
				label := choiceLabel(l, key, v)
				if label == v && v != "Ctrl+Alt+W" {
					t.Errorf("%s: %s is shown as %q", l, key, v)
				}
				typeInto(w, key, label)
				if got := w.now(key); got != v {
					t.Errorf("%s: %s: %q means %q, want %q", l, key, label, got, v)
				}
			}
		}
		typeInto(w, "phone.call_back", "bel {number}")
		if got := w.now("phone.call_back"); got != "bel {number}" {
			t.Errorf("a command became %q", got)
		}
	}
}
