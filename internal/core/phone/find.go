package phone

import (
	"slices"
	"strings"

	"wiebelt/internal/core/lazyregexp"
)

const (
	maxText   = 1024 // bytes of text that are read
	maxFound  = 8    // numbers per text
	maxDigits = 15   // per number (ITU-T E.164)
)

var numerals = lazyregexp.New(`[+(]*[0-9][0-9\s().\-–/+]*`)

// Find returns the numbers in text that was typed or pasted: if there is at most one, as
// Parse reads it, including "T 020-1234567" and "06 1234 5678 (mobiel)"; otherwise each of
// them. It returns at least one; without any number, its kind says what is wrong.
func (r *Rules) Find(text string) []Number {
	whole := r.Parse(text, "")
	if whole.Kind != NoNumber && (whole.E164 != "" || len(whole.Digits) <= maxDigits) {
		return []Number{whole}
	}
	if len(text) > maxText {
		text = strings.ToValidUTF8(text[:maxText], "")
	}
	var found []Number
	runs := numerals().FindAllString(text, -1)
	for _, run := range runs {
		for _, n := range r.splitNumbers(strings.FieldsFunc(run, func(c rune) bool {
			return c == '/' ||
				strings.ContainsRune(" \t\r\n\u00a0", c)
		})) {
			if !slices.Contains(found, n) && len(found) < maxFound {
				found = append(found, n)
			}
		}
	}
	switch {
	case len(found) > 0:
		return found
	case len(runs) == 1:
		return []Number{r.Parse(strings.TrimRight(runs[0], "+(./- \t"), "")} // an extension, a service number
	}
	return []Number{whole}
}

// splitNumbers reads words of digits as numbers: one ends where it is complete and the next
// word can begin another.
func (r *Rules) splitNumbers(words []string) (found []Number) {
	for from := 0; from < len(words); {
		to := from + 1
		var last Number
		end := 0
		for ; to <= len(words); to++ {
			n := r.Parse(strings.TrimRight(strings.Join(words[from:to], " "), "+(.-"), "")
			if n.E164 == "" || len(n.E164) > maxDigits+1 {
				continue
			}
			last, end = n, to
			if to < len(words) && strings.HasPrefix(strings.TrimLeft(words[to], "("), "0") {
				break
			}
		}
		if end == 0 {
			from++
			continue
		}
		found, from = append(found, last), end
	}
	return found
}
