package windowapp

import (
	"encoding/json"
	"fmt"
	"maps"
	"reflect"
	"slices"
	"strings"
	"testing"

	"fyne.io/fyne/v2"

	"wiebelt/internal/guide"
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
	b.Show(windowapi.WindowDelivery)
	windowOf := func(name string) fyne.Window { return b.Page(name).Window() }
	calls, recipes := windowOf(windowapi.WindowCalls), windowOf(windowapi.WindowRecipes)
	help, delivery := windowOf(windowapi.WindowHelp), windowOf(windowapi.WindowDelivery)
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
	if windowOf(windowapi.WindowCalls) != calls || windowOf(windowapi.WindowRecipes) != recipes ||
		windowOf(windowapi.WindowHelp) != help || windowOf(windowapi.WindowDelivery) != delivery {
		t.Fatal("another window")
	}
	uitest.WantTexts(t, calls, "Calls", "Ready.")
	if calls.Title() != "Calls – Wiebelt" || delivery.Title() != "Deliver messages – Wiebelt" {
		t.Errorf("%q, %q", calls.Title(), delivery.Title())
	}
	uitest.WantTexts(t, delivery, text.English.T(text.DeliveryWindowChoose))
	uitest.WantTexts(t, recipes, text.English.T(text.RecipesPhones))
	for w, name := range map[string]string{windowapi.WindowRecipes: "microsip", windowapi.WindowHelp: "messages"} {
		if at := b.Page(w).(widgets.Chooser).Chosen(); at != name {
			t.Errorf("%s is at %q, not at %q", w, at, name)
		}
	}
	uitest.WantTexts(t, help, "Deliver")
}

// filled brings newly opened windows into states with more content, and
// calls look in each. Windows without an entry are checked as they open.
var filled = map[string]func(t *testing.T, b *uitest.Harness, look func(state string)){
	windowapi.WindowDemo: func(t *testing.T, b *uitest.Harness, look func(string)) {
		look("open")
		for _, c := range b.Welcome.Demo {
			b.SendFromResident(t, windowapi.KindPlay, windowapi.PlayResult{ID: c.ID, Line: b.Lang.T(text.DemoPlayedContact, "123 ms", "1.234 ms")})
			look(c.ID)
		}
	},
	windowapi.WindowHelp: func(t *testing.T, b *uitest.Harness, look func(string)) {
		for _, p := range guide.Help(b.Lang) {
			b.ShowAt(windowapi.WindowHelp, p.ID)
			look(p.ID)
		}
	},
}

// TestEveryWindowFits checks that no word of any window is cut or extends
// beyond its border, in either language and at every scale, and that the
// window fits on the smallest screen. New windows are included automatically.
func TestEveryWindowFits(t *testing.T) {
	all := slices.Sorted(maps.Keys(openers(nil)))
	for _, l := range []text.Language{text.Dutch, text.English} {
		for _, name := range all {
			var demo []windowapi.DemoCall
			for _, id := range []string{"known", "family", "unknown", "withheld", "colleague", "passed", "slow", "gone", "refused"} {
				demo = append(demo, windowapi.DemoCall{ID: id, Title: l.T(text.DemoTitle(id)), Hint: l.T(text.DemoHint(id))})
			}
			b := allWindows(t, uitest.Greeting(l, demo...))
			b.Show(name)
			w := b.Page(name).Window()
			size := w.Canvas().Size()
			look := func(state string) {
				uitest.Examine(t, name+"-"+string(l)+"-"+state, w, []fyne.Size{size})
			}
			if f := filled[name]; f != nil {
				f(t, b, look)
			} else {
				look("open")
			}
			w.Close()
		}
	}
}

// TestEscapeCloses: Escape closes every window, as it opens and from
// each of our widgets that Tab reaches, at the latest the second time:
// first a list releases the focus, and a search field is cleared.
func TestEscapeCloses(t *testing.T) {
	const most = 12
	pressed := 0
	for _, name := range slices.Sorted(maps.Keys(openers(nil))) {
		open := func() (*uitest.Harness, fyne.Window) {
			b := allWindows(t, uitest.Greeting(text.Dutch, uitest.DemoCalls...))
			b.Show(name)
			return b, b.Page(name).Window()
		}
		_, first := open()
		seen := map[string]bool{} // kinds of widgets that Tab has reached in this window
		for n := range most {
			on := first.Canvas().Focused()
			first.Canvas().FocusNext()
			what := reflect.TypeOf(on)
			if seen[fmt.Sprint(what)] {
				continue
			}
			seen[fmt.Sprint(what)] = true
			if on != nil && !strings.Contains(what.Elem().PkgPath(), "wiebelt") {
				continue // Fyne's lists and selects keep Escape for themselves
			}
			pressed++
			b, w := open()
			for range n {
				w.Canvas().FocusNext()
			}
			for range 2 {
				if b.Page(name) == nil {
					break
				}
				e := &fyne.KeyEvent{Name: fyne.KeyEscape}
				if f := w.Canvas().Focused(); f != nil {
					f.TypedKey(e)
				} else {
					w.Canvas().OnTypedKey()(e)
				}
			}
			if b.Page(name) != nil {
				t.Errorf("%s: Escape does not close it from %v", name, what)
				w.Close()
			}
		}
		first.Close()
	}
	if pressed < 15 {
		t.Errorf("pressed in %d places only", pressed)
	}
}
