package listener

import (
	"crypto/sha256"
	"crypto/subtle"
	"log/slog"
	"net/http"
	"net/url"
	"slices"
	"strconv"
	"strings"
)

const (
	pathEvents = "/v1/events"
	pathCall   = "/v1/call"
)

// guard checks where a request comes from, before anything else of it is
// used. It is immutable.
type guard struct {
	hosts   map[string]bool
	origins map[string]bool
}

func newGuard(port int, origins []string, log *slog.Logger) guard {
	p := ":" + strconv.Itoa(port)
	g := guard{
		hosts:   map[string]bool{"127.0.0.1" + p: true, "[::1]" + p: true, "localhost" + p: true},
		origins: map[string]bool{},
	}
	for i, o := range origins {
		if !isOrigin(o) {
			// Excluded rather than guessed.
			log.Warn("allowed origin is not of the form https://host and is left out", "index", i)
			continue
		}
		g.origins[o] = true
	}
	return g
}

// isOrigin reports whether s is an origin as browsers write it: scheme, host and
// optional port, nothing more.
func isOrigin(s string) bool {
	u, err := url.Parse(s)
	return err == nil && u.Hostname() != "" && !strings.ContainsAny(u.Host, "*@ ") &&
		s == u.Scheme+"://"+u.Host
}

// check returns the reason to refuse r, none if it may proceed.
func (g guard) check(r *http.Request) code {
	// A request line with an absolute address is for proxies; it would take precedence
	// over the Host header.
	if !g.hosts[r.Host] || !strings.HasPrefix(r.RequestURI, "/") {
		return wrongHost
	}
	for _, h := range [...]string{"Sec-Purpose", "Purpose", "X-Purpose", "X-Moz"} {
		for _, v := range r.Header[h] {
			if strings.Contains(strings.ToLower(v), "prefetch") {
				return badOrigin
			}
		}
	}
	origin, sent := r.Header["Origin"]
	allowed := sent && len(origin) == 1 && g.origins[origin[0]]
	if sent && !allowed {
		return badOrigin
	}
	if allowed || isLink(r) {
		return none
	}
	for _, v := range r.Header["Sec-Fetch-Site"] {
		if v != "none" {
			return badOrigin
		}
	}
	for _, v := range r.Header["Referer"] {
		u, err := url.Parse(v)
		if err != nil || !g.origins[u.Scheme+"://"+u.Host] {
			return badOrigin
		}
	}
	return none
}

// isLink reports whether a browser opens /v1/call/<token> as a page of its own.
// Phones that can only open an address report that way, some of them from a page.
func isLink(r *http.Request) bool {
	return r.Method == http.MethodGet && strings.HasPrefix(r.URL.Path, pathCall+"/") &&
		hasHeader(r, "Sec-Fetch-Mode", "navigate") && hasHeader(r, "Sec-Fetch-Dest", "document")
}

// hasHeader reports whether the header name was sent exactly once, with this value.
func hasHeader(r *http.Request, name, value string) bool {
	v := r.Header[name]
	return len(v) == 1 && v[0] == value
}

// matches compares in constant time. An unset token matches nothing.
func (t token) matches(s string) bool {
	sum := sha256.Sum256([]byte(s))
	return subtle.ConstantTimeCompare(t.sum[:], sum[:]) == 1 && t.set
}

// bearer returns the token of the Authorization header; "" if it is missing, malformed or
// given more than once.
func bearer(r *http.Request) string {
	v := r.Header["Authorization"]
	if len(v) != 1 {
		return ""
	}
	scheme, tok, _ := strings.Cut(v[0], " ")
	if !strings.EqualFold(scheme, "Bearer") {
		return ""
	}
	return strings.TrimSpace(tok)
}

// socketTokenOK reports whether r carries the socket token in its Authorization header or
// as a subprotocol. If both are present, both must be correct.
func (l *Listener) socketTokenOK(r *http.Request, protocols []string) bool {
	var shown []string
	if len(r.Header["Authorization"]) > 0 {
		shown = append(shown, bearer(r))
	}
	for _, p := range protocols {
		if tok, is := strings.CutPrefix(p, tokenProtocol); is {
			shown = append(shown, tok)
		}
	}
	return len(shown) > 0 && !slices.ContainsFunc(shown, func(tok string) bool { return !l.socketToken.matches(tok) })
}
