package settings

import (
	"crypto/sha256"
	"encoding/hex"
	"net/url"
	"path/filepath"
	"slices"
	"strings"

	"wiebelt/internal/core/displaytext"
	"wiebelt/internal/core/phone"
	"wiebelt/internal/hub"
)

func hubURL(s string) (string, bool) {
	_, err := hub.ParseAddress("", s)
	return strings.TrimRight(s, "/"), err == nil
}

func relayURL(s string) (string, bool) {
	s, ok := hubURL(s)
	return s, ok && strings.HasPrefix(s, "https://")
}

// fingerprint accepts a SHA-256 hash in hexadecimal, optionally with colons or spaces.
func fingerprint(s string) (string, bool) {
	s = strings.ToLower(strings.NewReplacer(":", "", " ", "").Replace(s))
	b, err := hex.DecodeString(s)
	return s, err == nil && len(b) == sha256.Size
}

func clientID(s string) (string, bool) {
	return s, len(s) <= 200 && !strings.Contains(s, ":") && !hasControlChars(s)
}

// scopeToken accepts the characters of a scope (RFC 6749 section 3.3).
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
	return strings.Join(words, " "), len(words) <= 50
}

func segment(s string) (string, bool) {
	return s, hub.ValidIntermediary(s) && !hasControlChars(s)
}

func proxy(s string) (string, bool) {
	if s == "system" || s == "none" {
		return s, true
	}
	_, err := hub.CheckProxy(s)
	return s, err == nil && !hasControlChars(s) && len(s) <= 2048
}

func absolute(s string) (string, bool) {
	return s, filepath.IsAbs(s) && !hasControlChars(s) && len(s) <= 4096
}

func region(s string) (string, bool) {
	s = strings.ToUpper(s)
	_, err := phone.NewRules(phone.Config{Region: s})
	return s, len(s) == 2 && err == nil
}

func prefix(s string) (string, bool) {
	return s, len(s) <= 20 && strings.Trim(s, "0123456789*#") == ""
}

// numberText accepts a telephone number in some notation: the number rules
// decide what it means.
func numberText(s string) (string, bool) {
	return s, len(s) <= 128 && strings.ContainsAny(s, "0123456789") && !hasControlChars(s)
}

func callBack(s string) (string, bool) {
	if s == "tel" || s == "sip" || s == "off" {
		return s, true
	}
	return s, len(s) <= 1000 && !hasControlChars(s) && SplitCommand(s) != nil
}

// SplitCommand splits a command with one {number}, as in phone.call_back: words separated by
// spaces, in double quotes if they contain spaces. There is no other syntax; a backslash is
// a backslash. It returns nil for anything else.
func SplitCommand(s string) (argv []string) {
	var word strings.Builder
	quoted, in := false, false
	for _, r := range s {
		switch {
		case r == '"':
			quoted, in = !quoted, true
		case r == ' ' && !quoted:
			if in {
				argv = append(argv, word.String())
				word.Reset()
			}
			in = false
		default:
			word.WriteRune(r)
			in = true
		}
	}
	if in {
		argv = append(argv, word.String())
	}
	const place = "{number}"
	if quoted || strings.Count(s, place) != 1 || argv[0] == "" || strings.Contains(argv[0], place) {
		return nil
	}
	return argv
}

// shortcut accepts off, or a key with modifiers, such as Ctrl+Alt+W. Only the desktop knows
// whether the keyboard has the key.
func shortcut(s string) (string, bool) {
	keys := strings.Split(s, "+")
	for i, k := range keys {
		k = strings.ToLower(strings.TrimSpace(k))
		held := slices.Contains([]string{"ctrl", "control", "alt", "shift", "win", "super", "meta"}, k)
		if held == (i == len(keys)-1) || strings.Trim(k, "abcdefghijklmnopqrstuvwxyz0123456789") != "" || k == "" {
			return s, false
		}
	}
	return s, len(s) <= 40
}

// webOrigin accepts an origin as browsers send it, neither "*" nor "null".
func webOrigin(s string) (string, bool) {
	u, err := url.Parse(s)
	if err != nil || hasControlChars(s) || len(s) > 300 || u.Hostname() == "" || u.User != nil || strings.Contains(u.Host, "*") ||
		u.Path != "" || u.RawQuery != "" || u.ForceQuery || strings.Contains(s, "#") || u.Scheme == "" {
		return "", false
	}
	return strings.ToLower(s), true
}

// freeText accepts any text without control characters.
func freeText(most int) check {
	return func(s string) (string, bool) { return s, len(s) <= most && !hasControlChars(s) }
}

// hasControlChars reports whether s contains control characters or other hidden ones, such as those
// that change the direction of text.
func hasControlChars(s string) bool {
	return strings.ContainsFunc(s, displaytext.IsHidden)
}
