// Package displaytext makes text from outside safe to show, on cards and terminals: a name
// chosen by a stranger cannot control a terminal, start a line or reverse text.
package displaytext

import (
	"strings"
	"unicode"
	"unicode/utf8"
)

// IsHidden reports whether a character is not visible text: controls (C0, DEL and
// C1), format and bidirectional characters, line and paragraph separators, private
// use, and invalid UTF-8.
func IsHidden(r rune) bool {
	if r >= ' ' && r < 0x7f {
		return false
	}
	return r == utf8.RuneError || unicode.In(r, unicode.Cc, unicode.Cf, unicode.Zl, unicode.Zp, unicode.Co, unicode.Cs)
}

// StripHidden returns s without hidden characters; hidden white space becomes spaces.
func StripHidden(s string) string {
	return strings.Map(func(r rune) rune {
		switch {
		case !IsHidden(r):
			return r
		case unicode.IsSpace(r):
			return ' '
		}
		return -1
	}, s)
}

// Truncate returns s without hidden characters, cut to n characters, with … if there were more.
func Truncate(s string, n int) string {
	r := []rune(StripHidden(s))
	if len(r) > n {
		r = append(r[:n], '…')
	}
	return string(r)
}

// Fold removes case and accents, as far as names in the Netherlands have them, for sorting
// and searching: "Özdemir" is found as "ozdemir".
func Fold(s string) string { return accents.Replace(strings.ToLower(s)) }

var accents = func() *strings.Replacer {
	pairs := []string{"\u0307", ""} // lower-casing a dotted capital I leaves a combining dot
	for to, from := range map[string]string{"a": "áàâäãåāăą", "c": "çćč", "d": "ďđð", "e": "éèêëēęě", "g": "ğ", "i": "íìîïīı",
		"l": "ł", "n": "ñńň", "o": "óòôöõøő", "r": "ř", "s": "śšşș", "t": "ťţț", "u": "úùûüūůű", "y": "ýÿ", "z": "źżž",
		"ae": "æ", "oe": "œ", "ss": "ß", "ij": "ĳ"} {
		for _, r := range from {
			pairs = append(pairs, string(r), to)
		}
	}
	return strings.NewReplacer(pairs...)
}()
