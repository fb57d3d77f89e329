package listener

import (
	"errors"
	"net/url"
	"strings"

	"wiebelt/internal/core/address"
)

// form is what an address or a posted form says, as it is read. Phones put names
// and SIP addresses into it as they are, so it is read field by field: what is
// wrong in one that we do not need costs no call, and ";" is a part of a SIP
// address and parts no fields.
type form struct {
	fields
	seen map[string]bool
}

// add reads one part. A field that is given twice is an error, also once here and
// once there, since readers differ on which of the two counts.
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

// loose undoes the escapes that are ones, and leaves every other "%" as it is.
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
