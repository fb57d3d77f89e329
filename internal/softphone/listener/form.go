package listener

import (
	"errors"
	"net/url"
	"strings"

	"wiebelt/internal/core/address"
)

// form collects the fields of an address or a posted form. Phones insert names and SIP
// addresses unescaped, so it is parsed field by field: an error in an unused field costs no
// call, and ";" is part of a SIP address, not a separator.
type form struct {
	fields
	seen map[string]bool
}

// add parses one part. A field given twice is an error, even once
// in each part, since parsers differ on which of the two counts.
func (f *form) add(raw string) code {
	for pair := range strings.SplitSeq(raw, "&") {
		key, raw, _ := strings.Cut(pair, "=")
		name, _ := url.QueryUnescape(key)
		to := f.field(name)
		if to == nil {
			continue
		}
		if f.seen[name] {
			return badRequest
		}
		f.seen[name] = true
		value, err := url.QueryUnescape(raw)
		switch {
		case err == nil:
			*to = value
		case to == &f.number && errors.Is(address.Validate(raw), address.ErrUnfilled):
			return unfilledMacro // %CallerNumber%
		case to == &f.name, to == &f.line, to == &f.via:
			*to = loose(raw) // "100% Zeker"
		default:
			return badRequest
		}
	}
	return none
}

// loose decodes valid escapes and leaves every other "%" as it is.
func loose(raw string) string {
	var b strings.Builder
	for rest := raw; rest != ""; {
		n := 1
		if rest[0] == '%' && len(rest) > 2 {
			if _, err := url.QueryUnescape(rest[:3]); err == nil {
				n = 3
			}
		}
		part := rest[:n]
		if s, err := url.QueryUnescape(part); err == nil {
			part = s
		}
		b.WriteString(part)
		rest = rest[n:]
	}
	return b.String()
}
