package logfile

import (
	"fmt"
	"log/slog"
	"strings"
	"time"

	"wiebelt/internal/core/lazyregexp"
)

// Patterns of what must never be in a log, however it got there. A header's credentials extend
// to the next space or quote, whatever they contain.
var (
	tokens  = lazyregexp.New(`eyJ[\w-]{5,}(?:\.[\w-]*){1,2}`)
	headers = lazyregexp.New(`(?i)\b(bearer|basic|digest)((?:\s|%20|\+)+)([^\s"'<>]{6,})`)
	secrets = lazyregexp.New(`(?i)\b([\w-]*(?:secret|password|passwd|token|api[_-]?key))(?:(["']?\s*[=:]\s*)("(?:[^"\\]|\\.)*"?|'[^']*'?)|(["']?\s*=\s*)([^\s"'&]+)|(["']?\s*:\s*)([^\s"']+))`)
	mails   = lazyregexp.New(`[\w.+-]+@[\w-]+(?:\.[\w-]+)+`)
	queries = lazyregexp.New(`\b([a-z][a-z0-9+.-]*:(?://)?[^\s"'?]*)\?[^\s"']*`)
	phones  = lazyregexp.New(`\+?\(?\d(?:[ ()/.\x{00A0}-]{0,2}\d){8,}`)
	address = lazyregexp.New(`^\d{1,3}(?:\.\d{1,3}){3}$`)
	random  = lazyregexp.New(`[\w+/-]{40,}={0,2}`)
	dates   = lazyregexp.New(`^(?:19|20)\d\d-(?:0[1-9]|1[0-2])-(?:0[1-9]|[12]\d|3[01])\b`)
	stamps  = lazyregexp.New(`\b(?:19|20)\d\d-(?:0[1-9]|1[0-2])-(?:0[1-9]|[12]\d|3[01])[T ](?:[01]\d|2[0-3]):[0-5]\d(?::[0-5]\d(?:\.\d{1,9})?)?(?:Z|[+-][01]\d:[0-5]\d)?(?:\b|$)`)
	// Names of values that are secrets.
	secretName = lazyregexp.New(`(?i)(?:secret|password|passwd|passphrase|token|api[_-]?key|authorization)$`)
)

// hubScope is the word that follows "Basic" in the hub's scopes; it is not a credential.
const hubScope = "P0boxadministrator"

// Scrub removes what looks like a telephone number, a token, a secret, an email address, or
// the query of a web address. Times are kept.
func Scrub(s string) string {
	s = tokens().ReplaceAllString(s, "[token]")
	s = headers().ReplaceAllStringFunc(s, func(m string) string {
		part := headers().FindStringSubmatch(m)
		if rest, ok := strings.CutPrefix(part[3], hubScope); ok && (rest == "" || strings.HasPrefix(rest, "%20orgCode") || strings.HasPrefix(rest, "+orgCode")) {
			return m
		}
		return part[1] + part[2] + "[token]"
	})
	s = secrets().ReplaceAllStringFunc(s, func(m string) string {
		part := secrets().FindStringSubmatch(m)
		value, quote := part[3]+part[5]+part[7], ""
		if value[0] == '"' || value[0] == '\'' {
			quote = value[:1]
		}
		return part[1] + part[2] + part[4] + part[6] + quote + "[secret]" + quote
	})
	s = queries().ReplaceAllString(s, "$1?[…]")
	s = mails().ReplaceAllString(s, "[address]")
	s = random().ReplaceAllStringFunc(s, func(m string) string {
		if strings.Count(m, "/") > 2 || !strings.ContainsAny(m, "0123456789") {
			return m // a path, or a long word
		}
		return "[token]"
	})
	var b strings.Builder
	end := 0
	for _, at := range stamps().FindAllStringIndex(s, -1) {
		b.WriteString(scrubNumbers(s[end:at[0]]))
		b.WriteString(s[at[0]:at[1]])
		end = at[1]
	}
	b.WriteString(scrubNumbers(s[end:]))
	return b.String()
}

func scrubNumbers(s string) string {
	return phones().ReplaceAllStringFunc(s, func(m string) string {
		if address().MatchString(m) {
			return m
		}
		if date := dates().FindString(m); date != "" {
			return date + scrubNumbers(m[len(date):])
		}
		return "[number]"
	})
}

// ScrubAttr scrubs the text values of a log record, including its message.
func ScrubAttr(_ []string, a slog.Attr) slog.Attr {
	if secretName().MatchString(a.Key) && a.Value.Kind() != slog.KindGroup && a.Value.Kind() != slog.KindBool {
		a.Value = slog.StringValue("[secret]")
		return a
	}
	switch a.Value.Kind() {
	case slog.KindString:
		a.Value = slog.StringValue(Scrub(a.Value.String()))
	case slog.KindAny:
		switch v := a.Value.Any().(type) {
		case error:
			a.Value = slog.StringValue(Scrub(v.Error()))
		case time.Time, time.Duration:
		default:
			a.Value = slog.StringValue(Scrub(fmt.Sprint(v)))
		}
	}
	return a
}
