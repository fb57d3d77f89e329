package doctor

import (
	"fmt"
	"slices"
	"strings"
	"testing"

	"fyne.io/fyne/v2"
	"fyne.io/fyne/v2/test"

	"wiebelt/internal/deskapi"
	"wiebelt/internal/text"
	"wiebelt/internal/ui/kit"
	"wiebelt/internal/ui/kittest"
	"wiebelt/internal/ui/theme"
)

// doctorLines is what the doctor of a computer with troubles says, in the texts
// of the doctor itself.
func doctorLines(l text.Language) map[string][]deskapi.DoctorLine {
	all := map[string][]deskapi.DoctorLine{}
	say := func(id, state, found string, args ...any) {
		c := deskapi.DoctorLine{State: state, Message: l.T(text.Doctor(found), args...)}
		if hint := l.T(text.DoctorDo(found)); hint != string(text.DoctorDo(found)) {
			c.Hint = hint
			if whom, do, ok := strings.Cut(hint, ": "); ok && strings.HasPrefix(whom, l.T(text.DoctorAdministrator)) { // as the resident does
				c.Whom, c.Hint = whom, do
			}
		}
		all[id] = append(all[id], c)
	}
	for id, found := range map[string]string{"settings": "settings.ok", "setup": "setup.ok", "hub.name": "hub.name.ok", "hub.connection": "hub.connection.ok",
		"hub.clock": "hub.clock.ok", "scheme": "scheme.ok", "autostart": "autostart.ok", "tray": "tray.ok"} {
		say(id, "ok", found)
	}
	say("policy", "off", "policy.none")
	say("secret", "ok", "secret.two", "os")
	all["expiry"] = []deskapi.DoctorLine{{State: "warn", Message: l.N(text.Doctor("expiry.soon"), 10), Hint: l.T(text.DoctorDo("expiry.soon")), Whom: l.T(text.DoctorAdministrator) + " (Jan Willem van der Meulen (IT), toestel 140)"}}
	all["hub.certificate"] = []deskapi.DoctorLine{{State: "ok", Message: l.N(text.Doctor("hub.certificate.ok"), 120)}}
	say("hub.token", "ok", "hub.token.ok", 30)
	say("hub.token", "warn", "hub.token.old")
	say("hub.lookup", "off", "hub.lookup.off")
	say("resident", "fail", "secret.exposed")
	say("version", "off", "hub.off")
	for _, id := range []string{"listener", "link", "microsip", "cards", "lock", "browser", "disk", "folders", "program", "log", "crash", "history", "audit", "delivery"} {
		all[id] = []deskapi.DoctorLine{{State: "ok", Message: l.T(text.DoctorAbout(id)) + "."}}
	}
	return all
}

func doctorBench(t *testing.T, l text.Language, look string) (*kittest.Bench, *window) {
	b := kittest.New(t, kittest.Greeting(l), map[string]kit.Opener{deskapi.WindowDoctor: Open})
	b.App.Settings().SetTheme(theme.New(look))
	b.Show(deskapi.WindowDoctor)
	return b, b.Page(deskapi.WindowDoctor).(*window)
}

// finish ends the run.
func finish(t *testing.T, b *kittest.Bench, w *window, l text.Language) {
	t.Helper()
	for id, lines := range doctorLines(l) {
		b.Tell(t, deskapi.KindDoctorFound, deskapi.DoctorFound{Seq: w.seq, ID: id, Lines: lines})
	}
	b.Tell(t, deskapi.KindDoctorDone, deskapi.DoctorDone{Seq: w.seq, Sentence: l.N(text.DoctorTrouble, 1)})
}

// The window has a place for every check, under its heading, from the start.
func TestDoctorHasEveryCheck(t *testing.T) {
	var ids []string
	for _, g := range groups {
		ids = append(ids, g.checks...)
	}
	if !slices.Equal(ids, text.DoctorChecks) {
		t.Errorf("the window shows %v, the doctor checks %v", ids, text.DoctorChecks)
	}
	for _, l := range []text.Language{text.Dutch, text.English} {
		for _, id := range ids {
			if s := l.T(text.DoctorName(id)); s == string(text.DoctorName(id)) {
				t.Errorf("%s has no name", id)
			}
		}
	}
}

// Checks fill in as they come; what belongs to another run is passed over; every
// line says its state in a word, and what to do, for whom.
func TestDoctorWindow(t *testing.T) {
	b, w := doctorBench(t, text.Dutch, "light")
	if got := b.Take(); len(got) != 1 || got[0].M != (deskapi.DoctorRun{Seq: 1}) {
		t.Fatalf("asked %v", got)
	}
	kittest.WantTexts(t, w.win, "Controle", "Bezig: nog 30 controles.", "Instellingen en geheim", "Hub", "Bezig")
	if !w.bundle.Disabled() || !w.copyAll.Disabled() || !w.again.Disabled() {
		t.Error("buttons work before there is anything")
	}
	b.Tell(t, deskapi.KindDoctorFound, deskapi.DoctorFound{Seq: 99, ID: "settings", Lines: []deskapi.DoctorLine{{State: "fail", Message: "van een andere keer"}}})
	b.Tell(t, deskapi.KindDoctorFound, deskapi.DoctorFound{Seq: 1, ID: "no.such", Lines: []deskapi.DoctorLine{{State: "fail", Message: "van een nieuwere"}}})
	b.Tell(t, deskapi.KindDoctorFound, deskapi.DoctorFound{Seq: 1, ID: "resident", Lines: doctorLines(text.Dutch)["resident"]})
	kittest.WantTexts(t, w.win, "nog 29 controles", "Storing", "Anderen kunnen het bestand met het geheim lezen", "U: Vraag een nieuw geheim aan")
	if all := strings.Join(kittest.Texts(w.win), " "); strings.Contains(all, "andere keer") || strings.Contains(all, "nieuwere") {
		t.Error("what is not of this run is shown")
	}
	finish(t, b, w, text.Dutch)
	kittest.WantTexts(t, w.win, "1 controle wijst op een storing.", "Let op", "Uit", "Goed", "Beheerder (Jan Willem van der Meulen (IT), toestel 140):")
	if all := strings.Join(kittest.Texts(w.win), " "); strings.Contains(all, "Bezig") {
		t.Errorf("something is still at work: %s", all)
	}
	test.Tap(w.copyAll)
	copied := b.App.Clipboard().Content()
	if strings.Count(copied, "\n") != 32 || !strings.Contains(copied, "Storing\tWiebelt\tAnderen kunnen") || !strings.HasSuffix(copied, "1 controle wijst op een storing.\n") {
		t.Errorf("copied %q", copied)
	}
	b.Take()
	test.Tap(w.again)
	if got := b.Take(); len(got) != 1 || got[0].M != (deskapi.DoctorRun{Seq: 2}) || w.done != nil {
		t.Errorf("asked %v", got)
	}
	b.Later[len(b.Later)-1]() // no answer
	kittest.WantTexts(t, w.win, "Wiebelt antwoordt niet.")
	w.win.Close()
	for _, f := range b.Later {
		f() // of a window that is gone
	}
}

// The bundle is shown, file by file, before anything is written; what is written
// is asked for by its path.
func TestDoctorBundle(t *testing.T) {
	b, w := doctorBench(t, text.Dutch, "light")
	finish(t, b, w, text.Dutch)
	b.Take()
	test.Tap(w.bundle)
	if got := b.Take(); len(got) != 1 || got[0].Kind != deskapi.KindDoctorBundle || !w.bundle.Disabled() {
		t.Fatalf("asked %v", got)
	}
	b.Tell(t, deskapi.KindDoctorHolds, holds)
	if got := b.Take(); len(got) != 1 || got[0].M != (deskapi.DoctorPeek{File: 0}) {
		t.Fatalf("asked %v", got)
	}
	kittest.WantTexts(t, w.win, "Hulpbestand", "Er is nog niets geschreven.", "doctor.json · 4,2 kB", "log/wiebelt.log · 325 kB", "Opslaan", "Terug")
	b.Tell(t, deskapi.KindDoctorPiece, deskapi.DoctorPiece{File: 0, Text: "{\n  \"ok\": fal", Next: 12})
	if got := b.Take(); len(got) != 1 || got[0].M != (deskapi.DoctorPeek{File: 0, From: 12}) {
		t.Fatalf("asked %v", got)
	}
	b.Tell(t, deskapi.KindDoctorPiece, deskapi.DoctorPiece{File: 1, From: 12, Text: "van een ander bestand"})
	b.Tell(t, deskapi.KindDoctorPiece, deskapi.DoctorPiece{File: 0, From: 12, Text: "se\n" + strings.Repeat("x", 100), Next: shownAtOnce + 1})
	if got := w.holds.lines; len(got) != 4 || got[1] != "  \"ok\": false" || len(got[2]) != lineRunes || w.holds.more.Hidden {
		t.Errorf("%q, more %v", got, !w.holds.more.Hidden)
	}
	w.holds.Choose("settings.txt")
	b.Take()
	b.Tell(t, deskapi.KindDoctorPiece, deskapi.DoctorPiece{File: 0, From: shownAtOnce + 1, Text: "te laat"})
	if len(w.holds.lines) != 0 {
		t.Errorf("%q", w.holds.lines)
	}
	w.holds.path.SetText("/home/a/x.zip ")
	test.Tap(w.holds.save)
	if got := b.Take(); len(got) != 1 || got[0].M != (deskapi.DoctorWrite{Path: "/home/a/x.zip"}) || !w.holds.save.Disabled() {
		t.Fatalf("asked %v", got)
	}
	b.Tell(t, deskapi.KindDoctorWritten, deskapi.DoctorWritten{Path: "x", Error: text.Dutch.T(text.DoctorWindowThere)})
	kittest.WantTexts(t, w.win, "Daar staat al iets")
	b.Tell(t, deskapi.KindDoctorWritten, deskapi.DoctorWritten{Path: "/home/a/x.zip"})
	if w.holds != nil || !strings.Contains(strings.Join(kittest.Texts(w.win), " "), "Opgeslagen: /home/a/x.zip") {
		t.Error("not told that it is written")
	}
	b.Tell(t, deskapi.KindDoctorHolds, holds) // not asked for
	if w.holds != nil {
		t.Error("a bundle that nobody asked for is shown")
	}
}

var holds = deskapi.DoctorHolds{Path: "/home/jan/Bureaublad/wiebelt-2026-11-21-1042.zip",
	Files: []deskapi.DoctorFile{{Name: "doctor.json", Size: 4200}, {Name: "settings.txt", Size: 2100}, {Name: "environment.txt", Size: 300}, {Name: "log/wiebelt.log", Size: 325_300}, {Name: "log/crash.txt", Size: 900}}}

// No word is cut, in either language and at every scale. With WIEBELT_SHOTS set,
// pictures are left there.
func TestDoctorWindowFits(t *testing.T) {
	for _, l := range []text.Language{text.Dutch, text.English} {
		for _, look := range []string{"light", "dark"} {
			for _, scale := range kittest.Scales {
				b, w := doctorBench(t, l, look)
				what := fmt.Sprintf("%s %s %v", l, look, scale)
				kittest.Scaled(w.win, fyne.NewSize(720, 688), scale)
				kittest.Uncut(t, what+" running", w.win)
				apart(t, what+" running", w)
				kittest.Shot(t, w.win, fmt.Sprintf("doctor-running-%s-%s-%v", l, look, scale))
				finish(t, b, w, l)
				apart(t, what, w)
				if scale == 1 {
					kittest.Fits(t, what, w.win)
				}
				for _, size := range []fyne.Size{fyne.NewSize(720, 688), fyne.NewSize(480, 560)} {
					kittest.Scaled(w.win, size, scale)
					for y := float32(0); y < w.scroll.Content.MinSize().Height; y += 400 {
						w.scroll.ScrollToOffset(fyne.NewPos(0, y))
						kittest.Uncut(t, what, w.win)
					}
				}
				kittest.Scaled(w.win, fyne.NewSize(720, 688), scale)
				w.scroll.ScrollToTop()
				kittest.Shot(t, w.win, fmt.Sprintf("doctor-%s-%s-%v", l, look, scale))
				w.scroll.ScrollToBottom()
				kittest.Shot(t, w.win, fmt.Sprintf("doctor-end-%s-%s-%v", l, look, scale))
				test.Tap(w.bundle)
				b.Tell(t, deskapi.KindDoctorHolds, holds)
				b.Tell(t, deskapi.KindDoctorPiece, deskapi.DoctorPiece{Text: strings.Repeat("{\n  \"ok\": false,\n  \"checks\": [\n    {\"id\": \"settings\", \"state\": \"ok\", \"message\": \"Geen fouten in de instellingen.\", \"hint\": \"\"},\n", 20), Next: shownAtOnce + 1})
				kittest.Uncut(t, what+" bundle", w.win)
				if scale == 1 {
					kittest.Fits(t, what+" bundle", w.win)
				}
				kittest.Shot(t, w.win, fmt.Sprintf("doctor-bundle-%s-%s-%v", l, look, scale))
				w.win.Close()
			}
		}
	}
}

// apart fails if a row lies over another one.
func apart(t *testing.T, what string, w *window) {
	t.Helper()
	bottom := float32(0)
	for _, o := range w.list.Objects {
		if y := o.Position().Y; y < bottom || o.Size().Height+0.5 < o.MinSize().Height {
			t.Errorf("%s: something at %v, %v high of %v, lies over what ends at %v", what, y, o.Size().Height, o.MinSize().Height, bottom)
		}
		bottom = o.Position().Y + o.MinSize().Height
	}
}
