package localhub

import (
	"strings"
	"unicode"
)

// compared is how many digits of a number count.
const compared = 9

// maxTerm is the longest text that is read as a number or an e-mail address.
const maxTerm = 256

// lastNine returns the last nine digits of a telephone number in any notation. It ignores spaces,
// dashes, dots and brackets, leaves out leading words and trailing remarks, and uses only the
// number of an address such as sip:0612345678@pbx;user=phone. With fewer digits ok is false.
func lastNine(s string) (nine string, ok bool) {
	d := digitsOf(s)
	if len(d) < compared {
		return "", false
	}
	return d[len(d)-compared:], true
}

// digitsOf returns all digits of the number at the start of s.
func digitsOf(s string) string {
	if len(s) > maxTerm {
		s = s[:maxTerm]
	}
	if _, in, found := strings.Cut(s, "<"); found {
		s, _, _ = strings.Cut(in, ">")
	}
	s, _, _ = strings.Cut(s, "@")
	s, _, _ = strings.Cut(s, ";")
	var d []byte
	for _, r := range s {
		switch {
		case r >= '0' && r <= '9':
			d = append(d, byte(r))
		case unicode.IsLetter(r):
			if len(d) > 0 {
				return string(d) // a remark or extension follows
			}
		}
	}
	return string(d)
}

// email reports whether s is an e-mail address rather than a number, and returns it in the
// form used for comparison.
func email(s string) (term string, ok bool) {
	s = strings.ToLower(strings.TrimSpace(s))
	local, host, found := strings.Cut(s, "@")
	if !found || local == "" || host == "" || len(s) > maxTerm || strings.ContainsAny(s, " \t\r\n:<>;,") {
		return "", false
	}
	if strings.ContainsFunc(local, unicode.IsLetter) {
		return s, true
	}
	_, number := lastNine(local)
	return s, !number
}

// termOf returns the term used for storing and searching: the last nine digits, or the
// e-mail address. ok is false if nothing can be found with it.
func termOf(s string) (term string, ok bool) {
	if term, ok := email(s); ok {
		return term, true
	}
	return lastNine(s)
}
