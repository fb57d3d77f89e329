package settings

import (
	"fmt"
	"os"
	"testing"

	"fyne.io/fyne/v2"

	"wiebelt/internal/deskapi"
	"wiebelt/internal/settings"
	"wiebelt/internal/settings/templates"
	"wiebelt/internal/text"
	"wiebelt/internal/ui/kit"
	"wiebelt/internal/ui/kittest"
	"wiebelt/internal/ui/theme"
)

// stateOf is the resident's answer for settings.
func stateOf(s *settings.Settings) deskapi.SettingsState {
	st := deskapi.SettingsState{Path: "/home/jan/.config/wiebelt/settings.toml", Support: s.Support.Contact, Monitors: []string{"DP-1", "HDMI-1"},
		LinesBy: s.LockedBy("line"), PhonesBy: s.LockedBy("softphone")}
	for _, e := range settings.Keys() {
		for _, v := range s.Values() {
			if v.Key == e.Key {
				st.Values = append(st.Values, deskapi.SettingsValue{Key: v.Key, Text: v.Value, Source: v.Source.String(), By: s.LockedBy(v.Key)})
			}
		}
	}
	for _, n := range s.Lines {
		st.Lines = append(st.Lines, deskapi.SettingsLine{Number: n.Number, Name: n.Name})
	}
	for _, p := range s.Softphones {
		st.Phones = append(st.Phones, deskapi.SettingsPhone{Kind: p.Kind, Name: p.Name, Address: p.Address, Extension: p.Extension, User: p.User})
	}
	return st
}

func parsed(t testing.TB, src string) *settings.Settings {
	t.Helper()
	s, problems := settings.Parse(src)
	if len(problems) > 0 {
		t.Fatal(problems)
	}
	return s
}

// officeSettings is an office as it is set up.
const officeSettings = `[hub]
base_url = "https://api.hub.example"
hub_url = "https://hub.example"
client_id = "kantoor-dorpsstraat"
organisation_code = "1234"
secret_expires = "2027-01-31"
[support]
contact = "Jan (IT), toestel 140"
[[line]]
number = "020 123 45 67"
name = "Schade"
[[line]]
number = "020 123 45 68"
name = "Leven"
[[softphone]]
kind = "baresip"
name = "baresip"
[[softphone]]
kind = "ari"
name = "centrale"
address = "https://pbx.example:8089"
extension = "101"
user = "wiebelt"
`

// opened is the open window.
func opened(b *kittest.Bench) *window {
	return b.Page(deskapi.WindowSettings).(*window)
}

func openSettingsWith(t *testing.T, l text.Language, look string, st deskapi.SettingsState) *kittest.Bench {
	t.Helper()
	b := kittest.New(t, kittest.Greeting(l), map[string]kit.Opener{deskapi.WindowSettings: Open})
	b.App.Settings().SetTheme(theme.New(look))
	b.Show(deskapi.WindowSettings)
	b.Tell(t, deskapi.KindSettingsState, st)
	return b
}

var keptOffice = deskapi.SettingsSecret{BaseURL: "https://api.hub.example", Client: "kantoor-dorpsstraat", State: "set", On: "2026-03-12", Phones: map[string]string{"centrale": "set"}}

// settingsScenes are the states that a picture shows.
var settingsScenes = []struct {
	name string
	do   func(t testing.TB, b *kittest.Bench, l text.Language)
}{
	{"empty-admin", func(t testing.TB, b *kittest.Bench, l text.Language) {
		b.Tell(t, deskapi.KindSettingsState, stateOf(settings.Defaults()))
		b.Tell(t, deskapi.KindSettingsKept, deskapi.SettingsSecret{State: "not_set", Phones: map[string]string{}})
		opened(b).Choose(sectionHub)
	}},
	{"filled-general", func(t testing.TB, b *kittest.Bench, l text.Language) {}},
	{"filled-general-2", func(t testing.TB, b *kittest.Bench, l text.Language) { opened(b).Choose(sectionLooks) }},
	{"filled-hub", func(t testing.TB, b *kittest.Bench, l text.Language) { opened(b).Choose(sectionHub) }},
	{"filled-lines", func(t testing.TB, b *kittest.Bench, l text.Language) { opened(b).Choose(sectionLines) }},
	{"filled-phones", func(t testing.TB, b *kittest.Bench, l text.Language) { opened(b).Choose(sectionPhones) }},
	{"filled-phones-trouble", func(t testing.TB, b *kittest.Bench, l text.Language) {
		st := stateOf(parsed(t, officeSettings))
		st.Phones[0].Phase, st.Phones[0].Why = deskapi.LinkDown, "nobody"
		st.Phones[1].Phase, st.Phones[1].Why = deskapi.LinkRefused, "denied"
		b.Tell(t, deskapi.KindSettingsState, st)
		opened(b).Choose(sectionPhones)
	}},
	{"filled-listener", func(t testing.TB, b *kittest.Bench, l text.Language) { opened(b).Choose(sectionListener) }},
	{"filled-advanced", func(t testing.TB, b *kittest.Bench, l text.Language) { opened(b).Choose(sectionAdvanced) }},
	{"expiring", func(t testing.TB, b *kittest.Bench, l text.Language) {
		st := stateOf(parsed(t, officeSettings))
		st.Expiry = l.N(text.SecretExpires, 12)
		st.Problems = []string{templates.Say(l, settings.Problem{Kind: settings.NotAllowed, Source: settings.User, Key: "card.corner", Line: 14})}
		b.Tell(t, deskapi.KindSettingsState, st)
		opened(b).Choose(sectionHub)
	}},
	{"locked", func(t testing.TB, b *kittest.Bench, l text.Language) {
		st := stateOf(parsed(t, officeSettings))
		for i := range st.Values {
			if k := st.Values[i].Key; len(k) > 4 && k[:4] == "hub." || k == "card.corner" {
				st.Values[i].By = "/etc/wiebelt/policy.toml"
			}
		}
		st.LinesBy = "/etc/wiebelt/policy.toml"
		b.Tell(t, deskapi.KindSettingsState, st)
		opened(b).Choose(sectionHub)
	}},
	{"bad", func(t testing.TB, b *kittest.Bench, l text.Language) {
		w := opened(b)
		w.Choose(sectionHub)
		typeInto(w, "hub.base_url", "http://hub.example")
		typeInto(w, "hub.secret_expires", "volgend jaar")
		w.save()
	}},
	{"test-running", func(t testing.TB, b *kittest.Bench, l text.Language) {
		w := opened(b)
		w.Choose(sectionHub)
		w.trial.toggle()
		steps(t, b, l, 2, "")
		w.goTo(w.trial.object)
	}},
	{"test-failed", func(t testing.TB, b *kittest.Bench, l text.Language) {
		w := opened(b)
		w.Choose(sectionHub)
		w.trial.number.SetText("06 98 76 00 11")
		w.trial.toggle()
		steps(t, b, l, 2, "credentials_refused")
		b.Tell(t, deskapi.KindSettingsTested, deskapi.SettingsTested{Seq: w.trial.seq})
		w.goTo(w.trial.object)
	}},
	{"test-passed", func(t testing.TB, b *kittest.Bench, l text.Language) {
		w := opened(b)
		w.Choose(sectionHub)
		w.trial.number.SetText("06 98 76 00 11")
		w.trial.toggle()
		steps(t, b, l, 5, "")
		b.Tell(t, deskapi.KindSettingsTested, deskapi.SettingsTested{Seq: w.trial.seq, OK: true,
			Better: []deskapi.SettingsChange{{Key: "hub.basic_auth_encoding", Text: "rfc6749"}}})
		w.goTo(w.trial.object)
	}},
	{"moved", func(t testing.TB, b *kittest.Bench, l text.Language) {
		w := opened(b)
		w.Choose(sectionHub)
		typeInto(w, "hub.base_url", "https://api.other.example")
	}},
	{"file-pick", func(t testing.TB, b *kittest.Bench, l text.Language) {
		w := opened(b)
		w.openFile("")
		w.file.found = []string{"/home/jan/Downloads/kantoor.wiebelt"}
		w.file.show()
	}},
	{"file-locked", func(t testing.TB, b *kittest.Bench, l text.Language) {
		w := opened(b)
		w.openFile("/home/jan/Downloads/kantoor.wiebelt")
		w.file.phrase.SetText("verkeerd")
		w.file.open()
		b.Tell(t, deskapi.KindSettingsOffice, deskapi.SettingsOffice{Seq: w.file.seq, Why: l.T(text.SetupWrong)})
	}},
	{"file-beside", func(t testing.TB, b *kittest.Bench, l text.Language) {
		w := opened(b)
		w.openFile("/home/jan/Downloads/kantoor.wiebelt")
		w.file.phrase.SetText("vier willekeurige woorden")
		w.file.open()
		b.Tell(t, deskapi.KindSettingsOffice, deskapi.SettingsOffice{Seq: w.file.seq, Moved: true, Rows: []deskapi.SettingsRow{
			{Key: "hub.base_url", Now: "https://api.hub.example", New: "https://api.practicehub-productie.example"},
			{Key: "hub.hub_url", Now: "https://hub.example", New: "https://practicehub-productie.example"},
			{Key: "hub.client_id", Now: "kantoor-dorpsstraat", New: "kantoor-dorpsstraat"},
			{Key: "support.contact", Now: "", New: "Jan (IT), toestel 140"},
			{Key: "line", Now: "020 123 45 67, Schade", New: "020 123 45 67, Schade, 020 123 45 68, Leven"}}})
	}},
}

// steps has the resident tell n steps of a test that went well, and one that
// failed if failure is not "".
func steps(t testing.TB, b *kittest.Bench, l text.Language, n int, failure string) {
	t.Helper()
	seq := opened(b).trial.seq
	for i, name := range trialSteps {
		m := deskapi.SettingsStep{Seq: seq, Step: name, State: "ok", Sentence: l.T(text.PrefsStepOK(name))}
		switch {
		case i < n && name == "lookup":
			m.Sentence = l.N(text.PrefsStepFound, 1, 34)
		case i == n && failure == "":
			m.State, m.Sentence = "running", ""
		case i == n:
			m = deskapi.SettingsStep{Seq: seq, Step: name, State: "failed", Sentence: "De hub weigert de koppeling.", Detail: "token: invalid_client",
				Said: "Client authentication failed · invalid_client", Do: l.T(text.FailureDo(failure)) + " " + l.T(text.PrefsAsk, "Jan (IT), toestel 140")}
			if l == text.English {
				m.Sentence = "The hub refuses the connection's credentials."
			}
		}
		if i <= n {
			b.Tell(t, deskapi.KindSettingsStep, m)
		}
	}
}

// typeInto types into a row.
func typeInto(w *window, key, s string) {
	type typed interface{ SetText(string) }
	w.rows[key].focus.(typed).SetText(s)
}

// TestSettingsPictures lays every state out in both languages and at every scale,
// with no word of ours cut. With WIEBELT_SHOTS set, pictures are left there, in
// both appearances.
func TestSettingsPictures(t *testing.T) {
	shots := os.Getenv("WIEBELT_SHOTS")
	for _, l := range []text.Language{text.Dutch, text.English} {
		for _, scene := range settingsScenes {
			for _, look := range []string{"light", "dark"} {
				if shots == "" && look == "dark" {
					continue
				}
				b := openSettingsWith(t, l, look, stateOf(parsed(t, officeSettings)))
				b.Tell(t, deskapi.KindSettingsKept, keptOffice)
				w := opened(b)
				kittest.Scaled(w.win, fyne.NewSize(720, 688), 1)
				scene.do(t, b, l)
				kittest.Shot(t, w.win, "settings-"+string(l)+"-"+look+"-"+scene.name)
				for _, scale := range kittest.Scales {
					kittest.Scaled(w.win, fyne.NewSize(720, 688), scale)
					kittest.Uncut(t, fmt.Sprintf("%s, %s at %v", l, scene.name, scale), w.win, l.T(text.PrefsTestRunning))
					if got := w.pages.MinSize().Width; got > w.scroll.Size().Width {
						t.Errorf("%s, %s at %v: a page is %v wide in %v", l, scene.name, scale, got, w.scroll.Size().Width)
					}
				}
				kittest.Fits(t, string(l)+", "+scene.name, w.win)
				w.win.SetCloseIntercept(nil)
				w.win.Close()
			}
		}
	}
}
