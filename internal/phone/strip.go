package phone

import (
	"net/url"
	"regexp"
	"strings"
	"unicode/utf8"

	"errors"
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
	for _, r := range raw {
		if r < 0x20 || r == 0x7f {
			return ErrBadNumber
		}
	}
	if unfilled(raw) {
		return ErrUnfilled
	}
	if user, host := strip(raw); hasDigit(user) || withheldUser(user) || strings.HasSuffix(host, ".invalid") {
		return nil
	}
	return ErrBadNumber
}

// macro is an unexpanded placeholder of some softphone's template.
var macro = regexp.MustCompile(`^\s*(%%?[A-Za-z_]+%%?|\{\{?[A-Za-z_ .]+\}\}?|\$\{?[A-Za-z_]+\}?\$?|<[a-zA-Z_]{1,20}>|\[[A-Za-z_.]+\])\s*$`)

func unfilled(raw string) bool {
	return macro.MatchString(raw) && !strings.EqualFold(strings.TrimSpace(raw), "<unknown>")
}

// strip takes away what stands around a number: name-addr, scheme, host and
// parameters. It returns the user part, percent-decoded, and the host in small
// letters.
func strip(raw string) (user, host string) {
	s := strings.TrimSpace(raw)
	if len(s) > MaxLength {
		s = s[:MaxLength]
	}
	if i := strings.LastIndexByte(s, '<'); i >= 0 && !strings.EqualFold(s, "<unknown>") {
		s = s[i+1:]
		if j := strings.IndexByte(s, '>'); j >= 0 {
			s = s[:j]
		}
	}
	for _, scheme := range []string{"sips:", "sip:", "tel:", "callto:"} {
		if len(s) >= len(scheme) && strings.EqualFold(s[:len(scheme)], scheme) {
			s = strings.TrimPrefix(s[len(scheme):], "//")
			break
		}
	}
	s = strings.TrimSuffix(s, "/")
	if i := strings.LastIndexByte(s, '@'); i >= 0 {
		s, host = s[:i], s[i+1:]
		if j := strings.IndexAny(host, ";:?>"); j >= 0 {
			host = host[:j]
		}
	}
	context := ""
	if i := strings.IndexByte(s, ';'); i >= 0 {
		for _, p := range strings.Split(s[i+1:], ";") {
			if v, ok := strings.CutPrefix(strings.ToLower(p), "phone-context="); ok && strings.HasPrefix(v, "+") {
				context = v
			}
		}
		s = s[:i]
	}
	if d, err := url.PathUnescape(s); err == nil && utf8.ValidString(d) {
		s = d
	}
	s = strings.TrimSpace(s)
	// A tel: number that is local to a country code gets it back.
	if context != "" && s != "" && s[0] == '0' && !strings.HasPrefix(s, "00") {
		s = context + s[1:]
	}
	return s, strings.ToLower(strings.TrimSuffix(host, "."))
}

// digits keeps digits and a leading plus of a user part; ok is false where
// something stands in it that no number has.
func digits(user string) (d string, ok bool) {
	var b strings.Builder
	s := strings.ReplaceAll(user, "(0)", "")
	for i, r := range s {
		switch {
		case r >= '0' && r <= '9':
			b.WriteRune(r)
		case r == '+' && b.Len() == 0:
			b.WriteByte('+')
		case r == ' ' || r == '-' || r == '.' || r == '(' || r == ')' || r == '/' || r == '\u00a0' || r == '\u2011' || r == '\u2013':
		case r == '*' || r == '#':
			b.WriteRune(r) // feature codes: digits of a telephone all the same
		default:
			_ = i
			return "", false
		}
	}
	return b.String(), hasDigit(b.String())
}

// withheldUser reports whether a user part (or a display name) says that the
// caller does not want to be known, or is not known.
func withheldUser(s string) bool {
	switch strings.ToLower(strings.Trim(s, " <>\"'")) {
	case "", "anonymous", "restricted", "private", "unknown", "unavailable", "withheld",
		"onbekend", "anoniem", "afgeschermd", "anonym", "privé", "prive",
		"unknown caller", "private number", "number withheld", "not available", "geheim nummer", "privénummer":
		return true
	}
	return false
}

func hasDigit(s string) bool { return strings.ContainsAny(s, "0123456789") }
