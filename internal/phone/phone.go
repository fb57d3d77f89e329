// Package phone reads telephone numbers as softphones write them, decides what
// kind of number it is, and writes it the way Dutch offices do. Everything in it
// is immutable and safe for concurrent use; nothing in it fails or panics on
// what comes from outside (product.md "Number rules").
package phone

import (
	"fmt"
	"strings"

	"github.com/nyaruka/phonenumbers"
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

// Config is what the rules depend on.
type Config struct {
	Region           string   // "NL"
	InternalDigits   int      // numbers up to this long without 0 or + are extensions
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

// NewRules checks and compiles a configuration. Region defaults to NL.
func NewRules(c Config) (*Rules, error) {
	if c.Region == "" {
		c.Region = "NL"
	}
	c.Region = strings.ToUpper(c.Region)
	r := &Rules{c: c, code: phonenumbers.GetCountryCodeForRegion(c.Region), lines: map[string]Line{}, never: map[string]bool{}}
	if r.code == 0 {
		return nil, fmt.Errorf("phone.region: no such region %q", c.Region)
	}
	for _, n := range c.NeverLookup {
		r.never[r.plain(n).Key()] = true
	}
	for _, l := range c.Lines {
		r.lines[r.plain(l.Number).Key()] = l
	}
	return r, nil
}

// Parse reads a caller's number as a softphone gives it. displayName serves only
// to recognise a caller who wants to stay unknown; it is never a source of a
// number.
func (r *Rules) Parse(raw, displayName string) Number {
	if len(raw) > MaxLength {
		raw = raw[:MaxLength]
	}
	n := r.plain(raw)
	if n.Kind == NoNumber && withheldUser(displayName) && displayName != "" {
		return Number{Kind: Withheld} // a random user part under an anonymous name
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
	if strings.TrimSpace(raw) == "" {
		return "", ""
	}
	n := r.plain(raw)
	if n.Kind == NoNumber || n.Kind == Withheld || n.Kind == Unfilled {
		return "", ""
	}
	return n.Display(), r.lines[n.Key()].Name
}

// plain reads a number without asking whose it is.
func (r *Rules) plain(raw string) Number {
	if unfilled(raw) {
		return Number{Kind: Unfilled}
	}
	user, host := strip(raw)
	if withheldUser(user) || strings.HasSuffix(host, ".invalid") {
		return Number{Kind: Withheld}
	}
	d, ok := digits(user)
	if !ok {
		return Number{Kind: NoNumber, Text: user}
	}
	bare := strings.Trim(d, "+")
	if strings.Trim(bare, "0") == "" && len(bare) >= 4 {
		return Number{Kind: Withheld} // filler digits in place of a number
	}
	if strings.HasPrefix(raw, " ") && d[0] != '+' && strings.HasPrefix(d, fmt.Sprint(r.code)) {
		d = "+" + d // a plus that became a space on its way through a query
	}
	if r.internal(d) {
		return Number{Kind: Internal, Digits: d, shown: d, copied: d}
	}
	return r.external(d)
}

func (r *Rules) internal(d string) bool {
	for _, p := range r.c.InternalPrefixes {
		if p != "" && strings.HasPrefix(d, p) {
			return true
		}
	}
	return len(d) <= r.c.InternalDigits && d[0] != '0' && d[0] != '+' && !emergency(d)
}

// emergency numbers are three digits of the whole country, not of the office.
func emergency(d string) bool { return d == "112" || d == "144" }

func (r *Rules) external(d string) Number {
	n := Number{Kind: External, Digits: d, copied: strings.TrimPrefix(d, "+")}
	if d[0] != '+' && d[0] != '0' && count(d) < 9 {
		n.Kind, n.shown = Short, d // 112, 14020, 1850
		return n
	}
	p, err := phonenumbers.Parse(d, r.c.Region)
	if err == nil && phonenumbers.IsPossibleNumber(p) && !strings.ContainsAny(d, "*#") {
		national := phonenumbers.GetNationalSignificantNumber(p)
		if len(national) >= 6 || int(p.GetCountryCode()) != r.code {
			n.E164 = phonenumbers.Format(p, phonenumbers.E164)
		}
		if int(p.GetCountryCode()) == r.code {
			n.shown, n.copied = r.national(p, national)
		} else {
			n.Foreign = true
			n.shown = phonenumbers.Format(p, phonenumbers.INTERNATIONAL)
			n.copied = "00" + strings.TrimPrefix(n.E164, "+")
		}
	}
	if n.shown == "" {
		n.shown = d
	}
	// The hub compares the last nine digits; fewer as dialled are a service
	// number and cannot be looked up.
	long := count(first(n.E164, d))
	if n.E164 != "" && !n.Foreign {
		long = count(n.copied)
	}
	if long < 9 {
		n.Kind, n.E164 = Short, ""
	}
	return n
}

// national writes a number of the region: the Dutch way for the Netherlands,
// else as the region does it.
func (r *Rules) national(p *phonenumbers.PhoneNumber, significant string) (shown, copied string) {
	if r.c.Region != "NL" {
		shown = phonenumbers.Format(p, phonenumbers.NATIONAL)
		return shown, only(shown)
	}
	d := "0" + significant
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

func only(s string) string {
	return strings.Map(func(r rune) rune {
		if r >= '0' && r <= '9' {
			return r
		}
		return -1
	}, s)
}

func count(s string) int { return len(only(s)) }

func first(a, b string) string {
	if a != "" {
		return a
	}
	return b
}
