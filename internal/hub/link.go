package hub

import (
	"errors"
	"net/url"
	"strings"
)

// Reasons why a deep link is not opened. Their texts hold nothing of the link.
var (
	ErrNoHub      = errors.New("hub.hub_url is not set")
	ErrOtherHost  = errors.New("the link leads to another host")
	ErrOtherShape = errors.New("the link has another shape than documented")
)

const maxLink = 2048

// Links checks deep links against the hub's address.
// Immutable; safe for concurrent use.
type Links struct {
	scheme, host, port, path string
}

// NewLinks makes a check for {hub_url}; "" refuses every link.
func NewLinks(hubURL string) (*Links, error) {
	if hubURL == "" {
		return &Links{}, nil
	}
	u, err := checkAddress("hub.hub_url", hubURL)
	if err != nil {
		return nil, err
	}
	return &Links{u.Scheme, u.Hostname(), portOf(u), strings.TrimSuffix(u.EscapedPath(), "/") + "/contacts/viewcontact/"}, nil
}

// Check returns the address to open, written anew, if the link is exactly of the
// documented shape {hub_url}/contacts/viewcontact/<contact_id>.
func (l *Links) Check(link string) (string, error) {
	if l.host == "" {
		return "", ErrNoHub
	}
	if len(link) > maxLink {
		return "", ErrOtherShape
	}
	for i := 0; i < len(link); i++ {
		if c := link[i]; c <= 0x20 || c >= 0x7f || c == '\\' {
			return "", ErrOtherShape
		}
	}
	u, err := url.Parse(link)
	if err != nil || u.Opaque != "" || u.User != nil || u.RawQuery != "" || u.ForceQuery || u.Fragment != "" || strings.HasSuffix(link, "#") {
		return "", ErrOtherShape
	}
	u.Scheme = strings.ToLower(u.Scheme)
	if u.Scheme != "https" && u.Scheme != "http" {
		return "", ErrOtherShape
	}
	if u.Scheme != l.scheme || strings.ToLower(u.Hostname()) != l.host || portOf(u) != l.port || strings.HasSuffix(u.Host, ":") {
		return "", ErrOtherHost
	}
	// The path as it was written: url.Parse would escape what must not be there.
	_, rest, _ := strings.Cut(link, "://")
	_, path, _ := strings.Cut(rest, "/")
	segment, ok := strings.CutPrefix("/"+path, l.path)
	if !ok || !goodSegment(segment) {
		return "", ErrOtherShape
	}
	host := l.host
	if strings.Contains(host, ":") {
		host = "[" + host + "]"
	}
	if !(l.scheme == "https" && l.port == "443" || l.scheme == "http" && l.port == "80") {
		host += ":" + l.port
	}
	return l.scheme + "://" + host + l.path + segment, nil
}

// goodSegment: unreserved characters and percent-escapes that hide no
// separator, control character or dot segment.
func goodSegment(s string) bool {
	if plain, err := url.PathUnescape(s); err != nil || len(s) > 200 || plain == "" || plain == "." || plain == ".." {
		return false
	}
	for i := 0; i < len(s); i++ {
		switch c := s[i]; {
		case c >= 'A' && c <= 'Z', c >= 'a' && c <= 'z', c >= '0' && c <= '9', c == '-', c == '.', c == '_', c == '~':
		case c == '%':
			if i+2 >= len(s) {
				return false
			}
			v, ok := hexByte(s[i+1], s[i+2])
			if !ok || v < 0x20 || v == '/' || v == '\\' || v == 0x7f {
				return false
			}
			i += 2
		default:
			return false
		}
	}
	return true
}

func hexByte(a, b byte) (byte, bool) {
	hi, ok1 := hexDigit(a)
	lo, ok2 := hexDigit(b)
	return hi<<4 | lo, ok1 && ok2
}

func hexDigit(c byte) (byte, bool) {
	switch {
	case c >= '0' && c <= '9':
		return c - '0', true
	case c >= 'a' && c <= 'f':
		return c - 'a' + 10, true
	case c >= 'A' && c <= 'F':
		return c - 'A' + 10, true
	}
	return 0, false
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
