package doctor

import (
	"archive/zip"
	"context"
	"errors"
	"fmt"
	"io"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"testing"

	"fyne.io/fyne/v2"
	"fyne.io/fyne/v2/test"

	"wiebelt/internal/config/settings"
	"wiebelt/internal/doctor"
	"wiebelt/internal/instance/windowapi"
	"wiebelt/internal/logfile"
	"wiebelt/internal/testutil/must"
	"wiebelt/internal/text"
	"wiebelt/internal/ui/uitest"
	"wiebelt/internal/ui/widgets"
)

// doctorLines returns the doctor's output, in its own texts, on a computer with problems.
func doctorLines(l text.Language) map[string][]doctor.Check {
	all := map[string][]doctor.Check{}
	say := func(id string, state doctor.State, found string, args ...any) {
		c := doctor.Check{ID: id, State: state, Message: l.T(text.Doctor(found), args...)}
		if hint := l.T(text.DoctorDo(found)); hint != string(text.DoctorDo(found)) {
			c.Hint = hint
		}
		all[id] = append(all[id], c)
	}
	for id, found := range map[string]string{"settings": "settings.ok", "setup": "setup.ok", "hub.name": "hub.name.ok", "hub.connection": "hub.connection.ok",
		"hub.clock": "hub.clock.ok", "scheme": "scheme.ok", "autostart": "autostart.ok", "tray": "tray.ok"} {
		say(id, "ok", found)
	}
	say("policy", "off", "policy.none")
	say("secret", "ok", "secret.two", "os")
	all["expiry"] = []doctor.Check{{State: "warn", Message: l.N(text.Doctor("expiry.soon"), 10), Hint: l.T(text.DoctorDo("expiry.soon"))}}
	all["hub.certificate"] = []doctor.Check{{State: "ok", Message: l.N(text.Doctor("hub.certificate.ok"), 120)}}
	say("hub.token", "ok", "hub.token.ok", 30)
	say("hub.token", "warn", "hub.token.old")
	say("hub.lookup", "off", "hub.lookup.off")
	say("resident", "fail", "secret.exposed")
	say("version", "off", "hub.off")
	for _, id := range []string{"listener", "link", "microsip", "screen", "cards", "lock", "browser", "disk", "folders", "program", "log", "crash", "history", "audit", "delivery"} {
		all[id] = []doctor.Check{{State: "ok", Message: l.T(text.DoctorAbout(id)) + "."}}
	}
	return all
}

// openDoctor opens a window that waits for the checks' results.
func openDoctor(t *testing.T, l text.Language) (*uitest.Harness, *window) {
	b := uitest.New(t, uitest.Greeting(l), map[string]widgets.Opener{windowapi.WindowDoctor: func(host *widgets.Host) widgets.Page {
		w := newWindow(host)
		w.showPending()
		return w
	}})
	b.Show(windowapi.WindowDoctor)
	w := b.Page(windowapi.WindowDoctor).(*window)
	w.cfg.Settings = settings.Defaults()
	w.cfg.Settings.Support.Contact = "Jan Willem van der Meulen (IT), toestel 140"
	return b, w
}

// finish ends the run.
func finish(w *window, l text.Language) {
	var r doctor.Report
	for id, lines := range doctorLines(l) {
		w.setResult(id, lines)
		r.Checks = append(r.Checks, lines...)
	}
	cfg := w.cfg
	cfg.Dirs = w.host.Dirs
	w.finishRun(cfg, r)
}

// TestDoctorWindow: checks appear as they finish; every line
// has its state as a word, and says what to do and who does it.
func TestDoctorWindow(t *testing.T) {
	b, w := openDoctor(t, text.Dutch)
	uitest.WantTexts(t, w.win, "Controle", "Bezig: nog 31 controles.", "Instellingen en geheim", "Hub", "Bezig")
	if !w.bundle.Disabled() || !w.copyAll.Disabled() || !w.again.Disabled() {
		t.Error("buttons work before there is anything")
	}
	w.setResult("resident", doctorLines(text.Dutch)["resident"])
	uitest.WantTexts(t, w.win, "nog 30 controles", "Storing", "Anderen kunnen het bestand met het geheim lezen", "U: Vraag een nieuw geheim aan")
	finish(w, text.Dutch)
	uitest.WantTexts(t, w.win, "3 controles wijzen op een storing.", "Let op", "Uit", "Goed", "Beheerder (Jan Willem van der Meulen (IT), toestel 140):")
	uitest.WantNoTexts(t, w.win, "Bezig")
	test.Tap(w.copyAll)
	copied := b.App.Clipboard().Content()
	if strings.Count(copied, "\n") != 33 || !strings.Contains(copied, "Storing\tWiebelt\tAnderen kunnen") || !strings.HasSuffix(copied, "3 controles wijzen op een storing.\n") {
		t.Errorf("copied %q", copied)
	}
	w.showPending()
	uitest.WantTexts(t, w.win, "Bezig: nog 31 controles.")
	w.win.Close()
	b.RunDue() // for a closed window
}

// TestDoctorLooks: the window runs the checks by itself, for its own
// profile, and again on request; closing it ends what it started.
func TestDoctorLooks(t *testing.T) {
	b := uitest.New(t, uitest.Greeting(text.Dutch), map[string]widgets.Opener{windowapi.WindowDoctor: Open})
	must.Do(t, os.WriteFile(settings.Path(b.Dirs), []byte("[hub]\nwrong\n"), 0o600))
	var begun []func(context.Context)
	b.Go = func(work func(context.Context)) { begun = append(begun, work) }
	b.Show(windowapi.WindowDoctor)
	w := b.Page(windowapi.WindowDoctor).(*window)
	begun[0](t.Context())
	if len(w.found) != len(text.DoctorChecks) || w.found["settings"][0].State != doctor.Fail || w.again.Disabled() {
		t.Errorf("%+v", w.found)
	}
	test.Tap(w.again)
	w.win.Close()
	begun[1](t.Context())
	if len(w.found) != 0 {
		t.Error("what a closed window asked for is shown")
	}
}

// TestDoctorBundle: everything that is written was shown before, file by
// file; no file is overwritten, no link followed, and nothing written twice.
func TestDoctorBundle(t *testing.T) {
	b, w := openDoctor(t, text.Dutch)
	must.Do(t, os.MkdirAll(b.Dirs.Log(), 0o700))
	var log strings.Builder
	for i := range 9000 { // a large one, with long lines and non-text
		fmt.Fprintf(&log, "line %d \xff %s\n", i, strings.Repeat("x", i%200))
	}
	must.Do(t, os.WriteFile(filepath.Join(b.Dirs.Log(), logfile.Name), []byte(log.String()), 0o600))
	finish(w, text.Dutch)
	test.Tap(w.bundle)
	w.win.Canvas().Focus(w.shownBundle.path)
	w.shownBundle.path.TypedKey(&fyne.KeyEvent{Name: fyne.KeyEscape})
	if w.shownBundle != nil || b.Page(windowapi.WindowDoctor) == nil {
		t.Error("Escape does not lead back to the checks")
	}
	test.Tap(w.bundle)
	uitest.WantTexts(t, w.win, "Hulpbestand", "Er is nog niets geschreven.", "doctor.json · ", "log/wiebelt.log · ", "Opslaan", "Terug")
	shown := map[string][]string{}
	for _, f := range w.shownBundle.files {
		w.shownBundle.Choose(f.name)
		if w.shownBundle.view.Length() != len(f.lines) {
			t.Errorf("%s has %d lines, %d are shown", f.name, len(f.lines), w.shownBundle.view.Length())
		}
		shown[f.name] = f.lines
	}
	dir := t.TempDir()
	path := filepath.Join(dir, "help.zip")
	must.Do(t, errors.Join(os.WriteFile(filepath.Join(dir, "there.zip"), []byte("mine"), 0o600), os.Symlink(path, filepath.Join(dir, "link.zip"))))
	for bad, why := range map[string]text.Key{"": text.DoctorWindowPath, "help.zip": text.DoctorWindowPath, filepath.Join(dir, "help.sh"): text.DoctorWindowPath,
		"/" + strings.Repeat("x", 5000) + ".zip": text.DoctorWindowPath, filepath.Join(dir, "there.zip"): text.DoctorWindowThere,
		filepath.Join(dir, "link.zip"): text.DoctorWindowThere, filepath.Join(dir, "none", "help.zip"): text.DoctorWindowUnwritten} {
		w.shownBundle.path.SetText(bad)
		test.Tap(w.shownBundle.save)
		uitest.WantTexts(t, w.win, text.Dutch.T(why))
		if w.shownBundle.save.Disabled() {
			t.Fatal("no second try")
		}
	}
	w.shownBundle.path.SetText(path + " ")
	test.Tap(w.shownBundle.save)
	if w.shownBundle != nil || !strings.Contains(uitest.AllText(w.win), "Opgeslagen: "+path) {
		t.Error("not told that it is written")
	}
	if b, _ := os.ReadFile(filepath.Join(dir, "there.zip")); string(b) != "mine" {
		t.Error("something was overwritten")
	}
	z := must.Get(zip.OpenReader(path))(t)
	defer z.Close()
	if len(z.File) != len(shown) || len(shown) < 4 {
		t.Errorf("%d files written, %d shown", len(z.File), len(shown))
	}
	for _, f := range z.File {
		r, err := f.Open()
		must.Do(t, err)
		written, err := io.ReadAll(r)
		_ = r.Close()
		if got := bundleFiles([]doctor.Entry{{Name: f.Name, Data: written}}); err != nil || !slices.Equal(got[0].lines, shown[f.Name]) {
			t.Errorf("%s is not what was shown: %v", f.Name, err)
		}
	}
}

// TestBroken checks that a long line is broken without losing anything.
func TestBroken(t *testing.T) {
	got := breakLines("{\n\t\"ok\": false\n"+strings.Repeat("x", lineRunes+1)+"\n", lineRunes)
	if want := []string{"{", "    \"ok\": false", strings.Repeat("x", lineRunes), "x"}; !slices.Equal(got, want) {
		t.Errorf("%q", got)
	}
}

// TestDoctorWindowFits checks that no word is cut, in either language and at every scale.
func TestDoctorWindowFits(t *testing.T) {
	for _, l := range []text.Language{text.Dutch, text.English} {
		_, w := openDoctor(t, l)
		own, small := fyne.NewSize(720, 688), fyne.NewSize(480, 560)
		examine := func(state string, sizes ...fyne.Size) {
			for _, scale := range uitest.Scales {
				uitest.ExamineAt(t, "doctor-"+string(l)+"-"+state, w.win, scale, sizes)
				apart(t, state, w)
			}
		}
		examine("running", own)
		finish(w, l)
		for y := float32(0); y < w.scroll.Content.MinSize().Height; y += 400 {
			w.scroll.ScrollToOffset(fyne.NewPos(0, y))
			examine(fmt.Sprintf("from-%v", y), own, small)
		}
		test.Tap(w.bundle)
		w.shownBundle.path.SetText("/home/jan/Bureaublad/wiebelt-2026-11-21-1042.zip")
		examine("bundle", own)
		w.win.Close()
	}
}

// apart fails if rows overlap.
func apart(t *testing.T, what string, w *window) {
	t.Helper()
	bottom := float32(0)
	for _, o := range test.WidgetRenderer(w.list).Objects()[0].(*fyne.Container).Objects {
		if y := o.Position().Y; y < bottom || o.Size().Height+0.5 < o.MinSize().Height {
			t.Errorf("%s: something at %v, %v high of %v, lies over what ends at %v", what, y, o.Size().Height, o.MinSize().Height, bottom)
		}
		bottom = o.Position().Y + o.MinSize().Height
	}
}
