package card

import (
	"image"
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

// variants differ from another card in a word or two.
var variants = []string{"over", "again", "ringonly", "outgoing", "browser", "chosen", "family", "notsetup", "nobody-left", "aside", "line-answered", "strip-again", "never", "nonumber", "strip-outgoing"}

// pictures are all pictures: every card at every scale, in every language and in
// every tone, each with each of the others once; the variants and the extras in
// the two looks that are furthest apart.
func pictures(t testing.TB) []pictured {
	usual := Look{Now: now, Support: "Jan (IT), toestel 140"}
	scales := map[string]float32{"100": 1, "150": 1.5, "200": 2}
	dark := func(scale string, lang text.Language) bool { return (scale == "150") != (lang == text.English) }
	var all []pictured
	add := func(name, scale string, lang text.Language, dark bool, c engine.Card, f func(*Look)) {
		l := usual
		l.Language, l.Dark = lang, dark
		if f != nil {
			f(&l)
		}
		tone := "light"
		if dark {
			tone = "dark"
		}
		all = append(all, pictured{name + "-" + tone + "-" + string(lang) + "-" + scale, func() *image.RGBA { return Picture(c, l, scales[scale]) }})
	}
	for name, c := range gallery(t) {
		if slices.Contains(variants, name) {
			add(name, "100", text.Dutch, false, c, nil)
			add(name, "200", text.English, true, c, nil)
			continue
		}
		for scale := range scales {
			for _, lang := range []text.Language{text.Dutch, text.English} {
				add(name, scale, lang, dark(scale, lang), c, nil)
			}
		}
	}
	for name, s := range extras(t) {
		add(name, "100", text.Dutch, false, s.Card, s.look)
		add(name, "200", text.English, true, s.Card, s.look)
	}
	for scale, f := range scales {
		for _, lang := range []text.Language{text.Dutch, text.English} {
			l := usual
			l.Language, l.Dark = lang, dark(scale, lang)
			tone := map[bool]string{false: "light", true: "dark"}[l.Dark]
			all = append(all, pictured{"more-" + tone + "-" + string(lang) + "-" + scale, func() *image.RGBA { return picture(layoutMore, 2, l, f) }})
		}
	}
	return all
}
