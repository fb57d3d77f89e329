package outbox

import (
	"bufio"
	"cmp"
	"context"
	"errors"
	"fmt"
	"io"
	"net"
	"net/http"
	"strings"
	"testing"
	"time"

	"wiebelt/internal/core/contact"
	"wiebelt/internal/hub"
	"wiebelt/internal/testutil/nettest"
)

// registered lists the 63 registered status codes by class.
var registered = map[class][]int{
	classOddStatus: {100, 101, 102, 103,
		402, 406, 416, 417, 418, 423, 424, 426, 428, 451},
	classDelivered:  {200, 201, 202, 203, 204, 205, 206, 207, 208, 226},
	classUnknown:    {504},
	classPermanent:  {400, 404, 405, 410, 411, 413, 414, 415, 422, 431, 501},
	classHold:       {300, 301, 302, 303, 304, 305, 306, 307, 308, 401, 403, 407},
	classConflict:   {409, 412},
	classRetryLater: {408, 421, 425, 429, 500, 502, 503, 505, 506, 507, 508, 510, 511},
}

// startWire starts a hub of raw bytes and returns its address. answer answers a delivery,
// whose body is still unread.
func startWire(t testing.TB, answer func(net.Conn, *http.Request)) string {
	t.Helper()
	l := nettest.Listen(t)
	nettest.Accept(t, l, func(c net.Conn, _ func(net.Conn)) {
		r, err := http.ReadRequest(bufio.NewReader(c))
		if err != nil {
			return
		}
		if !strings.HasSuffix(r.URL.Path, "/identity/token") {
			answer(c, r)
			return
		}
		_, _ = io.Copy(io.Discard, r.Body)
		_, _ = io.WriteString(c, "HTTP/1.1 200 OK\r\nContent-Type: application/json\r\nContent-Length: 21\r\nConnection: close\r\n\r\n{\"access_token\":\"t1\"}")
	})
	return "http://" + l.Addr().String()
}

// sentItem returns an item whose request has begun, and the effect of its result.
func sentItem(r hub.Receipt) (Item, effect, class) {
	o := classifyAll(r, nil, []bool{true}, false)[0]
	it, e := decide(beginRequest(Item{State: Waiting, Added: monday}, monday), o, monday, retryRules{firstWait: time.Second,
		jitter: plainJitter})
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
			want := map[class]State{classDelivered: Delivered, classUnknown: Uncertain, classPermanent: Refused, classHold: Waiting, classConflict: Uncertain,
				classRetryLater: Waiting, classOddStatus: Waiting}[c]
			if got != c || it.State != want || it.Status != status || (e.hold != "") != (c == classHold) {
				t.Errorf("%d: %v, %s %s (status %d), held %q; want %v, %s", status, got, it.State, it.Reason, it.Status, e.hold, c, want)
			}
			if doubt := status >= 500 && c != classPermanent && status != 503 && status != 507; doubt != (it.unknownAttempts > 0) {
				t.Errorf("%d: %d attempts of unknown outcome", status, it.unknownAttempts)
			}
			if (e.minPause >= probeAfter) != (c == classUnknown) {
				t.Errorf("%d: the queue pauses for %v", status, e.minPause)
			}
			if c == classHold && (it.Attempts != 0 || it.Tries != 0) {
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
		{"long JSON", hub.Receipt{Answer: `{"a":"` + strings.Repeat("é", 2000), Truncated: true}, Delivered},
		{"nothing", hub.Receipt{}, Uncertain},
		{"nothing, as it says itself", hub.Receipt{Empty: true}, Delivered},
		{"nothing with a 201", hub.Receipt{Status: 201}, Delivered},
		{"nothing with a 202", hub.Receipt{Status: 202}, Delivered},
		{"an error", hub.Receipt{Answer: `{"error":"x"}`, NamesError: true}, Uncertain},
		{"a page by its type", hub.Receipt{Answer: "Log in to this network", WebPage: true}, Uncertain},
		{"before the end of the request", hub.Receipt{Answer: "{}", Early: true}, Uncertain},
		{"broken off", hub.Receipt{Answer: "{}", Broken: true}, Uncertain},
		{"captive portal that lies", hub.Receipt{Answer: "<!doctype HTML><title>Log in</title>"}, Uncertain},
		{"captive portal without a type", hub.Receipt{Answer: "<html><head></head></html>"}, Uncertain},
		{"captive portal of a script alone", hub.Receipt{Answer: "<script>location.replace('http://portal.example/')</script>"}, Uncertain},
		{"captive portal with a long comment", hub.Receipt{Answer: "<!-- " + strings.Repeat("x", 400) + " --><HTML><body>Log in</body></HTML>"}, Uncertain},
		{"half JSON", hub.Receipt{Answer: `{"data":{"items":[{"id"`}, Uncertain},
	} {
		c.r.Status = cmp.Or(c.r.Status, 200)
		if it, e, _ := sentItem(c.r); it.State != c.want || e.hold != "" {
			t.Errorf("%s: %s %s, held %q; want %s", c.name, it.State, it.Reason, e.hold, c.want)
		}
	}
}

// TestFailuresBeforeTheRequest checks which failures hold the queue until an administrator
// acts. After all others the item is sent again.
func TestFailuresBeforeTheRequest(t *testing.T) {
	for f, held := range map[contact.Failure]Reason{
		contact.CredentialsRefused: CredentialsRefused, contact.ScopeRefused: Forbidden, contact.ProxyLogin: ProxyLogin,
		contact.CertificateUnknown: Certificate, contact.CertificateExpired: Certificate, contact.CertificateMismatch: Certificate, contact.ClockWrong: Certificate,
		contact.NotSetUp: NotSetUp, contact.SecretNotForUser: NotSetUp, contact.SecretUnreadable: NotSetUp,
		contact.NoNetwork: "", contact.NameNotResolved: "", contact.ConnectionRefused: "", contact.TLSFailed: "", contact.ProxyFailed: "",
		contact.HubSlow: "", contact.HubError: "", contact.NotUnderstood: "",
	} {
		want := outcome{class: classHold, reason: held}
		if held == "" {
			want = outcome{class: classUnsent, reason: Unreachable}
		}
		if o := classify(hub.Receipt{}, &contact.LookupError{Failure: f}, false, false); o != want {
			t.Errorf("%s: %+v, want %+v", f, o, want)
		}
	}
	if o := classify(hub.Receipt{}, context.Canceled, false, false); o.class != classUnsent {
		t.Errorf("the client was closed: %+v", o)
	}
}

// TestTransportFaults checks failures during the request, by how far it got.
func TestTransportFaults(t *testing.T) {
	for _, c := range []struct {
		name    string
		answer  func(net.Conn, *http.Request)
		size    int
		want    State
		reason  Reason
		counted bool // as an attempt
	}{
		{"closed within the body", func(_ net.Conn, r *http.Request) {
			_, _ = io.CopyN(io.Discard, r.Body, 1<<20)
		}, 8 << 20, Waiting, Unreachable, false},
		{"closed after the body", func(_ net.Conn, r *http.Request) {
			_, _ = io.Copy(io.Discard, r.Body)
		}, 100, Uncertain, NoAnswer, true},
		{"closed within the answer", func(c net.Conn, r *http.Request) {
			_, _ = io.Copy(io.Discard, r.Body)
			_, _ = io.WriteString(c, "HTTP/1.1 200 OK\r\nContent-Type: application/json\r\nContent-Length: 100\r\n\r\n{\"id\":")
		}, 100, Uncertain, NoAnswer, true},
		{"success before the end of the request", func(c net.Conn, r *http.Request) {
			_, _ = io.CopyN(io.Discard, r.Body, 1000)
			_, _ = io.WriteString(c, "HTTP/1.1 200 OK\r\nContent-Type: application/json\r\nContent-Length: 2\r\nConnection: close\r\n\r\n{}")
			_, _ = io.Copy(io.Discard, r.Body)
		}, 8 << 20, Uncertain, NotAnAnswer, true},
		{"too large, said early", func(c net.Conn, r *http.Request) {
			_, _ = io.CopyN(io.Discard, r.Body, 1000)
			_, _ = io.WriteString(c, "HTTP/1.1 413 Too large\r\nContent-Length: 0\r\nConnection: close\r\n\r\n")
			_, _ = io.Copy(io.Discard, r.Body)
		}, 8 << 20, Refused, RefusedByHub, true},
	} {
		t.Run(c.name, func(t *testing.T) {
			b := open(t, Options{Hub: to(newClient(t, startWire(t, c.answer)))})
			it := add(t, b, write(t, "a.zip", make([]byte, c.size)))
			if _, _, err := b.step(t.Context()); err != nil {
				t.Fatal(err)
			}
			it = get(t, b, it.ID)
			q, err := readQueue(t.Context(), b.db)
			if err != nil || it.State != c.want || it.Reason != c.reason || q.HoldReason != "" || (it.Attempts > 0) != c.counted {
				t.Errorf("%s %q, %d attempts, held %q, %v; want %s %q", it.State, it.Reason, it.Attempts, q.HoldReason, err, c.want, c.reason)
			}
			if paused := q.PauseReason != ""; paused != (c.want != Refused) {
				t.Errorf("the queue rests: %v", paused)
			}
		})
	}
}

// TestAnswersPerItem checks that an answer with a status for every item of a request
// is believed, and that the items of a request refused as a whole are sent one by one.
func TestAnswersPerItem(t *testing.T) {
	per := func(status int, items ...int) hub.Receipt {
		return hub.Receipt{Status: status, Answer: `{"data":{}}`, ItemStatuses: items}
	}
	whole := []bool{true, true}
	for _, c := range []struct {
		name   string
		r      hub.Receipt
		err    error
		whole  []bool
		wanted []class
	}{
		{"all well", hub.Receipt{Status: 200, Answer: `{"ok":1}`}, nil, whole, []class{classDelivered, classDelivered}},
		{"one refused", per(207, 201, 422), nil, whole, []class{classDelivered, classPermanent}},
		{"one later", per(200, 503, 200), nil, whole, []class{classRetryLater, classDelivered}},
		{"one forbidden", per(200, 403, 200), nil, whole, []class{classPermanent, classDelivered}},
		{"one refused, and an error for all", hub.Receipt{Status: 207, Answer: "{}", ItemStatuses: []int{201, 422}, NamesError: true}, nil, whole,
			[]class{classDelivered, classPermanent}},
		{"an error for all, and none refused", hub.Receipt{Status: 207, Answer: "{}", ItemStatuses: []int{201, 200}, NamesError: true}, nil, whole,
			[]class{classUnknown, classUnknown}},
		{"all, one by one", per(200, 201, 200), nil, whole, []class{classDelivered, classDelivered}},
		{"a refusal of nobody knows which", per(200, 503), nil, whole, []class{classUnknown, classUnknown}},
		{"a refusal beside an item without a status", per(207, 0, 422), nil, whole, []class{classUnknown, classUnknown}},
		{"another number of items, all well", per(200, 201), nil, whole, []class{classDelivered, classDelivered}},
		{"statuses of another kind", per(200, 0, 0), nil, whole, []class{classDelivered, classDelivered}},
		{"more than was read", hub.Receipt{Status: 200, Answer: `{"data":`, Truncated: true, AnswerTooLong: true}, nil, whole,
			[]class{classUnknown, classUnknown}},
		{"refused as a whole", hub.Receipt{Status: 400, Answer: "no"}, nil, whole, []class{classSplit, classSplit}},
		{"refused as a whole, with items", per(400, 201, 200), nil, whole, []class{classSplit, classSplit}},
		{"more items, one without a status", per(200, 201, 0, 200), nil, whole, []class{classDelivered, classDelivered}},
		{"a conflict", hub.Receipt{Status: 409}, nil, whole, []class{classSplit, classSplit}},
		{"an odd status", hub.Receipt{Status: 402}, nil, whole, []class{classSplit, classSplit}},
		{"a copy that cannot be read", hub.Receipt{}, hub.ErrItem, whole, []class{classSplit, classSplit}},
		{"credentials", hub.Receipt{Status: 401}, nil, whole, []class{classHold, classHold}},
		{"busy", hub.Receipt{Status: 503}, nil, whole, []class{classRetryLater, classRetryLater}},
		{"broken after the first", hub.Receipt{}, nil, []bool{true, false}, []class{classUnknown, classUnsent}},
		{"a copy is gone", hub.Receipt{}, fmt.Errorf("item 2: %w", errMissing), []bool{true, false}, []class{classSplit, classSplit}},
	} {
		for i, o := range classifyAll(c.r, c.err, c.whole, false) {
			if o.class != c.wanted[i] {
				t.Errorf("%s: item %d is %v, want %v", c.name, i, o.class, c.wanted[i])
			}
		}
	}
	for _, status := range []int{200, 207} {
		if o := classifyAll(per(status, 422), nil, []bool{true}, false); o[0].class != classPermanent {
			t.Errorf("one item, %d: %v", status, o[0].class)
		}
	}
	if o := classifyAll(per(200, 201, 422), nil, []bool{true}, false); o[0].class != classUnknown || o[0].reason != Unclear {
		t.Errorf("one item, two statuses: %v", o[0].class)
	}
	for _, c := range []struct {
		r     hub.Receipt
		err   error
		whole bool
		want  class
	}{
		{hub.Receipt{}, errors.New("x"), true, classAborted},
		{hub.Receipt{}, fmt.Errorf("%w: %w", hub.ErrItem, context.Canceled), true, classAborted},
		{hub.Receipt{}, nil, false, classAborted},
		{hub.Receipt{}, nil, true, classUnknown},
		{hub.Receipt{Status: 413}, nil, false, classPermanent},
		{hub.Receipt{Status: 504}, nil, false, classRetryLater},
		{hub.Receipt{Status: 200, Answer: "{}"}, nil, true, classDelivered},
	} {
		if o := classifyAll(c.r, c.err, []bool{c.whole}, true); o[0].class != c.want {
			t.Errorf("we ended it: %+v: %v", c, o[0].class)
		}
	}
}
