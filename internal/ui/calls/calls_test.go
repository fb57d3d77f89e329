package calls

import (
	"encoding/json"
	"errors"
	"slices"
	"strings"
	"testing"

	"fyne.io/fyne/v2"

	"wiebelt/internal/instance/windowapi"
	"wiebelt/internal/store/callactions"
	"wiebelt/internal/store/history"
	"wiebelt/internal/text"
	"wiebelt/internal/ui/uitest"
)

func TestEmptyPages(t *testing.T) {
	tests := []struct {
		name    string
		welcome windowapi.Welcome
		state   func(*harness)
		want    string
	}{
		{"no calls, demo", uitest.Greeting(text.Dutch, uitest.DemoCalls...), func(b *harness) { b.read(nil, nil) }, "Demo openen"},
		{"no calls", uitest.Greeting(text.Dutch), func(b *harness) { b.read(nil, nil) }, "Nog geen oproepen"},
		{"no calls, how to try", uitest.Greeting(text.English), func(b *harness) { b.read(nil, nil) }, "wiebelt demo"},
		{"not kept", windowapi.Welcome{Language: "nl"}, func(b *harness) { b.read(nil, nil) }, "Oproepen worden niet bewaard"},
		{"unreadable", uitest.Greeting(text.Dutch), func(b *harness) { b.read(nil, errors.New("disk")) }, "kunnen nu niet worden gelezen"},
		{"filtered", uitest.Greeting(text.Dutch), func(b *harness) {
			b.read([]history.Entry{customer()}, nil)
			b.calls.filter.SetText("zzz")
		}, "Niets gevonden voor “zzz”"},
		{"none missed", uitest.Greeting(text.Dutch), func(b *harness) {
			b.read([]history.Entry{customer()}, nil)
			b.calls.show(history.ViewMissedHandled)
			b.storeResult(readResult{readRequest: b.nextRequest(), exact: true})
		}, "Geen gemiste oproepen"},
		{"none mine", uitest.Greeting(text.English), func(b *harness) {
			b.state(callactions.State{Group: true})
			b.storeResult(readResult{readRequest: b.nextRequest(), exact: true})
		}, "No calls for you"},
	}
	for _, tt := range tests {
		t.Run(tt.name, func(t *testing.T) {
			b := newHarness(t, tt.welcome)
			b.Show(windowapi.WindowCalls)
			tt.state(b)
			uitest.WantTexts(t, b.calls.win, tt.want)
		})
	}
	t.Run("a long search", func(t *testing.T) {
		b := newHarness(t, uitest.Greeting(text.Dutch))
		b.Show(windowapi.WindowCalls)
		b.read(nil, nil)
		b.calls.filter.SetText("zzz")
		for slow, page := range map[bool]text.Key{false: pageBlank, true: text.CallsSearching} {
			b.storeResult(readResult{readRequest: b.nextRequest(), slow: slow})
			if got := b.calls.body.ContentName; got != string(page) {
				t.Errorf("slow %v: page %q", slow, got)
			}
		}
	})
	t.Run("their buttons", func(t *testing.T) {
		b := newHarness(t, uitest.Greeting(text.Dutch, uitest.DemoCalls...))
		b.Show(windowapi.WindowCalls)
		b.read(nil, nil)
		uitest.Press(t, b.calls.win, text.Dutch.T(text.WindowDemoOpen))
		b.read([]history.Entry{customer()}, nil)
		b.calls.filter.SetText("zzz")
		uitest.Press(t, b.calls.win, text.Dutch.T(text.WindowCallsNoneClear))
		if b.Page(windowapi.WindowDemo) == nil || b.calls.filter.Text != "" {
			t.Errorf("the filter is %q", b.calls.filter.Text)
		}
	})
	t.Run("what was read stays when reading fails", func(t *testing.T) {
		b := newHarness(t, uitest.Greeting(text.Dutch))
		b.Show(windowapi.WindowCalls)
		b.read([]history.Entry{customer()}, nil)
		b.read(nil, errors.New("disk"))
		uitest.WantTexts(t, b.calls.win, "J. de Vries")
	})
}

// TestCallsState checks that the window shows what the resident reports besides the calls.
func TestCallsState(t *testing.T) {
	b := opened(t, customer())
	uitest.WantTexts(t, b.calls.win, "Gemist", "Alles")
	b.Handle(windowapi.KindStatus, json.RawMessage(`{"ok":false,"sentence":"De hub reageert niet."}`))
	uitest.WantTexts(t, b.calls.win, "De hub reageert niet.")
	b.state(callactions.State{Manual: true})
	b.say(t, "De schijf is vol.", "")
	if uitest.Press(t, b.calls.win, "Nummer opzoeken"); b.Page(windowapi.WindowLookup) == nil {
		t.Error("the lookup window is not shown")
	}
	b.wantNote(t, "De schijf is vol.")
	b.say(t, "", "Er is een nieuw bestand begonnen.")
	b.wantNote(t, "Er is een nieuw bestand begonnen.")
	uitest.WantTexts(t, b.calls.win, "Begrepen")
	b.did()
	uitest.PressIn(t, b.calls.note.Container, "Begrepen")
	b.wantDid(t, "reading the notice", "changed {What:read Removed:[]}")
	b.wantNote(t, "")
	// A ring group: the user's own calls come first; the others appear only under all calls.
	b.state(callactions.State{Group: true})
	uitest.WantTexts(t, b.calls.win, "Mijn oproepen")
	b.wantView(t, history.ViewMine)
	b.calls.show(history.ViewMissedHandled)
	b.state(callactions.State{Group: true})
	b.wantView(t, history.ViewMissedHandled)
	b.calls.show(history.ViewMine)
	b.state(callactions.State{})
	b.wantView(t, history.ViewAll)
	b.on.fail = history.ErrGone
	b.calls.openFile(views(b)[7].row)
	b.wantNote(t, "Deze oproep is er niet meer.")
	b.calls.openFile(views(b)[7].row) // again: the message is shown for the full time from now
	first, second := b.Later[len(b.Later)-2], b.Later[len(b.Later)-1]
	first()
	b.wantNote(t, "Deze oproep is er niet meer.")
	second()
	b.wantNote(t, "")
}

func TestLookAgain(t *testing.T) {
	b := opened(t, customer())
	b.state(callactions.State{Manual: true})
	b.did()
	r, _ := b.calls.row(0)
	b.calls.lookAgain(r)
	if got := b.DrainSent(); len(got) != 1 || got[0].M != (windowapi.Lookup{Seq: 1, Entry: 7, Text: customer().Number}) {
		t.Errorf("said %#v", got)
	}
	uitest.WantTexts(t, b.calls.win, "Relatie opzoeken…")
	for _, f := range []windowapi.LookupResult{{Seq: 1}, {Seq: 1, Entry: 6}, {Seq: 2, Entry: 7}} { // of other requests
		b.SendFromResident(t, windowapi.KindLookup, f)
	}
	uitest.WantTexts(t, b.calls.win, "Relatie opzoeken…")
	silent := b.Later[len(b.Later)-1]
	silent() // no answer
	b.wantNote(t, text.Dutch.T(text.LookupSilent))
	uitest.WantNoTexts(t, b.calls.win, "opzoeken…")
	b.calls.lookAgain(r)
	silent() // for the previous lookup
	b.did()
	uitest.WantTexts(t, b.calls.win, "Relatie opzoeken…")
	b.on.got.Sentence = "Nog steeds niemand."
	b.SendFromResident(t, windowapi.KindLookup, windowapi.LookupResult{Seq: 2, Entry: 7, Outcome: history.OutcomeNobody})
	b.wantDid(t, "the answer", "looked 7 nobody")
	b.wantNote(t, "Nog steeds niemand.")
	uitest.WantNoTexts(t, b.calls.win, "opzoeken…")
	b.calls.lookAgain(r) // and the window is rebuilt before the answer
	b.SendFromResident(t, windowapi.KindWelcome, uitest.Greeting(text.English))
	b.did()
	b.SendFromResident(t, windowapi.KindLookup, windowapi.LookupResult{Seq: 3, Entry: 7, Outcome: history.OutcomeNobody})
	b.wantDid(t, "the answer to the window before", "looked 7 nobody")
	b.read([]history.Entry{customer()}, nil)
	b.calls.lookAgain(r)
	uitest.WantTexts(t, b.calls.win, text.English.T(text.CallsLooking))
	b.on.fail = history.ErrGone
	b.SendFromResident(t, windowapi.KindLookup, windowapi.LookupResult{Seq: 4, Entry: 7, Outcome: history.OutcomeNobody})
	uitest.WantNoTexts(t, b.calls.win, text.English.T(text.CallsLooking))
}

// TestWaysFromCalls checks that everything can be reached from the calls window,
// since the icon may not be shown. The demo has no port for a real phone.
func TestWaysFromCalls(t *testing.T) {
	labels := func(b *harness) (all []string) {
		for _, i := range b.calls.menuItems() {
			if !i.IsSeparator {
				all = append(all, i.Label)
			}
		}
		return all
	}
	b := newHarness(t, uitest.Greeting(text.Dutch))
	b.Show(windowapi.WindowCalls)
	b.state(callactions.State{Manual: true, Delivery: true})
	if got, want := labels(b), []string{"Nummer opzoeken…", "Berichten aanleveren…", "Testen met een echte oproep…", text.Dutch.T(text.RecipesMenu), "Instellingen…",
		text.Dutch.T(text.DoctorWindowMenu), "Help…", "Alles wissen…", "Wiebelt afsluiten"}; !slices.Equal(got, want) {
		t.Errorf("%q, want %q", got, want)
	}
	for _, i := range b.calls.menuItems() {
		if i.Label == "Instellingen…" || i.Label == "Wiebelt afsluiten" {
			i.Action()
		}
	}
	if got := b.DrainSent(); b.Page(windowapi.WindowSettings) == nil || len(got) != 1 || got[0].Kind != windowapi.KindQuit {
		t.Errorf("said %v", got)
	}
	b.state(callactions.State{})
	if all := strings.Join(labels(b), "|"); strings.Contains(all, "aanleveren") || strings.Contains(all, "opzoeken") {
		t.Errorf("offers what is not set up: %s", all)
	}
	d := newHarness(t, uitest.Greeting(text.Dutch, uitest.DemoCalls...))
	d.Show(windowapi.WindowCalls)
	if got, want := labels(d), []string{"Demo…", "Alles wissen…", "Wiebelt afsluiten"}; !slices.Equal(got, want) {
		t.Errorf("the demo offers %q, want %q", got, want)
	}
}

// TestViews: each view requests its calls, and has a text for when there
// are none. In a ring group, colleagues' calls appear only under all calls.
func TestViews(t *testing.T) {
	b := newHarness(t, uitest.Greeting(text.Dutch))
	b.Show(windowapi.WindowCalls)
	b.read([]history.Entry{customer()}, nil)
	if got := b.calls.viewList(); !slices.Equal(got, []history.View{history.ViewAll, history.ViewMissedHandled, history.ViewElsewhere, history.ViewUnsure}) {
		t.Errorf("views %v", got)
	}
	for i, page := range []text.Key{text.CallsNoneMissed, text.CallsNoneElsewhere, text.CallsNoneUnsure} {
		view := b.calls.viewAt(i + 1)
		b.calls.show(view)
		b.wantView(t, view)
		b.read(nil, nil)
		if b.calls.body.ContentName != string(page) || !b.calls.tools.Visible() {
			t.Errorf("view %d without calls: page %q", view, b.calls.body.ContentName)
		}
	}
	b.state(callactions.State{Group: true})
	if got := b.calls.viewList(); !slices.Equal(got, []history.View{history.ViewMine, history.ViewMissedHandled, history.ViewAll}) {
		t.Errorf("in a group: %v", got)
	}
	if !slices.Contains(b.calls.viewList(), b.calls.query.View) {
		t.Errorf("in a group it stays on view %d, which is not offered", b.calls.query.View)
	}
	b.calls.show(history.ViewMine)
	b.read(nil, nil)
	if uitest.Press(t, b.calls.win, text.Dutch.T(text.CallsNoneShow)); b.calls.query.View != history.ViewAll {
		t.Errorf("from no calls of one's own to view %d", b.calls.query.View)
	}
	b.calls.show(history.ViewMissedHandled)
	b.calls.filter.SetText("vries")
	b.SendFromResident(t, windowapi.KindWelcome, uitest.Greeting(text.English))
	if w := b.nextRequest(); w.query != (history.Query{View: history.ViewMissedHandled, Filter: "vries"}) || b.calls.filter.Text != "vries" {
		t.Errorf("in another language it asks for %+v, and the field has %q", w.query, b.calls.filter.Text)
	}
}

// TestWipe: everything is deleted only after confirmation;
// what was removed before can then no longer be restored.
func TestWipe(t *testing.T) {
	b := opened(t, customer())
	gone, _ := b.calls.row(0)
	b.calls.remove(gone, []int64{gone.id})
	top := func() fyne.CanvasObject { return b.calls.win.Canvas().Overlays().Top() }
	asked := func() fyne.CanvasObject {
		t.Helper()
		b.calls.askWipe()
		if top() == nil {
			t.Fatal("nobody is asked")
		}
		return top()
	}
	b.did()
	uitest.PressIn(t, asked(), text.Dutch.T(text.WindowFyne("Cancel")))
	b.wantDid(t, "cancelled, it")
	if top() != nil || len(b.calls.undos) != 1 {
		t.Errorf("cancelled, %d can come back", len(b.calls.undos))
	}
	asked()
	b.calls.win.Canvas().Focused().TypedKey(&fyne.KeyEvent{Name: fyne.KeyEscape})
	b.wantDid(t, "Escape")
	if top() != nil || b.calls.question != nil {
		t.Error("after Escape it still asks")
	}
	uitest.PressIn(t, asked(), text.Dutch.T(text.CallsWipeYes))
	b.wantDid(t, "the button", "wipe")
	if top() != nil || len(b.calls.undos) != 0 {
		t.Errorf("%d can come back", len(b.calls.undos))
	}
}
