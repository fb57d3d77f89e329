package card

import (
	"image"
	"maps"
	"slices"
	"testing"

	"wiebelt/internal/core/engine"
	"wiebelt/internal/text"
)

// pictured is one picture of one card.
type pictured struct {
	name string
	draw func() *image.RGBA
}

// hardest lists the fullest cards, which are pictured at every scale
// in both languages, each in one tone. The others are pictured once,
// every second one in the look that differs most from the default.
var hardest = []string{"found", "earlier"}

func pictures(t testing.TB) []pictured {
	usual := Look{Support: "Jan (IT), toestel 140"}
	var all []pictured
	add := func(name, scale string, lang text.Language, dark bool, draw func(Look, float32) *image.RGBA) {
		l := usual
		l.Language, l.Dark = lang, dark
		tone := map[bool]string{false: "light", true: "dark"}[dark]
		factor := map[string]float32{"100": 1, "150": 1.5, "200": 2}[scale]
		all = append(all, pictured{name + "-" + tone + "-" + string(lang) + "-" + scale, func() *image.RGBA { return draw(l, factor) }})
	}
	cards := everyCard(t)
	for i, name := range slices.Sorted(maps.Keys(cards)) {
		c := cards[name]
		draw := func(l Look, scale float32) *image.RGBA {
			return picture(c.Card, c.in(l), now, scale)
		}
		switch {
		case slices.Contains(hardest, name):
			for _, scale := range []string{"100", "150", "200"} {
				add(name, scale, text.Dutch, false, draw)
				add(name, scale, text.English, true, draw)
			}
		case i%2 == 0:
			add(name, "100", text.Dutch, false, draw)
		default:
			add(name, "200", text.English, true, draw)
		}
	}
	add("more", "100", text.Dutch, false, func(l Look, scale float32) *image.RGBA {
		l.MoreCount = 2
		return picture(engine.Card{}, l, now, scale)
	})
	return all
}
