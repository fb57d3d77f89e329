package windowapp

import (
	"maps"
	"slices"
	"testing"

	"wiebelt/internal/guide"
	"wiebelt/internal/instance/windowapi"
	"wiebelt/internal/text"
	"wiebelt/internal/ui/uitest"

	"fyne.io/fyne/v2"
)

// filled brings newly opened windows into states with more content, and
// calls look in each. Windows without an entry are checked as they open.
var filled = map[string]func(t *testing.T, b *uitest.Harness, look func(state string)){
	windowapi.WindowDemo: func(t *testing.T, b *uitest.Harness, look func(string)) {
		look("open")
		for _, c := range b.Welcome.Demo {
			b.Tell(t, windowapi.KindPlay, windowapi.Played{ID: c.ID, Line: b.Lang.T(text.DemoPlayedContact, "123 ms", "1.234 ms")})
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
