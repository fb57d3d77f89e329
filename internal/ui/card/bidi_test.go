package card

import (
	"slices"
	"strings"
	"testing"
	"testing/synctest"

	"pgregory.net/rapid"

	"wiebelt/internal/core/contact"
	"wiebelt/internal/ui/theme"
)

// TestPieces checks the order of pieces, from the left. The painter
// sets the letters inside a piece, in the direction of their script.
func TestPieces(t *testing.T) {
	for in, want := range map[string][]string{
		"J. de Vries":               {"J. de Vries"},
		"Şükrü Nguyễn Łódź":         {"Şükrü Nguyễn Łódź"},
		"שרה כהן":                   {"שרה כהן"},
		"שרה כהן-לוי":               {"לוי", "-", "שרה כהן"},
		"محمد (Jan)":                {"(", "Jan", ")", " ", "محمد"},
		"Jan (محمد)":                {"Jan (", "محمد", ")"},
		"Polis מכתב 12 Zuid":        {"Polis ", "12", " ", "מכתב", " Zuid"},
		"مكتب 12.34":                {"12.34", " ", "مكتب"},
		"12 מכתב":                   {"מכתב", " ", "12"},
		"Zon ☀ Bakker":              {"Zon ", "☀", " Bakker"},
		"\u202Egnp.exe\u202C A":     {"gnp.exe A"},
		"\u2068\u202Eab\u2069c":     {"ab", "c"},
		"Via \u2068שרה\u2069 (101)": {"Via ", "שרה", " (101)"},
		"\u2068רחוב הרצל\u2069 1, 1234 AB Ons Dorp": {"רחוב הרצל", " 1, 1234 AB Ons Dorp"},
		"محمد שרה": {"שרה", " ", "محمد"},
		"":         {""},
	} {
		var got []string
		for _, p := range pieces(in, false) {
			got = append(got, p.s)
		}
		if !slices.Equal(got, want) {
			t.Errorf("%q:\n got %q\nwant %q", in, got, want)
		}
	}
}

// TestLettersOfNoBundledFont: the card does not wait for the system's fonts, but
// shows the replacement sign until the letters are available. If no font on this
// computer has them, the sign stays, and other scripts are still looked up.
func TestLettersOfNoBundledFont(t *testing.T) {
	if _, ok := theme.FontFor(replacement, true); !ok {
		t.Fatal("no bundled font has the sign")
	}
	systemFonts.missing.Store(0)
	systemFonts.found.Clear()
	c := gallery(t)["found"]
	synctest.Test(t, func(t *testing.T) {
		r := startCards(t, nil)
		r.run()
		shows := func(letters string) {
			t.Helper()
			c.Contacts = []contact.Contact{person("", "", letters)}
			r.e.show(0, c)
			synctest.Wait()
			there, looked := systemFonts.found.Load(theme.Script([]rune(letters)[0]))
			if !looked {
				t.Fatalf("no font was looked for that has %q", letters)
			}
			want := letters
			if !there.(bool) {
				want = strings.Repeat(string(replacement), 2)
			}
			for _, o := range r.cs.slots[0].view.content.Objects {
				if x, ok := asText(o); ok && x.TextSize == bigFont.size && x.Text != want {
					t.Errorf("the name is %q, want %q", x.Text, want)
				}
			}
		}
		shows("名前")
		shows("ลู")
		systemFonts.found.Store(theme.Script('ལ'), false) // no font of this computer has it
		shows("ལལ")
	})
}

// TestPiecesLoseNothing checks that every letter is drawn once, in its own font,
// in whatever order, and that cutting never makes a line wider than its space.
func TestPiecesLoseNothing(t *testing.T) {
	for _, r := range "漢१" {
		systemFonts.found.Store(theme.Script(r), true)
	}
	letters := []rune("aZé 1-,.()«»שלמםمحمد٣१漢😀☀\u200D\u0301\u202E\u2066\u2068\u2069ỄЖω€")
	rapid.Check(t, func(t *rapid.T) {
		s := string(rapid.SliceOfN(rapid.SampledFrom(letters), 0, 40).Draw(t, "letters"))
		sorted := func(s string) string {
			var r []rune
			for _, c := range s {
				if !isDirectionMark(c) {
					if i := strings.IndexRune("()«»", c); i >= 0 {
						c = '(' // may be mirrored
					}
					r = append(r, c)
				}
			}
			slices.Sort(r)
			return string(r)
		}
		all := ""
		for _, p := range pieces(s, false) {
			all += p.s
			if strings.ContainsFunc(p.s, isDirectionMark) { // it must not affect the direction around it
				t.Fatalf("%q: %q reaches the painter", s, p.s)
			}
			for _, r := range p.s {
				if r != ' ' && r > 0x0590 && fontFor(r, false) != p.font {
					t.Fatalf("%q: %U is drawn in %s", s, r, p.font.Name())
				}
			}
		}
		if sorted(all) != sorted(s) {
			t.Fatalf("%q became %q", s, all)
		}
		room := float32(rapid.IntRange(0, 200).Draw(t, "room"))
		if got, w := fit(s, room, fieldFont); w > room || width(got, fieldFont) > room+0.01 {
			t.Fatalf("%q in %v: %q takes %v", s, room, got, w)
		}
	})
}
