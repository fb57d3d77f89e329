package desk

import (
	"fmt"
	"maps"
	"slices"
	"testing"

	"wiebelt/internal/deskapi"
	"wiebelt/internal/guide"
	"wiebelt/internal/text"
	"wiebelt/internal/ui/kittest"
)

// filled bring a window, just opened, into states that have more to say, and call
// look in each. Windows without one are looked at as they open.
var filled = map[string]func(t *testing.T, b *kittest.Bench, look func(state string)){
	deskapi.WindowDemo: func(t *testing.T, b *kittest.Bench, look func(string)) {
		look("open")
		for _, c := range b.Welcome.Demo {
			b.Tell(t, deskapi.KindPlay, deskapi.Played{ID: c.ID, Line: b.Lang.T(text.DemoPlayedContact, "123 ms", "1.234 ms")})
			look(c.ID)
		}
	},
	deskapi.WindowHelp: func(t *testing.T, b *kittest.Bench, look func(string)) {
		for _, p := range guide.Help(b.Lang) {
			b.ShowAt(deskapi.WindowHelp, p.ID)
			look(p.ID)
		}
	},
}

// TestEveryWindowFits: no word of any window is cut or reaches over its border, in
// either language and at every scale, and on the smallest screen it needs no more
// room than there is. Whoever adds a window gets it looked at.
func TestEveryWindowFits(t *testing.T) {
	all := slices.Sorted(maps.Keys(openers(nil)))
	looked := 0
	for _, l := range []text.Language{text.Dutch, text.English} {
		for _, scale := range kittest.Scales {
			for _, name := range all {
				var demo []deskapi.DemoCall
				for _, id := range []string{"known", "family", "unknown", "withheld", "colleague", "passed", "slow", "gone", "refused"} {
					demo = append(demo, deskapi.DemoCall{ID: id, Title: l.T(text.DemoTitle(id)), Hint: l.T(text.DemoHint(id))})
				}
				b := deskBench(t, kittest.Greeting(l, demo...))
				b.Show(name)
				w := b.Page(name).Window()
				size := w.Canvas().Size()
				kittest.Scaled(w, size, scale)
				look := func(state string) {
					looked++
					kittest.Uncut(t, fmt.Sprintf("%s, %s, %s at %v", name, state, l, scale), w)
					if scale == 1 {
						kittest.Fits(t, fmt.Sprintf("%s, %s, %s", name, state, l), w)
					}
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
