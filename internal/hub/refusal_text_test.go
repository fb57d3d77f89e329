package hub

import (
	"context"
	"fmt"
	"net/http"
	"strings"
	"testing"
)

func TestOwnWords(t *testing.T) {
	for _, c := range []struct{ raw, want string }{
		{``, ""},
		{`{}`, ""},
		{`[1,2]`, ""},
		{`{"error":"invalid_client","error_description":"Client is locked"}`, "Client is locked · invalid_client"},
		{`{"title":"Forbidden","detail":"No right to contacts","status":403}`, "No right to contacts · Forbidden"},
		{`{"error":{"message":"deep","error":{"message":"deeper"}}}`, "deep"},
		{`{"error":{"error":{"message":"deeper"}}}`, "deeper"},
		{`{"message":"two\nlines\u202e and\u0007 a bell"}`, "two lines and a bell"},
		{"\ufeff{\"message\":\"marked\"}", "marked"},
		{`<html><head><title>x</title><style>b{}</style></head><body><h1>Sign in</h1><script>evil()</script> first</body></html>`, "Sign in first"},
		{"plain words", "plain words"},
		{"\xff\xfe\x00", ""},
		{strings.Repeat("word ", 1000), strings.TrimSuffix(strings.Repeat("word ", 48), " ") + " …"},
	} {
		got := refusalText([]byte(c.raw))
		if strings.ReplaceAll(got, " …", "…") != strings.ReplaceAll(c.want, " …", "…") {
			t.Errorf("%.40q: %q, want %q", c.raw, got, c.want)
		}
	}
}

// TestOnRefusalHidesCredentials checks that a page that echoes the whole
// request reveals nothing of the secret, in whatever form that was sent.
func TestOnRefusalHidesCredentials(t *testing.T) {
	const secret = "kana/rie+=&?"
	for _, encoding := range []string{"plain", "rfc6749"} {
		got := ""
		f := newFake(t)
		f.token = func(w http.ResponseWriter, r *http.Request) {
			id, s, _ := r.BasicAuth()
			w.WriteHeader(http.StatusUnauthorized)
			_, _ = fmt.Fprint(w, "sent: ", r.Header.Get("Authorization"), ", ", id, ":", s)
		}
		c := newClient(t, f.URL, func(cfg *Config) {
			cfg.BasicAuthEncoding, cfg.OnRefusal = encoding, func(s string) { got = s }
			cfg.Secret = func(context.Context) (string, error) { return secret, nil }
		})
		if _, err := c.Check(t.Context()); err == nil || got != "sent: Basic …, "+c.cfg.ClientID+":…" {
			t.Errorf("%s: %q, %v", encoding, got, err)
		}
	}
}

// TestOnRefusalOfLookups checks that what a hub says when it refuses a lookup is passed on,
// but for the token, and nothing if it answers.
func TestOnRefusalOfLookups(t *testing.T) {
	got := ""
	f := newFake(t)
	answer := f.lookup
	f.lookup = func(w http.ResponseWriter, r *http.Request) {
		w.WriteHeader(http.StatusServiceUnavailable)
		_, _ = fmt.Fprint(w, "closed for ", r.Header.Get("Authorization"))
	}
	c := newClient(t, f.URL, func(cfg *Config) { cfg.OnRefusal = func(s string) { got = s } })
	if _, err := c.Lookup(t.Context(), number); err == nil || got != "closed for Bearer …" {
		t.Errorf("%q, %v", got, err)
	}
	got, f.lookup = "", answer
	if _, err := c.Lookup(t.Context(), number); err != nil || got != "" {
		t.Errorf("%q, %v", got, err)
	}
}

func FuzzOwnWords(f *testing.F) {
	f.Add([]byte(`{"error":{"message":"x"}}`))
	f.Add([]byte("<script><!--"))
	f.Fuzz(func(t *testing.T, raw []byte) {
		if s := refusalText(raw); len([]rune(s)) > maxHeard+1 || strings.ContainsAny(s, "\n\r\t\x1b") {
			t.Fatalf("%q", s)
		}
	})
}
