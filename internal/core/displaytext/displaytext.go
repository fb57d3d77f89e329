// Package displaytext makes text from outside fit to be shown, on a card as on a
// terminal: a name that a stranger chose steers no terminal, begins no line and
// turns no text around.
package displaytext

import (
	"strings"
	"unicode"
	"unicode/utf8"
)

// Hidden reports whether a character steers instead of being seen: controls (C0, DEL
// and C1), format and bidirectional characters, line and paragraph separators,
// those of private use, and what is no UTF-8.
func Hidden(r rune) bool {
	if r >= ' ' && r < 0x7f {
		return false
	}
	return r == utf8.RuneError || unicode.In(r, unicode.Cc, unicode.Cf, unicode.Zl, unicode.Zp, unicode.Co, unicode.Cs)
}

// Text is s without hidden characters; those that are white space become spaces.
func Text(s string) string {
	return strings.Map(func(r rune) rune {
		switch {
		case !Hidden(r):
			return r
		case unicode.IsSpace(r):
			return ' '
		}
		return -1
	}, s)
}

// Line is Text of at most n characters, with … where there were more.
func Line(s string, n int) string {
	r := []rune(Text(s))
	if len(r) > n {
		r = append(r[:n], '…')
	}
	return string(r)
}

// Fold is s without capitals and accents, as far as names in the Netherlands have
// them: for sorting and searching, so that "Özdemir" is found as "ozdemir".
func Fold(s string) string { return accents.Replace(strings.ToLower(s)) }

var accents = func() *strings.Replacer {
	pairs := []string{"\u0307", ""} // a capital dotted I is lowered to an i with a dot of its own
	for to, from := range map[string]string{"a": "áàâäãåāăą", "c": "çćč", "d": "ďđð", "e": "éèêëēęě", "g": "ğ", "i": "íìîïīı",
		"l": "ł", "n": "ñńň", "o": "óòôöõøő", "r": "ř", "s": "śšşș", "t": "ťţț", "u": "úùûüūůű", "y": "ýÿ", "z": "źżž",
		"ae": "æ", "oe": "œ", "ss": "ß", "ij": "ĳ"} {
		for _, r := range from {
			pairs = append(pairs, string(r), to)
		}
	}
	return strings.NewReplacer(pairs...)
}()
