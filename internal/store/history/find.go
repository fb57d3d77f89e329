package history

import (
	"slices"
	"strings"
	"unicode"

	"wiebelt/internal/core/address"
	"wiebelt/internal/core/displaytext"
)

// Limits of a filter. What is longer finds what its beginning finds.
const (
	maxFilter = 100 // bytes
	maxTerms  = 8
)

// find is all that a filter looks at: names and line as text, numbers as digits,
// a line each.
func (e Entry) find() string {
	parts := []string{fold(e.Name), fold(e.Line), fold(e.Via), fold(e.By), address.OnlyDigits(e.Number), address.OnlyDigits(e.Shown), address.OnlyDigits(e.LineNumber), address.OnlyDigits(e.RelationNumber)}
	if strings.ContainsFunc(e.Shown, unicode.IsLetter) {
		parts = append(parts, fold(e.Shown))
	}
	return strings.Join(slices.DeleteFunc(slices.Compact(parts), func(p string) bool { return p == "" }), "\n")
}

// terms splits a filter into what an entry must hold: words, and numbers however
// they are written. A filter that says nothing has none.
func terms(filter string) []string {
	if len(filter) > maxFilter {
		filter = strings.ToValidUTF8(filter[:maxFilter], "")
	}
	var all []string
	number := ""
	flush := func() {
		if number != "" {
			all = append(all, number)
		}
		number = ""
	}
	for w := range strings.FieldsSeq(fold(filter)) {
		if d := address.OnlyDigits(w); !strings.ContainsFunc(w, unicode.IsLetter) && (d != "" || strings.Trim(w, "+-/().") == "") {
			number += d
			continue
		}
		flush()
		all = append(all, w)
	}
	flush()
	return all[:min(len(all), maxTerms)]
}

// HasTerms reports whether a filter leaves anything out.
func HasTerms(filter string) bool { return len(terms(filter)) > 0 }

// Narrows reports whether a filter leaves out at least what another one does. One
// that was typed on need not: "06 2" is one number, "06 2e" a number and a word.
func Narrows(filter, than string) bool {
	now := terms(filter)
	for _, t := range terms(than) {
		if !slices.ContainsFunc(now, func(n string) bool { return strings.Contains(n, t) }) {
			return false
		}
	}
	return true
}

// fold makes capitals and accents no difference.
func fold(s string) string {
	return strings.ReplaceAll(displaytext.Fold(strings.Join(strings.Fields(strings.ToValidUTF8(s, "")), " ")), "\x00", "")
}

// Fits reports whether a filter finds the entry.
func (e Entry) Fits(filter string) bool {
	all := e.find()
	for _, t := range terms(filter) {
		if !strings.Contains(all, t) {
			return false
		}
	}
	return true
}
