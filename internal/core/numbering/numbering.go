// Package numbering knows the numbering plans of all countries: which digits are a
// telephone number, and how it is written. It reads numbers like libphonenumber and from
// the same data, but loads plans only on demand: preparing all data takes longer than
// everything else a program does to start.
//
// Everything is safe for concurrent use.
package numbering

import (
	"regexp"
	"slices"
	"strconv"
	"strings"
)

// Number is a telephone number of a country, with a length that is valid there.
type Number struct {
	Code     int    // of the country: 31
	National string // the digits after the code: "612345678"
}

// Limits on lengths in all plans, in digits. The longest exceeds what ITU-T E.164 allows:
// Germany has such numbers.
const (
	maxInput    = 250
	minNational = 2
	maxNational = 17
	maxCode     = 3
)

// Code returns a region's country calling code, 31 for "NL"; 0 if it has no plan.
func Code(region string) int {
	if p := planOf(region); p != nil {
		return p.code
	}
	return 0
}

// Parse reads digits, perhaps after a plus, as dialled in a region. It reports whether
// their count is that of a number.
func Parse(s, region string) (Number, bool) {
	home := planOf(region)
	digits := strings.TrimLeft(s, "+")
	plus := len(digits) < len(s)
	if home == nil || len(s) > maxInput || len(digits) < minNational || plus && len(digits) == minNational || strings.Trim(digits, "0123456789") != "" {
		return Number{}, false
	}
	var n Number
	ok := false
	if plus {
		n, ok = parseInternational(digits)
	}
	if !ok { // no plus, or no country code, as in "+0031…"
		if n, ok = home.parseDialled(digits); !ok || plus && n.Code == 0 {
			return Number{}, false
		}
	}
	plan := home
	if n.Code == 0 {
		n.Code = home.code
	} else {
		plan = mainPlan(n.Code)
	}
	if rest := plan.withoutPrefix(n.National); plan.length(rest) == valid {
		n.National = rest
	}
	if len(n.National) < minNational || len(n.National) > maxNational {
		return Number{}, false
	}
	l := mainPlan(n.Code).length(n.National)
	return n, l == valid || l == subscriber
}

// parseInternational splits digits that begin with a country's code.
func parseInternational(digits string) (Number, bool) {
	for i := 1; i <= min(maxCode, len(digits)); i++ {
		code, _ := strconv.Atoi(digits[:i])
		if digits[0] != '0' && mainPlan(code) != nil {
			return Number{code, digits[i:]}, true
		}
	}
	return Number{}, false
}

// parseDialled reads digits without a plus. Numbers of the region itself get no code.
func (p *plan) parseDialled(digits string) (Number, bool) {
	if at := p.internationalPrefixes().FindStringIndex(digits); at != nil && !strings.HasPrefix(digits[at[1]:], "0") {
		if len(digits)-at[1] <= minNational {
			return Number{}, false
		}
		return parseInternational(digits[at[1]:])
	}
	if rest, has := strings.CutPrefix(digits, strconv.Itoa(p.code)); has {
		// Accept the region's own code if that turns an invalid number into a valid one.
		rest = p.withoutPrefix(rest)
		if !p.resembles(digits) && p.resembles(rest) || p.length(digits) == tooLong {
			return Number{p.code, rest}, true
		}
	}
	return Number{0, digits}, true
}

// withoutPrefix removes what is dialled before a number within its own country.
func (p *plan) withoutPrefix(digits string) string {
	if p.trunkPrefix == nil || digits == "" {
		return digits
	}
	at := p.trunkPrefix().FindStringSubmatchIndex(digits)
	if at == nil {
		return digits
	}
	rest := digits[at[1]:]
	if p.trunkReplacement != "" && at[len(at)-2] >= 0 {
		rest = p.trunkPrefix().ReplaceAllString(digits, p.trunkReplacement)
	}
	if p.resembles(digits) && !p.resembles(rest) {
		return digits
	}
	return rest
}

// resembles reports whether digits look like a number of the plan, perhaps
// without its area code.
func (p *plan) resembles(digits string) bool { return p.general.digits().MatchString(digits) }

type length int

const (
	invalid length = iota
	tooLong
	valid
	subscriber // without its area code
)

func (p *plan) length(national string) length {
	n, of := len(national), p.general.lengths
	switch {
	case slices.Contains(p.local, n):
		return subscriber
	case slices.Contains(of, n):
		return valid
	case n > of[len(of)-1]:
		return tooLong
	}
	return invalid
}

// Valid reports whether the plan assigns the number.
func (n Number) Valid() bool {
	return slices.ContainsFunc(plansOf(n.Code), func(p *plan) bool { return p.matchesKind(n.National) })
}

// E164 formats the number as in ITU-T E.164: "+31612345678".
func (n Number) E164() string { return "+" + strconv.Itoa(n.Code) + n.National }

// Domestic formats the number as within its own country.
func (n Number) Domestic() string {
	p := mainPlan(n.Code)
	return p.format(n.National, p.formats, true)
}

// International formats the number as in other countries.
func (n Number) International() string { return "+" + n.formatWithCode() }

// DialledFrom formats the number as dialled from a region with a plan, of another country.
func (n Number) DialledFrom(region string) string {
	p := planOf(region)
	if p.internationalPrefix == "" {
		return n.International()
	}
	return p.internationalPrefix + " " + n.formatWithCode()
}

func (n Number) formatWithCode() string {
	p := mainPlan(n.Code)
	formats := p.international
	if len(formats) == 0 {
		formats = p.formats
	}
	return strconv.Itoa(n.Code) + " " + p.format(n.National, formats, false)
}

func (p *plan) format(national string, formats []format, domestic bool) string {
	for _, f := range formats {
		if f.leading != nil && !f.leading().MatchString(national) || !f.pattern().MatchString(national) {
			continue
		}
		as := f.template
		if domestic && f.domestic != "" {
			as = f.domestic
		}
		return f.pattern().ReplaceAllString(national, as)
	}
	return national
}

func (p *plan) matchesKind(national string) bool {
	return p.general.matches(national) && slices.ContainsFunc(p.kinds, func(k kind) bool { return k.matches(national) })
}

// plan is the numbering plan of a region, or of a code without one.
type plan struct {
	code                  int
	internationalPrefix   string     // before numbers of other countries, "" if there are several
	internationalPrefixes expression // that one and its alternatives
	trunkPrefix           expression // before numbers in their own country; may be nil
	trunkReplacement      string     // replaces the prefix
	general               kind       // all numbers
	local                 []int      // lengths of numbers without their area code
	kinds                 []kind     // for fixed lines, mobile phones …
	formats               []format   // how numbers are written
	international         []format   // likewise in other countries, if different
}

type expression func() *regexp.Regexp

type kind struct {
	lengths []int // ascending; empty: any
	digits  expression
}

func (k kind) matches(national string) bool {
	return (len(k.lengths) == 0 || slices.Contains(k.lengths, len(national))) && k.digits().MatchString(national)
}

type format struct {
	leading  expression // may be nil
	pattern  expression
	template string // "$1 $2"
	domestic string // likewise, with the trunk prefix; may be ""
}
