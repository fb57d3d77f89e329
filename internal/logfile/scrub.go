package logfile

import (
	"fmt"
	"log/slog"
	"regexp"
	"strings"
	"time"
)

// What must never stand in a log, however it got there.
var (
	tokens  = regexp.MustCompile(`eyJ[\w-]{5,}(?:\.[\w-]*){1,2}`)
	headers = regexp.MustCompile(`(?i)\b(bearer|basic|digest)\s+[\w+/=.~-]{6,}`)
	secrets = regexp.MustCompile(`(?i)\b([\w-]*(?:secret|password|passwd|token|api[_-]?key))(["']?\s*[=:]\s*["']?)([^\s"'&,;]+)`)
	mails   = regexp.MustCompile(`[\w.+-]+@[\w-]+(?:\.[\w-]+)+`)
	queries = regexp.MustCompile(`\b([a-z][a-z0-9+.-]*:(?://)?[^\s"'?]*)\?[^\s"']*`)
	phones  = regexp.MustCompile(`\+?\(?\d(?:[ ()/.\x{00A0}-]{0,2}\d){8,}`)
	address = regexp.MustCompile(`^\d{1,3}(?:\.\d{1,3}){3}$`)
	random  = regexp.MustCompile(`[\w+/-]{40,}={0,2}`)
	dates   = regexp.MustCompile(`^\d{4}-\d{2}-\d{2}`)
)

// Scrub takes out what looks like a telephone number, a token, a secret, an
// address of mail, or what follows the question mark of a web address.
func Scrub(s string) string {
	s = tokens.ReplaceAllString(s, "[token]")
	s = headers.ReplaceAllString(s, "$1 [token]")
	s = secrets.ReplaceAllString(s, "$1$2[secret]")
	s = queries.ReplaceAllString(s, "$1?[…]")
	s = mails.ReplaceAllString(s, "[address]")
	s = random.ReplaceAllStringFunc(s, func(m string) string {
		if strings.Count(m, "/") > 2 || !strings.ContainsAny(m, "0123456789") {
			return m // a path, or a long word
		}
		return "[token]"
	})
	return phones.ReplaceAllStringFunc(s, func(m string) string {
		if address.MatchString(m) || dates.MatchString(m) {
			return m
		}
		return "[number]"
	})
}

// scrubAttr scrubs the values of a log line that are text; the message too.
func scrubAttr(groups []string, a slog.Attr) slog.Attr {
	if len(groups) == 0 && (a.Key == slog.TimeKey || a.Key == slog.LevelKey) {
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
