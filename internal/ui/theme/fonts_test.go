package theme

import (
	"slices"
	"testing"
	"unicode"

	"fyne.io/fyne/v2"
)

// TestBundledFontsCoverEurope: the names of customers need no font of the system.
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
			alone := Source(sample, fyne.TextStyle{Bold: bold})
			if latin, _ := FontFor('a', bold); name == "Greek" && alone != latin {
				t.Errorf("%s: not drawn with %s alone", name, latin.Name())
			}
			for _, r := range sample {
				font, ok := FontFor(r, bold)
				if !ok || !has(spans(font.Content()), r) {
					t.Errorf("%s: %q (%U) is not in %s", name, r, r, font.Name())
				}
				if alone != nil && alone != font {
					t.Errorf("%s: %q (%U) is drawn with %s alone", name, r, r, alone.Name())
				}
			}
		}
	}
	for i, list := range bundled {
		for j, font := range list {
			if !slices.Equal(spans(font.Content()), letters()[j]) {
				t.Errorf("%s has other letters than the regular one", font.Name())
			}
			for r := rune(1); i == 0 && j == 0 && r < 0x2028; r++ { // what goes without looking is there, or no letter at all
				if Simple(r) && unicode.IsLetter(r) && !has(letters()[0], r) {
					t.Errorf("%q (%U) is not in %s", r, r, font.Name())
				}
			}
		}
	}
	if _, ok := FontFor('漢', false); ok {
		t.Error("the test finds letters that are not there")
	}
}
