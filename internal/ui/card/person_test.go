package card

import (
	"slices"
	"testing"

	"wiebelt/internal/text"
)

// TestNoFields: card.fields = [] leaves name, number and their actions, and
// nothing from the person's file, neither on the card of a single match nor
// in the rows of several. The searching card keeps the same height.
func TestNoFields(t *testing.T) {
	g := gallery(t)
	for _, name := range []string{"found", "several", "strip", "answered"} {
		for _, fields := range [][]string{nil, {}} {
			v := layout(g[name], Look{Language: text.Dutch, Fields: fields})
			has := func(want string) bool {
				return slices.ContainsFunc(v.texts, func(w placedText) bool { return w.full == want })
			}
			whole := fields == nil && name != "strip"
			for _, of := range []string{"Producent Een", "100 200", "200 002", "Dorpsstraat 1, 1234 AB Ons Dorp", "Dorpsstraat 1, Ons Dorp", "door Medewerker"} {
				if fields != nil && has(of) {
					t.Errorf("%s: %q is there", name, of)
				}
			}
			if whole && !has("100 200") && !has("200 002") {
				t.Errorf("%s: the test looks for the wrong words", name)
			}
			if name == "found" {
				if !has("J. de Vries") || !has("06 12 34 56 78") || v.areaFor(v.areas[0].effect) == nil {
					t.Errorf("%s: %+v", name, v.texts)
				}
				searching := layout(g["searching-start"], Look{Language: text.Dutch, Fields: fields})
				if searching.size != v.size {
					t.Errorf("searching %v, found %v", searching.size, v.size)
				}
			}
		}
	}
}
