package history

import (
	"slices"
	"strings"
	"unicode"

	"wiebelt/internal/core/address"
	"wiebelt/internal/core/displaytext"
)

// Limits of a filter. A longer one is cut.
const (
	maxFilter = 100 // bytes
	maxTerms  = 8
)

// searchText returns everything a filter searches: names and line as text, numbers
// as digits, one per line.
func (e Entry) searchText() string {
	parts := []string{fold(e.Name), fold(e.Line), fold(e.Via), fold(e.AnsweredBy), address.OnlyDigits(e.Number), address.OnlyDigits(e.NumberDisplay), address.OnlyDigits(e.LineNumber), address.OnlyDigits(e.RelationNumber)}
	if strings.ContainsFunc(e.NumberDisplay, unicode.IsLetter) {
		parts = append(parts, fold(e.NumberDisplay))
	}
	return strings.Join(slices.DeleteFunc(slices.Compact(parts), func(p string) bool { return p == "" }), "\n")
}

// terms splits a filter into what an entry must contain: words, and numbers in any
// notation. An empty filter has none.
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

// HasTerms reports whether a filter excludes anything.
func HasTerms(filter string) bool { return len(terms(filter)) > 0 }

// Narrows reports whether a filter excludes at least what another does. An extended filter
// need not: "06 2" is one number, "06 2e" a number and a word.
func Narrows(filter, than string) bool {
	now := terms(filter)
	for _, t := range terms(than) {
		if !slices.ContainsFunc(now, func(n string) bool { return strings.Contains(n, t) }) {
			return false
		}
	}
	return true
}

func fold(s string) string {
	return strings.ReplaceAll(displaytext.Fold(strings.Join(strings.Fields(strings.ToValidUTF8(s, "")), " ")), "\x00", "")
}

// Fits reports whether the entry matches a filter.
func (e Entry) Fits(filter string) bool {
	all := e.searchText()
	for _, t := range terms(filter) {
		if !strings.Contains(all, t) {
			return false
		}
	}
	return true
}
