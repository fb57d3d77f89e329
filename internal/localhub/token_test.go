package localhub

import (
	"context"
	"encoding/json"
	"errors"
	"net/url"
	"strings"
	"testing"
	"time"

	"github.com/golang-jwt/jwt/v5"

	"wiebelt/internal/testutil/messagetest"
	"wiebelt/internal/testutil/must"
)

func TestToken(t *testing.T) {
	now := newClock()
	h := start(t, Config{Now: now.Now})
	a := askToken(t, h)
	var v struct {
		AccessToken string `json:"access_token"`
		TokenType   string `json:"token_type"`
		ExpiresIn   int    `json:"expires_in"`
		Scope       string
	}
	if err := json.Unmarshal([]byte(a.body), &v); err != nil || a.status != 200 {
		t.Fatal(a, err)
	}
	if v.TokenType != "Bearer" || v.ExpiresIn != 3600 || v.Scope != "Basic P0boxadministrator orgCode:90210" {
		t.Errorf("got %+v", v)
	}
	if a.header.Get("Cache-Control") != "no-store" || a.header.Get("Content-Type") != "application/json" {
		t.Errorf("headers %v", a.header)
	}
	c := jwt.MapClaims{}
	if _, _, err := jwt.NewParser().ParseUnverified(v.AccessToken, c); err != nil {
		t.Fatal(err)
	}
	if c["exp"].(float64)-c["iat"].(float64) != 3600 || c["iat"].(float64) != float64(now.Now().Unix()) ||
		c["organisation_code"] != org || c["client_id"] != clientID || c["scope"] != v.Scope {
		t.Errorf("claims %v", c)
	}
}

// TestTokenCredentials checks who gets a token; FuzzBasicCredentials covers the ways to write credentials.
func TestTokenCredentials(t *testing.T) {
	h := start(t, Config{})
	for name, c := range map[string]struct {
		header string
		want   int
	}{
		"raw with specials":     {basic(clientID, secret), 200},
		"encoded with specials": {basic(url.QueryEscape(clientID), url.QueryEscape(secret)), 200},
		"scheme in small":       {"basic " + strings.TrimPrefix(basic(clientID, secret), "Basic "), 200},
		"wrong secret":          {basic(clientID, "p@ss"), 401},
		"empty secret":          {basic(clientID, ""), 401},
		"unknown client":        {basic("nobody", secret), 401},
		"zero secret":           {basic("nobody", "\x00"), 401},
		"no header":             {"", 401},
		"not base64":            {"Basic ???", 401},
	} {
		a := do(t, newClient(t), "POST", h.BaseURL()+"/identity/token", body, "Content-Type", form, "Authorization", c.header)
		if a.status != c.want {
			t.Errorf("%s: %d, want %d", name, a.status, c.want)
		}
		if c.want == 401 && (!strings.HasPrefix(a.header.Get("WWW-Authenticate"), "Basic ") || errorCode(t, a) != "invalid_client") {
			t.Errorf("%s: %v %s", name, a.header, a.body)
		}
	}
}

func TestTokenRequests(t *testing.T) {
	h := start(t, Config{})
	long := "scopes=Basic&grant_type=client_credentials&x=" + strings.Repeat("y", 20<<10)
	for name, c := range map[string]struct {
		method, kind, body string
		status             int
		code, scope        string
	}{
		"as documented":       {"POST", form, body, 200, "", "Basic P0boxadministrator orgCode:90210"},
		"with a charset":      {"POST", form + "; charset=utf-8", body, 200, "", "Basic P0boxadministrator orgCode:90210"},
		"standard name":       {"POST", form, "grant_type=client_credentials&scope=Basic", 200, "", "Basic"},
		"both names":          {"POST", form, "grant_type=client_credentials&scope=Basic&scopes=Basic", 200, "", "Basic"},
		"both names, unequal": {"POST", form, "grant_type=client_credentials&scope=Basic&scopes=P0boxadministrator", 400, "invalid_request", ""},
		"pluses for spaces":   {"POST", form, "grant_type=client_credentials&scopes=Basic+orgCode:90210", 200, "", "Basic orgCode:90210"},
		"scope twice":         {"POST", form, "grant_type=client_credentials&scopes=Basic+Basic", 200, "", "Basic"},
		"no scopes":           {"POST", form, "grant_type=client_credentials", 400, "invalid_scope", ""},
		"unknown scope":       {"POST", form, "grant_type=client_credentials&scopes=Basic+admin", 400, "invalid_scope", ""},
		"other organisation":  {"POST", form, "grant_type=client_credentials&scopes=Basic+orgCode:1", 400, "invalid_scope", ""},
		"no grant type":       {"POST", form, "scopes=Basic", 400, "invalid_request", ""},
		"other grant type":    {"POST", form, "scopes=Basic&grant_type=password", 400, "unsupported_grant_type", ""},
		"grant type twice":    {"POST", form, body + "&grant_type=client_credentials", 400, "invalid_request", ""},
		"secret in the body":  {"POST", form, body + "&client_secret=x", 400, "invalid_request", ""},
		"json":                {"POST", "application/json", `{"grant_type":"client_credentials"}`, 400, "invalid_request", ""},
		"broken escape":       {"POST", form, "scopes=%zz", 400, "invalid_request", ""},
		"too long":            {"POST", form, long, 400, "invalid_request", ""},
		"get":                 {"GET", form, "", 405, "invalid_request", ""},
	} {
		t.Run(name, func(t *testing.T) {
			a := do(t, newClient(t), c.method, h.BaseURL()+"/identity/token?scopes=Basic&grant_type=client_credentials", c.body,
				"Content-Type", c.kind, "Authorization", basic(clientID, secret))
			if a.status != c.status {
				t.Fatalf("%d %s", a.status, a.body)
			}
			if c.code != "" && errorCode(t, a) != c.code {
				t.Errorf("%s", a.body)
			}
			var v struct{ Scope string }
			if err := json.Unmarshal([]byte(a.body), &v); err != nil || v.Scope != c.scope {
				t.Errorf("scope %q, %v", v.Scope, err)
			}
		})
	}
}

// sign creates a token with the hub's key, or another.
func sign(h *Hub, method jwt.SigningMethod, key any, client, organisation, scope string, expires *time.Time) (string, error) {
	c := claims{Client: client, Organisation: organisation, Scope: scope}
	if known, found, err := h.credential(context.Background(), client); err == nil && found {
		c.Secret = secretID(known.salt)
	}
	if expires != nil {
		c.ExpiresAt = jwt.NewNumericDate(*expires)
	}
	if key == nil {
		key = h.jwtKey
	}
	return jwt.NewWithClaims(method, c).SignedString(key)
}

func TestBearer(t *testing.T) {
	now := newClock()
	h := start(t, Config{Now: now.Now})
	must.Do(t, h.SetClientSecret(t.Context(), "gone", org, "x"))
	must.Do(t, exec(h, "DELETE FROM clients WHERE id = 'gone'"))
	in := func(d time.Duration) *time.Time { x := now.Now().Add(d); return &x }
	bearer := func(m jwt.SigningMethod, key any, id, org, scope string, exp *time.Time) string {
		s := must.Get(sign(h, m, key, id, org, scope, exp))(t)
		return "Bearer " + s
	}
	good := bearer(jwt.SigningMethodHS256, nil, clientID, org, "Basic", in(time.Minute))
	for name, c := range map[string]struct {
		header string
		want   int
		code   string
	}{
		"good":               {good, 200, ""},
		"small letters":      {"bearer" + good[6:], 200, ""},
		"none":               {"", 401, "invalid_token"},
		"basic":              {basic(clientID, secret), 401, "invalid_token"},
		"nonsense":           {"Bearer abc", 401, "invalid_token"},
		"changed":            {good[:len(good)-4] + "AAAA", 401, "invalid_token"},
		"foreign key":        {bearer(jwt.SigningMethodHS256, []byte("0123456789abcdef0123456789abcdef"), clientID, org, "Basic", in(time.Minute)), 401, "invalid_token"},
		"no signature":       {bearer(jwt.SigningMethodNone, jwt.UnsafeAllowNoneSignatureType, clientID, org, "Basic", in(time.Minute)), 401, "invalid_token"},
		"other method":       {bearer(jwt.SigningMethodHS512, nil, clientID, org, "Basic", in(time.Minute)), 401, "invalid_token"},
		"expired":            {bearer(jwt.SigningMethodHS256, nil, clientID, org, "Basic", in(-time.Second)), 401, "invalid_token"},
		"for ever":           {bearer(jwt.SigningMethodHS256, nil, clientID, org, "Basic", nil), 401, "invalid_token"},
		"client gone":        {bearer(jwt.SigningMethodHS256, nil, "gone", org, "Basic", in(time.Minute)), 401, "invalid_token"},
		"other organisation": {bearer(jwt.SigningMethodHS256, nil, clientID, "1", "Basic", in(time.Minute)), 401, "invalid_token"},
		"scope missing":      {bearer(jwt.SigningMethodHS256, nil, clientID, org, "P0boxadministrator", in(time.Minute)), 403, "insufficient_scope"},
	} {
		a := do(t, newClient(t), "GET", h.BaseURL()+"/contact/contacts/telephony?q=0612345678", "", "Authorization", c.header)
		if a.status != c.want || c.code != "" && (errorCode(t, a) != c.code || !strings.HasPrefix(a.header.Get("WWW-Authenticate"), "Bearer ")) {
			t.Errorf("%s: %d %s", name, a.status, a.body)
		}
	}
	// A delivery requires another scope.
	for tok, want := range map[string]int{strings.TrimPrefix(good, "Bearer "): 403, "nonsense": 401} {
		if a := deliver(t, h, tok, messagetest.Request(numbered(t, 1))); a.status != want || len(box(t, h.Data)) != 0 {
			t.Errorf("delivery: %d, want %d", a.status, want)
		}
	}
	tok := token(t, h)
	now.Forward(time.Hour - time.Second)
	lookup(t, h, tok, "0612345678").is(t, 200, "just before its end")
	now.Forward(2 * time.Second)
	lookup(t, h, tok, "0612345678").is(t, 401, "after its end")
}

// TestTokensDieWithTheirSecret checks that a token is valid only for the secret it was
// issued for, whatever the client is called.
func TestTokensDieWithTheirSecret(t *testing.T) {
	h := start(t, Config{})
	change := func(name string, do func() error) {
		t.Helper()
		old := token(t, h)
		lookup(t, h, old, "0612345678").is(t, 200, "before ", name)
		must.Do(t, do())
		lookup(t, h, old, "0612345678").is(t, 401, "after ", name)
	}
	same := func() error { return h.SetClientSecret(t.Context(), clientID, org, secret) }
	change("the same secret anew", same)
	change("removing and adding", func() error { return errors.Join(h.RemoveClient(t.Context(), clientID), same()) })
	change("rotating", func() error { _, err := h.RotateClient(t.Context(), clientID); return err })
}

func TestClientsAreChecked(t *testing.T) {
	h := start(t, Config{})
	for _, c := range [][3]string{
		{"", org, "s"}, {"a:b", org, "s"}, {"a\nb", org, "s"}, {"a", "", "s"}, {"a", "x y", "s"}, {"a", `x"`, "s"},
		{"a", org, ""}, {"a", org, "\x00"}, {"a", org, "\xff"}, {strings.Repeat("a", 201), org, "s"},
	} {
		if err := h.SetClientSecret(t.Context(), c[0], c[1], c[2]); err == nil {
			t.Errorf("%q was accepted", c)
		} else if c[2] != "" && len(c[2]) > 1 && strings.Contains(err.Error(), c[2]) {
			t.Error("the error quotes the secret")
		}
	}
}
