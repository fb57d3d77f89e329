// Package address parses what a softphone sends as somebody's address: a number, perhaps
// with a name, scheme, host and parameters around it, or a word meaning that there is none.
// It knows no numbering plans, so that the program that hands a call over starts without
// them. Everything is safe for concurrent use.
package address

import (
	"errors"
	"net/netip"
	"net/url"
	"slices"
	"strings"
	"unicode"
	"unicode/utf8"

	"wiebelt/internal/core/displaytext"
	"wiebelt/internal/core/lazyregexp"
)

// MaxLength is the longest number that is read, in bytes.
const MaxLength = 128

// Errors of Validate.
var (
	// ErrPlaceholder: the phone sent its template's placeholder instead of a number.
	ErrPlaceholder = errors.New("the phone's template was not filled in")
	// ErrBadNumber: too long, with control characters, or neither a number nor a word
	// meaning that there is none.
	ErrBadNumber = errors.New("not a telephone number")
)

// Validate checks a number from outside before it is taken as a report. An empty one is
// valid: it means a withheld caller.
func Validate(raw string) error {
	if len(raw) > MaxLength || !utf8.ValidString(raw) {
		return ErrBadNumber
	}
	if strings.ContainsFunc(raw, unicode.IsControl) {
		return ErrBadNumber
	}
	a := Parse(raw)
	switch {
	case a.Placeholder:
		return ErrPlaceholder
	case a.Withheld(), hasDigit(a.User):
		return nil
	}
	return ErrBadNumber
}

// Address is a parsed address from a softphone.
type Address struct {
	Display      string // of a name-addr
	User         string // percent-decoded, without parameters
	Host         string // lower case, without port
	Context      string // phone-context of a tel: number, "+31"
	LeadingSpace bool   // a space, once perhaps a plus, precedes the user part
	Placeholder  bool   // it is an unexpanded placeholder
}

// Withheld reports whether the address itself says that the caller is unknown.
func (a Address) Withheld() bool {
	return withheldWord(a.User) || a.Host == "invalid" || strings.HasSuffix(a.Host, ".invalid")
}

// schemes that a number may have. A sip: address without an @ may be just a host.
var schemes = []string{"sips:", "sip:", "tel:", "callto:"}

// Parse removes what surrounds a number: name-addr, scheme, host and parameters. It reads
// MaxLength bytes and drops invisible characters.
func Parse(raw string) (a Address) {
	s := StripInvisible(raw)
	if isPlaceholder(s) {
		return Address{Placeholder: true}
	}
	a.Display, s = SplitNameAddr(s)
	s = strings.TrimRight(s, " ")
	for _, scheme := range schemes {
		if t := strings.TrimLeft(s, " "); len(t) >= len(scheme) && strings.EqualFold(t[:len(scheme)], scheme) {
			s = strings.TrimPrefix(t[len(scheme):], "//")
			break
		}
	}
	s = strings.TrimSuffix(s, "/")
	if i := strings.LastIndexByte(s, '@'); i >= 0 {
		a.Host = hostOf(s[i+1:])
		s = s[:i]
		s, _, _ = strings.Cut(s, ":") // a password
	} else if host := hostOf(strings.TrimSpace(s)); isIP(host) {
		a.Host, s = host, "" // a host without a user identifies no one
	}
	s, params, _ := strings.Cut(s, ";")
	for _, p := range strings.Split(params, ";") {
		if v, ok := strings.CutPrefix(strings.ToLower(p), "phone-context="); ok && strings.HasPrefix(v, "+") {
			a.Context = "+" + OnlyDigits(v)
		}
	}
	a.Placeholder = isPlaceholder(s)
	if d, err := url.PathUnescape(s); err == nil {
		s, _, _ = strings.Cut(StripInvisible(d), "@")
	}
	a.Placeholder = a.Placeholder || isPlaceholder(s)
	a.User = strings.TrimSpace(s)
	a.LeadingSpace = strings.HasPrefix(s, " ")
	return a
}

// RestorePlus restores the plus that a query turned into a space, and removes any other
// leading space. No number dialled without a plus begins like that and is as long.
func RestorePlus(s string) string {
	n, spaced := strings.CutPrefix(s, " ")
	if spaced && len(n) >= 8 && n[0] >= '1' && n[0] <= '9' {
		return "+" + n
	}
	return n
}

// SplitNameAddr splits "Name" <address>;params, as written in SIP (RFC 3261 20.10). The name is
// unquoted. Without angle brackets, everything is the address.
func SplitNameAddr(s string) (display, addr string) {
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

// Unescape removes the backslashes of a quoted string in SIP, each of which escapes the
// next character (RFC 3261 25.1). A trailing one stays.
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

// hostOf removes port, parameters and path from a host.
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

// placeholder is an unexpanded placeholder of some softphone's template: %Number%,
// %%Number%%, %s, {phone}, {{number}}, ${x}, $x$, #{x}, %{x}, <m>, [number].
var placeholder = lazyregexp.New(`^\s*(` +
	`%%?[\pL_][\w. -]*%%?|%[a-z0-9]` +
	`|[#$%]?\{\{?[\pL_ ][\w .()-]*\}?\}` +
	`|\$[\pL_]\w*\$?` +
	`|<[\pL_][\w -]{0,40}>` +
	`|\[\[?[\pL_][\w. -]*\]?\]` +
	`)\s*$`)

func isPlaceholder(s string) bool {
	return placeholder().MatchString(s) && !withheldWord(s)
}

// dialSuffix matches what may follow a number: pauses and tones to dial once
// connected, or an extension.
var dialSuffix = lazyregexp.New(`^([^,pwx]*[0-9][^,pwxe]*?)\s*(?:[,pwx]|ext\.?)[\s,.pwx0-9*#]*$`)

// Digits keeps the digits, tones and leading plus of a user part; ok is false if it
// contains anything that no number has.
func Digits(user string) (d string, ok bool) {
	s := strings.ReplaceAll(user, "(0)", "")
	if m := dialSuffix().FindStringSubmatch(strings.ToLower(s)); m != nil {
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

// withheldWord reports whether a user part says that the caller is withheld or unknown.
func withheldWord(s string) bool {
	s = bareWord(s)
	return s == "" || IsUnknownName(s) || strings.HasPrefix(s, "presentation prohibited")
}

// IsPrivateName reports whether a display name says that the caller is withheld. Names
// such as "Unknown" do not: phone systems use them for callers whose number they
// know but not their name.
func IsPrivateName(s string) bool { return slices.Contains(withheldWords, bareWord(s)) }

// IsUnknownName reports whether a display name is only a word for an unknown caller.
func IsUnknownName(s string) bool {
	return IsPrivateName(s) || slices.Contains(unknownWords, bareWord(s))
}

func bareWord(s string) string { return strings.ToLower(strings.Trim(s, " <>\"'")) }

// withheldWords are the words for a withheld caller.
var withheldWords = []string{"anonymous", "anoniem", "anonym", "anonyme", "restricted", "private", "withheld", "blocked", "afgeschermd",
	"privé", "prive", "private number", "private caller", "privénummer", "privenummer", "geheim nummer", "afgeschermd nummer",
	"number withheld", "caller id blocked", "no caller id"}

// unknownWords are the words for a caller whose number did not come through.
var unknownWords = []string{"unknown", "unavailable", "unavail", "not available", "outofarea", "out of area", "onbekend", "unknown caller",
	"unknown number", "onbekend nummer", "nummer onbekend", "onbekende beller", "number unavailable"}

// StripInvisible cuts text to MaxLength bytes and removes what is invisible: control and format
// characters, and invalid UTF-8.
func StripInvisible(s string) string {
	if len(s) > MaxLength {
		s = s[:MaxLength]
	}
	return strings.Map(func(r rune) rune {
		if displaytext.IsHidden(r) {
			return -1
		}
		return r
	}, s)
}

func hasDigit(s string) bool { return strings.ContainsAny(s, "0123456789") }

// OnlyDigits keeps the digits.
func OnlyDigits(s string) string {
	return strings.Map(func(r rune) rune {
		if r >= '0' && r <= '9' {
			return r
		}
		return -1
	}, s)
}
