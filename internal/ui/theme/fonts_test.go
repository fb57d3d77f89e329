package theme

import (
	"testing"
	"unicode"

	"fyne.io/fyne/v2"
	"github.com/go-text/typesetting/font"
)

// TestBundledFontsCoverEurope checks that customers' names need no system font.
func TestBundledFontsCoverEurope(t *testing.T) {
	for name, sample := range map[string]string{
		"Dutch, German, French": "áàâäãåæçéèêëíìîïñóòôöõøœúùûüýÿßĳĲÀÉÏÖŸ",
		"East":                  "ąćęłńóśźżČĎĚŇŘŠŤŮŽőűţșțđĐħĦģķļņŗūėįų",
		"Turkish":               "çÇğĞıİöÖşŞüÜ",
		"Icelandic, Welsh":      "ðÐþÞŵŷẁẃẅỳ",
		"Vietnamese":            "ăĂâÂđĐêÊôÔơƠưƯạảấầẩẫậắằẳẵặẹẻẽếềểễệỉịọỏốồổỗộớờởỡợụủứừửữựỳỵỷỹ",
		"Greek":                 "αβγδεζηθικλμνξοπρστυφχψωάέήίόύώΐΰΑΩΆΈ",
		"Cyrillic":              "абвгдеёжзийклмнопрстуфхцчшщъыьэюяіїєґўђјљњћџЁЩ",
		"signs":                 "€–—‘’“”„…·§©®°ªº№«»‹›+×",
		"Hebrew":                "אבגדהוזחטיכלמנסעפצקרשתךםןףץ״׳־",
		"Arabic":                "ابتثجحخدذرزسشصضطظعغفقكلمنهويءآأؤإئةى٠١٢٣٤٥٦٧٨٩،؛؟",
		"Persian, Urdu":         "پچژگکیۀۂھہےٹڈڑں۰۱۲۳۴۵۶۷۸۹",
		"emoji":                 "☀☎✈❤⭐😀😂🙏👍👩🏠🚗🚒🇳🇱🥐🌷🦷🪑⏰⌛✅❗",
	} {
		for _, bold := range []bool{false, true} {
			alone := FontSource(sample, fyne.TextStyle{Bold: bold})
			if latin, _ := FontFor('a', bold); name == "Greek" && alone != latin {
				t.Errorf("%s: not drawn with %s alone", name, latin.Name())
			}
			for _, r := range sample {
				font, ok := FontFor(r, bold)
				if !ok || !has(font, r) {
					t.Errorf("%s: %q (%U) is not in %s", name, r, r, font.Name())
				}
				if alone != nil && alone != font {
					t.Errorf("%s: %q (%U) is drawn with %s alone", name, r, r, alone.Name())
				}
			}
		}
	}
	for i, regular := range bundled[0] { // the bold one has the same characters
		for r := rune(1); r < 0x20000; r++ {
			if has(regular, r) != has(bundled[1][i], r) {
				t.Errorf("%s: %q (%U) is not in the other of regular and bold", regular.Name(), r, r)
			}
			// Letters for which the search is skipped are in the font.
			if i == 0 && r < 0x2028 && Simple(r) && unicode.IsLetter(r) && !has(regular, r) {
				t.Errorf("%q (%U) is not in %s", r, r, regular.Name())
			}
		}
	}
	if _, ok := FontFor('漢', false); ok {
		t.Error("the test finds letters that are not there")
	}
}

func has(f fyne.Resource, r rune) bool {
	if maps[f] == nil {
		maps[f] = charactersOf(f)
	}
	_, ok := maps[f].Lookup(r)
	return ok
}

var maps = map[fyne.Resource]font.Cmap{}
