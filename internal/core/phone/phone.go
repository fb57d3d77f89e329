// Package phone reads telephone numbers as softphones write them, decides what
// kind of number it is, and writes it the way Dutch offices do. Everything in it
// is immutable and safe for concurrent use; nothing in it fails or panics on
// what comes from outside.
package phone

import (
	"cmp"
	"fmt"
	"slices"
	"strings"

	"wiebelt/internal/core/address"
	"wiebelt/internal/core/numbering"
)

// Kind is what sort of number a caller has.
type Kind uint8

// The kinds. Only External numbers are ever looked up.
const (
	External Kind = iota
	Withheld      // the caller does not want to be known, or is not known
	Internal      // an extension of our own
	Short         // fewer than nine digits: a service number
	Own           // one of our own lines
	Unfilled      // the phone sent its template's placeholder
	NoNumber      // the phone gave a name where a number belongs
)

// Line is one of our own numbers.
type Line struct{ Number, Name string }

// Config is what the rules depend on. The zero value is the Netherlands with
// extensions of up to four digits.
type Config struct {
	Region           string   // two letters; "" is NL
	InternalDigits   int      // numbers up to this long without 0 or + are extensions; 0 is 4, less is none
	InternalPrefixes []string // numbers beginning with these are extensions too
	NeverLookup      []string // numbers that are never sent to the hub
	Lines            []Line   // our own numbers
}

// Rules reads numbers. Make one with NewRules.
type Rules struct {
	c     Config
	code  int
	lines map[string]Line
	never map[string]bool
}

// Number is a caller's number. Values are comparable; equal ones look the same.
type Number struct {
	Kind        Kind
	E164        string // "+31612345678", "" where it does not parse
	Digits      string // what was left of the number, "" if none
	Text        string // a name in place of a number, for NoNumber
	Foreign     bool   // of another country than the region
	NeverLookup bool
	LineName    string // for Own
	shown       string
	copied      string
}

// lookupDigits is how many digits the hub compares: a number
// with fewer cannot be looked up.
const lookupDigits = 9

// NewRules checks and compiles a configuration. An unknown region is an error.
func NewRules(c Config) (*Rules, error) {
	c.Region = cmp.Or(c.Region, "NL")
	c.InternalDigits = cmp.Or(c.InternalDigits, 4)
	c.Region = strings.ToUpper(c.Region)
	r := &Rules{c: c, code: numbering.Code(c.Region), lines: map[string]Line{}, never: map[string]bool{}}
	if r.code == 0 {
		return nil, fmt.Errorf("phone.region: no such region %q", c.Region)
	}
	for _, n := range c.NeverLookup {
		r.never[r.plain(address.Split(n)).Key()] = true
	}
	for _, l := range c.Lines {
		r.lines[r.plain(address.Split(l.Number)).Key()] = l
	}
	return r, nil
}

// Parse reads a caller's number as a softphone gives it. displayName serves only
// to recognise a caller who wants to stay unknown; it is never a source of a
// number.
func (r *Rules) Parse(raw, displayName string) Number {
	a := address.Split(raw)
	n := r.plain(a)
	for _, name := range []string{address.Visible(displayName), a.Display} {
		// A private name hides whatever number stands beside it; a name that
		// says "unknown" hides only a random user part.
		if n.Kind != Unfilled && address.PrivateName(name) || n.Kind == NoNumber && address.UnknownName(name) {
			return Number{Kind: Withheld}
		}
	}
	switch n.Kind {
	case External, Short, Internal:
		if l, own := r.lines[n.Key()]; own {
			n.Kind, n.LineName = Own, l.Name
		}
		n.NeverLookup = r.never[n.Key()]
	}
	return n
}

// Line tells which of our own lines a call came in on: its number written the
// Dutch way, and its configured name, "" if it has none.
func (r *Rules) Line(raw string) (shown, name string) {
	n := r.plain(address.Split(raw))
	if n.Kind == NoNumber || n.Kind == Withheld || n.Kind == Unfilled {
		return "", ""
	}
	return n.Display(), r.lines[n.Key()].Name
}

// plain reads a number without asking whose it is.
func (r *Rules) plain(a address.Address) Number {
	switch {
	case a.Unfilled:
		return Number{Kind: Unfilled}
	case a.Withheld():
		return Number{Kind: Withheld}
	}
	d, ok := address.Digits(a.User)
	if !ok {
		return Number{Kind: NoNumber, Text: a.User}
	}
	bare := strings.TrimPrefix(d, "+")
	if len(bare) >= 4 && strings.Trim(bare, "0") == "" {
		return Number{Kind: Withheld} // filler digits in place of a number
	}
	if a.Spaced {
		d = address.PlusBack(" " + d)
	}
	if r.internal(d) {
		return extension(d)
	}
	if len(d) > 4 && (strings.HasPrefix(d, "*31*") || strings.HasPrefix(d, "#31#")) {
		d = d[4:] // dialled in front of a number to withhold one's own
	}
	if strings.ContainsAny(d, "*#") {
		return Number{Kind: Short, Digits: d, shown: d, copied: strings.TrimPrefix(d, "+")} // a code for the exchange, nobody's number
	}
	return r.external(d, a.Context)
}

func extension(d string) Number { return Number{Kind: Internal, Digits: d, shown: d, copied: d} }

// block reports whether the digits begin as those of our own numbers do.
func (r *Rules) block(d string) bool {
	return slices.ContainsFunc(r.c.InternalPrefixes, func(p string) bool { return p != "" && strings.HasPrefix(d, p) })
}

func (r *Rules) internal(d string) bool {
	return r.block(d) || len(d) <= r.c.InternalDigits && d[0] != '0' && d == address.OnlyDigits(d) && !emergency(d)
}

// emergency numbers are three digits of the whole country, not of the office.
func emergency(d string) bool { return d == "112" || d == "144" }

// external reads a number that is no extension as it stands; d is digits, perhaps after a plus.
func (r *Rules) external(d, context string) Number {
	n := Number{Kind: External, Digits: d, shown: d, copied: address.OnlyDigits(d)}
	p, ok := r.parse(d, context)
	if !ok {
		if len(n.copied) < lookupDigits {
			n.Kind = Short // 112, 14020
		}
		return n
	}
	n.E164 = p.E164()
	long := len(n.E164) - 1
	if p.Code == r.code {
		n.shown, n.copied = r.national(p)
		if r.block(n.copied) { // however the exchange writes it
			return extension(n.copied)
		}
		long = len(n.copied)
	} else {
		n.Foreign = true
		n.shown = p.International()
		n.copied = address.OnlyDigits(p.From(r.c.Region))
	}
	// The hub would compare digits of the trunk or country code instead.
	if long < lookupDigits {
		n.Kind, n.E164, n.Digits = Short, "", n.copied
	}
	return n
}

// parse finds the number that the digits stand for, if they stand for one.
func (r *Rules) parse(d, context string) (n numbering.Number, ok bool) {
	if context != "" && d[0] != '+' {
		// Local to a country or an area: that goes in front, in place of a 0.
		for _, s := range []string{context + d, context + strings.TrimPrefix(d, "0")} {
			if n, ok := numbering.Parse(s, r.c.Region); n.Valid() {
				return n, ok
			}
		}
	}
	if d[0] != '+' && d[0] != '0' && len(d) < lookupDigits {
		return n, false // a short number of its own, no area code without its 0
	}
	n, ok = numbering.Parse(d, r.c.Region)
	if !n.Valid() {
		// Trunks leave out the plus: if it is a number with one and none without,
		// it is that of another country.
		if q, ok := numbering.Parse("+"+d, r.c.Region); q.Valid() {
			return q, ok
		}
	}
	return n, ok
}

// national writes a number of the region: the Dutch way for the Netherlands,
// else as the region does it.
func (r *Rules) national(p numbering.Number) (shown, copied string) {
	if r.c.Region != "NL" {
		shown = p.Domestic()
		return shown, address.OnlyDigits(shown)
	}
	if n := p.National; strings.HasPrefix(n, "14") && (len(n) == 5 || len(n) == 6) {
		return n, n // a municipality's number is dialled without a 0
	}
	d := "0" + p.National
	return dutch(d), d
}

// dutch writes a Dutch number: area or service code, then pairs, a group of
// three first when their number is odd.
func dutch(d string) string {
	area := areaLength(d)
	if area >= len(d) {
		return d
	}
	return d[:area] + " " + pairs(d[area:])
}

func areaLength(d string) int {
	switch {
	case strings.HasPrefix(d, "06") && !strings.HasPrefix(d, "0676"):
		return 2
	case strings.HasPrefix(d, "0800"), strings.HasPrefix(d, "0900"), strings.HasPrefix(d, "0906"), strings.HasPrefix(d, "0909"), strings.HasPrefix(d, "0676"):
		return 4
	case len(d) >= 3 && threeDigitArea[d[:3]]:
		return 3
	}
	return 4
}

// threeDigitArea are the Dutch area and service codes of three digits; all other
// area codes have four.
var threeDigitArea = map[string]bool{
	"010": true, "013": true, "014": true, "015": true, "020": true, "023": true, "024": true, "026": true,
	"030": true, "033": true, "035": true, "036": true, "038": true, "040": true, "043": true, "045": true, "046": true,
	"050": true, "053": true, "055": true, "058": true, "070": true, "071": true, "072": true, "073": true, "074": true,
	"075": true, "076": true, "077": true, "078": true, "079": true, "082": true, "084": true, "085": true, "087": true,
	"088": true, "091": true,
}

func pairs(s string) string {
	var b strings.Builder
	if len(s)%2 == 1 && len(s) >= 3 {
		b.WriteString(s[:3])
		s = s[3:]
	}
	for len(s) > 0 {
		k := min(2, len(s))
		if b.Len() > 0 {
			b.WriteByte(' ')
		}
		b.WriteString(s[:k])
		s = s[k:]
	}
	return b.String()
}

// Key is the caller's identity for merging calls and for caching: E.164, else
// the digits. All withheld callers are one.
func (n Number) Key() string {
	switch {
	case n.Kind == Withheld:
		return "withheld"
	case n.E164 != "":
		return n.E164
	case n.Digits != "":
		return n.Digits
	}
	return "text:" + n.Text
}

// Lookup reports whether the hub may be asked for this number.
func (n Number) Lookup() bool { return n.Kind == External && !n.NeverLookup }

// Query is what goes into the search term q, before URL escaping: E.164 where
// the number parses, else its digits; "" if it must not be looked up.
func (n Number) Query() string {
	switch {
	case !n.Lookup():
		return ""
	case n.E164 != "":
		return n.E164
	}
	return n.Digits
}

// Display is the number for people. It is "" for a withheld caller.
func (n Number) Display() string {
	if n.shown == "" {
		return n.Text
	}
	return n.shown
}

// Copy is the number for the clipboard: digits only, as they can be dialled from
// the region; "" if there is none.
func (n Number) Copy() string { return n.copied }
