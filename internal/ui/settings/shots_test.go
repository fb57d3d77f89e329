package settings

import (
	"os"
	"path/filepath"
	"strings"
	"testing"
	"time"

	"fyne.io/fyne/v2"

	"wiebelt/internal/config/hubtrial"
	"wiebelt/internal/config/secret"
	"wiebelt/internal/config/settings"
	"wiebelt/internal/core/contact"
	"wiebelt/internal/instance/windowapi"
	"wiebelt/internal/testutil/must"
	"wiebelt/internal/testutil/shottest"
	"wiebelt/internal/text"
	"wiebelt/internal/ui/uitest"
	"wiebelt/internal/ui/widgets"
)

// officeSettings are the settings of a typical office.
const officeSettings = `[hub]
base_url = "https://api.hub.example"
hub_url = "https://hub.example"
client_id = "kantoor-dorpsstraat"
organisation_code = "1234"
secret_expires = "2027-01-31"
secret_store = "file"
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

// opened returns the open window.
func opened(b *uitest.Harness) *window {
	return b.Page(windowapi.WindowSettings).(*window)
}

// openOn opens the window of a profile with these settings.
func openOn(t *testing.T, l text.Language, src string) (*uitest.Harness, *window) {
	t.Helper()
	w := uitest.Greeting(l)
	w.WorkArea.Monitors = []string{"DP-1", "HDMI-1"}
	b := uitest.New(t, w, map[string]widgets.Opener{windowapi.WindowSettings: Open})
	put(t, b, src)
	b.Show(windowapi.WindowSettings)
	b.Sent = nil
	return b, opened(b)
}

// put replaces the settings file.
func put(t testing.TB, b *uitest.Harness, src string) {
	t.Helper()
	must.Do(t, os.WriteFile(settings.Path(b.Dirs), []byte(src), 0o600))
}

// nothing is a profile in which only the place of secrets is configured.
const nothing = "[hub]\nsecret_store = \"file\"\n"

var keptOffice = keptSecrets{base: "https://api.hub.example", client: "kantoor-dorpsstraat", state: secret.IsSet,
	storedAt: time.Date(2026, 3, 12, 9, 0, 0, 0, time.Local), links: map[string]secret.State{"centrale": secret.IsSet}}

// settingsScenes are the states with pictures.
var settingsScenes = []struct {
	name, section string
	do            func(t testing.TB, b *uitest.Harness, w *window, l text.Language)
}{
	{"empty-admin", sectionHub, func(t testing.TB, b *uitest.Harness, w *window, l text.Language) {
		put(t, b, nothing)
		w.load()
	}},
	{"filled-general", "", nil},
	{"filled-hub", sectionHub, nil},
	{"filled-phones-trouble", sectionPhones, func(t testing.TB, b *uitest.Harness, w *window, l text.Language) {
		b.SendFromResident(t, windowapi.KindSources, windowapi.Sources{Sources: []windowapi.SourceState{
			{Kind: "baresip", Name: "baresip", Phase: windowapi.LinkDown, Why: "nobody"}, {Kind: "ari", Name: "centrale", Phase: windowapi.LinkRefused, Why: "denied"}}})
	}},
	{"filled-advanced", sectionAdvanced, nil},
	{"expiring", sectionHub, func(t testing.TB, b *uitest.Harness, w *window, l text.Language) {
		put(t, b, strings.Replace(officeSettings, "2027-01-31", uitest.Noon.AddDate(0, 0, 12).Format(time.DateOnly), 1)+"[card]\ncorner = \"middle\"\n")
		w.load()
	}},
	{"locked", sectionHub, func(t testing.TB, b *uitest.Harness, w *window, l text.Language) {
		w.setState(locked(t, l))
	}},
	{"bad", sectionHub, func(t testing.TB, b *uitest.Harness, w *window, l text.Language) {
		typeInto(w, "hub.base_url", "http://hub.example")
		typeInto(w, "hub.secret_expires", "volgend jaar")
		w.save()
	}},
	{"test-running", sectionHub, func(t testing.TB, b *uitest.Harness, w *window, l text.Language) {
		w.trial.begin()
		steps(w, 2, "")
		w.goTo(w.trial.object)
	}},
	{"test-failed", sectionHub, func(t testing.TB, b *uitest.Harness, w *window, l text.Language) {
		w.trial.number.SetText("06 98 76 00 11")
		w.trial.begin()
		steps(w, 2, contact.CredentialsRefused)
		w.trial.showOutcome(outcome{})
		w.goTo(w.trial.object)
	}},
	{"test-passed", sectionHub, func(t testing.TB, b *uitest.Harness, w *window, l text.Language) {
		w.trial.number.SetText("06 98 76 00 11")
		w.trial.begin()
		steps(w, 5, "")
		w.trial.showOutcome(outcome{ok: true, better: map[string]string{"hub.basic_auth_encoding": "rfc6749"}})
		w.goTo(w.trial.object)
	}},
	{"moved", sectionHub, func(t testing.TB, b *uitest.Harness, w *window, l text.Language) {
		typeInto(w, "hub.base_url", "https://api.other.example")
	}},
	{"file-pick", "", func(t testing.TB, b *uitest.Harness, w *window, l text.Language) {
		w.openFile("")
		w.file.found = []string{"/home/jan/Downloads/kantoor.wiebelt"}
		w.file.show()
	}},
	{"file-locked", "", func(t testing.TB, b *uitest.Harness, w *window, l text.Language) {
		w.openFile("/home/jan/Downloads/kantoor.wiebelt")
		w.file.phrase.SetText("verkeerd")
		w.file.takeOpened(nil, l.T(text.SetupPassphraseWrong))
	}},
	{"file-beside", "", func(t testing.TB, b *uitest.Harness, w *window, l text.Language) {
		w.openFile("/home/jan/Downloads/kantoor.wiebelt")
		w.file.takeOpened(&hubtrial.SetupFile{HubMoved: true, Rows: []hubtrial.Row{
			{Key: "hub.base_url", Current: "https://api.hub.example", New: "https://api.practicehub-productie.example"},
			{Key: "hub.hub_url", Current: "https://hub.example", New: "https://practicehub-productie.example"},
			{Key: "hub.client_id", Current: "kantoor-dorpsstraat", New: "kantoor-dorpsstraat"},
			{Key: "support.contact", Current: "", New: "Jan (IT), toestel 140"},
			{Key: "line", Current: "020 123 45 67, Schade", New: "020 123 45 67, Schade, 020 123 45 68, Leven"}}}, "")
	}},
}

// locked is the state where a policy sets the hub, everything of an office,
// and the card's corner.
func locked(t testing.TB, l text.Language) state {
	t.Helper()
	policy := filepath.Join(t.TempDir(), settings.PolicyFile)
	must.Do(t, os.WriteFile(policy, []byte(officeSettings+"[card]\ncorner = \"top-left\"\nover_fullscreen = true\n"), 0o600))
	s, problems := settings.CheckPolicy(policy)
	if len(problems) > 0 {
		t.Fatal(problems)
	}
	return stateOf(l, s, uitest.Noon)
}

// steps shows n successful steps of a test, and a failed one if failure is not "".
func steps(w *window, n int, failure contact.Failure) {
	all := []string{hubtrial.StepName, hubtrial.StepTLS, hubtrial.StepToken, hubtrial.StepScopes, hubtrial.StepLookup}
	for i, name := range all[:min(n+1, len(all))] {
		st := hubtrial.Step{Name: name, State: hubtrial.StateOK}
		switch {
		case i < n && name == hubtrial.StepLookup:
			st.Found, st.Duration = 1, 34*time.Millisecond
		case i == n && failure == "":
			st.State = hubtrial.StateRunning
		case i == n:
			st = hubtrial.Step{Name: name, State: hubtrial.StateFailed, Err: &contact.LookupError{Failure: failure, Detail: "token: invalid_client"},
				HubMessage: "Client authentication failed · invalid_client"}
		}
		w.trial.steps.step(st)
	}
}

// typeInto types into a row.
func typeInto(w *window, key, s string) {
	type typed interface{ SetText(string) }
	w.rows[key].focus.(typed).SetText(s)
}

// TestSettingsFit lays out every state in both languages and at
// every scale, and checks that none of our own words is cut.
func TestSettingsFit(t *testing.T) {
	for _, l := range []text.Language{text.Dutch, text.English} {
		for _, scene := range settingsScenes {
			b, w := openOn(t, l, officeSettings)
			w.setSecrets(keptOffice)
			uitest.Scaled(w.win, fyne.NewSize(720, 688), 1)
			if scene.section != "" {
				w.Choose(scene.section)
			}
			if scene.do != nil {
				scene.do(t, b, w, l)
			}
			for _, scale := range uitest.Scales {
				name := "settings-" + string(l) + "-" + scene.name
				uitest.ExamineAt(t, name, w.win, scale, []fyne.Size{{Width: 720, Height: 688}}, l.T(text.SettingsWindowTestRunning))
				if got := w.pages.MinSize().Width; got > w.scroll.Size().Width {
					t.Errorf("%s at %v: a page is %v wide in %v", name, scale, got, w.scroll.Size().Width)
				}
			}
			w.win.SetCloseIntercept(nil)
			w.win.Close()
		}
	}
}

// TestReadmeShot checks that the README's picture shows the settings window as it is.
func TestReadmeShot(t *testing.T) {
	_, w := openOn(t, text.English, officeSettings)
	uitest.Scaled(w.win, fyne.NewSize(720, 592), 2)
	shottest.UpToDate(t, "../settings", "en", w.win.Canvas().Capture())
}
