package listener

import (
	"errors"
	"fmt"
	"html"
	"io"
	"mime"
	"net/http"
	"net/url"
	"strings"

	"golang.org/x/time/rate"

	"wiebelt/internal/core/address"
	"wiebelt/internal/core/call"
	"wiebelt/internal/core/lazyregexp"
	"wiebelt/internal/softphone/registry"
	"wiebelt/internal/text"
)

// ServeHTTP checks and answers one request. It is exported for net/http only.
func (l *Listener) ServeHTTP(w http.ResponseWriter, r *http.Request) {
	h := w.Header()
	h.Set("Cache-Control", "no-store")
	h.Set("X-Content-Type-Options", "nosniff")
	h.Set("Referrer-Policy", "no-referrer")
	if c := l.guard.check(r); c != none {
		l.refuse(w, r, c)
		return
	}
	switch {
	case r.URL.Path == pathEvents:
		l.events(w, r)
	case l.cfg.HTTP && (r.URL.Path == pathCall || strings.HasPrefix(r.URL.Path, pathCall+"/")):
		l.call(w, r)
	default:
		l.refuse(w, r, notFound)
	}
}

func (l *Listener) call(w http.ResponseWriter, r *http.Request) {
	if r.Method != http.MethodGet && r.Method != http.MethodPost {
		w.Header().Set("Allow", "GET, POST")
		l.refuse(w, r, badMethod)
		return
	}
	source, limit, ok := l.httpSource(r)
	if !ok {
		l.refuse(w, r, badToken)
		return
	}
	if !limit.AllowN(l.cfg.Now(), 1) {
		l.refuse(w, r, slowDown)
		return
	}
	f, c := readForm(w, r)
	if c == none {
		var e call.Event
		if e, c = f.toEvent(source, l.cfg.Now()); c == none {
			c = l.receive(e)
		}
	}
	if c != none {
		l.refuse(w, r, c)
		return
	}
	if isPage(r) {
		l.page(w, r, http.StatusOK, none)
		return
	}
	w.WriteHeader(http.StatusNoContent)
}

// httpSource returns the source for r's token, and its rate limit. HTTP does not
// say what a phone will report later, so a source is assumed to report only ringing
// until it has reported more.
func (l *Listener) httpSource(r *http.Request) (call.Source, *rate.Limiter, bool) {
	if tok, inPath := strings.CutPrefix(r.URL.Path, pathCall+"/"); inPath {
		return registry.Of(call.KindHTTP).CallSource("path"), l.rates.path, l.pathToken.matches(tok)
	}
	return registry.Of(call.KindHTTP).CallSource("bearer"), l.rates.bearer, l.socketToken.matches(bearer(r))
}

func readForm(w http.ResponseWriter, r *http.Request) (fields, code) {
	f := fields{}
	if c := f.add(r.URL.RawQuery); c != none || r.Method != http.MethodPost {
		return f, c
	}
	body, err := io.ReadAll(http.MaxBytesReader(w, r.Body, MaxMessage))
	var large *http.MaxBytesError
	switch {
	case errors.As(err, &large):
		return f, tooLarge
	case err != nil:
		return f, badRequest
	case len(body) == 0:
		return f, none
	}
	kind, _, _ := mime.ParseMediaType(r.Header.Get("Content-Type"))
	if kind != "application/x-www-form-urlencoded" {
		return f, badRequest
	}
	return f, f.add(string(body))
}

// refuse answers with a code and nothing from the request.
func (l *Listener) refuse(w http.ResponseWriter, r *http.Request, c code) {
	l.log.note(c)
	if c == badToken {
		w.Header().Set("WWW-Authenticate", "Bearer")
	}
	if isLink(r) && c != wrongHost && c != badOrigin {
		l.page(w, r, codeDetails[c].status, c)
		return
	}
	w.Header().Set("Content-Type", "application/json")
	w.WriteHeader(codeDetails[c].status)
	w.Write(errorResponse("", c))
}

// isPage reports whether a person sees the answer in a browser.
func isPage(r *http.Request) bool {
	if r.Method != http.MethodGet {
		return false
	}
	if len(r.Header["Sec-Fetch-Mode"]) > 0 {
		return hasHeader(r, "Sec-Fetch-Mode", "navigate")
	}
	return strings.HasPrefix(r.Header.Get("Accept"), "text/html")
}

const pageText = `<!doctype html>
<html lang="%s"><meta charset="utf-8"><title>Wiebelt</title>
<style>body{font:18px/1.5 sans-serif;margin:20vh auto;max-width:28em;padding:0 1em;color:#222;background:#fff}</style>
<p>%s</p></html>
`

// pages maps codes to sentences; for any other code the page says that the address is bad.
var pages = map[code]text.Key{
	none: text.ListenerDone, unfilledMacro: text.ListenerUnfilled, badNumber: text.ListenerBadNumber,
	badToken: text.ListenerBadToken, slowDown: text.ListenerSlowDown, stopping: text.ListenerStopping,
}

// page answers a browser. Code none means that the report was accepted.
func (l *Listener) page(w http.ResponseWriter, r *http.Request, status int, c code) {
	key, ok := pages[c]
	if !ok {
		key = text.ListenerBadAddress
	}
	lang := text.Dutch
	if a := strings.ToLower(r.Header.Get("Accept-Language")); a != "" && !strings.HasPrefix(a, "nl") {
		lang = text.English
	}
	h := w.Header()
	h.Set("Content-Type", "text/html; charset=utf-8")
	h.Set("Content-Security-Policy", "default-src 'none'; style-src 'unsafe-inline'; frame-ancestors 'none'; base-uri 'none'; form-action 'none'")
	w.WriteHeader(status)
	// The peer may be gone.
	_, _ = fmt.Fprintf(w, pageText, lang, html.EscapeString(lang.T(key)))
}

// add parses one part: an address or a posted form. A field given twice is an error, even
// once in each part, since parsers differ on which of the two counts. Phones insert names
// and SIP addresses unescaped, so it is parsed field by field: an error in an unused field
// costs no call, and ";" is part of a SIP address, not a separator.
func (f fields) add(raw string) code {
	for pair := range strings.SplitSeq(raw, "&") {
		key, raw, _ := strings.Cut(pair, "=")
		name, _ := url.QueryUnescape(key)
		if !isField(name) {
			continue
		}
		if _, twice := f[name]; twice {
			return badRequest
		}
		value, err := url.QueryUnescape(raw)
		switch {
		case err == nil:
			f[name] = value
		case name == "number" && errors.Is(address.Validate(raw), address.ErrPlaceholder):
			return unfilledMacro // %CallerNumber%
		case name == "name", name == "line", name == "via":
			f[name] = unescapeLenient(raw) // "100% Zeker"
		default:
			return badRequest
		}
	}
	return none
}

var escape = lazyregexp.New("%[0-9A-Fa-f]{2}")

// unescapeLenient decodes valid escapes and leaves every other "%" as it is.
func unescapeLenient(raw string) string {
	return escape().ReplaceAllStringFunc(strings.ReplaceAll(raw, "+", " "), func(s string) string {
		s, _ = url.PathUnescape(s) // cannot fail
		return s
	})
}
