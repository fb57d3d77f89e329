package hub

import (
	"errors"
	"net/url"
	"strings"
)

// Reasons not to open a deep link. Their texts contain nothing of the link.
var (
	errNoHub      = errors.New("hub.hub_url is not set")
	errOtherHost  = errors.New("the link leads to another host")
	errOtherShape = errors.New("the link has another shape than documented")
)

const maxLink = 2048

// LinkChecker checks deep links against the hub's address. Immutable; safe for concurrent use.
type LinkChecker struct {
	hub    *url.URL // nil refuses every link
	path   string   // of every link, before the contact
	prefix string   // the start of every opened link, before the contact
}

// NewLinkChecker returns a check for {hub_url}. It refuses every link if that is "" or invalid.
func NewLinkChecker(hubURL string) (*LinkChecker, error) {
	if hubURL == "" {
		return &LinkChecker{}, nil
	}
	u, err := ParseAddress("hub.hub_url", hubURL)
	if err != nil {
		return &LinkChecker{}, err
	}
	path := strings.TrimSuffix(u.EscapedPath(), "/") + "/contacts/viewcontact/"
	return &LinkChecker{u, path, u.Scheme + "://" + u.Host + path}, nil
}

// Check returns the rebuilt address to open if the link has exactly the documented form
// {hub_url}/contacts/viewcontact/<contact_id>.
func (l *LinkChecker) Check(link string) (string, error) {
	if l.hub == nil {
		return "", errNoHub
	}
	u, ok := parseLink(link)
	switch {
	case !ok:
		return "", errOtherShape
	case u.Scheme != l.hub.Scheme || !strings.EqualFold(u.Hostname(), l.hub.Hostname()) || portOf(u) != portOf(l.hub) || strings.HasSuffix(u.Host, ":"):
		return "", errOtherHost
	}
	// Use the path as written: url.Parse would escape characters that are not allowed.
	_, rest, _ := strings.Cut(link, "://")
	_, path, _ := strings.Cut(rest, "/")
	contact, ok := strings.CutPrefix("/"+path, l.path)
	if !ok || !goodSegment(contact) {
		return "", errOtherShape
	}
	return l.prefix + contact, nil
}

// parseLink parses a web address with nothing after its path.
func parseLink(link string) (*url.URL, bool) {
	odd := func(r rune) bool { return r <= 0x20 || r >= 0x7f || r == '\\' || r == '?' || r == '#' }
	if len(link) > maxLink || strings.ContainsFunc(link, odd) {
		return nil, false
	}
	u, err := url.Parse(link)
	if err != nil {
		return nil, false
	}
	return u, u.Opaque == "" && u.User == nil && (u.Scheme == "https" || u.Scheme == "http")
}

const unreserved = "ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz0123456789-._~"

// goodSegment accepts unreserved characters, and percent-escapes that hide no separator,
// control character or dot segment.
func goodSegment(s string) bool {
	plain, err := url.PathUnescape(s)
	if err != nil || len(s) > 200 || plain == "" || plain == "." || plain == ".." || strings.Trim(s, unreserved+"%") != "" {
		return false
	}
	return !strings.ContainsFunc(plain, func(r rune) bool { return r < 0x20 || r == '/' || r == '\\' || r == 0x7f })
}

func portOf(u *url.URL) string {
	if p := u.Port(); p != "" {
		return p
	}
	if u.Scheme == "https" {
		return "443"
	}
	return "80"
}
