package outbox

import (
	"bufio"
	"context"
	"errors"
	"fmt"
	"io"
	"log"
	"net"
	"net/http"
	"net/http/httptest"
	"strings"
	"sync/atomic"
	"testing"
	"time"

	"wiebelt/internal/core/contact"
	"wiebelt/internal/hub"
	"wiebelt/internal/testutil/nettest"
)

// registered lists the 63 registered status codes by class.
var registered = map[class][]int{
	odd: {100, 101, 102, 103,
		402, 406, 416, 417, 418, 423, 424, 426, 428, 451},
	done:      {200, 201, 202, 203, 204, 205, 206, 207, 208, 226},
	permanent: {400, 404, 405, 410, 411, 413, 414, 415, 422, 431, 501},
	hold:      {300, 301, 302, 303, 304, 305, 306, 307, 308, 401, 403, 407},
	conflict:  {409, 412},
	later:     {408, 421, 425, 429, 500, 502, 503, 504, 505, 506, 507, 508, 510, 511},
}

// wire is a hub of raw bytes: it answers token requests, and deliveries as told.
type wire struct {
	net.Listener
	answer   func(c net.Conn, r *http.Request) // answers a delivery; its body is still unread
	requests atomic.Int64
	token    string // answer to token requests
}

const goodToken = "HTTP/1.1 200 OK\r\nContent-Type: application/json\r\nContent-Length: 43\r\nConnection: close\r\n\r\n{\"access_token\":\"t1\",  \"expires_in\": 3600}\n"

func startWire(t testing.TB, answer func(net.Conn, *http.Request)) *wire {
	t.Helper()
	w := &wire{Listener: nettest.Listen(t), answer: answer, token: goodToken}
	nettest.Accept(t, w, func(c net.Conn, _ func(net.Conn)) {
		r, err := http.ReadRequest(bufio.NewReader(c))
		if err != nil {
			return
		}
		if strings.HasSuffix(r.URL.Path, "/identity/token") {
			_, _ = io.Copy(io.Discard, r.Body)
			_, _ = io.WriteString(c, w.token)
			return
		}
		w.requests.Add(1)
		w.answer(c, r)
	})
	return w
}

func (w *wire) base() string { return "http://" + w.Addr().String() }

// sentItem returns an item whose request has begun, and the effect of its result.
func sentItem(r hub.Receipt) (Item, effect, class) {
	o := classifyAll(r, nil, []bool{true}, false)[0]
	it, e := decide(begin(Item{State: Waiting, Added: monday}, monday), o, monday, rules{firstWait: time.Second, jitter: plainJitter})
	return it, e, o.class
}

// TestEveryStatus: all registered statuses lead to the state of their class.
func TestEveryStatus(t *testing.T) {
	n := 0
	for c, all := range registered {
		for _, status := range all {
			n++
			body := `{"id":"1"}`
			if status == 204 || status == 205 {
				body = ""
			}
			it, e, got := sentItem(hub.Receipt{Status: status, Answer: body})
			want := map[class]State{done: Delivered, permanent: Refused, hold: Waiting, conflict: Uncertain, later: Waiting, odd: Waiting}[c]
			if got != c || it.State != want || it.Status != status || (e.hold != "") != (c == hold) {
				t.Errorf("%d: %v, %s %s (status %d), held %q; want %v, %s", status, got, it.State, it.Reason, it.Status, e.hold, c, want)
			}
			if c == hold && (it.Attempts != 0 || it.Tries != 0) {
				t.Errorf("%d: a hold used up %d attempts, %d tries", status, it.Attempts, it.Tries)
			}
		}
	}
	if n != 63 {
		t.Errorf("%d statuses, 63 are registered", n)
	}
}

// TestBodiesOfSuccess: a success only counts with a body that can be the hub's.
func TestBodiesOfSuccess(t *testing.T) {
	for _, c := range []struct {
		name string
		r    hub.Receipt
		want State
	}{
		{"JSON", hub.Receipt{Answer: `{"data":{"items":[{"id":"x"}]}}`}, Delivered},
		{"a word", hub.Receipt{Answer: "OK"}, Delivered},
		{"XML", hub.Receipt{Answer: `<?xml version="1.0"?><ontvangen/>`}, Delivered},
		{"long JSON", hub.Receipt{Answer: `{"a":"` + strings.Repeat("é", 2000), Cut: true}, Delivered},
		{"nothing", hub.Receipt{}, Uncertain},
		{"a page by its type", hub.Receipt{Answer: "Log in to this network", Page: true}, Uncertain},
		{"before the end of the request", hub.Receipt{Answer: "{}", Early: true}, Uncertain},
		{"broken off", hub.Receipt{Answer: "{}", Broken: true}, Uncertain},
		{"captive portal that lies", hub.Receipt{Answer: "<!doctype HTML><title>Log in</title>"}, Uncertain},
		{"captive portal without a type", hub.Receipt{Answer: "<html><head></head></html>"}, Uncertain},
		{"captive portal of a script alone", hub.Receipt{Answer: "<script>location.replace('http://portal.example/')</script>"}, Uncertain},
		{"captive portal with a long comment", hub.Receipt{Answer: "<!-- " + strings.Repeat("x", 400) + " --><HTML><body>Log in</body></HTML>"}, Uncertain},
		{"half JSON", hub.Receipt{Answer: `{"data":{"items":[{"id"`}, Uncertain},
	} {
		c.r.Status = 200
		if it, e, _ := sentItem(c.r); it.State != c.want || e.hold != "" {
			t.Errorf("%s: %s %s, held %q; want %s", c.name, it.State, it.Reason, e.hold, c.want)
		}
	}
}

func errorOf(f contact.Failure) error { return &contact.LookupError{Failure: f} }

// TestTransportFaults checks failures on the way, by how far the request got.
func TestTransportFaults(t *testing.T) {
	nobody := "http://" + nettest.Nobody(t)
	large := strings.Repeat("x", 8<<20)
	over := func(answer func(net.Conn, *http.Request), change ...func(*hub.Config)) func(*testing.T) func(string) (Deliverer, error) {
		return func(t *testing.T) func(string) (Deliverer, error) {
			return to(newClient(t, startWire(t, answer).base(), change...))
		}
	}
	fails := func(r hub.Receipt, err error) func(*testing.T) func(string) (Deliverer, error) {
		return func(*testing.T) func(string) (Deliverer, error) {
			return to(answering(func([][]byte) (hub.Receipt, error) { return r, err }))
		}
	}
	withToken := func(token string) func(*testing.T) func(string) (Deliverer, error) {
		return func(t *testing.T) func(string) (Deliverer, error) {
			w := startWire(t, func(net.Conn, *http.Request) { t.Error("a request without a token") })
			w.token = token
			return to(newClient(t, w.base()))
		}
	}
	all := []struct {
		name    string
		to      func(*testing.T) func(string) (Deliverer, error)
		want    State
		reason  Reason
		held    Reason
		counted bool // as an attempt
		large   bool
	}{
		{"connection refused", func(t *testing.T) func(string) (Deliverer, error) {
			return to(newClient(t, nobody))
		}, Waiting, Unreachable, "", false, false},
		{"name not resolved", func(t *testing.T) func(string) (Deliverer, error) {
			return to(newClient(t, "https://hub.invalid"))
		}, Waiting, Unreachable, "", false, false},
		{"no TLS at the hub", func(t *testing.T) func(string) (Deliverer, error) {
			return to(newClient(t, "https://"+startWire(t, nil).Addr().String()))
		}, Waiting, Unreachable, "", false, false},
		{"proxy gone", func(t *testing.T) func(string) (Deliverer, error) {
			return to(newClient(t, "https://hub.invalid", func(c *hub.Config) { c.Proxy = nobody }))
		}, Waiting, Unreachable, "", false, false},
		{"proxy wants a login", func(t *testing.T) func(string) (Deliverer, error) {
			p := startWire(t, func(c net.Conn, _ *http.Request) {
				_, _ = io.WriteString(c, "HTTP/1.1 407 Login\r\nContent-Length: 0\r\n\r\n")
			})
			return to(newClient(t, "https://hub.invalid", func(c *hub.Config) { c.Proxy = p.base() }))
		}, Waiting, ProxyLogin, ProxyLogin, false, false},
		{"certificate unknown", func(t *testing.T) func(string) (Deliverer, error) {
			return to(newClient(t, "https://"+startTLS(t)))
		}, Waiting, Certificate, Certificate, false, false},
		{"certificate expired", fails(hub.Receipt{}, errorOf(contact.CertificateExpired)), Waiting, Certificate, Certificate, false, false},
		{"token: busy", withToken("HTTP/1.1 503 Busy\r\nContent-Length: 0\r\nConnection: close\r\n\r\n"), Waiting, Unreachable, "", false, false},
		{"token: credentials refused", withToken("HTTP/1.1 401 No\r\nContent-Length: 0\r\nConnection: close\r\n\r\n"), Waiting, CredentialsOff, CredentialsOff, false, false},
		{"token: wrong scope", withToken("HTTP/1.1 400 No\r\nContent-Length: 25\r\nConnection: close\r\n\r\n{\"error\":\"invalid_scope\"}"), Waiting, Forbidden, Forbidden, false, false},
		{"closed within the body", over(func(_ net.Conn, r *http.Request) {
			_, _ = io.CopyN(io.Discard, r.Body, 1<<20)
		}), Waiting, Unreachable, "", false, true},
		{"closed after the body", over(func(_ net.Conn, r *http.Request) {
			_, _ = io.Copy(io.Discard, r.Body)
		}), Uncertain, NoAnswer, "", true, false},
		{"closed within the answer's head", over(func(c net.Conn, r *http.Request) {
			_, _ = io.Copy(io.Discard, r.Body)
			_, _ = io.WriteString(c, "HTTP/1.1 200 OK\r\nContent-Le")
		}), Uncertain, NoAnswer, "", true, false},
		{"closed within the answer", over(func(c net.Conn, r *http.Request) {
			_, _ = io.Copy(io.Discard, r.Body)
			_, _ = io.WriteString(c, "HTTP/1.1 200 OK\r\nContent-Type: application/json\r\nContent-Length: 100\r\n\r\n{\"id\":")
		}), Uncertain, NoAnswer, "", true, false},
		{"no HTTP", over(func(c net.Conn, r *http.Request) {
			_, _ = io.Copy(io.Discard, r.Body)
			_, _ = io.WriteString(c, "220 mail.example ESMTP\r\n")
		}), Uncertain, NoAnswer, "", true, false},
		{"success before the end of the request", over(func(c net.Conn, r *http.Request) {
			_, _ = io.CopyN(io.Discard, r.Body, 1000)
			_, _ = io.WriteString(c, "HTTP/1.1 200 OK\r\nContent-Type: application/json\r\nContent-Length: 2\r\nConnection: close\r\n\r\n{}")
			_, _ = io.Copy(io.Discard, r.Body)
		}), Uncertain, NotAnAnswer, "", true, true},
		{"too large, said early", over(func(c net.Conn, r *http.Request) {
			_, _ = io.CopyN(io.Discard, r.Body, 1000)
			_, _ = io.WriteString(c, "HTTP/1.1 413 Too large\r\nContent-Length: 0\r\nConnection: close\r\n\r\n")
			_, _ = io.Copy(io.Discard, r.Body)
		}), Refused, ByHub, "", true, true},
		{"no answer in time", fails(hub.Receipt{}, nil), Uncertain, NoAnswer, "", true, false},
		{"no network", fails(hub.Receipt{}, errorOf(contact.NoNetwork)), Waiting, Unreachable, "", false, false},
		{"not set up", fails(hub.Receipt{}, errorOf(contact.NotSetUp)), Waiting, NotSetUp, NotSetUp, false, false},
		{"the client was closed", fails(hub.Receipt{}, context.Canceled), Waiting, Unreachable, "", false, false},
	}
	for _, c := range all {
		t.Run(c.name, func(t *testing.T) {
			b := open(t, Options{Hub: c.to(t)})
			content := zipped(t, "<x/>")
			if c.large {
				content = []byte(large)
			}
			it := add(t, b, write(t, "a.zip", content))
			if _, _, err := b.step(t.Context()); err != nil {
				t.Fatal(err)
			}
			it = get(t, b, it.ID)
			q, err := readQueue(t.Context(), b.db)
			if err != nil || it.State != c.want || it.Reason != c.reason || q.Held != c.held || (it.Attempts > 0) != c.counted {
				t.Errorf("%s %q, %d attempts, held %q, %v; want %s %q, held %q", it.State, it.Reason, it.Attempts, q.Held, err, c.want, c.reason, c.held)
			}
			if paused := q.Paused != ""; paused != (c.want == Waiting && c.held == "" || c.want == Uncertain) {
				t.Errorf("the queue rests: %v", paused)
			}
		})
	}
}

// TestAnswersPerItem checks that an answer with a status for every item of a request
// is believed, and that the items of a request refused as a whole are sent one by one.
func TestAnswersPerItem(t *testing.T) {
	per := func(status int, items ...int) hub.Receipt {
		return hub.Receipt{Status: status, Answer: `{"data":{}}`, Items: items}
	}
	whole := []bool{true, true}
	for _, c := range []struct {
		name   string
		r      hub.Receipt
		err    error
		whole  []bool
		wanted []class
	}{
		{"all well", hub.Receipt{Status: 200, Answer: `{"ok":1}`}, nil, whole, []class{done, done}},
		{"one refused", per(207, 201, 422), nil, whole, []class{done, permanent}},
		{"one later", per(200, 503, 200), nil, whole, []class{later, done}},
		{"one forbidden", per(200, 403, 200), nil, whole, []class{permanent, done}},
		{"all, one by one", per(200, 201, 200), nil, whole, []class{done, done}},
		{"a refusal of nobody knows which", per(200, 503), nil, whole, []class{unknown, unknown}},
		{"a refusal beside an item without a status", per(207, 0, 422), nil, whole, []class{unknown, unknown}},
		{"another number of items, all well", per(200, 201), nil, whole, []class{done, done}},
		{"statuses of another kind", per(200, 0, 0), nil, whole, []class{done, done}},
		{"more than was read", hub.Receipt{Status: 200, Answer: `{"data":`, Cut: true, Unread: true}, nil, whole, []class{unknown, unknown}},
		{"refused as a whole", hub.Receipt{Status: 400, Answer: "no"}, nil, whole, []class{split, split}},
		{"refused as a whole, with items", per(400, 201, 200), nil, whole, []class{split, split}},
		{"more items, one without a status", per(200, 201, 0, 200), nil, whole, []class{done, done}},
		{"a conflict", hub.Receipt{Status: 409}, nil, whole, []class{split, split}},
		{"an odd status", hub.Receipt{Status: 402}, nil, whole, []class{split, split}},
		{"a copy that cannot be read", hub.Receipt{}, hub.ErrItem, whole, []class{split, split}},
		{"credentials", hub.Receipt{Status: 401}, nil, whole, []class{hold, hold}},
		{"busy", hub.Receipt{Status: 503}, nil, whole, []class{later, later}},
		{"broken after the first", hub.Receipt{}, nil, []bool{true, false}, []class{unknown, safe}},
		{"a copy is gone", hub.Receipt{}, fmt.Errorf("item 2: %w", errMissing), []bool{true, false}, []class{split, split}},
	} {
		for i, o := range classifyAll(c.r, c.err, c.whole, false) {
			if o.class != c.wanted[i] {
				t.Errorf("%s: item %d is %v, want %v", c.name, i, o.class, c.wanted[i])
			}
		}
	}
	for _, status := range []int{200, 207} {
		if o := classifyAll(per(status, 422), nil, []bool{true}, false); o[0].class != permanent {
			t.Errorf("one item, %d: %v", status, o[0].class)
		}
	}
	if o := classifyAll(per(200, 201, 422), nil, []bool{true}, false); o[0].class != unknown || o[0].reason != Unclear {
		t.Errorf("one item, two statuses: %v", o[0].class)
	}
	for _, c := range []struct {
		r     hub.Receipt
		err   error
		whole bool
		want  class
	}{
		{hub.Receipt{}, errors.New("x"), true, cut},
		{hub.Receipt{}, fmt.Errorf("%w: %w", hub.ErrItem, context.Canceled), true, cut},
		{hub.Receipt{}, nil, false, cut},
		{hub.Receipt{}, nil, true, unknown},
		{hub.Receipt{Status: 413}, nil, false, permanent},
		{hub.Receipt{Status: 200, Answer: "{}"}, nil, true, done},
	} {
		if o := classifyAll(c.r, c.err, []bool{c.whole}, true); o[0].class != c.want {
			t.Errorf("we ended it: %+v: %v", c, o[0].class)
		}
	}
}

// startTLS starts a server with an untrusted certificate, and returns its address.
func startTLS(t *testing.T) string {
	t.Helper()
	s := httptest.NewUnstartedServer(http.NotFoundHandler())
	s.Config.ErrorLog = log.New(io.Discard, "", 0)
	s.StartTLS()
	t.Cleanup(s.Close)
	return strings.TrimPrefix(s.URL, "https://")
}
