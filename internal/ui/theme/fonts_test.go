package theme

import (
	"encoding/binary"
	"testing"
)

// covers reports whether a TrueType font has a glyph for r, by its character map
// (OpenType "cmap", formats 4 and 12).
func covers(font []byte, r rune) bool {
	u16 := func(at int) int { return int(binary.BigEndian.Uint16(font[at:])) }
	u32 := func(at int) int { return int(binary.BigEndian.Uint32(font[at:])) }
	for i := range u16(4) {
		entry := 12 + 16*i
		if string(font[entry:entry+4]) != "cmap" {
			continue
		}
		table := u32(entry + 8)
		for j := range u16(table + 2) {
			sub := table + u32(table+4+8*j+4)
			switch u16(sub) {
			case 12:
				for g := range u32(sub + 12) {
					at := sub + 16 + 12*g
					if int(r) >= u32(at) && int(r) <= u32(at+4) {
						return true
					}
				}
			case 4:
				n := u16(sub+6) / 2
				for s := range n {
					end, start := u16(sub+14+2*s), u16(sub+16+2*n+2*s)
					if int(r) < start || int(r) > end {
						continue
					}
					delta, off := u16(sub+16+4*n+2*s), u16(sub+16+6*n+2*s)
					if off == 0 {
						if (int(r)+delta)&0xFFFF != 0 {
							return true
						}
						continue
					}
					if g := u16(sub + 16 + 6*n + 2*s + off + 2*(int(r)-start)); g != 0 {
						return true
					}
				}
			}
		}
	}
	return false
}

// TestBundledFontsCoverEurope: the names of customers need no font of the system.
func TestBundledFontsCoverEurope(t *testing.T) {
	for name, letters := range map[string]string{
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
			for _, r := range letters {
				if font := FontFor(r, bold); !covers(font.Content(), r) {
					t.Errorf("%s: %q (%U) is not in %s", name, r, r, font.Name())
				}
			}
		}
	}
	if covers(FontFor('a', false).Content(), '漢') {
		t.Error("the test finds letters that are not there")
	}
}
