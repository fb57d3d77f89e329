package hub

import (
	"bufio"
	"bytes"
	"context"
	"crypto/tls"
	"encoding/base64"
	"fmt"
	"io"
	"log"
	"net"
	"net/http"
	"net/http/httptest"
	"strings"
	"sync"
	"sync/atomic"
	"testing"
	"time"

	"go.uber.org/goleak"

	"wiebelt/internal/testutil/must"
)

func TestMain(m *testing.M) { goleak.VerifyTestMain(m) }

const number = "+31612345678"

func newClient(t testing.TB, base string, change func(*Config)) *Client {
	t.Helper()
	cfg := Config{BaseURL: base, ClientID: "client", OrganisationCode: "1234",
		Secret: func(context.Context) (string, error) { return "canary-secret", nil }}
	if change != nil {
		change(&cfg)
	}
	c := must.Get(New(cfg))(t)
	t.Cleanup(c.Close)
	return c
}

// raw answers successive requests with fixed bytes, and returns what was sent on the wire.
func raw(t *testing.T, answers ...string) (base string, sent <-chan string) {
	t.Helper()
	ch := make(chan string, len(answers))
	next := make(chan string, len(answers))
	for _, a := range answers {
		next <- a
	}
	return serving(t, func(c net.Conn) {
		var all bytes.Buffer
		r, err := http.ReadRequest(bufio.NewReader(io.TeeReader(c, &all)))
		if err == nil {
			_, err = io.Copy(io.Discard, r.Body)
		}
		if err != nil {
			t.Error(err)
			return
		}
		ch <- all.String()
		_, _ = io.WriteString(c, <-next)
	}), ch
}

func reply(status, kind, body string) string {
	return fmt.Sprintf("HTTP/1.1 %s\r\nContent-Type: %s\r\nContent-Length: %d\r\nConnection: close\r\n\r\n%s", status, kind, len(body), body)
}

const goodToken = `{"access_token":"canary-token","token_type":"Bearer","expires_in":3600}`

// TestTokenRequestToTheByte compares the token request with the documented one, for
// credentials with every special character.
func TestTokenRequestToTheByte(t *testing.T) {
	const secret = "p@ss+/=% 'x\"é"
	for _, c := range []struct{ encoding, parameter, basic, body string }{
		{"plain", "scopes", "my+client/=%@:" + secret, "scopes=Basic%20P0boxadministrator%20orgCode%3A1234&grant_type=client_credentials"},
		{"rfc6749", "scope", "my%2Bclient%2F%3D%25%40:p%40ss%2B%2F%3D%25+%27x%22%C3%A9", "scope=Basic%20P0boxadministrator%20orgCode%3A1234&grant_type=client_credentials"},
	} {
		base, sent := raw(t, reply("200 OK", "application/json", goodToken))
		cl := newClient(t, base, func(cfg *Config) {
			cfg.ClientID, cfg.BasicAuthEncoding, cfg.ScopeParameter = "my+client/=%@", c.encoding, c.parameter
			cfg.Secret = func(context.Context) (string, error) { return secret, nil }
		})
		must.Get(cl.lookupTokens.get(t.Context()))(t)
		head, body, _ := strings.Cut(<-sent, "\r\n\r\n")
		if !strings.HasPrefix(head, "POST /identity/token HTTP/1.1\r\n") {
			t.Errorf("%s", strings.SplitN(head, "\r\n", 2)[0])
		}
		if want := "\r\nAuthorization: Basic " + base64.StdEncoding.EncodeToString([]byte(c.basic)) + "\r\n"; !strings.Contains(head, want) {
			t.Errorf("%s: another Authorization header", c.encoding)
		}
		if !strings.Contains(head+"\r\n", "\r\nContent-Type: application/x-www-form-urlencoded\r\n") {
			t.Error("another Content-Type")
		}
		if body != c.body {
			t.Errorf("body %q\nwant %q", body, c.body)
		}
	}
}

// TestLookupRequestToTheByte compares the lookup with the documented one.
func TestLookupRequestToTheByte(t *testing.T) {
	base, sent := raw(t, reply("200 OK", "application/json", goodToken), reply("200 OK", "application/json", `{"data":{"items":[]}}`))
	must.Get(newClient(t, base, nil).Lookup(t.Context(), number))(t)
	<-sent
	got := <-sent
	if !strings.HasPrefix(got, "GET /contact/contacts/telephony?q=%2B31612345678 HTTP/1.1\r\n") || !strings.Contains(got, "\r\nAuthorization: Bearer canary-token\r\n") {
		t.Errorf("%q", got)
	}
}

// fake is a hub whose answers a test sets.
type fake struct {
	*httptest.Server
	conns, tokens, lookups atomic.Int64
	token, lookup          func(w http.ResponseWriter, r *http.Request)
}

func newFake(t testing.TB) *fake {
	f := unstarted(t)
	f.Start()
	return f
}

// newTLSFake is a hub over TLS.
func newTLSFake(t testing.TB, cfg *tls.Config) *fake {
	f := unstarted(t)
	f.TLS = cfg
	f.StartTLS()
	return f
}

func unstarted(t testing.TB) *fake {
	f := &fake{}
	f.token = func(w http.ResponseWriter, _ *http.Request) { _, _ = io.WriteString(w, goodToken) }
	f.lookup = func(w http.ResponseWriter, _ *http.Request) {
		w.Header().Set("Content-Type", "application/json")
		_, _ = io.WriteString(w, oneContact)
	}
	f.Server = httptest.NewUnstartedServer(http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		if r.URL.Path == "/identity/token" {
			f.tokens.Add(1)
			f.token(w, r)
			return
		}
		f.lookups.Add(1)
		f.lookup(w, r)
	}))
	f.Config.ConnState = func(_ net.Conn, s http.ConnState) {
		if s == http.StateNew {
			f.conns.Add(1)
		}
	}
	f.Config.ErrorLog = log.New(io.Discard, "", 0)
	t.Cleanup(f.Close)
	return f
}

const oneContact = `{"data":{"items":[{"id":"c1","backofficerelatienummer":"100200","voorletters":"J.","achternaam":"Vries","voorvoegsel":"de",
"woonadres":{"straat":"Dorpsstraat","huisnummer":"1","toevoeging":null,"postcode":"1234AB","plaats":"Ons Dorp","landIso":null},
"producent":{"code":"P","description":"Producent Een"},"laatstGewijzigdDoor":{"code":"M","description":"Medewerker"},
"link":"https://hub.example/contacts/viewcontact/c1","iets":"nieuws"}]}}`

// TestAnswers checks every valid answer, with or
// without a contact. TestLookupFaults has the others.
func TestAnswers(t *testing.T) {
	const json = "application/json"
	for name, c := range map[string]struct {
		status     int
		kind, body string
		contacts   int
	}{
		"one":               {200, json, oneContact, 1},
		"charset":           {200, "application/json; charset=utf-8", oneContact, 1},
		"another charset":   {200, "application/json;charset=UTF-8", oneContact, 1},
		"a kind of JSON":    {200, "application/hal+json", oneContact, 1},
		"an old kind":       {200, "text/json", oneContact, 1},
		"plain text":        {200, "text/plain", oneContact, 1},
		"a broken kind":     {200, ";", oneContact, 1},
		"404 with a list":   {404, json, `[]`, 0},
		"404 with null":     {404, json, `null`, 0},
		"empty items":       {200, json, `{"data":{"items":[]}}`, 0},
		"null items":        {200, json, `{"data":{"items":null}}`, 0},
		"no items":          {200, json, `{"data":{}}`, 0},
		"null data":         {200, json, `{"data":null}`, 0},
		"no data":           {200, json, `{}`, 0},
		"null":              {200, json, `null`, 0},
		"a bare empty list": {200, json, `[]`, 0},
		"no body":           {200, "", "", 0},
		"no error":          {200, json, `{"error":null,"errors":[],"data":{"items":[{"id":"x"}]}}`, 1},
		"no error, spaced":  {200, json, `{"error":{"code":0,"text":""},"errors" : [ ],"data" : {"items" : [ ]}}`, 0},
		"a remark":          {200, json, `{"errors":["one of two offices"],"data":{"items":[{"id":"x"}]}}`, 1},
		"204":               {204, "", "", 0},
		"404 without body":  {404, "", "", 0},
		"404 with JSON":     {404, json, `{"error":"not found"}`, 0},
		"null among items":  {200, json, `{"data":{"items":[null,{"id":"x"}]}}`, 1},
		"number as text":    {200, json, `{"data":{"items":[{"id":7,"backofficerelatienummer":100200}]}}`, 1},
		"a byte order mark": {200, json, "\ufeff" + oneContact, 1},
	} {
		t.Run(name, func(t *testing.T) {
			f := newFake(t)
			f.lookup = func(w http.ResponseWriter, _ *http.Request) {
				w.Header().Set("Content-Type", c.kind)
				w.WriteHeader(c.status)
				_, _ = io.WriteString(w, c.body)
			}
			if got, err := newClient(t, f.URL, nil).Lookup(t.Context(), number); len(got) != c.contacts || err != nil {
				t.Errorf("%d contacts, %v; want %d", len(got), err, c.contacts)
			}
		})
	}
}

func TestTokenLife(t *testing.T) {
	jwt := func(claims string) string {
		return "e30." + base64.RawURLEncoding.EncodeToString([]byte(claims)) + ".x"
	}
	for _, c := range []struct {
		in, token string
		want      time.Duration
	}{
		{"3600", "x", time.Hour}, {`"120"`, "x", 2 * time.Minute}, {"", "x", defaultLife}, {"null", "x", defaultLife},
		{"0", "x", defaultLife}, {"-1", "x", defaultLife}, {"1e300", "x", maxLife}, {`"abc"`, "x", defaultLife},
		{"", jwt(`{"iat":1000,"exp":1900}`), 15 * time.Minute}, {"", jwt(`{"exp":1900}`), defaultLife},
		{"", jwt(`{"iat":1000,"exp":1010}`), defaultLife}, {"", "a.b.c", defaultLife},
		{"1", "x", time.Second}, {"", jwt(`{"iat":1000,"exp":1060}`), time.Minute}, {"", jwt(`{"iat":0,"exp":1900}`), defaultLife},
		{"", jwt(`{"iat":1000,"exp":87401}`), defaultLife},
	} {
		if got := tokenLife([]byte(c.in), c.token); got != c.want {
			t.Errorf("%q %q: %v, want %v", c.in, c.token, got, c.want)
		}
	}
}

func TestSameNumberSharesOneRequestAndAnswersAreKept(t *testing.T) {
	f := newFake(t)
	gate := make(chan struct{})
	inner := f.lookup
	f.lookup = func(w http.ResponseWriter, r *http.Request) { <-gate; inner(w, r) }
	clock := newClock()
	c := newClient(t, f.URL, func(cfg *Config) { cfg.Now = clock.Now })
	var all sync.WaitGroup
	for range 20 {
		all.Go(func() { _, _ = c.Lookup(t.Context(), number) })
	}
	close(gate)
	all.Wait()
	if got, err := c.Lookup(t.Context(), number); err != nil || len(got) != 1 || f.lookups.Load() != 1 {
		t.Errorf("%d contacts, %v, %d requests", len(got), err, f.lookups.Load())
	}
	clock.Forward(61 * time.Second)
	if _, err := c.Lookup(t.Context(), number); err != nil || f.lookups.Load() != 2 {
		t.Errorf("after a minute: %v, %d requests", err, f.lookups.Load())
	}
}
