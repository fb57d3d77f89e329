package hub

import (
	"bufio"
	"bytes"
	"context"
	"encoding/base64"
	"errors"
	"fmt"
	"io"
	"log/slog"
	"net"
	"net/http"
	"net/http/httptest"
	"strings"
	"sync"
	"sync/atomic"
	"testing"
	"time"

	"go.uber.org/goleak"

	"wiebelt/internal/core/contact"
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
	c, err := New(cfg)
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(c.Close)
	return c
}

// raw answers one request with fixed bytes and returns what was sent, as it came
// over the wire.
func raw(t *testing.T, answers ...string) (base string, sent <-chan string) {
	t.Helper()
	l, err := net.Listen("tcp", "127.0.0.1:0")
	if err != nil {
		t.Fatal(err)
	}
	ch := make(chan string, len(answers))
	done := make(chan struct{})
	go func() {
		defer close(done)
		for _, a := range answers {
			c, err := l.Accept()
			if err != nil {
				return
			}
			_ = c.SetDeadline(time.Now().Add(5 * time.Second))
			in := bufio.NewReader(c)
			var all strings.Builder
			length := 0
			for {
				line, err := in.ReadString('\n')
				all.WriteString(line)
				if n, _ := fmt.Sscanf(line, "Content-Length: %d", &length); n == 0 && (line == "\r\n" || err != nil) {
					break
				}
			}
			body := make([]byte, length)
			_, _ = io.ReadFull(in, body)
			all.Write(body)
			ch <- all.String()
			_, _ = io.WriteString(c, a)
			_ = c.Close()
		}
	}()
	t.Cleanup(func() { _ = l.Close(); <-done })
	return "http://" + l.Addr().String(), ch
}

func reply(status, kind, body string) string {
	return fmt.Sprintf("HTTP/1.1 %s\r\nContent-Type: %s\r\nContent-Length: %d\r\nConnection: close\r\n\r\n%s", status, kind, len(body), body)
}

const goodToken = `{"access_token":"canary-token","token_type":"Bearer","expires_in":3600}`

// TestTokenRequestToTheByte compares the token request with the documented one, for
// credentials with every awkward character.
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
		if _, err := cl.token.get(t.Context()); err != nil {
			t.Fatal(err)
		}
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
	if _, err := newClient(t, base, nil).Lookup(t.Context(), number); err != nil {
		t.Fatal(err)
	}
	<-sent
	got := <-sent
	if !strings.HasPrefix(got, "GET /contact/contacts/telephony?q=%2B31612345678 HTTP/1.1\r\n") || !strings.Contains(got, "\r\nAuthorization: Bearer canary-token\r\n") {
		t.Errorf("%q", got)
	}
}

// fake is a hub whose answers a test sets.
type fake struct {
	*httptest.Server
	tokens, lookups atomic.Int64
	token, lookup   func(w http.ResponseWriter, r *http.Request)
}

func newFake(t testing.TB) *fake {
	f := &fake{}
	f.token = func(w http.ResponseWriter, _ *http.Request) { _, _ = io.WriteString(w, goodToken) }
	f.lookup = func(w http.ResponseWriter, _ *http.Request) {
		w.Header().Set("Content-Type", "application/json")
		_, _ = io.WriteString(w, oneContact)
	}
	f.Server = httptest.NewServer(http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		if r.URL.Path == "/identity/token" {
			f.tokens.Add(1)
			f.token(w, r)
			return
		}
		f.lookups.Add(1)
		f.lookup(w, r)
	}))
	t.Cleanup(f.Close)
	return f
}

const oneContact = `{"data":{"items":[{"id":"c1","backofficerelatienummer":"100200","voorletters":"J.","achternaam":"Vries","voorvoegsel":"de",
"woonadres":{"straat":"Dorpsstraat","huisnummer":"1","toevoeging":null,"postcode":"1234AB","plaats":"Ons Dorp","landIso":null},
"producent":{"code":"P","description":"Producent Een"},"laatstGewijzigdDoor":{"code":"M","description":"Medewerker"},
"link":"https://hub.example/contacts/viewcontact/c1","iets":"nieuws"}]}}`

func TestAnswers(t *testing.T) {
	type want struct {
		contacts int
		failure  contact.Failure
	}
	for name, c := range map[string]struct {
		status     int
		kind, body string
		want       want
	}{
		"one":                 {200, "application/json", oneContact, want{1, ""}},
		"charset":             {200, "application/json; charset=utf-8", oneContact, want{1, ""}},
		"empty items":         {200, "application/json", `{"data":{"items":[]}}`, want{}},
		"null items":          {200, "application/json", `{"data":{"items":null}}`, want{}},
		"no items":            {200, "application/json", `{"data":{}}`, want{}},
		"null data":           {200, "application/json", `{"data":null}`, want{}},
		"no data":             {200, "application/json", `{}`, want{}},
		"null":                {200, "application/json", `null`, want{}},
		"204":                 {204, "", "", want{}},
		"404 without body":    {404, "", "", want{}},
		"404 with JSON":       {404, "application/json", `{"error":"not found"}`, want{}},
		"404 with a page":     {404, "text/html", "<html>not here</html>", want{0, contact.HubError}},
		"null among items":    {200, "application/json", `{"data":{"items":[null,{"id":"x"}]}}`, want{1, ""}},
		"number as text":      {200, "application/json", `{"data":{"items":[{"id":7,"backofficerelatienummer":100200}]}}`, want{1, ""}},
		"wrong type":          {200, "application/json", `{"data":{"items":[{"achternaam":{"a":1}}]}}`, want{0, contact.NotUnderstood}},
		"items an object":     {200, "application/json", `{"data":{"items":{}}}`, want{0, contact.NotUnderstood}},
		"not JSON":            {200, "application/json", `hello`, want{0, contact.NotUnderstood}},
		"empty":               {200, "application/json", ``, want{0, contact.NotUnderstood}},
		"captive portal":      {200, "text/html", `<html>log in</html>`, want{0, contact.NotUnderstood}},
		"truncated":           {200, "application/json", oneContact[:120], want{0, contact.NotUnderstood}},
		"400":                 {400, "application/json", `{}`, want{0, contact.HubError}},
		"403":                 {403, "application/json", `{}`, want{0, contact.ScopeRefused}},
		"407":                 {407, "", ``, want{0, contact.ProxyLogin}},
		"429":                 {429, "", ``, want{0, contact.HubError}},
		"500":                 {500, "text/html", `x`, want{0, contact.HubError}},
		"504":                 {504, "", ``, want{0, contact.HubSlow}},
		"401 again and again": {401, "", ``, want{0, contact.CredentialsRefused}},
	} {
		t.Run(name, func(t *testing.T) {
			f := newFake(t)
			f.lookup = func(w http.ResponseWriter, _ *http.Request) {
				w.Header().Set("Content-Type", c.kind)
				w.WriteHeader(c.status)
				_, _ = io.WriteString(w, c.body)
			}
			got, err := newClient(t, f.URL, nil).Lookup(t.Context(), number)
			if len(got) != c.want.contacts || contact.FailureOf(err) != c.want.failure {
				t.Errorf("%d contacts, %v; want %d, %q", len(got), err, c.want.contacts, c.want.failure)
			}
		})
	}
}

func TestEveryFieldIsRead(t *testing.T) {
	got, err := newClient(t, newFake(t).URL, nil).Lookup(t.Context(), number)
	if err != nil {
		t.Fatal(err)
	}
	want := contact.Contact{ID: "c1", RelationNumber: "100200", Initials: "J.", Prefix: "de", FamilyName: "Vries",
		Address:  contact.Address{Street: "Dorpsstraat", Number: "1", PostalCode: "1234AB", City: "Ons Dorp"},
		Producer: contact.Coded{Code: "P", Description: "Producent Een"}, LastModifiedBy: contact.Coded{Code: "M", Description: "Medewerker"},
		Link: "https://hub.example/contacts/viewcontact/c1"}
	if got[0] != want {
		t.Errorf("%+v", got[0])
	}
}

func TestWrongTypeNamesTheFieldOnly(t *testing.T) {
	_, err := decode([]byte(`{"data":{"items":[{"woonadres":{"straat":["canary-street"]}}]}}`), "")
	if err == nil || !strings.Contains(err.Error(), "woonadres.straat") || strings.Contains(err.Error(), "canary") {
		t.Errorf("%v", err)
	}
}

func TestTokenAnswers(t *testing.T) {
	for name, c := range map[string]struct {
		status int
		body   string
		want   contact.Failure
	}{
		"invalid client":      {400, `{"error":"invalid_client"}`, contact.CredentialsRefused},
		"unauthorized client": {400, `{"error":"unauthorized_client"}`, contact.CredentialsRefused},
		"invalid scope":       {400, `{"error":"invalid_scope"}`, contact.ScopeRefused},
		"bare 401":            {401, ``, contact.CredentialsRefused},
		"200 with an error":   {200, `{"error":"invalid_client"}`, contact.CredentialsRefused},
		"503":                 {503, `x`, contact.HubError},
		"redirect":            {302, ``, contact.HubError},
		"page":                {200, `<html>`, contact.NotUnderstood},
		"no token":            {200, `{}`, contact.NotUnderstood},
		"token with a break":  {200, `{"access_token":"a\r\nX: y"}`, contact.NotUnderstood},
		"no expiry":           {200, `{"access_token":"a"}`, ""},
		"expiry as text":      {200, `{"access_token":"a","expires_in":"60"}`, ""},
		"silly expiry":        {200, `{"access_token":"a","expires_in":-5}`, ""},
	} {
		t.Run(name, func(t *testing.T) {
			f := newFake(t)
			f.token = func(w http.ResponseWriter, _ *http.Request) {
				w.WriteHeader(c.status)
				_, _ = io.WriteString(w, c.body)
			}
			_, err := newClient(t, f.URL, nil).Lookup(t.Context(), number)
			if contact.FailureOf(err) != c.want {
				t.Errorf("%v, want %q", err, c.want)
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
	} {
		if got := tokenLife([]byte(c.in), c.token); got != c.want {
			t.Errorf("%q %q: %v, want %v", c.in, c.token, got, c.want)
		}
	}
}

// TestOneTokenForManyCalls: fifty calls with no token cause one token request;
// fifty whose token the API refuses cause one more.
func TestOneTokenForManyCalls(t *testing.T) {
	f := newFake(t)
	f.token = func(w http.ResponseWriter, _ *http.Request) {
		fmt.Fprintf(w, `{"access_token":"t%d","expires_in":3600}`, f.tokens.Load())
	}
	f.lookup = func(w http.ResponseWriter, r *http.Request) {
		if r.Header.Get("Authorization") == "Bearer t1" {
			w.WriteHeader(http.StatusUnauthorized)
			return
		}
		_, _ = io.WriteString(w, `{}`)
	}
	c := newClient(t, f.URL, nil)
	var all sync.WaitGroup
	for n := range 50 {
		all.Go(func() {
			if _, err := c.Lookup(t.Context(), fmt.Sprintf("+316123456%02d", n)); err != nil {
				t.Error(err)
			}
		})
	}
	all.Wait()
	if n := f.tokens.Load(); n != 2 {
		t.Errorf("%d token requests, want 2", n)
	}
}

func TestSameNumberSharesOneRequestAndAnswersAreKept(t *testing.T) {
	f := newFake(t)
	gate := make(chan struct{})
	inner := f.lookup
	f.lookup = func(w http.ResponseWriter, r *http.Request) { <-gate; inner(w, r) }
	now := time.Now()
	var mu sync.Mutex
	c := newClient(t, f.URL, func(cfg *Config) {
		cfg.Now = func() time.Time { mu.Lock(); defer mu.Unlock(); return now }
	})
	var all sync.WaitGroup
	for range 20 {
		all.Go(func() { _, _ = c.Lookup(t.Context(), number) })
	}
	close(gate)
	all.Wait()
	if _, err := c.Lookup(t.Context(), number); err != nil || f.lookups.Load() != 1 {
		t.Errorf("%v, %d requests", err, f.lookups.Load())
	}
	mu.Lock()
	now = now.Add(61 * time.Second)
	mu.Unlock()
	if _, err := c.Lookup(t.Context(), number); err != nil || f.lookups.Load() != 2 {
		t.Errorf("after a minute: %v, %d requests", err, f.lookups.Load())
	}
}

// TestDeadlineHoldsWhileTheTokenHangs: a caller does not wait longer than it
// wants to, and is told that the hub is slow.
func TestDeadlineHoldsWhileTheTokenHangs(t *testing.T) {
	f := newFake(t)
	gate := make(chan struct{})
	f.token = func(http.ResponseWriter, *http.Request) { <-gate }
	c := newClient(t, f.URL, func(cfg *Config) { cfg.LookupTimeout = 100 * time.Millisecond })
	_, err := c.Lookup(t.Context(), number)
	if contact.FailureOf(err) != contact.HubSlow {
		t.Errorf("%v", err)
	}
	close(gate)
}

func TestCancelledWhenNobodyWaits(t *testing.T) {
	f := newFake(t)
	began, ended := make(chan struct{}), make(chan struct{})
	f.lookup = func(_ http.ResponseWriter, r *http.Request) {
		close(began)
		<-r.Context().Done()
		close(ended)
	}
	c := newClient(t, f.URL, nil)
	ctx, cancel := context.WithCancel(t.Context())
	go func() { <-began; cancel() }()
	if _, err := c.Lookup(ctx, number); err == nil {
		t.Error("no error")
	}
	<-ended
}

// TestRedirectsLeakNothing: whatever the hub answers, neither token nor secret
// reaches another host.
func TestRedirectsLeakNothing(t *testing.T) {
	var leaked atomic.Int64
	other := httptest.NewServer(http.HandlerFunc(func(http.ResponseWriter, *http.Request) { leaked.Add(1) }))
	defer other.Close()
	for _, status := range []int{301, 302, 303, 307, 308, 300} {
		for _, where := range []string{other.URL + "/x", strings.Replace(other.URL, "127.0.0.1", "localhost", 1)} {
			for _, at := range []string{"token", "lookup"} {
				f := newFake(t)
				redirect := func(w http.ResponseWriter, _ *http.Request) {
					w.Header().Set("Location", where)
					w.WriteHeader(status)
				}
				if at == "token" {
					f.token = redirect
				} else {
					f.lookup = redirect
				}
				if _, err := newClient(t, f.URL, nil).Lookup(t.Context(), number); contact.FailureOf(err) != contact.HubError {
					t.Errorf("%d at %s: %v", status, at, err)
				}
			}
		}
	}
	if n := leaked.Load(); n != 0 {
		t.Errorf("%d requests reached another host", n)
	}
}

func TestFaultsOnTheWay(t *testing.T) {
	closed, err := net.Listen("tcp", "127.0.0.1:0")
	if err != nil {
		t.Fatal(err)
	}
	gone := "http://" + closed.Addr().String()
	_ = closed.Close()
	if _, err := newClient(t, gone, nil).Lookup(t.Context(), number); contact.FailureOf(err) != contact.ConnectionRefused {
		t.Errorf("refused: %v", err)
	}
	tls := httptest.NewTLSServer(http.NotFoundHandler())
	defer tls.Close()
	tls.Config.ErrorLog = nil
	if _, err := newClient(t, tls.URL, nil).Lookup(t.Context(), number); contact.FailureOf(err) != contact.CertificateUnknown {
		t.Errorf("certificate: %v", err)
	}
	if _, err := newClient(t, "https://hub.invalid", func(c *Config) { c.Proxy = "none" }).Lookup(t.Context(), number); contact.FailureOf(err) == "" {
		t.Error("no error for a name that does not exist")
	}
	broken := newFake(t)
	broken.lookup = func(http.ResponseWriter, *http.Request) { panic(http.ErrAbortHandler) }
	if _, err := newClient(t, broken.URL, nil).Lookup(t.Context(), number); contact.FailureOf(err) != contact.HubError {
		t.Errorf("broken off: %v", err)
	}
}

func TestAddresses(t *testing.T) {
	for base, ok := range map[string]bool{
		"https://hub.example": true, "https://hub.example/sub/": true, "http://127.0.0.1:8080": true, "http://[::1]:80": true,
		"http://localhost:8080": false, "http://hub.example": false, "ftp://hub.example": false, "": false, "hub.example": false,
		"https://u:p@hub.example": false, "https://hub.example?x=1": false, "http://127.0.0.1.evil.example": false,
	} {
		_, err := New(Config{BaseURL: base, ClientID: "c", Secret: func(context.Context) (string, error) { return "s", nil }})
		if (err == nil) != ok {
			t.Errorf("%q: %v", base, err)
		}
	}
	if _, err := New(Config{BaseURL: "https://hub.example", ClientID: "a:b", Secret: func(context.Context) (string, error) { return "s", nil }}); err == nil {
		t.Error("a client id with a colon was accepted")
	}
}

// TestNothingPersonalIsToldOrLogged sends canaries through every failure.
func TestNothingPersonalIsToldOrLogged(t *testing.T) {
	var log bytes.Buffer
	f := newFake(t)
	c := newClient(t, f.URL, func(cfg *Config) { cfg.Log = slog.New(slog.NewTextHandler(&log, nil)) })
	for n, body := range []string{`{"data":{"items":[{"achternaam":["canary-name"]}]}}`, "canary-body", `{"data":"canary-data"}`} {
		f.lookup = func(w http.ResponseWriter, _ *http.Request) { _, _ = io.WriteString(w, body) }
		_, err := c.Lookup(t.Context(), fmt.Sprintf("+3161234567%d", n))
		for _, canary := range []string{"canary", "1234567"} {
			if strings.Contains(fmt.Sprint(err), canary) || strings.Contains(log.String(), canary) {
				t.Errorf("%q came out: %v", canary, err)
			}
		}
	}
	f.CloseClientConnections()
	f.Close()
	_, err := c.Lookup(t.Context(), "+31612345999")
	if strings.Contains(fmt.Sprint(err), "345999") {
		t.Errorf("%v", err)
	}
	var le *contact.LookupError
	if !errors.As(err, &le) {
		t.Errorf("%T", err)
	}
}
