package localhub

import (
	"bufio"
	"bytes"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"net"
	"net/http"
	"strings"
	"syscall"
	"testing"
	"time"

	"github.com/golang-jwt/jwt/v5"

	"wiebelt/internal/testutil/messagetest"
	"wiebelt/internal/testutil/must"
)

func TestFaultsOfALookup(t *testing.T) {
	h := start(t, Config{})
	must.Get(h.AddInvented(t.Context(), person("Een", "0612345678")))(t)
	tok, f := token(t, h), h.Faults()
	good := lookup(t, h, tok, "0612345678").body
	valid := func(s string) bool { return json.Valid([]byte(s)) }
	for name, c := range map[string]struct {
		fault Fault
		check func(a answer, err error) bool
	}{
		"500":       {Fault{Status: 500}, func(a answer, err error) bool { return err == nil && a.status == 500 && valid(a.body) }},
		"html":      {Fault{Body: BodyHTML}, func(a answer, _ error) bool { return a.status == 200 && strings.HasPrefix(a.body, "<!doctype") }},
		"truncated": {Fault{Body: BodyTruncated}, func(a answer, err error) bool { return err == nil && a.status == 200 && a.body == good[:len(good)/2] }},
		"cut":       {Fault{Body: BodyCut}, func(a answer, err error) bool { return errors.Is(err, io.ErrUnexpectedEOF) && a.status == 200 }},
		"empty":     {Fault{Body: BodyEmpty}, func(a answer, err error) bool { return err == nil && a.status == 200 && a.body == "" }},
		"wrong":     {Fault{Body: BodyWrong}, func(a answer, err error) bool { return err == nil && valid(a.body) && a.body != good }},
		"drop":      {Fault{Drop: true}, func(_ answer, err error) bool { return errors.Is(err, io.EOF) || errors.Is(err, syscall.ECONNRESET) }},
	} {
		f.Set(EndpointLookup, c.fault)
		a, err := try(t, newClient(t), "GET", h.BaseURL()+"/contact/contacts/telephony?q=0612345678", "", "Authorization", "Bearer "+tok)
		if !c.check(a, err) {
			t.Errorf("%s: %+v, %v", name, a, err)
		}
		if askToken(t, h).status != 200 {
			t.Errorf("%s: the token endpoint is broken too", name)
		}
		f.Clear(EndpointLookup)
		if a := lookup(t, h, tok, "0612345678"); a.body != good {
			t.Errorf("%s: not mended: %+v", name, a)
		}
	}
}

func TestRefuseCredentials(t *testing.T) {
	h := start(t, Config{})
	tok := token(t, h)
	h.Faults().RefuseCredentials(true)
	lookup(t, h, tok, "0612345678").is(t, 401, "old token")
	if a := askToken(t, h); a.status != 401 || errorCode(t, a) != "invalid_client" {
		t.Errorf("new token: %d", a.status)
	}
	must.Do(t, h.Faults().Reset())
	lookup(t, h, tok, "0612345678").is(t, 200, "afterwards")
}

func TestGoneAndBack(t *testing.T) {
	h := start(t, Config{})
	c, f := newClient(t), h.Faults()
	u := h.BaseURL() + "/login"
	do(t, c, "GET", u, "") // leaves a connection open
	for range 3 {
		must.Do(t, f.SetGone(true), f.SetGone(true)) // the second changes nothing
		if _, err := try(t, c, "GET", u, ""); err == nil {
			t.Fatal("answered")
		}
		if _, err := try(t, newClient(t), "GET", u, ""); !errors.Is(err, syscall.ECONNREFUSED) {
			t.Errorf("want refused, got %v", err)
		}
		must.Do(t, f.SetGone(false))
		if a := do(t, c, "GET", u, ""); a.status != 200 || h.BaseURL()+"/login" != u {
			t.Errorf("back: %d", a.status)
		}
	}
	must.Do(t, f.SetGone(true), h.Close())
	must.Do(t, f.SetGone(false)) // a hub that has been closed stays away
}

func wire(t *testing.T, h *Hub, request string) net.Conn {
	t.Helper()
	addr := strings.TrimPrefix(h.BaseURL(), "http://")
	c := must.Get(net.Dial("tcp", addr))(t)
	t.Cleanup(func() { _ = c.Close() })
	_ = c.SetDeadline(time.Now().Add(20 * time.Second))
	must.Get(io.WriteString(c, strings.Replace(request, "\r\n", "\r\nHost: "+addr+"\r\n", 1)))(t)
	return c
}

const loginRequest = "GET /login HTTP/1.1\r\nConnection: close\r\n\r\n"

// TestDropReadsTheRequest: a client whose connection is dropped cannot know whether the
// hub has its request, so the hub reads all of it first.
func TestDropReadsTheRequest(t *testing.T) {
	h := start(t, Config{})
	h.Faults().Set(EndpointTransaction, Fault{Drop: true})
	c := wire(t, h, "POST /transaction/intermediary HTTP/1.1\r\nExpect: 100-continue\r\nContent-Length: 2\r\n\r\n")
	const goOn = "HTTP/1.1 100 Continue\r\n\r\n"
	got := make([]byte, len(goOn))
	if _, err := io.ReadFull(c, got); err != nil || string(got) != goOn {
		t.Fatalf("%q, %v", got, err)
	}
	must.Get(io.WriteString(c, "{}"))(t)
	if b, err := io.ReadAll(c); len(b) > 0 || err != nil {
		t.Errorf("%q, %v", b, err)
	}
}

// TestFaultsInOrder checks that each fault applies its number of times, then the next one does.
func TestFaultsInOrder(t *testing.T) {
	h := start(t, Config{})
	h.Faults().Set(EndpointPages, Fault{Times: 2}, Fault{Status: 503, Times: 2}, Fault{Times: 1}, Fault{Status: 418})
	for i, want := range []int{200, 200, 503, 503, 200, 418, 418} {
		do(t, newClient(t), "GET", h.BaseURL()+"/login", "").is(t, want, "request ", i+1)
	}
}

// TestSlowEndsWithTheHub checks that each part of a slow answer arrives separately, and
// that closing the hub does not wait for the next one.
func TestSlowEndsWithTheHub(t *testing.T) {
	h := start(t, Config{})
	h.Faults().Set(EndpointPages, Fault{Slow: Slow{Bytes: 5, Every: time.Hour}})
	resp := must.Get(http.ReadResponse(bufio.NewReader(wire(t, h, loginRequest)), nil))(t)
	drop := make([]byte, 5)
	if _, err := io.ReadFull(resp.Body, drop); err != nil || !strings.EqualFold(string(drop), "<!doc") {
		t.Fatalf("%q, %v", drop, err)
	}
	began := time.Now()
	must.Do(t, h.Close())
	must.Within(t, began, 1500*time.Millisecond)
	if n, err := resp.Body.Read(drop); err == nil {
		t.Errorf("%d more came", n)
	}
}

// TestFaultsOutlastTheServersDeadlines checks that the server's
// request deadlines do not cut a delay short.
func TestFaultsOutlastTheServersDeadlines(t *testing.T) {
	defer func(old time.Duration) { readTime = old }(readTime)
	readTime = 100 * time.Millisecond
	h := start(t, Config{})
	for name, x := range map[string]Fault{
		"late":          {Delay: 300 * time.Millisecond},
		"late and slow": {Delay: 150 * time.Millisecond, Slow: Slow{Bytes: 100, Every: 150 * time.Millisecond}},
	} {
		h.Faults().Set(EndpointToken, x)
		askToken(t, h).is(t, 200, name, " token")
		h.Faults().Set(EndpointPages, x)
		if a := do(t, newClient(t), "GET", h.BaseURL()+"/web/icon.svg", ""); a.status != 200 || !strings.HasSuffix(a.body, "</svg>\n") {
			t.Errorf("%s page: %d", name, a.status)
		}
	}
}

func TestLargeOnTheWire(t *testing.T) {
	h := start(t, Config{})
	tok := token(t, h)
	for size, want := range map[int]int64{1_000_000: 1_000_000, 0: 64 << 20} {
		h.Faults().Set(EndpointLookup, Fault{Body: BodyLarge, Size: size})
		r := bufio.NewReader(wire(t, h, "GET /contact/contacts/telephony?q=0201234567 HTTP/1.1\r\nAuthorization: Bearer "+tok+"\r\nConnection: close\r\n\r\n"))
		resp := must.Get(http.ReadResponse(r, nil))(t)
		if resp.ContentLength != -1 || resp.StatusCode != 200 {
			t.Errorf("length %d, status %d", resp.ContentLength, resp.StatusCode)
		}
		var end bytes.Buffer
		n, err := io.CopyN(io.Discard, resp.Body, want)
		if _, err2 := io.Copy(&end, resp.Body); err != nil || err2 != nil || n != want || !json.Valid(end.Bytes()) || end.Len() > 100 {
			t.Errorf("%d bytes, then %q; %v %v", n, end.String(), err, err2)
		}
		_ = resp.Body.Close()
	}
}

func TestStatusWithItsHeaders(t *testing.T) {
	h := start(t, Config{})
	for _, c := range []struct {
		fault             Fault
		status            int
		retry, kind, body string
	}{
		{Fault{Status: 503, RetryAfter: 1500 * time.Millisecond}, 503, "2", "application/json", `{"error":"fault","error_description":"broken on purpose"}` + "\n"},
		{Fault{Status: 502, Body: BodyHTML}, 502, "", "text/html; charset=utf-8", "<!doctype html><title>Wifi</title><h1>Wifi</h1><p>Log in to go on.</p>"},
		{Fault{Status: 204}, 204, "", "application/json", ""},
	} {
		h.Faults().Set(EndpointToken, c.fault)
		a := askToken(t, h)
		if a.status != c.status || a.header.Get("Retry-After") != c.retry || a.header.Get("Content-Type") != c.kind || a.body != c.body {
			t.Errorf("%v: %d %v %q", c.fault, a.status, a.header, a.body)
		}
	}
}

func TestExpiredTokens(t *testing.T) {
	now := newClock()
	h := start(t, Config{Now: now.Now, TokenLifetime: 30 * time.Minute})
	f, old := h.Faults(), token(t, h)
	f.Set(EndpointToken, Fault{Expired: true})
	var a struct {
		AccessToken string `json:"access_token"`
		TokenType   string `json:"token_type"`
		ExpiresIn   *int64 `json:"expires_in"`
		Scope       string `json:"scope"`
	}
	if err := json.Unmarshal([]byte(askToken(t, h).body), &a); err != nil || a.ExpiresIn == nil || *a.ExpiresIn != 0 || a.TokenType != "Bearer" || a.Scope == "" {
		t.Fatalf("%+v %v", a, err)
	}
	var c jwt.RegisteredClaims
	if _, _, err := jwt.NewParser().ParseUnverified(a.AccessToken, &c); err != nil || c.ExpiresAt.After(now.Now()) || c.ExpiresAt.Sub(c.IssuedAt.Time) != 30*time.Minute {
		t.Errorf("%+v %v", c, err)
	}
	invalid := func(a answer) bool {
		t.Helper()
		return a.status == 401 && errorCode(t, a) == "invalid_token" && a.header.Get("WWW-Authenticate") == `Bearer realm="hub", error="invalid_token"`
	}
	if a := lookup(t, h, a.AccessToken, "0201234567"); !invalid(a) {
		t.Errorf("an expired token: %+v", a)
	}
	lookup(t, h, old, "0201234567").is(t, 200, "a token from before")
	// A refusal is still a refusal.
	if a := do(t, newClient(t), "POST", h.BaseURL()+"/identity/token", body, "Content-Type", form, "Authorization", basic(clientID, "wrong")); a.status != 401 || errorCode(t, a) != "invalid_client" {
		t.Errorf("%+v", a)
	}
	f.Clear(EndpointToken)
	lookup(t, h, token(t, h), "0201234567").is(t, 200, "mended")

	f.Set(EndpointLookup, Fault{Expired: true, Times: 1})
	f.Set(EndpointTransaction, Fault{Expired: true, Times: 1})
	good := token(t, h)
	for i, want := range []bool{true, false} {
		if a := lookup(t, h, good, "0201234567"); invalid(a) != want || !want && a.status != 200 {
			t.Errorf("lookup %d: %+v", i, a)
		}
		if a := deliver(t, h, good, messagetest.Request(numbered(t, 1))); invalid(a) != want || !want && a.status != 200 {
			t.Errorf("delivery %d: %+v", i, a)
		}
	}
	if all := box(t, h.Data); len(all) != 1 {
		t.Errorf("%d messages", len(all))
	}
}

var faultTexts = map[string]Fault{
	"lookup:delay=2s,status=503,times=3":       {Delay: 2 * time.Second, Status: 503, Times: 3},
	"token:drop":                               {Drop: true},
	"token:drop,delay=1m0s,times=2":            {Drop: true, Delay: time.Minute, Times: 2},
	"pages:body=html":                          {Body: BodyHTML},
	"pages:body=truncated":                     {Body: BodyTruncated},
	"pages:body=cut":                           {Body: BodyCut},
	"pages:body=empty":                         {Body: BodyEmpty},
	"lookup:body=wrong":                        {Body: BodyWrong},
	"lookup:body=large":                        {Body: BodyLarge},
	"lookup:size=1073741824,body=large":        {Body: BodyLarge, Size: 1 << 30},
	"transaction:status=429,retry-after=30s":   {Status: 429, RetryAfter: 30 * time.Second},
	"transaction:expired,times=1":              {Expired: true, Times: 1},
	"lookup:content-type=text/plain; a=b":      {ContentType: "text/plain; a=b"},
	"lookup:slow=10/1s,body=wrong,delay=500ms": {Slow: Slow{Bytes: 10, Every: time.Second}, Body: BodyWrong, Delay: 500 * time.Millisecond},
	"lookup:content-type=0":                    {ContentType: "0"},
	"lookup:status=200":                        {Status: 200},
	"lookup:delay=1h":                          {Delay: time.Hour},
}

var badFaultTexts = map[string]string{ // what the error must contain
	"":                                  "an endpoint is",
	"lookup":                            "what goes wrong",
	"everything:drop":                   "an endpoint is",
	"lookup:nonsense":                   "none of",
	"lookup:drop,drop":                  "twice",
	"lookup:drop=yes":                   "no value",
	"lookup:status":                     "needs a value",
	"lookup:delay=2":                    "delay: a time",
	"lookup:delay=0s":                   "delay: a time",
	"lookup:delay=61m":                  "delay: a time",
	"lookup:status=101":                 "from 200",
	"lookup:status=600":                 "status: a number",
	"lookup:status=five":                "status: a number",
	"lookup:status=503,retry-after=x":   "retry-after: a time",
	"lookup:retry-after=3s":             "goes with a status",
	"lookup:times=3":                    "does not say what goes wrong",
	"lookup:drop,times=0":               "times: a number",
	"lookup:drop,times=1000001":         "times: a number",
	"lookup:body=nothing":               "body: one of",
	"lookup:size=5":                     "of body=large",
	"lookup:body=large,size=0":          "size: a number",
	"lookup:body=large,size=1073741825": "size: a number",
	"lookup:slow=10":                    "such as 10/1s",
	"lookup:slow=0/1s":                  "such as 10/1s",
	"lookup:drop,status=500":            "without an answer",
	"lookup:expired,status=500":         "of its own",
	"pages:expired":                     "no tokens",
	"lookup:content-type=":              "a type such as",
	"lookup:content-type=a\r\nX: y":     "content-type: at most",
	"lookup:content-type=té":            "content-type: at most",
	"lookup:drop,times=1" + strings.Repeat("0", 500): "longer than",
}

func TestParseFault(t *testing.T) {
	for text, want := range faultTexts {
		e, x, err := ParseFault(text)
		if err != nil || x != want || !strings.HasPrefix(text, string(e)+":") {
			t.Errorf("%s: %s, %+v, %v", text, e, x, err)
		}
	}
	for text, want := range badFaultTexts {
		e, x, err := ParseFault(text)
		if err == nil || !strings.Contains(err.Error(), want) || e != "" || x != (Fault{}) {
			t.Errorf("%s: %s, %+v, %v", text, e, x, err)
		}
	}
}

// FuzzParseFault checks that a fault parsed from either notation is
// within its limits and can be written and parsed again.
func FuzzParseFault(f *testing.F) {
	for _, object := range []string{
		`{"drop":true}`, `{"delay":"1s","times":3}`, `{"slow":"1/1s"}`, `{"body":"cut"}`, `{"status":"x"}`, `[]`, `{"times":1e9}`,
	} {
		f.Add(object)
	}
	for text := range faultTexts {
		f.Add(text)
	}
	for text := range badFaultTexts {
		f.Add(text)
	}
	f.Fuzz(func(t *testing.T, text string) {
		e, x, err := ParseFault(text)
		if words, ok := faultPartsOf([]byte(text)); ok {
			e = EndpointLookup
			x, err = parseFaultParts(words, e)
		}
		if err != nil {
			if len(err.Error()) > 3000 || x != (Fault{}) {
				t.Errorf("%v", err)
			}
			return
		}
		if x.Delay > time.Hour || x.Delay < 0 || x.Status != 0 && (x.Status < 200 || x.Status > 599) || x.Size < 0 || x.Size > 1<<30 ||
			x.Times < 0 || x.Times > 1_000_000 || x.Slow.Bytes < 0 || x.Slow.Every < 0 || x.RetryAfter < 0 || strings.ContainsAny(x.ContentType, "\r\n,") {
			t.Errorf("%q: %+v", text, x)
		}
		again := fmt.Sprintf("%s:%s", e, x)
		if e2, y, err := ParseFault(again); err != nil || e2 != e || y != x {
			t.Errorf("%q: %q is %+v, %v", text, again, y, err)
		}
	})
}
