package desk

import (
	"encoding/json"
	"testing"

	"wiebelt/internal/deskapi"
	"wiebelt/internal/text"
	"wiebelt/internal/ui/calls"
	"wiebelt/internal/ui/kittest"
)

// deskBench has all windows as they are.
func deskBench(t testing.TB, w deskapi.Welcome) *kittest.Bench {
	t.Helper()
	b := kittest.New(t, w, nil)
	b.Openers = openers(calls.NewHistory(b.Desk))
	return b
}

func TestWindowsAreMadeOnce(t *testing.T) {
	b := deskBench(t, kittest.Greeting(text.Dutch, kittest.DemoCalls...))
	before := len(b.App.Driver().AllWindows()) // the test driver has one of its own
	b.Show(deskapi.WindowDemo)
	first := b.Page(deskapi.WindowDemo).Window()
	b.Handle(deskapi.KindShow, json.RawMessage(`{"window":"demo"}`))
	b.Handle(deskapi.KindShow, json.RawMessage(`{"window":"calls"}`))
	b.Handle(deskapi.KindShow, json.RawMessage(`{"window":"of a newer resident"}`))
	if n := len(b.App.Driver().AllWindows()) - before; b.Page(deskapi.WindowDemo).Window() != first || n != 2 {
		t.Errorf("%d windows, want the same demo and one of calls", n)
	}
	first.Close()
	if b.Page(deskapi.WindowDemo) != nil {
		t.Error("a closed window is still held")
	}
	b.Handle(deskapi.KindPlay, json.RawMessage(`{"id":"known","line":"x"}`)) // nothing shows it any more
	b.Handle(deskapi.KindShow, json.RawMessage(`{"window":"demo"}`))
	if p := b.Page(deskapi.WindowDemo); p == nil || p.Window() == first {
		t.Error("the window did not come back")
	}
}

func TestHandleStrange(t *testing.T) {
	b := deskBench(t, kittest.Greeting(text.Dutch))
	b.Show(deskapi.WindowCalls)
	for _, m := range []struct{ kind, raw string }{
		{"", ""}, {"unheard of", `{"a":1}`}, {deskapi.KindShow, `nonsense`}, {deskapi.KindStatus, `[]`},
		{deskapi.KindPlay, ``}, {deskapi.KindPainted, `{}`},
	} {
		b.Handle(m.kind, json.RawMessage(m.raw))
	}
	b.Kicks = 0
	b.Handle(deskapi.KindChanged, json.RawMessage(`{"what":"history"}`))
	if b.Kicks != 1 {
		t.Errorf("a changed history was read %d times", b.Kicks)
	}
}

func TestPaintedIsSaidOnce(t *testing.T) {
	b := deskBench(t, kittest.Greeting(text.Dutch, kittest.DemoCalls...))
	b.Show(deskapi.WindowCalls)
	b.Page(deskapi.WindowCalls).Window().Canvas().Capture()
	b.Page(deskapi.WindowCalls).Window().Canvas().Capture()
	b.Show(deskapi.WindowDemo)
	b.Page(deskapi.WindowDemo).Window().Canvas().Capture()
	painted := 0
	for _, m := range b.Said {
		if m.Kind == deskapi.KindPainted {
			painted++
		}
	}
	if painted != 1 {
		t.Errorf("said painted %d times", painted)
	}
}

// Another language or look comes while windows are open: they stay where they
// are and read anew.
func TestWindowsFollowTheSettings(t *testing.T) {
	b := deskBench(t, kittest.Greeting(text.Dutch))
	b.Show(deskapi.WindowCalls)
	b.Show(deskapi.WindowRecipes)
	calls, recipes := b.Page(deskapi.WindowCalls).Window(), b.Page(deskapi.WindowRecipes).Window()
	say := func(w deskapi.Welcome) {
		t.Helper()
		raw, err := json.Marshal(w)
		if err != nil {
			t.Fatal(err)
		}
		b.Handle(deskapi.KindWelcome, raw)
	}
	same := b.Page(deskapi.WindowCalls)
	say(kittest.Greeting(text.Dutch))
	if b.Page(deskapi.WindowCalls) != same {
		t.Error("nothing changed, and the window was built anew")
	}
	english := kittest.Greeting(text.English)
	english.Status = deskapi.Status{OK: true, Sentence: "Ready."}
	say(english)
	if b.Page(deskapi.WindowCalls).Window() != calls || b.Page(deskapi.WindowRecipes).Window() != recipes {
		t.Fatal("another window")
	}
	kittest.WantTexts(t, calls, "Calls", "Ready.")
	if calls.Title() != "Calls – Wiebelt" {
		t.Error(calls.Title())
	}
	kittest.WantTexts(t, recipes, text.English.T(text.RecipesPhones))
}
