package start

import (
	"slices"
	"strings"
	"testing"
	"time"

	"fyne.io/fyne/v2"
	"fyne.io/fyne/v2/test"

	"wiebelt/internal/deskapi"
	"wiebelt/internal/text"
	"wiebelt/internal/ui/kit"
	"wiebelt/internal/ui/kittest"
)

func began(l text.Language, phones ...deskapi.StartPhone) deskapi.StartState {
	return deskapi.StartState{Corner: "bottom-right", Language: string(l), Phones: phones, Support: "Jan (IT)"}
}

var ready = deskapi.StartPhone{ID: "baresip 127.0.0.1:4444", Name: "baresip", Sentence: "Gevonden op deze pc, nog niet gekoppeld.", Can: true, Recipe: "baresip"}

func openStart(t *testing.T, l text.Language, s deskapi.StartState) (*kittest.Bench, *window) {
	t.Helper()
	b := kittest.New(t, kittest.Greeting(l), map[string]kit.Opener{deskapi.WindowStart: Open, deskapi.WindowTest: OpenTest})
	b.Show(deskapi.WindowStart)
	if said := b.Take(); len(said) != 1 || said[0].Kind != deskapi.KindStartAsk {
		t.Fatalf("said %v", said)
	}
	b.Tell(t, deskapi.KindStartState, s)
	return b, b.Page(deskapi.WindowStart).(*window)
}

// TestStartAsksThreeThings and no word about the hub, which is for others.
func TestStartAsksThreeThings(t *testing.T) {
	for _, l := range []text.Language{text.Dutch, text.English} {
		_, w := openStart(t, l, began(l, ready))
		all := kittest.Texts(w.win)
		asked := 0
		for _, s := range all {
			if strings.HasSuffix(s, "?") {
				asked++
			}
		}
		if asked != 3 || !slices.Contains(all, "3") || slices.Contains(all, "4") {
			t.Errorf("%s: %d questions: %v", l, asked, all)
		}
		if s := strings.ToLower(strings.Join(all, "|")); strings.Contains(s, "hub") {
			t.Errorf("%s: the hub is spoken of: %s", l, s)
		}
		test.Tap(w.more)
		kittest.WantTexts(t, w.win, "hub")
		test.Tap(w.more)
		if s := strings.ToLower(strings.Join(kittest.Texts(w.win), "|")); strings.Contains(s, "hub") {
			t.Errorf("%s: still there: %s", l, s)
		}
	}
}

func TestStartCorner(t *testing.T) {
	b, w := openStart(t, text.Dutch, began(text.Dutch))
	w.picker.Resize(w.picker.MinSize())
	for i, pos := range []fyne.Position{{X: 20, Y: 20}, {X: 150, Y: 20}, {X: 20, Y: 90}, {X: 150, Y: 90}} {
		test.TapAt(w.picker, pos)
		if said := b.Take(); len(said) != 1 || said[0].M != (deskapi.StartCorner{Corner: corners[i]}) || w.picker.chosen != i {
			t.Errorf("corner %d: said %v", i, said)
		}
	}
	test.TapAt(w.picker, fyne.NewPos(100, screenHeight+8)) // on its foot
	if said := b.Take(); len(said) != 0 {
		t.Errorf("said %v", said)
	}
	w.win.Canvas().Focus(w.picker)
	for _, k := range []struct {
		key  fyne.KeyName
		want string
	}{{fyne.KeyUp, "top-right"}, {fyne.KeyLeft, "top-left"}, {fyne.KeyDown, "bottom-left"}, {fyne.KeyRight, "bottom-right"}, {fyne.KeySpace, "bottom-right"}} {
		w.picker.TypedKey(&fyne.KeyEvent{Name: k.key})
		if said := b.Take(); len(said) != 1 || said[0].M != (deskapi.StartCorner{Corner: k.want}) {
			t.Errorf("%s: said %v", k.key, said)
		}
	}
	locked := began(text.Dutch)
	locked.CornerLocked, locked.LanguageLocked, locked.Corner = true, true, "top-left"
	b.Tell(t, deskapi.KindStartState, locked)
	test.TapAt(w.picker, fyne.NewPos(150, 90))
	if said := b.Take(); len(said) != 0 || w.picker.chosen != 0 {
		t.Errorf("what the administrator set was changed: %v", said)
	}
	kittest.WantTexts(t, w.win, "Uw beheerder heeft dit vastgelegd.")
}

// TestStartLanguage: chosen at once, and the window goes on in that language
// where it was, test call and all.
func TestStartLanguage(t *testing.T) {
	b, w := openStart(t, text.Dutch, began(text.Dutch, ready))
	kittest.Press(t, w.win, "Testen met een echte oproep")
	b.Take()
	if o := w.language.Objects[0].(*kit.Option); !o.Chosen || o.Label != "Nederlands" {
		t.Errorf("%q, chosen: %v", o.Label, o.Chosen)
	}
	test.Tap(w.language.Objects[1].(*kit.Option))
	if said := b.Take(); len(said) != 1 || said[0].M != (deskapi.StartLanguage{Language: "en"}) {
		t.Errorf("said %v", said)
	}
	win := w.win
	b.Tell(t, deskapi.KindWelcome, kittest.Greeting(text.English))
	now := b.Page(deskapi.WindowStart).(*window)
	if now == w || now.win != win {
		t.Fatal("not the same window in another language")
	}
	kittest.WantTexts(t, win, "Welcome to Wiebelt", "Now call your own number. 60 seconds left", "baresip")
	b.Tell(t, "start.seen", deskapi.TestSeen{Seq: 1, Kind: "baresip", At: kittest.Noon, Tells: deskapi.TellsAll})
	kittest.WantTexts(t, win, "Call received at 12:00 through baresip.")
}

func TestStartConnects(t *testing.T) {
	off := deskapi.StartPhone{ID: "linphone ", Name: "Linphone", Sentence: "Draait op deze pc.", Recipe: "linphone"}
	b, w := openStart(t, text.Dutch, began(text.Dutch, ready, off))
	kittest.WantTexts(t, w.win, "baresip", "nog niet gekoppeld", "Linphone")
	kittest.Press(t, w.win, "Koppelen")
	if said := b.Take(); len(said) != 1 || said[0].M != (deskapi.StartConnect{ID: ready.ID}) {
		t.Errorf("said %v", said)
	}
	if c := kittest.ButtonOf(w.win, "Koppelen…"); c == nil || !c.Disabled() {
		t.Error("it can be pressed again")
	}
	// The link comes up: the resident tells of the ways in, and is asked.
	b.Tell(t, deskapi.KindWays, deskapi.Ways{})
	if said := b.Take(); len(said) != 1 || said[0].Kind != deskapi.KindStartAsk {
		t.Errorf("said %v", said)
	}
	b.Tell(t, deskapi.KindStartState, began(text.Dutch, deskapi.StartPhone{ID: "link baresip", Name: "baresip", Sentence: "Verbonden.", OK: true}))
	kittest.WantTexts(t, w.win, "Verbonden.")
	if kittest.ButtonOf(w.win, "Koppelen") != nil || kittest.ButtonOf(w.win, "Koppelen…") != nil {
		t.Error("connected, and still to be connected")
	}
	failed := began(text.Dutch, ready)
	failed.Failed = "Dit kon niet worden bewaard. Meld dit bij Jan (IT)."
	b.Tell(t, deskapi.KindStartState, failed)
	kittest.WantTexts(t, w.win, failed.Failed[:30], "Jan (IT)")
	// What has to be done first stands in its recipe.
	b.Tell(t, deskapi.KindStartState, began(text.Dutch, off))
	kittest.Press(t, w.win, "Telefoon koppelen")
	if b.PlaceOf(deskapi.WindowRecipes) != "linphone" {
		t.Error("not the phone's recipe")
	}
	b.Tell(t, deskapi.KindStartState, began(text.Dutch))
	kittest.WantTexts(t, w.win, "geen telefoonprogramma gevonden")
}

// TestTestCall: waits, says what came and what it can tell, or what to check.
func TestTestCall(t *testing.T) {
	b := kittest.New(t, kittest.Greeting(text.Dutch), map[string]kit.Opener{deskapi.WindowStart: Open, deskapi.WindowTest: OpenTest})
	b.Show(deskapi.WindowTest)
	w := b.Page(deskapi.WindowTest).(*testWindow)
	kittest.Press(t, w.win, "Testen met een echte oproep")
	if said := b.Take(); len(said) != 1 || said[0].Kind != "test.begin" || said[0].M != (deskapi.TestBegin{Seq: 1}) {
		t.Fatalf("said %v", said)
	}
	kittest.WantTexts(t, w.win, "Nog 60 seconden")
	b.Clock = b.Clock.Add(13 * time.Second)
	later := b.Later
	b.Later = nil
	for _, f := range later {
		f()
	}
	kittest.WantTexts(t, w.win, "Nog 47 seconden")
	if len(b.Later) != 1 {
		t.Errorf("%d ticks are due", len(b.Later))
	}
	b.Tell(t, "test.seen", deskapi.TestSeen{Seq: 7, Kind: "http", At: kittest.Noon, Tells: deskapi.TellsRing}) // of another test
	kittest.WantTexts(t, w.win, "Nog 47 seconden")
	b.Tell(t, "test.seen", deskapi.TestSeen{Seq: 1, Kind: "http", At: kittest.Noon, Tells: deskapi.TellsRing})
	kittest.WantTexts(t, w.win, "Oproep ontvangen om 12:00 via een webadres.", "alleen melden dat er een oproep is")
	b.Tell(t, "test.seen", deskapi.TestSeen{Seq: 1, Kind: "http", At: kittest.Noon, Tells: deskapi.TellsAll, Answered: true, Ended: true})
	kittest.WantTexts(t, w.win, "overgaan, opnemen en einde melden")
	later, b.Later = b.Later, nil
	for _, f := range later {
		f()
	}
	if len(b.Later) != 0 {
		t.Error("it goes on counting")
	}

	kittest.Press(t, w.win, "Opnieuw testen")
	b.Take()
	b.Tell(t, "test.nothing", deskapi.TestNothing{Seq: 2, Checks: []deskapi.TestCheck{{Name: "Bria", Sentence: "Kies in Bria “Allow Access”."}}})
	kittest.WantTexts(t, w.win, "Er kwam geen oproep binnen.", "Bria", "Allow Access")
	kittest.Press(t, w.win, "Opnieuw testen")
	b.Take()
	kittest.Press(t, w.win, "Stoppen")
	if said := b.Take(); len(said) != 1 || said[0].Kind != "test.stop" {
		t.Errorf("said %v", said)
	}
	kittest.Press(t, w.win, "Testen met een echte oproep")
	b.Take()
	w.win.Close()
	if said := b.Take(); len(said) != 1 || said[0].Kind != "test.stop" {
		t.Errorf("closed, said %v", said)
	}
	if b.Page(deskapi.WindowTest) != nil {
		t.Error("a closed window is still held")
	}
}
