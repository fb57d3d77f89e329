// Package phone parses telephone numbers as softphones write them, classifies them and
// formats them the way offices of the configured region do. Everything is immutable and
// safe for concurrent use; nothing fails or panics on input from outside.
package phone

import (
	"cmp"
	"fmt"
	"slices"
	"strings"

	"wiebelt/internal/core/address"
	"wiebelt/internal/core/numbering"
)

// Kind is the kind of a caller's number.
type Kind uint8

// The kinds. Only External numbers are ever looked up.
const (
	External    Kind = iota
	Withheld         // the caller is withheld or unknown
	Internal         // one of our own extensions
	Short            // fewer than nine digits: a service number
	OwnLine          // one of our own lines
	Placeholder      // the phone sent its template's placeholder
	NoNumber         // the phone sent a name instead of a number
)

// Line is one of our own numbers.
type Line struct{ Number, Name string }

// Config configures Rules.
type Config struct {
	Region           string   // two letters; "" is NL
	InternalDigits   int      // longest extension without 0 or + in front; 0 is none
	InternalPrefixes []string // numbers with these prefixes are extensions too
	NeverLookup      []string // numbers never sent to the hub
	Lines            []Line   // our own numbers
}

// Rules parses numbers. Create it with NewRules.
type Rules struct {
	c           Config
	code        int
	lines       map[string]Line
	neverLookup map[string]bool
}

// Number is a caller's number. Values are comparable; equal ones look the same.
type Number struct {
	Kind        Kind
	E164        string // "+31612345678", "" if it does not parse
	Digits      string // what remains of the number, "" if nothing
	Text        string // a name instead of a number, for NoNumber
	Foreign     bool   // from a country other than the region's
	NeverLookup bool
	LineName    string // for OwnLine
	shown       string
	copied      string
}

// lookupDigits is how many digits the hub compares: shorter numbers cannot be looked up.
const lookupDigits = 9

// NewRules checks and compiles a configuration. It fails for an unknown region.
func NewRules(c Config) (*Rules, error) {
	c.Region = strings.ToUpper(cmp.Or(c.Region, "NL"))
	r := &Rules{c: c, code: numbering.Code(c.Region), lines: map[string]Line{}, neverLookup: map[string]bool{}}
	if r.code == 0 {
		return nil, fmt.Errorf("phone.region: no such region %q", c.Region)
	}
	for _, n := range c.NeverLookup {
		r.neverLookup[r.parseAddress(address.Parse(n)).Key()] = true
	}
	for _, l := range c.Lines {
		r.lines[r.parseAddress(address.Parse(l.Number)).Key()] = l
	}
	return r, nil
}

// DefaultRules returns the rules of an office without settings of its own: the
// Netherlands with extensions of up to four digits.
func DefaultRules() *Rules {
	r, _ := NewRules(Config{InternalDigits: 4}) // cannot fail: the region exists
	return r
}

// Parse parses a caller's number as sent by a softphone. displayName only serves to
// recognise a withheld caller; it is never a source of a number.
func (r *Rules) Parse(raw, displayName string) Number {
	a := address.Parse(raw)
	n := r.parseAddress(a)
	for _, name := range []string{address.StripInvisible(displayName), a.Display} {
		// A private name hides any number beside it; a name meaning "unknown" hides
		// only a random user part.
		if n.Kind != Placeholder && address.IsPrivateName(name) || n.Kind == NoNumber && address.IsUnknownName(name) {
			return Number{Kind: Withheld}
		}
	}
	switch n.Kind {
	case External, Short, Internal:
		if l, own := r.lines[n.Key()]; own {
			n.Kind, n.LineName = OwnLine, l.Name
		}
		n.NeverLookup = r.neverLookup[n.Key()]
	}
	return n
}

// Line returns one of our own lines that a call came in on: its number as shown
// to people, and its configured name, "" if it has none.
func (r *Rules) Line(raw string) (shown, name string) {
	n := r.parseAddress(address.Parse(raw))
	if n.copied == "" { // withheld, or no number
		return "", ""
	}
	return n.Display(), r.lines[n.Key()].Name
}

// parseAddress parses a number without checking whose it is.
func (r *Rules) parseAddress(a address.Address) Number {
	switch {
	case a.Placeholder:
		return Number{Kind: Placeholder}
	case a.Withheld():
		return Number{Kind: Withheld}
	}
	d, ok := address.Digits(a.User)
	if !ok {
		return Number{Kind: NoNumber, Text: a.User}
	}
	bare := strings.TrimPrefix(d, "+")
	if len(bare) >= 4 && strings.Trim(bare, "0") == "" {
		return Number{Kind: Withheld} // filler digits instead of a number
	}
	if a.LeadingSpace {
		d = address.RestorePlus(" " + d)
	}
	if r.isInternal(d) {
		return extensionNumber(d)
	}
	if len(d) > 4 && (strings.HasPrefix(d, "*31*") || strings.HasPrefix(d, "#31#")) {
		d = d[4:] // a prefix that withholds one's own number
	}
	if strings.ContainsAny(d, "*#") {
		return Number{Kind: Short, Digits: d, shown: d, copied: strings.TrimPrefix(d, "+")} // a code for the exchange, not a number
	}
	return r.parseExternal(d, a.Context)
}

func extensionNumber(d string) Number { return Number{Kind: Internal, Digits: d, shown: d, copied: d} }

func (r *Rules) isOwnBlock(d string) bool {
	return slices.ContainsFunc(r.c.InternalPrefixes, func(p string) bool { return p != "" && strings.HasPrefix(d, p) })
}

func (r *Rules) isInternal(d string) bool {
	return r.isOwnBlock(d) || len(d) <= r.c.InternalDigits && d[0] != '0' && d == address.OnlyDigits(d) && !isEmergency(d)
}

// isEmergency reports whether d is national, although it has only three digits.
func isEmergency(d string) bool { return d == "112" || d == "144" }

// parseExternal parses a number that is not an extension; d is digits, perhaps after a plus.
func (r *Rules) parseExternal(d, context string) Number {
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
		n.shown, n.copied = r.formatNational(p)
		if r.isOwnBlock(n.copied) { // however the exchange writes it
			return extensionNumber(n.copied)
		}
		long = len(n.copied)
	} else {
		n.Foreign = true
		n.shown = p.International()
		n.copied = address.OnlyDigits(p.DialledFrom(r.c.Region))
	}
	// Otherwise the hub would compare digits of the trunk or country code.
	if long < lookupDigits {
		n.Kind, n.E164, n.Digits = Short, "", n.copied
	}
	return n
}

// parse returns the number that the digits represent, if any.
func (r *Rules) parse(d, context string) (n numbering.Number, ok bool) {
	if context != "" {
		// Local to a country or area, whose code goes in front, replacing a 0.
		for _, s := range []string{context + d, context + strings.TrimPrefix(d, "0")} {
			if n, ok := numbering.Parse(s, r.c.Region); n.Valid() {
				return n, ok
			}
		}
	}
	if d[0] != '+' && d[0] != '0' && len(d) < lookupDigits {
		return n, false // a short number, not an area code without its 0
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

// formatNational formats a number of the region: the Dutch way for the Netherlands,
// otherwise the region's way.
func (r *Rules) formatNational(p numbering.Number) (shown, copied string) {
	if r.c.Region != "NL" {
		shown = p.Domestic()
		return shown, address.OnlyDigits(shown)
	}
	if n := p.National; strings.HasPrefix(n, "14") && (len(n) == 5 || len(n) == 6) {
		return n, n // municipalities' numbers are dialled without a 0
	}
	d := "0" + p.National
	return formatDutch(d), d
}

// formatDutch formats a Dutch number: area or service code, then pairs, after a group of
// three if the count is odd.
func formatDutch(d string) string {
	area := areaLength(d)
	if area >= len(d) {
		return d
	}
	return d[:area] + " " + groupPairs(d[area:])
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

// threeDigitArea holds the Dutch area and service codes of three digits;
// all others have four.
var threeDigitArea = map[string]bool{
	"010": true, "013": true, "014": true, "015": true, "020": true, "023": true, "024": true, "026": true,
	"030": true, "033": true, "035": true, "036": true, "038": true, "040": true, "043": true, "045": true, "046": true,
	"050": true, "053": true, "055": true, "058": true, "070": true, "071": true, "072": true, "073": true, "074": true,
	"075": true, "076": true, "077": true, "078": true, "079": true, "082": true, "084": true, "085": true, "087": true,
	"088": true, "091": true,
}

func groupPairs(s string) string {
	var groups []string
	if len(s)%2 == 1 && len(s) >= 3 {
		groups, s = append(groups, s[:3]), s[3:]
	}
	for pair := range slices.Chunk([]byte(s), 2) {
		groups = append(groups, string(pair))
	}
	return strings.Join(groups, " ")
}

// Key identifies the caller for merging calls and caching: E.164, else the digits. All
// withheld callers share one.
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

// CanLookUp reports whether the hub may be asked for this number.
func (n Number) CanLookUp() bool { return n.Kind == External && !n.NeverLookup }

// Query returns the search term q, before URL escaping: E.164 if the number parses, else
// its digits; "" if it must not be looked up.
func (n Number) Query() string {
	switch {
	case !n.CanLookUp():
		return ""
	case n.E164 != "":
		return n.E164
	}
	return n.Digits
}

// Display returns the number for people, "" for a withheld caller.
func (n Number) Display() string {
	if n.shown == "" {
		return n.Text
	}
	return n.shown
}

// ClipboardText returns the number for the clipboard: digits only, as dialled from the
// region; "" if there is none.
func (n Number) ClipboardText() string { return n.copied }
