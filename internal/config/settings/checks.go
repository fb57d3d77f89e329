package settings

import (
	"net/netip"
	"net/url"
	"path/filepath"
	"strings"

	"wiebelt/internal/core/displaytext"
	"wiebelt/internal/core/phone"
)

// hubURL is an address of the hub: https, or http with a literal loopback
// address, since a name such as localhost can be moved. It has no slash at its
// end.
func hubURL(s string) (string, bool) {
	if len(s) > 2048 || strings.ContainsFunc(s, func(r rune) bool { return r <= 0x20 || r >= 0x7f || r == '\\' }) {
		return "", false
	}
	u, err := url.Parse(s)
	if err != nil || u.Opaque != "" || u.User != nil || u.RawQuery != "" || u.ForceQuery || strings.Contains(s, "#") || u.Hostname() == "" || strings.HasSuffix(u.Host, ":") {
		return "", false
	}
	if !(u.Scheme == "https" || u.Scheme == "http" && literalLoopback(u.Hostname())) {
		return "", false
	}
	return strings.TrimRight(s, "/"), true
}

// literalLoopback: 127.0.0.0/8 or [::1], written as an address.
func literalLoopback(host string) bool {
	a, err := netip.ParseAddr(host)
	return err == nil && a.IsLoopback() && !a.Is4In6() && a.Zone() == ""
}

func clientID(s string) (string, bool) {
	return s, len(s) <= 200 && !strings.Contains(s, ":") && !control(s)
}

// scopeToken: the characters of a scope (RFC 6749 section 3.3).
func scopeToken(s string) (string, bool) {
	return s, len(s) <= 200 && !strings.ContainsFunc(s, func(r rune) bool {
		return r <= 0x20 || r >= 0x7f || r == '"' || r == '\\'
	})
}

func scopes(s string) (string, bool) {
	words := strings.Fields(s)
	for _, w := range words {
		if _, ok := scopeToken(w); !ok {
			return "", false
		}
	}
	return strings.Join(words, " "), len(words) > 0 && len(words) <= 50
}

func segment(s string) (string, bool) {
	return s, len(s) <= 200 && s != "." && s != ".." && !strings.ContainsAny(s, `/\?#`) && !control(s)
}

func proxy(s string) (string, bool) {
	if s == "system" || s == "none" {
		return s, true
	}
	if control(s) || len(s) > 2048 {
		return "", false
	}
	u, err := url.Parse(s)
	if err != nil || u.Hostname() == "" || u.User != nil || strings.Trim(u.Path, "/") != "" || u.RawQuery != "" || u.Fragment != "" {
		return "", false
	}
	return s, u.Scheme == "http" || u.Scheme == "https" || u.Scheme == "socks5"
}

func absolute(s string) (string, bool) { return s, filepath.IsAbs(s) && !control(s) && len(s) <= 4096 }

func region(s string) (string, bool) {
	s = strings.ToUpper(s)
	_, err := phone.NewRules(phone.Config{Region: s})
	return s, len(s) == 2 && err == nil
}

func prefix(s string) (string, bool) {
	return s, len(s) <= 20 && strings.Trim(s, "0123456789*#") == ""
}

// numberText is a telephone number in some notation: what it means, the number
// rules say.
func numberText(s string) (string, bool) {
	return s, len(s) <= 128 && strings.ContainsAny(s, "0123456789") && !control(s)
}

func callBack(s string) (string, bool) {
	if s == "tel" || s == "sip" || s == "off" {
		return s, true
	}
	return s, len(s) <= 1000 && !control(s) && strings.Count(s, "{number}") == 1 && !strings.HasPrefix(s, "{number}")
}

// webOrigin is an origin as browsers send it. Neither "*" nor "null" is one.
func webOrigin(s string) (string, bool) {
	u, err := url.Parse(s)
	if err != nil || control(s) || len(s) > 300 || u.Hostname() == "" || u.User != nil || strings.Contains(u.Host, "*") ||
		u.Path != "" || u.RawQuery != "" || u.ForceQuery || strings.Contains(s, "#") || u.Scheme == "" {
		return "", false
	}
	return strings.ToLower(s), true
}

// freeText is any text without control characters.
func freeText(most int) check {
	return func(s string) (string, bool) { return s, len(s) <= most && !control(s) }
}

// control also finds characters that change the direction of text.
func control(s string) bool {
	return strings.ContainsFunc(s, displaytext.Hidden)
}
