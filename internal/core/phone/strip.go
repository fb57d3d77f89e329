package phone

import (
	"errors"
	"net/netip"
	"net/url"
	"regexp"
	"strings"
	"unicode"
	"unicode/utf8"

	"wiebelt/internal/core/displaytext"
)

// MaxLength is the longest number that is looked at, in bytes.
const MaxLength = 128

// Errors of Validate.
var (
	// ErrUnfilled: the phone sent the placeholder of its template instead of a
	// number.
	ErrUnfilled = errors.New("the phone's template was not filled in")
	// ErrBadNumber: too long, with control characters, or neither a number nor a
	// way of saying that there is none.
	ErrBadNumber = errors.New("not a telephone number")
)

// Validate checks a number from outside before it is taken as a report. An empty
// one is good: that is a withheld caller.
func Validate(raw string) error {
	if len(raw) > MaxLength || !utf8.ValidString(raw) {
		return ErrBadNumber
	}
	if strings.ContainsFunc(raw, unicode.IsControl) {
		return ErrBadNumber
	}
	a := split(raw)
	switch {
	case a.unfilled:
		return ErrUnfilled
	case a.withheld(), hasDigit(a.user):
		return nil
	}
	return ErrBadNumber
}

// address is what a softphone gave for a number, taken apart.
type address struct {
	display  string // of a name-addr
	user     string // percent-decoded, without parameters
	host     string // in small letters, without port
	context  string // phone-context of a tel: number, "+31"
	spaced   bool   // a space stood before the user part: a plus, once
	unfilled bool   // it is an unexpanded placeholder
}

// withheld reports whether the address itself says that the caller is not known.
func (a address) withheld() bool {
	return withheldWord(a.user) || a.host == "invalid" || strings.HasSuffix(a.host, ".invalid")
}

// schemes that a number may come with. A sip: address without an @ may be a host
// alone.
var schemes = []string{"sips:", "sip:", "tel:", "callto:"}

// split takes away what stands around a number: name-addr, scheme, host and
// parameters. It looks at MaxLength bytes and drops
// characters that cannot be seen.
func split(raw string) (a address) {
	s := visible(raw)
	if unfilled(s) {
		return address{unfilled: true}
	}
	a.display, s = NameAddr(s)
	s = strings.TrimRight(s, " ")
	for _, scheme := range schemes {
		if t := strings.TrimLeft(s, " "); len(t) >= len(scheme) && strings.EqualFold(t[:len(scheme)], scheme) {
			s = strings.TrimPrefix(t[len(scheme):], "//")
			break
		}
	}
	s = strings.TrimSuffix(s, "/")
	if i := strings.LastIndexByte(s, '@'); i >= 0 {
		a.host = hostOf(s[i+1:])
		s = s[:i]
		s, _, _ = strings.Cut(s, ":") // a password
	} else if host := hostOf(strings.TrimSpace(s)); isIP(host) {
		a.host, s = host, "" // a host without a user: nobody named
	}
	s, params, _ := strings.Cut(s, ";")
	for _, p := range strings.Split(params, ";") {
		if v, ok := strings.CutPrefix(strings.ToLower(p), "phone-context="); ok && strings.HasPrefix(v, "+") {
			a.context = "+" + only(v)
		}
	}
	a.unfilled = unfilled(s)
	if d, err := url.PathUnescape(s); err == nil {
		s, _, _ = strings.Cut(visible(d), "@")
	}
	a.unfilled = a.unfilled || unfilled(s)
	a.user = strings.TrimSpace(s)
	a.spaced = strings.HasPrefix(s, " ")
	return a
}

// NameAddr divides "Name" <address>;params, as SIP writes them (RFC 3261 20.10).
// The name is as a person reads it. Without angle brackets all of it is the
// address.
func NameAddr(s string) (display, addr string) {
	quoted := false
	for i := 0; i < len(s); i++ {
		switch {
		case s[i] == '\\' && quoted:
			i++
		case s[i] == '"':
			quoted = !quoted
		case s[i] == '<' && !quoted:
			addr, _, _ = strings.Cut(s[i+1:], ">")
			display = strings.Trim(s[:i], " ")
			if t := strings.TrimPrefix(display, `"`); t != display {
				display = Unescape(strings.TrimSuffix(t, `"`))
			}
			return display, addr
		}
	}
	return "", s
}

// Unescape undoes the backslashes of a quoted string in SIP: each stands before
// a character that means itself (RFC 3261 25.1). A last one without any stays.
func Unescape(s string) string {
	if strings.IndexByte(s, '\\') < 0 {
		return s
	}
	var b strings.Builder
	b.Grow(len(s))
	for i := 0; i < len(s); i++ {
		if s[i] == '\\' && i+1 < len(s) {
			i++
		}
		b.WriteByte(s[i])
	}
	return b.String()
}

// hostOf cuts port, parameters and path off a host.
func hostOf(s string) string {
	if i := strings.IndexAny(s, ";:?>/"); i >= 0 && !strings.HasPrefix(s, "[") {
		s = s[:i]
	}
	return strings.ToLower(strings.TrimSuffix(strings.TrimSpace(s), "."))
}

func isIP(s string) bool {
	_, err := netip.ParseAddr(strings.Trim(s, "[]"))
	return err == nil
}

// macro is an unexpanded placeholder of some softphone's template: %Number%,
// %%Number%%, %s, {phone}, {{number}}, ${x}, $x$, #{x}, %{x}, <m>, [number].
var macro = regexp.MustCompile(`^\s*(` +
	`%%?[\pL_][\w. -]*%%?|%[a-z0-9]` +
	`|[#$%]?\{\{?[\pL_ ][\w .()-]*\}?\}` +
	`|\$[\pL_]\w*\$?` +
	`|<[\pL_][\w -]{0,40}>` +
	`|\[\[?[\pL_][\w. -]*\]?\]` +
	`)\s*$`)

func unfilled(s string) bool {
	return macro.MatchString(s) && !withheldWord(s)
}

// behind is what may follow a number: pauses and tones to dial once connected,
// or an extension.
var behind = regexp.MustCompile(`^([^,pwx]*[0-9][^,pwxe]*?)\s*(?:[,pwx]|ext\.?)[\s,.pwx0-9*#]*$`)

// digits keeps digits, tones and a leading plus of a user part; ok is false
// where something stands in it that no number has.
func digits(user string) (d string, ok bool) {
	s := strings.ReplaceAll(user, "(0)", "")
	if m := behind.FindStringSubmatch(strings.ToLower(s)); m != nil {
		s = m[1]
	}
	var b strings.Builder
	for _, r := range s {
		switch {
		case r >= '0' && r <= '9', r == '*', r == '#':
			b.WriteRune(r)
		case r == '+' && b.Len() == 0:
			b.WriteByte('+')
		case strings.ContainsRune(" -.()/\u00a0\u2010\u2011\u2012\u2013", r):
		default:
			return "", false
		}
	}
	d = b.String()
	if strings.HasPrefix(d, "+00") {
		d = "+" + d[3:]
	}
	return d, hasDigit(d)
}

// withheldWord reports whether a user part says that the caller does not want to
// be known, or is not known.
func withheldWord(s string) bool {
	s = bareWord(s)
	return s == "" || private[s] || unknown[s] || strings.HasPrefix(s, "presentation prohibited")
}

// privateName reports whether a display name says that the caller does not want
// to be known. Names such as "Unknown" do not: phone systems give them to
// callers whose number they have and whose name they have not.
func privateName(s string) bool { return private[bareWord(s)] }

// unknownName reports whether a display name is no name but one of the words
// for a caller that is not known.
func unknownName(s string) bool { s = bareWord(s); return private[s] || unknown[s] }

func bareWord(s string) string { return strings.ToLower(strings.Trim(s, " <>\"'")) }

// private are the words for a caller who does not want to be known.
var private = words("anonymous", "anoniem", "anonym", "anonyme", "restricted", "private", "withheld", "blocked", "afgeschermd",
	"privé", "prive", "private number", "private caller", "privénummer", "privenummer", "geheim nummer", "afgeschermd nummer",
	"number withheld", "caller id blocked", "no caller id")

// unknown are the words for a caller whose number did not come through.
var unknown = words("unknown", "unavailable", "unavail", "not available", "outofarea", "out of area", "onbekend", "unknown caller",
	"unknown number", "onbekend nummer", "nummer onbekend", "onbekende beller", "number unavailable")

func words(all ...string) map[string]bool {
	m := make(map[string]bool, len(all))
	for _, w := range all {
		m[w] = true
	}
	return m
}

// visible cuts text to MaxLength bytes and takes out what cannot be seen:
// control and format characters, and what is no UTF-8.
func visible(s string) string {
	if len(s) > MaxLength {
		s = s[:MaxLength]
	}
	return strings.Map(func(r rune) rune {
		if displaytext.Hidden(r) {
			return -1
		}
		return r
	}, s)
}

func hasDigit(s string) bool { return strings.ContainsAny(s, "0123456789") }

// only keeps the digits.
func only(s string) string {
	return strings.Map(func(r rune) rune {
		if r >= '0' && r <= '9' {
			return r
		}
		return -1
	}, s)
}
