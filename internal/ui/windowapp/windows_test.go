package windowapp

import (
	"encoding/json"
	"testing"

	"wiebelt/internal/instance/windowapi"
	"wiebelt/internal/testutil/must"
	"wiebelt/internal/text"
	"wiebelt/internal/ui/calls"
	"wiebelt/internal/ui/uitest"
	"wiebelt/internal/ui/widgets"
)

// allWindows returns a Harness with all real windows.
func allWindows(t testing.TB, w windowapi.Welcome) *uitest.Harness {
	t.Helper()
	b := uitest.New(t, w, nil)
	b.Openers = openers(calls.NewHistory(b.Host))
	return b
}

func TestWindowsAreMadeOnce(t *testing.T) {
	b := allWindows(t, uitest.Greeting(text.Dutch, uitest.DemoCalls...))
	before := len(b.App.Driver().AllWindows()) // the test driver has one of its own
	b.Show(windowapi.WindowDemo)
	first := b.Page(windowapi.WindowDemo).Window()
	b.Handle(windowapi.KindShow, json.RawMessage(`{"window":"demo"}`))
	b.Handle(windowapi.KindShow, json.RawMessage(`{"window":"calls"}`))
	b.Handle(windowapi.KindShow, json.RawMessage(`{"window":"of a newer resident"}`))
	if n := len(b.App.Driver().AllWindows()) - before; b.Page(windowapi.WindowDemo).Window() != first || n != 2 {
		t.Errorf("%d windows, want the same demo and one of calls", n)
	}
	first.Close()
	if b.Page(windowapi.WindowDemo) != nil {
		t.Error("a closed window is still held")
	}
	b.Handle(windowapi.KindPlay, json.RawMessage(`{"id":"known","line":"x"}`)) // nothing shows it any more
	b.Handle(windowapi.KindShow, json.RawMessage(`{"window":"demo"}`))
	if p := b.Page(windowapi.WindowDemo); p == nil || p.Window() == first {
		t.Error("the window did not come back")
	}
}

func TestHandleStrange(t *testing.T) {
	b := allWindows(t, uitest.Greeting(text.Dutch))
	b.Show(windowapi.WindowCalls)
	for _, m := range []struct{ kind, raw string }{
		{"", ""}, {"unheard of", `{"a":1}`}, {windowapi.KindShow, `nonsense`}, {windowapi.KindStatus, `[]`},
		{windowapi.KindPlay, ``}, {windowapi.KindPainted, `{}`},
	} {
		b.Handle(m.kind, json.RawMessage(m.raw))
	}
	b.HistoryReads = 0
	b.Handle(windowapi.KindChanged, json.RawMessage(`{"what":"history"}`))
	if b.HistoryReads != 1 {
		t.Errorf("a changed history was read %d times", b.HistoryReads)
	}
}

// TestWindowsFollowTheSettings: if language or look change, open windows
// stay in place and at the same page, and read their data again.
func TestWindowsFollowTheSettings(t *testing.T) {
	b := allWindows(t, uitest.Greeting(text.Dutch))
	b.Show(windowapi.WindowCalls)
	b.Show(windowapi.WindowRecipes)
	b.ShowAt(windowapi.WindowRecipes, "microsip")
	b.ShowAt(windowapi.WindowHelp, "messages")
	help := b.Page(windowapi.WindowHelp).Window()
	calls, recipes := b.Page(windowapi.WindowCalls).Window(), b.Page(windowapi.WindowRecipes).Window()
	say := func(w windowapi.Welcome) {
		t.Helper()
		raw := must.Get(json.Marshal(w))(t)
		b.Handle(windowapi.KindWelcome, raw)
	}
	same := b.Page(windowapi.WindowCalls)
	say(uitest.Greeting(text.Dutch))
	if b.Page(windowapi.WindowCalls) != same {
		t.Error("nothing changed, and the window was built anew")
	}
	english := uitest.Greeting(text.English)
	english.Status = windowapi.Status{OK: true, Sentence: "Ready."}
	say(english)
	if b.Page(windowapi.WindowCalls).Window() != calls || b.Page(windowapi.WindowRecipes).Window() != recipes {
		t.Fatal("another window")
	}
	uitest.WantTexts(t, calls, "Calls", "Ready.")
	if calls.Title() != "Calls – Wiebelt" {
		t.Error(calls.Title())
	}
	uitest.WantTexts(t, recipes, text.English.T(text.RecipesPhones))
	for w, name := range map[string]string{windowapi.WindowRecipes: "microsip", windowapi.WindowHelp: "messages"} {
		if at := b.Page(w).(widgets.Chooser).Chosen(); at != name {
			t.Errorf("%s is at %q, not at %q", w, at, name)
		}
	}
	uitest.WantTexts(t, help, "Deliver")
}
