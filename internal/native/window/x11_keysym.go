//go:build linux

package window

import (
	"unicode"
	"unicode/utf8"

	"golang.org/x/text/encoding/charmap"
)

// named has the keys with their own meaning, including those of the number pad.
var named = map[sym]Key{
	0xff52: KeyUp, 0xff97: KeyUp, 0xff54: KeyDown, 0xff99: KeyDown, 0xff51: KeyLeft, 0xff96: KeyLeft, 0xff53: KeyRight, 0xff98: KeyRight,
	0xff50: KeyHome, 0xff95: KeyHome, 0xff57: KeyEnd, 0xff9c: KeyEnd, 0xff55: KeyPageUp, 0xff9a: KeyPageUp, 0xff56: KeyPageDown, 0xff9b: KeyPageDown,
	0xff09: KeyTab, 0xff89: KeyTab, 0xfe20: KeyTab, // the last with Shift
	0xff0d: KeyEnter, 0xff8d: KeyEnter, 0xfe34: KeyEnter, 0xff1b: KeyEscape, 0xff08: KeyBackspace,
	0xffff: KeyDelete, 0xff9f: KeyDelete, 0xff63: KeyInsert, 0xff9e: KeyInsert, 0x20: KeySpace, 0xff80: KeySpace, 0xff67: KeyMenu,
	0xffe1: KeyShift, 0xffe2: KeyShift, 0xffe3: KeyCtrl, 0xffe4: KeyCtrl, 0xffe9: KeyAlt, 0xffea: KeyAlt, 0xffeb: KeySuper, 0xffec: KeySuper,
}

// key returns the meaning of a key, which is KeyText for those that type text.
func (s sym) key() Key {
	if s >= firstFunctionKey && s < firstFunctionKey+12 {
		return KeyF1 + Key(s-firstFunctionKey)
	}
	return named[s]
}

// pages has the character sets of pre-Unicode keysyms that layouts still use. The last byte is
// a character, and the one before it identifies the set.
var pages = map[sym]*charmap.Charmap{
	0x01: charmap.ISO8859_2, 0x02: charmap.ISO8859_3, 0x03: charmap.ISO8859_4, 0x05: charmap.ISO8859_6,
	0x0c: charmap.ISO8859_8, 0x0d: charmap.Windows874, 0x13: charmap.ISO8859_15,
}

// alphabets has the other sets: the first keysym, and its character and those
// of the following ones; a space means none.
var alphabets = []struct {
	first sym
	text  string
}{
	{0x06a1, "ђѓёєѕіїјљњћќґўџ№ЂЃЁЄЅІЇЈЉЊЋЌҐЎЏюабцдефгхийклмнопярстужвьызшэщчъЮАБЦДЕФГХИЙКЛМНОПЯРСТУЖВЬЫЗШЭЩЧЪ"}, // Cyrillic
	{0x07a1, "ΆΈΉΊΪ ΌΎΫ Ώ  ΅― άέήίϊΐόύϋΰώ     ΑΒΓΔΕΖΗΘΙΚΛΜΝΞΟΠΡΣ ΤΥΦΧΨΩ       αβγδεζηθικλμνξοπρσςτυφχψω"},       // Greek
	{0x08fb, "←↑→↓"}, // technical: the arrows of German keyboards
	{0x0aa1, "\u2003\u2002\u2004\u2005\u2007\u2008\u2009\u200a\u2014\u2013 \u2423 \u2026\u2025\u2153\u2154\u2155\u2156\u2157\u2158\u2159\u215a\u2105  \u2012\u2329.\u232a    \u215b\u215c\u215d\u215e  \u2122\u2613 \u25c1\u25b7\u25cb\u25af\u2018\u2019\u201c\u201d\u211e\u2030\u2032\u2033 \u271d \u25ac\u25c0\u25b6\u25cf\u25ae\u25e6\u25ab\u25ad\u25b3\u25bd\u2606\u2022\u25aa\u25b2\u25bc\u261c\u261e\u2663\u2666\u2665 \u2720\u2020\u2021\u2713\u2717\u266f\u266d\u2642\u2640\u260e\u2315\u2117\u2038\u201a\u201e"}, // typography
}

// rune returns the character that a key types, or 0 for none.
func (s sym) rune() rune {
	var r rune
	switch {
	case s >= 0x20 && s <= 0x7e || s >= 0xa0 && s <= 0xff: // Latin-1
		r = rune(s)
	case s >= 0x01000100 && s <= 0x0110ffff:
		r = rune(s - 0x01000000)
	case s == 0xff80: // space on the number pad
		r = ' '
	case s == 0xffbd || s >= 0xffaa && s <= 0xffb9:
		r = rune(s - 0xff80)
	case s == 0x20ac:
		r = '€'
	default:
		r = s.alphabet()
	}
	if unicode.IsGraphic(r) {
		return r
	}
	return 0
}

func (s sym) alphabet() rune {
	if p := pages[s>>8]; p != nil && s&0xff >= 0xa0 {
		if r := p.DecodeByte(byte(s)); r != utf8.RuneError {
			return r
		}
	}
	for _, a := range alphabets {
		if s < a.first || s >= a.first+0x100 {
			continue
		}
		n := a.first
		for _, r := range a.text {
			if n == s && r != ' ' {
				return r
			}
			n++
		}
	}
	return 0
}
