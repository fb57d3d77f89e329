package desk

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
)

func began(l text.Language, phones ...deskapi.StartPhone) deskapi.StartState {
	return deskapi.StartState{Corner: "bottom-right", Language: string(l), Phones: phones, Support: "Jan (IT)"}
}

var ready = deskapi.StartPhone{ID: "baresip 127.0.0.1:4444", Name: "baresip", Sentence: "Gevonden op deze pc, nog niet gekoppeld.", Can: true, Recipe: "baresip"}

func openStart(t *testing.T, l text.Language, s deskapi.StartState) (*bench, *startWindow) {
	t.Helper()
	b := newBench(t, greeting(l), map[string]kit.Opener{deskapi.WindowStart: newStartWindow, deskapi.WindowTest: newTestWindow})
	b.Show(deskapi.WindowStart)
	if said := b.take(); len(said) != 1 || said[0].kind != deskapi.KindStartAsk {
		t.Fatalf("said %v", said)
	}
	b.tell(t, deskapi.KindStartState, s)
	return b, b.Page(deskapi.WindowStart).(*startWindow)
}

// TestStartAsksThreeThings and no word about the hub, which is for others.
func TestStartAsksThreeThings(t *testing.T) {
	for _, l := range []text.Language{text.Dutch, text.English} {
		_, w := openStart(t, l, began(l, ready))
		all := texts(w.win)
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
		wantTexts(t, w.win, "hub")
		test.Tap(w.more)
		if s := strings.ToLower(strings.Join(texts(w.win), "|")); strings.Contains(s, "hub") {
			t.Errorf("%s: still there: %s", l, s)
		}
	}
}

func TestStartCorner(t *testing.T) {
	b, w := openStart(t, text.Dutch, began(text.Dutch))
	w.picker.Resize(w.picker.MinSize())
	for i, pos := range []fyne.Position{{X: 20, Y: 20}, {X: 150, Y: 20}, {X: 20, Y: 90}, {X: 150, Y: 90}} {
		test.TapAt(w.picker, pos)
		if said := b.take(); len(said) != 1 || said[0].m != (deskapi.StartCorner{Corner: corners[i]}) || w.picker.chosen != i {
			t.Errorf("corner %d: said %v", i, said)
		}
	}
	test.TapAt(w.picker, fyne.NewPos(100, screenHeight+8)) // on its foot
	if said := b.take(); len(said) != 0 {
		t.Errorf("said %v", said)
	}
	w.win.Canvas().Focus(w.picker)
	for _, k := range []struct {
		key  fyne.KeyName
		want string
	}{{fyne.KeyUp, "top-right"}, {fyne.KeyLeft, "top-left"}, {fyne.KeyDown, "bottom-left"}, {fyne.KeyRight, "bottom-right"}, {fyne.KeySpace, "bottom-right"}} {
		w.picker.TypedKey(&fyne.KeyEvent{Name: k.key})
		if said := b.take(); len(said) != 1 || said[0].m != (deskapi.StartCorner{Corner: k.want}) {
			t.Errorf("%s: said %v", k.key, said)
		}
	}
	locked := began(text.Dutch)
	locked.CornerLocked, locked.LanguageLocked, locked.Corner = true, true, "top-left"
	b.tell(t, deskapi.KindStartState, locked)
	test.TapAt(w.picker, fyne.NewPos(150, 90))
	if said := b.take(); len(said) != 0 || w.picker.chosen != 0 {
		t.Errorf("what the administrator set was changed: %v", said)
	}
	wantTexts(t, w.win, "Uw beheerder heeft dit vastgelegd.")
}

// TestStartLanguage: chosen at once, and the window goes on in that language
// where it was, test call and all.
func TestStartLanguage(t *testing.T) {
	b, w := openStart(t, text.Dutch, began(text.Dutch, ready))
	pressed(t, w.win, "Testen met een echte oproep")
	b.take()
	if o := w.language.Objects[0].(*kit.Option); !o.Chosen || o.Label != "Nederlands" {
		t.Errorf("%q, chosen: %v", o.Label, o.Chosen)
	}
	test.Tap(w.language.Objects[1].(*kit.Option))
	if said := b.take(); len(said) != 1 || said[0].m != (deskapi.StartLanguage{Language: "en"}) {
		t.Errorf("said %v", said)
	}
	win := w.win
	b.tell(t, deskapi.KindWelcome, greeting(text.English))
	now := b.Page(deskapi.WindowStart).(*startWindow)
	if now == w || now.win != win {
		t.Fatal("not the same window in another language")
	}
	wantTexts(t, win, "Welcome to Wiebelt", "Now call your own number. 60 seconds left", "baresip")
	b.tell(t, "start.seen", deskapi.TestSeen{Seq: 1, Kind: "baresip", At: noon, Tells: deskapi.TellsAll})
	wantTexts(t, win, "Call received at 12:00 by baresip.")
}

func TestStartConnects(t *testing.T) {
	off := deskapi.StartPhone{ID: "linphone ", Name: "Linphone", Sentence: "Draait op deze pc.", Recipe: "linphone"}
	b, w := openStart(t, text.Dutch, began(text.Dutch, ready, off))
	wantTexts(t, w.win, "baresip", "nog niet gekoppeld", "Linphone")
	pressed(t, w.win, "Koppelen")
	if said := b.take(); len(said) != 1 || said[0].m != (deskapi.StartConnect{ID: ready.ID}) {
		t.Errorf("said %v", said)
	}
	if c := buttonOf(w.win, "Koppelen…"); c == nil || !c.Disabled() {
		t.Error("it can be pressed again")
	}
	// The link comes up: the resident tells of the ways in, and is asked.
	b.tell(t, deskapi.KindWays, deskapi.Ways{})
	if said := b.take(); len(said) != 1 || said[0].kind != deskapi.KindStartAsk {
		t.Errorf("said %v", said)
	}
	b.tell(t, deskapi.KindStartState, began(text.Dutch, deskapi.StartPhone{ID: "link baresip", Name: "baresip", Sentence: "Verbonden.", OK: true}))
	wantTexts(t, w.win, "Verbonden.")
	if buttonOf(w.win, "Koppelen") != nil || buttonOf(w.win, "Koppelen…") != nil {
		t.Error("connected, and still to be connected")
	}
	failed := began(text.Dutch, ready)
	failed.Failed = "Dit kon niet worden bewaard. Meld dit bij Jan (IT)."
	b.tell(t, deskapi.KindStartState, failed)
	wantTexts(t, w.win, failed.Failed[:30], "Jan (IT)")
	// What has to be done first stands in its recipe.
	b.tell(t, deskapi.KindStartState, began(text.Dutch, off))
	pressed(t, w.win, "Telefoon koppelen")
	if b.placeOf(deskapi.WindowRecipes) != "linphone" {
		t.Error("not the phone's recipe")
	}
	b.tell(t, deskapi.KindStartState, began(text.Dutch))
	wantTexts(t, w.win, "geen telefoonprogramma herkend")
}

// TestTestCall: waits, says what came and what it can tell, or what to check.
func TestTestCall(t *testing.T) {
	b := newBench(t, greeting(text.Dutch), map[string]kit.Opener{deskapi.WindowStart: newStartWindow, deskapi.WindowTest: newTestWindow})
	b.Show(deskapi.WindowTest)
	w := b.Page(deskapi.WindowTest).(*testWindow)
	pressed(t, w.win, "Testen met een echte oproep")
	if said := b.take(); len(said) != 1 || said[0].kind != "test.begin" || said[0].m != (deskapi.TestBegin{Seq: 1}) {
		t.Fatalf("said %v", said)
	}
	wantTexts(t, w.win, "Nog 60 seconden")
	b.clock = b.clock.Add(13 * time.Second)
	later := b.later
	b.later = nil
	for _, f := range later {
		f()
	}
	wantTexts(t, w.win, "Nog 47 seconden")
	if len(b.later) != 1 {
		t.Errorf("%d ticks are due", len(b.later))
	}
	b.tell(t, "test.seen", deskapi.TestSeen{Seq: 7, Kind: "http", At: noon, Tells: deskapi.TellsRing}) // of another test
	wantTexts(t, w.win, "Nog 47 seconden")
	b.tell(t, "test.seen", deskapi.TestSeen{Seq: 1, Kind: "http", At: noon, Tells: deskapi.TellsRing})
	wantTexts(t, w.win, "Oproep ontvangen om 12:00 via HTTP.", "alleen melden dat er een oproep is")
	b.tell(t, "test.seen", deskapi.TestSeen{Seq: 1, Kind: "http", At: noon, Tells: deskapi.TellsAll, Answered: true, Ended: true})
	wantTexts(t, w.win, "overgaan, opnemen en einde melden")
	later, b.later = b.later, nil
	for _, f := range later {
		f()
	}
	if len(b.later) != 0 {
		t.Error("it goes on counting")
	}

	pressed(t, w.win, "Opnieuw testen")
	b.take()
	b.tell(t, "test.nothing", deskapi.TestNothing{Seq: 2, Checks: []deskapi.TestCheck{{Name: "Bria", Sentence: "Kies in Bria “Allow Access”."}}})
	wantTexts(t, w.win, "Er kwam geen oproep binnen.", "Bria", "Allow Access")
	pressed(t, w.win, "Opnieuw testen")
	b.take()
	pressed(t, w.win, "Stoppen")
	if said := b.take(); len(said) != 1 || said[0].kind != "test.stop" {
		t.Errorf("said %v", said)
	}
	pressed(t, w.win, "Testen met een echte oproep")
	b.take()
	w.win.Close()
	if said := b.take(); len(said) != 1 || said[0].kind != "test.stop" {
		t.Errorf("closed, said %v", said)
	}
	if b.Page(deskapi.WindowTest) != nil {
		t.Error("a closed window is still held")
	}
}
