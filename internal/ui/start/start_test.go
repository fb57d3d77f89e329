package start

import (
	"context"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"sync"
	"testing"
	"time"

	"fyne.io/fyne/v2"
	"fyne.io/fyne/v2/test"

	"wiebelt/internal/config/secret"
	"wiebelt/internal/config/settings"
	"wiebelt/internal/instance/windowapi"
	"wiebelt/internal/relay/users"
	"wiebelt/internal/softphone/detect"
	"wiebelt/internal/softphone/registry"
	"wiebelt/internal/testutil/must"
	"wiebelt/internal/testutil/relaytest"
	"wiebelt/internal/text"
	"wiebelt/internal/ui/uitest"
	"wiebelt/internal/ui/widgets"
)

// began returns a first start with these phones.
func began(phones ...phone) state {
	set, _ := settings.Parse("[support]\ncontact = \"Jan (IT)\"\n")
	return state{set: set, phones: phones}
}

var ready = phone{id: "baresip 127.0.0.1:4444", name: "baresip", sentence: "Gevonden op deze pc, nog niet gekoppeld.", connectable: true, recipe: "baresip"}

// openStart opens the window for a profile without any answers; it shows s. Its
// background work runs at once.
func openStart(t *testing.T, l text.Language, s state) (*uitest.Harness, *window) {
	t.Helper()
	b := uitest.New(t, uitest.Greeting(l), map[string]widgets.Opener{windowapi.WindowStart: Open, windowapi.WindowTest: OpenTest})
	must.Do(t, os.WriteFile(settings.Path(b.Dirs), []byte("[ui]\nlanguage = \""+string(l)+"\"\n"), 0o600))
	b.Show(windowapi.WindowStart)
	b.Sent = nil
	w := b.Page(windowapi.WindowStart).(*window)
	w.setState(s)
	return b, w
}

// came makes the resident report what it has seen of a test call.
func came(t *testing.T, b *uitest.Harness, seq int, seen windowapi.TestSeen) {
	t.Helper()
	b.SendFromResident(t, windowapi.KindTest, windowapi.Test{Window: windowapi.WindowTest, Seq: seq, Seen: &seen})
}

// TestStartAsksThreeThings: the window asks three things,
// and nothing about the hub, which is for administrators.
func TestStartAsksThreeThings(t *testing.T) {
	for _, l := range []text.Language{text.Dutch, text.English} {
		_, w := openStart(t, l, began(ready))
		all := uitest.Texts(w.win)
		asked := 0
		for _, s := range all {
			if strings.HasSuffix(s, "?") {
				asked++
			}
		}
		if asked != 3 || !slices.Contains(all, "3") || slices.Contains(all, "4") {
			t.Errorf("%s: %d questions: %v", l, asked, all)
		}
		uitest.WantNoTexts(t, w.win, "hub", "Hub", "HUB")
		test.Tap(w.more)
		uitest.WantTexts(t, w.win, "hub")
		test.Tap(w.more)
		uitest.WantNoTexts(t, w.win, "hub", "Hub", "HUB")
	}
}

// TestStartJoin: if there is a relay that this computer has not joined, the window
// asks for the code, says what is wrong with it, and stops asking once it is accepted.
func TestStartJoin(t *testing.T) {
	r := relaytest.Start(t, nil)
	b, w := openStart(t, text.Dutch, began())
	if o := uitest.ButtonOf(w.win, "Aanmelden"); o != nil {
		t.Error("asked without a relay")
	}
	must.Do(t, os.WriteFile(settings.Path(b.Dirs), []byte("[hub]\nsecret_store = \"file\"\n[relay]\nurl = \""+r.Address+"\"\nfingerprint = \""+r.Fingerprint+"\"\n"), 0o600))
	w.read()
	uitest.WantTexts(t, w.win, "Meld deze computer aan")
	uitest.Press(t, w.win, "Aanmelden") // nothing was typed
	w.code.SetText("2222-2222-2222-2222")
	uitest.Press(t, w.win, "Aanmelden")
	uitest.WantTexts(t, w.win, "De code klopt niet, is al gebruikt of geldt niet meer.")
	if s, _ := settings.Load(b.Dirs); s.HasRelayLink() || w.code.Text == "" {
		t.Errorf("%+v", s.Softphones)
	}
	w.code.SetText(" " + r.Invite(users.Entry{User: "anna"}))
	secrets := filepath.Join(b.Dirs.State, "secrets")
	must.Do(t, os.WriteFile(secrets, nil, 0o600)) // not a folder
	w.code.OnSubmitted("")
	if w.notJoined != text.Dutch.T(text.SecretState(string(secret.Exposed))) {
		t.Errorf("nowhere to keep it: %q", w.notJoined)
	}
	must.Do(t, os.Remove(secrets))
	b.DrainSent()
	w.code.OnSubmitted("")
	if s, _ := settings.Load(b.Dirs); !s.HasRelayLink() || w.code.Text != "" || uitest.ButtonOf(w.win, "Aanmelden") != nil {
		t.Errorf("%+v, %v", s.Softphones, uitest.Texts(w.win))
	}
	b.WantSent(t, windowapi.Changed{What: windowapi.ChangedSettings}, windowapi.Changed{What: windowapi.ChangedSecret})
	b.SendFromResident(t, windowapi.KindSources, windowapi.Sources{Sources: []windowapi.SourceState{{Kind: "relay", Name: "relay", Phase: windowapi.LinkRefused, Why: "denied"}}})
	uitest.WantTexts(t, w.win, "Meld deze computer aan")
	if uitest.Press(t, w.win, text.Dutch.T(text.StartDone)); b.Page(windowapi.WindowStart) != nil {
		t.Error("done, and still open")
	}
}

// TestStartCorner: a corner chosen by pointer or keys
// is saved at once, and a test card is requested.
func TestStartCorner(t *testing.T) {
	b, w := openStart(t, text.Dutch, began())
	w.picker.Resize(w.picker.MinSize())
	kept := func(what, want string) {
		t.Helper()
		b.WantSent(t, windowapi.Changed{What: windowapi.ChangedSettings}, windowapi.Test{Action: windowapi.TestCard})
		if s, _ := settings.Load(b.Dirs); s.Card.Corner != want || w.state.set.Card.Corner != want || corners[w.picker.chosen] != want {
			t.Errorf("%s: kept %q, shown %q", what, s.Card.Corner, corners[w.picker.chosen])
		}
	}
	for i, pos := range []fyne.Position{{X: 20, Y: 20}, {X: 150, Y: 20}, {X: 20, Y: 90}, {X: 150, Y: 90}} {
		test.TapAt(w.picker, pos)
		kept(corners[i], corners[i])
	}
	test.TapAt(w.picker, fyne.NewPos(100, screenHeight+8)) // on its base
	b.WantSent(t)
	w.win.Canvas().Focus(w.picker)
	for _, k := range []struct {
		key  fyne.KeyName
		want string
	}{{fyne.KeyUp, "top-right"}, {fyne.KeyLeft, "top-left"}, {fyne.KeyDown, "bottom-left"}, {fyne.KeyRight, "bottom-right"}, {fyne.KeySpace, "bottom-right"}} {
		w.picker.TypedKey(&fyne.KeyEvent{Name: k.key})
		kept(string(k.key), k.want)
	}
	w.setState(byPolicy(t, "top-left"))
	test.TapAt(w.picker, fyne.NewPos(150, 90))
	if b.WantSent(t); w.picker.chosen != 0 {
		t.Error("what the administrator set was changed")
	}
	uitest.WantTexts(t, w.win, "Uw beheerder heeft dit vastgelegd.")
	place := b.App.Driver().AbsolutePositionForObject
	if said := uitest.All[*widgets.TextLine](w.language)[0]; place(said).X != place(w.picker).X {
		t.Errorf("that begins at %v, and the picture of the screen at %v", place(said), place(w.picker))
	}

	// A file that cannot be written is left alone, and that is reported.
	must.Do(t, os.WriteFile(settings.Path(b.Dirs), []byte("[card\n"), 0o600))
	w.setState(began())
	test.TapAt(w.picker, fyne.NewPos(20, 20))
	uitest.WantTexts(t, w.win, text.Dutch.T(text.StartFailed, text.Dutch.T(text.CardAdmin))[:30])
	b.WantSent(t)
}

// byPolicy is the state where a policy sets corner and language.
func byPolicy(t testing.TB, corner string) state {
	t.Helper()
	path := filepath.Join(t.TempDir(), settings.PolicyFile)
	must.Do(t, os.WriteFile(path, []byte("[card]\ncorner = \""+corner+"\"\n[ui]\nlanguage = \"nl\"\n[support]\ncontact = \"Jan (IT)\"\n"), 0o600))
	set, problems := settings.CheckPolicy(path)
	if len(problems) > 0 {
		t.Fatal(problems)
	}
	return state{set: set}
}

// TestStartInOrder: answers are saved in the order
// in which they were given, however long each takes.
func TestStartInOrder(t *testing.T) {
	b, w := openStart(t, text.Dutch, began())
	w.picker.Resize(w.picker.MinSize())
	var begun []func(context.Context)
	b.Go = func(work func(context.Context)) { begun = append(begun, work) }
	b.Post = func(func()) {} // their result is checked elsewhere
	test.TapAt(w.picker, fyne.NewPos(20, 20))
	test.TapAt(w.picker, fyne.NewPos(150, 20))
	var work sync.WaitGroup
	work.Go(func() { begun[1](t.Context()) }) // waits for the first one
	begun[0](t.Context())
	work.Wait()
	if s, _ := settings.Load(b.Dirs); s.Card.Corner != "top-right" {
		t.Errorf("kept %q", s.Card.Corner)
	}
}

// TestStartLanguage: a language is applied at once, and the
// window continues in it where it was, including a test call.
func TestStartLanguage(t *testing.T) {
	b, w := openStart(t, text.Dutch, began(ready))
	uitest.Press(t, w.win, "Testen met een echte oproep")
	b.DrainSent()
	if o := w.language.Objects[0].(*widgets.Option); o.Label != "Nederlands" {
		t.Errorf("%q", o.Label)
	}
	test.Tap(w.language.Objects[1].(*widgets.Option))
	if s, _ := settings.Load(b.Dirs); s.UI.Language != "en" || !w.language.Objects[1].(*widgets.Option).Chosen {
		t.Errorf("kept %q", s.UI.Language)
	}
	b.WantSent(t, windowapi.Changed{What: windowapi.ChangedSettings})
	before := w.language.Objects[1]
	b.SendFromResident(t, windowapi.KindSources, windowapi.Sources{})
	if w.language.Objects[1] != before {
		t.Error("a report without news replaced what may have the keyboard")
	}
	win := w.win
	b.SendFromResident(t, windowapi.KindWelcome, uitest.Greeting(text.English))
	now := b.Page(windowapi.WindowStart).(*window)
	if now == w || now.win != win {
		t.Fatal("not the same window in another language")
	}
	uitest.WantTexts(t, win, "Welcome to Wiebelt", "Now call your own number. 60 seconds left")
	b.SendFromResident(t, windowapi.KindTest, windowapi.Test{Window: windowapi.WindowStart, Seq: 1, Seen: &windowapi.TestSeen{Kind: "baresip", At: uitest.Noon, ReportLevel: windowapi.AllStates}})
	uitest.WantTexts(t, win, "Call received at 12:00 through baresip.")
}

func TestStartConnects(t *testing.T) {
	off := phone{id: "linphone ", name: "Linphone", sentence: "Draait op deze pc.", recipe: "linphone"}
	b, w := openStart(t, text.Dutch, began(ready, off))
	uitest.WantTexts(t, w.win, "baresip", "nog niet gekoppeld", "Linphone")
	var begun []func(context.Context)
	at := b.Go
	b.Go = func(work func(context.Context)) { begun = append(begun, work) }
	uitest.Press(t, w.win, "Koppelen")
	if c := uitest.ButtonOf(w.win, "Koppelen…"); c == nil || !c.Disabled() {
		t.Error("it can be pressed again")
	}
	// A report meanwhile affects neither that nor its result.
	report := func() { b.SendFromResident(t, windowapi.KindSources, windowapi.Sources{}) }
	b.Go = at
	report()
	w.setState(began(ready, off))
	if c := uitest.ButtonOf(w.win, "Koppelen…"); c == nil || !c.Disabled() {
		t.Error("it can be pressed again after a report")
	}
	b.Go = func(func(context.Context)) {} // the reading takes longer
	begun[0](t.Context())                 // the phone no longer runs
	b.Go = at
	report()
	uitest.WantTexts(t, w.win, text.Dutch.T(text.StartGone)[:20])

	// A link comes up: the resident reports the sources, and the window checks.
	must.Do(t, os.WriteFile(settings.Path(b.Dirs), []byte("[[softphone]]\nkind = \"baresip\"\n"), 0o600))
	b.SendFromResident(t, windowapi.KindSources, windowapi.Sources{Sources: []windowapi.SourceState{{Kind: "baresip", Name: "baresip", Phase: windowapi.LinkDown}}})
	uitest.WantTexts(t, w.win, text.Dutch.T(text.StartLink(windowapi.LinkDown)))
	b.SendFromResident(t, windowapi.KindSources, windowapi.Sources{Sources: []windowapi.SourceState{{Kind: "baresip", Name: "baresip", Phase: windowapi.LinkUp}}})
	uitest.WantTexts(t, w.win, text.Dutch.T(text.StartLink(windowapi.LinkUp)))
	if uitest.ButtonOf(w.win, "Koppelen") != nil || uitest.ButtonOf(w.win, "Koppelen…") != nil {
		t.Error("connected, and still to be connected")
	}
	// If something has to be done first, the button leads to the recipe.
	w.setState(began(off))
	uitest.Press(t, w.win, "Telefoon koppelen")
	if b.PlaceOf(windowapi.WindowRecipes) != "linphone" {
		t.Error("not the phone's recipe")
	}
	w.setState(began())
	uitest.WantTexts(t, w.win, "geen telefoonprogramma gevonden")
}

// TestChecks checks what the user is told to check: every configured
// source, a port that another program uses, and sources of earlier calls.
func TestChecks(t *testing.T) {
	d := uitest.Dirs(t)
	must.Do(t, os.WriteFile(settings.Path(d), []byte("[support]\ncontact = \"Jan (IT)\"\n[[softphone]]\nkind = \"bria\"\n[[softphone]]\nkind = \"baresip\"\nname = \"Balie\"\n"), 0o600))
	l := text.Dutch
	sources := &windowapi.Sources{Sources: []windowapi.SourceState{{Kind: "websocket", Phase: windowapi.SourcePortTaken, Port: 27471}, {Kind: "url", Phase: windowapi.SourceListens, LastCallAt: uitest.Noon.Add(-time.Hour)},
		{Kind: "bria", Name: "bria", Phase: windowapi.LinkRefused, Why: "bria"}, {Kind: "baresip", Name: "Balie", Phase: windowapi.LinkUp}}}
	got := checks(t.Context(), d, l, sources, uitest.Noon)
	want := []check{{l.T(text.Source("bria")), l.T(text.StartCheckBria)}, {"Balie", l.T(text.StartCheck(windowapi.LinkUp))},
		{l.T(text.StartCheckPortName), l.T(text.StartCheckPort, 27471, "Jan (IT)")}, {l.T(text.StartSource("url")), l.T(text.StartCheckBefore, "11:00")}}
	got = slices.DeleteFunc(got, func(c check) bool { return !slices.Contains(want, c) }) // a phone of this computer
	if !slices.Equal(got, want) {
		t.Errorf("%q", got)
	}
}

// TestLinked checks that a connected phone is not offered again.
func TestLinked(t *testing.T) {
	links := []settings.Softphone{{Kind: "baresip", Address: "127.0.0.1:4444"}, {Kind: "linphone", Address: "/tmp/lp"}, {Kind: "bria"}}
	for _, tt := range []struct {
		p    detect.Phone
		want bool
	}{
		{detect.Phone{Kind: registry.Baresip, Address: "127.0.0.1:4444"}, true},
		{detect.Phone{Kind: registry.Baresip, Address: "127.0.0.1:4445"}, false},
		{detect.Phone{Kind: registry.Linphone, Address: "lp"}, true},
		{detect.Phone{Kind: registry.Linphone, Address: "other"}, false},
		{detect.Phone{Kind: registry.Bria}, true},
		{detect.Phone{Kind: detect.MicroSIP, File: "x"}, false},
	} {
		if got := linked(tt.p, links); got != tt.want {
			t.Errorf("%+v: %v", tt.p, got)
		}
	}
}

// TestTestCall: the window waits, then shows the call
// and what the phone can report, or what to check.
func TestTestCall(t *testing.T) {
	b := uitest.New(t, uitest.Greeting(text.Dutch), map[string]widgets.Opener{windowapi.WindowStart: Open, windowapi.WindowTest: OpenTest})
	b.Show(windowapi.WindowTest)
	w := b.Page(windowapi.WindowTest).(*testWindow)
	uitest.Press(t, w.win, "Testen met een echte oproep")
	b.WantSent(t, windowapi.Test{Action: windowapi.TestBegin, Window: windowapi.WindowTest, Seq: 1})
	uitest.WantTexts(t, w.win, "Nog 60 seconden")
	b.Clock = b.Clock.Add(13 * time.Second)
	b.RunDue()
	uitest.WantTexts(t, w.win, "Nog 47 seconden")
	if len(b.Later) != 1 {
		t.Errorf("%d ticks are due", len(b.Later))
	}
	came(t, b, 7, windowapi.TestSeen{Kind: "http", At: uitest.Noon, ReportLevel: windowapi.RingOnly}) // of another test
	uitest.WantTexts(t, w.win, "Nog 47 seconden")
	came(t, b, 1, windowapi.TestSeen{Kind: "http", At: uitest.Noon})
	uitest.WantTexts(t, w.win, "Oproep ontvangen om 12:00 via een webadres.")
	uitest.WantNoTexts(t, w.win, "Deze telefoon", string(text.TestReports(""))) // more may come
	came(t, b, 1, windowapi.TestSeen{Kind: "http", At: uitest.Noon, ReportLevel: windowapi.RingOnly})
	uitest.WantTexts(t, w.win, "alleen melden dat er een oproep is")
	came(t, b, 1, windowapi.TestSeen{Kind: "http", At: uitest.Noon, ReportLevel: windowapi.AllStates, Answered: true, Ended: true})
	uitest.WantTexts(t, w.win, "overgaan, opnemen en einde melden")
	b.RunDue()
	if len(b.Later) != 0 {
		t.Error("it goes on counting")
	}

	uitest.Press(t, w.win, "Opnieuw testen")
	b.DrainSent()
	b.SendFromResident(t, windowapi.KindTest, windowapi.Test{Window: windowapi.WindowStart, Seq: 2}) // of another window
	uitest.WantTexts(t, w.win, "Nog 60 seconden")
	must.Do(t, os.WriteFile(settings.Path(b.Dirs), []byte("[[softphone]]\nkind = \"bria\"\n"), 0o600))
	b.SendFromResident(t, windowapi.KindSources, windowapi.Sources{Sources: []windowapi.SourceState{{Kind: "bria", Name: "bria", Phase: windowapi.LinkRefused, Why: "bria"}}})
	b.SendFromResident(t, windowapi.KindTest, windowapi.Test{Window: windowapi.WindowTest, Seq: 2})
	uitest.WantTexts(t, w.win, "Er kwam geen oproep binnen.", "Bria", "Allow Access")
	uitest.Press(t, w.win, "Opnieuw testen")
	b.DrainSent()
	uitest.Press(t, w.win, "Stoppen")
	b.WantSent(t, windowapi.Test{Action: windowapi.TestStop})
	uitest.Press(t, w.win, "Testen met een echte oproep")
	b.DrainSent()
	w.win.Close()
	b.WantSent(t, windowapi.Test{Action: windowapi.TestStop})
	if b.Page(windowapi.WindowTest) != nil {
		t.Error("a closed window is still held")
	}
}
