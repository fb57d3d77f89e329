package desk

import (
	"fmt"
	"slices"
	"testing"

	"fyne.io/fyne/v2"

	"wiebelt/internal/deskapi"
	"wiebelt/internal/text"
)

// filled bring a window, just opened, into states that have more to say, and call
// look in each. Windows without one are looked at as they open.
var filled = map[string]func(t *testing.T, b *bench, look func(state string)){
	deskapi.WindowDemo: func(t *testing.T, b *bench, look func(string)) {
		look("open")
		for _, c := range b.welcome.Demo {
			b.demo.played(deskapi.Played{ID: c.ID, Line: b.lang.T(text.DemoPlayedContact, "123 ms", "1.234 ms")})
			look(c.ID)
		}
	},
	deskapi.WindowHelp: func(t *testing.T, b *bench, look func(string)) {
		w := b.pages[deskapi.WindowHelp].(*helpWindow)
		for _, p := range w.all {
			w.choose(p.ID)
			look(p.ID)
		}
	},
}

// TestEveryWindowFits: no word of any window is cut or reaches over its border, in
// either language and at every scale. Whoever adds a window gets it looked at.
func TestEveryWindowFits(t *testing.T) {
	all := []string{deskapi.WindowDemo, deskapi.WindowRecipes}
	for name := range openers {
		all = append(all, name)
	}
	slices.Sort(all)
	looked := 0
	for _, l := range []text.Language{text.Dutch, text.English} {
		for _, scale := range scales {
			for _, name := range all {
				var demo []deskapi.DemoCall
				for _, id := range []string{"known", "family", "unknown", "withheld", "colleague", "passed", "slow", "gone", "refused"} {
					demo = append(demo, deskapi.DemoCall{ID: id, Title: l.T(text.DemoTitle(id)), Hint: l.T(text.DemoHint(id))})
				}
				b := newBench(t, greeting(l, demo...))
				b.show(name)
				w := b.opened(name)
				size := w.Canvas().Size()
				scaled(w, size, scale)
				look := func(state string) {
					looked++
					uncut(t, fmt.Sprintf("%s, %s, %s at %v", name, state, l, scale), w)
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
	t.Logf("%d pictures of %d windows: %v", looked, len(all), all)
}

// opened is the window of that name.
func (b *bench) opened(name string) fyne.Window {
	switch name {
	case deskapi.WindowDemo:
		return b.demo.win
	case deskapi.WindowRecipes:
		return b.recipes.win
	}
	return b.pages[name].window()
}
