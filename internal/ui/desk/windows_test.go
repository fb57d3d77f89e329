package desk

import (
	"encoding/json"
	"testing"

	"wiebelt/internal/deskapi"
	"wiebelt/internal/text"
)

// deskBench has all windows as they are.
func deskBench(t testing.TB, w deskapi.Welcome) *bench {
	t.Helper()
	b := newBench(t, w, nil)
	b.openers = openers(newReadings(b.windows))
	return b
}

func TestWindowsAreMadeOnce(t *testing.T) {
	b := deskBench(t, greeting(text.Dutch, demoCalls...))
	before := len(b.app.Driver().AllWindows()) // the test driver has one of its own
	b.show(deskapi.WindowDemo)
	first := b.page(deskapi.WindowDemo).Window()
	b.handle(deskapi.KindShow, json.RawMessage(`{"window":"demo"}`))
	b.handle(deskapi.KindShow, json.RawMessage(`{"window":"calls"}`))
	b.handle(deskapi.KindShow, json.RawMessage(`{"window":"of a newer resident"}`))
	if n := len(b.app.Driver().AllWindows()) - before; b.page(deskapi.WindowDemo).Window() != first || n != 2 {
		t.Errorf("%d windows, want the same demo and one of calls", n)
	}
	first.Close()
	if b.page(deskapi.WindowDemo) != nil {
		t.Error("a closed window is still held")
	}
	b.handle(deskapi.KindPlayed, json.RawMessage(`{"id":"known","line":"x"}`)) // nothing shows it any more
	b.handle(deskapi.KindShow, json.RawMessage(`{"window":"demo"}`))
	if p := b.page(deskapi.WindowDemo); p == nil || p.Window() == first {
		t.Error("the window did not come back")
	}
}

func TestHandleStrange(t *testing.T) {
	b := deskBench(t, greeting(text.Dutch))
	b.show(deskapi.WindowCalls)
	for _, m := range []struct{ kind, raw string }{
		{"", ""}, {"unheard of", `{"a":1}`}, {deskapi.KindShow, `nonsense`}, {deskapi.KindStatus, `[]`},
		{deskapi.KindPlayed, ``}, {deskapi.KindPainted, `{}`},
	} {
		b.handle(m.kind, json.RawMessage(m.raw))
	}
	b.kicks = 0
	b.handle(deskapi.KindHistory, nil)
	if b.kicks != 1 {
		t.Errorf("a changed history was read %d times", b.kicks)
	}
}

func TestPaintedIsSaidOnce(t *testing.T) {
	b := deskBench(t, greeting(text.Dutch, demoCalls...))
	b.show(deskapi.WindowCalls)
	b.page(deskapi.WindowCalls).Window().Canvas().Capture()
	b.page(deskapi.WindowCalls).Window().Canvas().Capture()
	b.show(deskapi.WindowDemo)
	b.page(deskapi.WindowDemo).Window().Canvas().Capture()
	painted := 0
	for _, m := range b.said {
		if m.kind == deskapi.KindPainted {
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
	b := deskBench(t, greeting(text.Dutch))
	b.show(deskapi.WindowCalls)
	b.show(deskapi.WindowRecipes)
	calls, recipes := b.page(deskapi.WindowCalls).Window(), b.page(deskapi.WindowRecipes).Window()
	say := func(w deskapi.Welcome) {
		t.Helper()
		raw, err := json.Marshal(w)
		if err != nil {
			t.Fatal(err)
		}
		b.handle(deskapi.KindWelcome, raw)
	}
	same := b.page(deskapi.WindowCalls)
	say(greeting(text.Dutch))
	if b.page(deskapi.WindowCalls) != same {
		t.Error("nothing changed, and the window was built anew")
	}
	english := greeting(text.English)
	english.Status = deskapi.Status{OK: true, Sentence: "Ready."}
	say(english)
	if b.page(deskapi.WindowCalls).Window() != calls || b.page(deskapi.WindowRecipes).Window() != recipes {
		t.Fatal("another window")
	}
	wantTexts(t, calls, "Calls", "Ready.")
	if calls.Title() != "Calls – Wiebelt" {
		t.Error(calls.Title())
	}
	wantTexts(t, recipes, text.English.T(text.RecipesPhones))
}
