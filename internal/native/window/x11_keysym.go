//go:build linux

package window

import "unicode"

// named are the keys that mean something by themselves, those of the number pad
// included.
var named = map[sym]Key{
	0xff52: KeyUp, 0xff97: KeyUp, 0xff54: KeyDown, 0xff99: KeyDown, 0xff51: KeyLeft, 0xff96: KeyLeft, 0xff53: KeyRight, 0xff98: KeyRight,
	0xff50: KeyHome, 0xff95: KeyHome, 0xff57: KeyEnd, 0xff9c: KeyEnd, 0xff55: KeyPageUp, 0xff9a: KeyPageUp, 0xff56: KeyPageDown, 0xff9b: KeyPageDown,
	0xff09: KeyTab, 0xff89: KeyTab, 0xfe20: KeyTab, // the last with Shift
	0xff0d: KeyEnter, 0xff8d: KeyEnter, 0xfe34: KeyEnter, 0xff1b: KeyEscape, 0xff08: KeyBackspace,
	0xffff: KeyDelete, 0xff9f: KeyDelete, 0xff63: KeyInsert, 0xff9e: KeyInsert, 0x20: KeySpace, 0xff80: KeySpace, 0xff67: KeyMenu,
	0xffe1: KeyShift, 0xffe2: KeyShift, 0xffe3: KeyCtrl, 0xffe4: KeyCtrl, 0xffe9: KeyAlt, 0xffea: KeyAlt, 0xffeb: KeySuper, 0xffec: KeySuper,
}

// key is the meaning of a key; KeyText for those that write.
func (s sym) key() Key {
	if s >= firstFunctionKey && s < firstFunctionKey+12 {
		return KeyF1 + Key(s-firstFunctionKey)
	}
	return named[s]
}

// alphabets are the numbers from before Unicode that layouts still use: the
// first number, and what it and the following ones write; a space stands for
// none.
var alphabets = []struct {
	first sym
	text  string
}{
	{0x01a1, "Ą˘Ł ĽŚ  ŠŞŤŹ ŽŻ ą˛ł ľśˇ šşťź˝žżŔ  Ă ĹĆ Č Ę Ě  ĎĐŃŇ  Ő  ŘŮ Ű  Ţ ŕ  ă ĺć č ę ě  ďđńň  ő  řů ű  ţ˙"},                                                                                                                                                                                                                         // Latin-2
	{0x02a1, "Ħ    Ĥ  İ ĞĴ    ħ    ĥ  ı ğĵ        ĊĈ              Ġ  Ĝ    ŬŜ      ċĉ              ġ  ĝ    ŭŝ"},                                                                                                                                                                                                                          // Latin-3
	{0x03a2, "ĸŖ ĨĻ   ĒĢŦ      ŗ ĩļ   ēģŧŊ ŋĀ      Į    Ė  Ī ŅŌĶ     Ų   ŨŪ ā      į    ė  ī ņōķ     ų   ũū"},                                                                                                                                                                                                                           // Latin-4
	{0x05ac, "\u060c              \u061b   \u061f \u0621\u0622\u0623\u0624\u0625\u0626\u0627\u0628\u0629\u062a\u062b\u062c\u062d\u062e\u062f\u0630\u0631\u0632\u0633\u0634\u0635\u0636\u0637\u0638\u0639\u063a     \u0640\u0641\u0642\u0643\u0644\u0645\u0646\u0647\u0648\u0649\u064a\u064b\u064c\u064d\u064e\u064f\u0650\u0651\u0652"}, // Arabic
	{0x06a1, "ђѓёєѕіїјљњћќґўџ№ЂЃЁЄЅІЇЈЉЊЋЌҐЎЏюабцдефгхийклмнопярстужвьызшэщчъЮАБЦДЕФГХИЙКЛМНОПЯРСТУЖВЬЫЗШЭЩЧЪ"},                                                                                                                                                                                                                         // Cyrillic
	{0x07a1, "ΆΈΉΊΪ ΌΎΫ Ώ  ΅― άέήίϊΐόύϋΰώ     ΑΒΓΔΕΖΗΘΙΚΛΜΝΞΟΠΡΣ ΤΥΦΧΨΩ       αβγδεζηθικλμνξοπρσςτυφχψω"},                                                                                                                                                                                                                               // Greek
	{0x08fb, "←↑→↓"}, // technical: the arrows of German keyboards
	{0x0aa1, "\u2003\u2002\u2004\u2005\u2007\u2008\u2009\u200a\u2014\u2013 \u2423 \u2026\u2025\u2153\u2154\u2155\u2156\u2157\u2158\u2159\u215a\u2105  \u2012\u2329.\u232a    \u215b\u215c\u215d\u215e  \u2122\u2613 \u25c1\u25b7\u25cb\u25af\u2018\u2019\u201c\u201d\u211e\u2030\u2032\u2033 \u271d \u25ac\u25c0\u25b6\u25cf\u25ae\u25e6\u25ab\u25ad\u25b3\u25bd\u2606\u2022\u25aa\u25b2\u25bc\u261c\u261e\u2663\u2666\u2665 \u2720\u2020\u2021\u2713\u2717\u266f\u266d\u2642\u2640\u260e\u2315\u2117\u2038\u201a\u201e"}, // typography
	{0x0cdf, "\u2017\u05d0\u05d1\u05d2\u05d3\u05d4\u05d5\u05d6\u05d7\u05d8\u05d9\u05da\u05db\u05dc\u05dd\u05de\u05df\u05e0\u05e1\u05e2\u05e3\u05e4\u05e5\u05e6\u05e7\u05e8\u05e9\u05ea"}, // Hebrew
	{0x0da1, "\u0e01\u0e02\u0e03\u0e04\u0e05\u0e06\u0e07\u0e08\u0e09\u0e0a\u0e0b\u0e0c\u0e0d\u0e0e\u0e0f\u0e10\u0e11\u0e12\u0e13\u0e14\u0e15\u0e16\u0e17\u0e18\u0e19\u0e1a\u0e1b\u0e1c\u0e1d\u0e1e\u0e1f\u0e20\u0e21\u0e22\u0e23\u0e24\u0e25\u0e26\u0e27\u0e28\u0e29\u0e2a\u0e2b\u0e2c\u0e2d\u0e2e\u0e2f\u0e30\u0e31\u0e32\u0e33\u0e34\u0e35\u0e36\u0e37\u0e38\u0e39\u0e3a    \u0e3f\u0e40\u0e41\u0e42\u0e43\u0e44\u0e45\u0e46\u0e47\u0e48\u0e49\u0e4a\u0e4b\u0e4c\u0e4d  \u0e50\u0e51\u0e52\u0e53\u0e54\u0e55\u0e56\u0e57\u0e58\u0e59"}, // Thai
}

// rune is what a key writes, 0 for nothing.
func (s sym) rune() rune {
	var r rune
	switch {
	case s >= 0x20 && s <= 0x7e || s >= 0xa0 && s <= 0xff: // Latin-1
		r = rune(s)
	case s >= 0x01000100 && s <= 0x0110ffff:
		r = rune(s - 0x01000000)
	case s == 0xff80: // of the number pad
		r = ' '
	case s == 0xffbd || s >= 0xffaa && s <= 0xffb9:
		r = rune(s - 0xff80)
	case s == 0x20ac:
		r = '€'
	case s == 0x13bc:
		r = 'Œ'
	case s == 0x13bd:
		r = 'œ'
	case s == 0x13be:
		r = 'Ÿ'
	default:
		r = s.alphabet()
	}
	if unicode.IsGraphic(r) {
		return r
	}
	return 0
}

func (s sym) alphabet() rune {
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
