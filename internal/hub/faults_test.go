package hub

import (
	"bufio"
	"bytes"
	"compress/flate"
	"compress/gzip"
	"context"
	"crypto/tls"
	"crypto/x509"
	"errors"
	"fmt"
	"io"
	"net"
	"net/http"
	"os"
	"strings"
	"sync"
	"syscall"
	"testing"
	"time"

	"wiebelt/internal/core/contact"
	"wiebelt/internal/testutil/must"
	"wiebelt/internal/testutil/nettest"
)

// The canaries must never be in a log line or an error. Nothing else contains the number's digits.
const canaryNumber = "+31209876543"

var canaries = []string{"canary", "9876543", "Y2FuYXJ5"} // the last: "canary" as Basic has it

// wire is a hub of raw bytes: answer gets each request's path and writes anything.
func wire(t testing.TB, answer func(c net.Conn, path string)) string {
	t.Helper()
	return serving(t, func(c net.Conn) {
		r, err := http.ReadRequest(bufio.NewReader(c))
		if err != nil {
			return
		}
		_, _ = io.Copy(io.Discard, r.Body)
		answer(c, r.URL.Path)
	})
}

// serving serves connections, and returns the address.
func serving(t testing.TB, serve func(net.Conn)) string {
	t.Helper()
	l := nettest.Listen(t)
	nettest.Accept(t, l, func(c net.Conn, _ func(net.Conn)) { serve(c) })
	return "http://" + l.Addr().String()
}

// hang waits until the client disconnects.
func hang(c net.Conn) { _, _ = io.Copy(io.Discard, c) }

// drip sends before, and then part repeatedly until the client disconnects.
func drip(before, part string) func(net.Conn) {
	return func(c net.Conn) {
		_, err := io.WriteString(c, before)
		tick := time.Tick(5 * time.Millisecond)
		for err == nil {
			<-tick
			_, err = io.WriteString(c, part)
		}
	}
}

// flood sends part as fast as the client reads it.
func flood(before, part string) func(net.Conn) {
	return func(c net.Conn) {
		_, err := io.WriteString(c, before)
		all := []byte(strings.Repeat(part, 1+16000/len(part)))
		for err == nil {
			_, err = c.Write(all)
		}
	}
}

// reset writes s and resets the connection.
func reset(s string) func(net.Conn) {
	return func(c net.Conn) {
		_, _ = io.WriteString(c, s)
		_ = c.(*net.TCPConn).SetLinger(0)
	}
}

func bytesOf(s string) func(net.Conn) {
	return func(c net.Conn) { _, _ = io.WriteString(c, s) }
}

const head = "HTTP/1.1 200 OK\r\nContent-Type: application/json\r\n"

// bomb is 64 MB of one letter within an object, compressed.
var bomb = sync.OnceValue(func() string {
	var b bytes.Buffer
	z, _ := gzip.NewWriterLevel(&b, gzip.BestSpeed)
	_, _ = io.WriteString(z, `{"canary":"`)
	for part, n := bytes.Repeat([]byte("a"), 1<<20), 0; n < 64; n++ {
		_, _ = z.Write(part)
	}
	_, _ = io.WriteString(z, `"}`)
	_ = z.Close()
	return b.String()
})

func zipped(body string) string {
	return head + fmt.Sprintf("Content-Encoding: gzip\r\nContent-Length: %d\r\nConnection: close\r\n\r\n%s", len(body), body)
}

func sized(kind string, body string) string { return reply("200 OK", kind, body) }

// look does one lookup, with a short limit if the hub is expected to be slow. It checks that the
// wanted result arrives within that limit, that Close does not hang, and that no canary leaks.
func look(t *testing.T, base, want string, change func(*Config, *Client)) {
	t.Helper()
	const margin = 2 * time.Second
	limit := 10 * time.Second
	if strings.HasPrefix(want, "hub_slow") {
		limit = 300 * time.Millisecond
	}
	cfg := Config{BaseURL: base, ClientID: "canary-client", OrganisationCode: "canary", LookupTimeout: limit,
		Secret: func(context.Context) (string, error) { return "canary-secret", nil }}
	if change != nil {
		change(&cfg, nil)
	}
	c, err := New(cfg)
	must.Do(t, err)
	defer c.Close()
	if change != nil {
		change(nil, c)
	}
	began := time.Now()
	_, err = c.Lookup(t.Context(), canaryNumber)
	if took := time.Since(began); took > limit+margin {
		t.Errorf("took %v", took)
	}
	began = time.Now()
	c.Close()
	if took := time.Since(began); took > margin {
		t.Errorf("Close took %v", took)
	}
	told := ""
	for e := err; e != nil; e = errors.Unwrap(e) {
		told += fmt.Sprintf("%v|%+v|%#v|%s", e, e, e, e.Error())
	}
	var le *contact.LookupError
	if err != nil && !errors.As(err, &le) {
		t.Errorf("no LookupError but %T", err)
	}
	for _, k := range canaries {
		if strings.Contains(told, k) {
			t.Errorf("%q came out: %s", k, told)
		}
	}
	check(t, err, want)
}

func outcome(err error) string {
	if le, ok := errors.AsType[*contact.LookupError](err); ok {
		return string(le.Failure)
	}
	if err != nil {
		return err.Error()
	}
	return "answered"
}

// check compares an error with want: a failure, or a failure and its detail ("hub_slow:
// no answer in time").
func check(t *testing.T, err error, want string) {
	t.Helper()
	got := outcome(err)
	if failure, _, detailed := strings.Cut(want, ": "); detailed && failure == got {
		got = strings.TrimPrefix(err.Error(), "lookup: ")
	}
	if got != want {
		t.Errorf("%v, want %s", err, want)
	}
}

// TestTokenFaults checks that every fault of a token endpoint
// leads to its failure in time, without a quote from the answer.
func TestTokenFaults(t *testing.T) {
	bomb() // created before the clock runs
	for _, f := range []struct {
		name   string
		answer func(net.Conn)
		want   string
	}{
		{"hangs", hang, "hub_slow"},
		{"500", bytesOf(reply("500 canary", "text/plain", "canary")), "hub_error"},
		{"HTML", bytesOf(sized("text/html", "<html>canary</html>")), "answer_not_understood"},
		{"gzip bomb", func(c net.Conn) { _, _ = io.WriteString(c, zipped(bomb())) }, "answer_not_understood"},
		{"200 with an error", bytesOf(sized("application/json", `{"error":"invalid_client","error_description":"canary-secret is wrong"}`)), "credentials_refused"},
		{"200 with an unknown error", bytesOf(sized("application/json", `{"error":"canary","access_token":"canary"}`)), "answer_not_understood"},
		{"400 unauthorized client", bytesOf(reply("400 Bad Request", "application/json", `{"error":"unauthorized_client"}`)), "credentials_refused"},
		{"no token", bytesOf(sized("application/json", `{}`)), "answer_not_understood"},
		{"a token with a line end", bytesOf(sized("application/json", `{"access_token":"a\r\nX: canary"}`)), "answer_not_understood"},
		{"a long token", bytesOf(sized("application/json", `{"access_token":"`+strings.Repeat("x", maxBearer+1)+`"}`)), "answer_not_understood"},
		{"400 with a scope", bytesOf(reply("400 Bad Request", "application/json", `{"error":"invalid_scope","error_description":"canary"}`)), "scope_refused"},
		{"no expires_in", bytesOf(sized("application/json", `{"access_token":"canary-token"}`)), "answered"},
		{"more than 1 MB", bytesOf(sized("application/json", `{"access_token":"canary-token","x":"`+strings.Repeat("a", 1<<20)+`"}`)), "answer_not_understood"},
		{"endless", flood(head+"\r\n", "canary"), "answer_not_understood"},
		{"reset within the body", reset(head + "Content-Length: 100\r\n\r\n{\"access_token\":\"canary"), "hub_error"},
		{"cut body", bytesOf(head + "Content-Length: 100\r\n\r\n{\"access_token\":\"canary"), "hub_error: the connection broke within the answer"},
		{"bad JSON", bytesOf(sized("application/json", `{"access_token":"canary-token"`)), "answer_not_understood"},
		{"400 invalid grant", bytesOf(reply("400 Bad Request", "application/json", `{"error":"invalid_grant"}`)), "credentials_refused"},
		{"400 access denied", bytesOf(reply("400 Bad Request", "application/json", `{"error":"access_denied"}`)), "credentials_refused"},
		{"400 server error", bytesOf(reply("400 Bad Request", "application/json", `{"error":"server_error"}`)),
			"hub_error: token: status 400 server_error"},
		{"400 unknown error", bytesOf(reply("400 Bad Request", "application/json", `{"error":"canary"}`)), "hub_error: token: status 400"},
		{"201", bytesOf(reply("201 Created", "application/json", goodToken)), "answered"},
		{"a byte order mark", bytesOf(sized("application/json", "\ufeff"+goodToken)), "answered"},
		{"401", bytesOf(reply("401 Unauthorized", "text/plain", "canary")), "credentials_refused"},
		{"403", bytesOf(reply("403 Forbidden", "text/plain", "canary")), "credentials_refused"},
		{"407", bytesOf(reply("407 canary", "text/plain", "canary")), "proxy_login"},
		{"closes", func(net.Conn) {}, "hub_error: the connection broke"},
		{"drips", drip(head+"Content-Length: 100000\r\n\r\n", "{"), "hub_slow"},
		{"no HTTP", bytesOf("SSH-2.0-canary\r\n"), "answer_not_understood: the answer is no HTTP, or too long"},
	} {
		t.Run(f.name, func(t *testing.T) {
			base := wire(t, func(c net.Conn, path string) {
				if path == "/identity/token" {
					f.answer(c)
					return
				}
				_, _ = io.WriteString(c, sized("application/json", oneContact))
			})
			look(t, base, f.want, nil)
		})
	}
}

// TestLookupFaults checks the faults of a lookup once there is a token.
func TestLookupFaults(t *testing.T) {
	bomb()
	const broken = "hub_error: the connection broke within the answer"
	const noHTTP = "answer_not_understood: the answer is no HTTP, or too long"
	chunked := head + "Transfer-Encoding: chunked\r\n\r\n"
	for _, f := range []struct {
		name   string
		answer func(net.Conn)
		want   string
	}{
		{"hangs", hang, "hub_slow: no answer in time"},
		{"header never ends", drip("HTTP/1.1 200 OK\r\nX: ", "canary"), "hub_slow: the answer did not end in time"},
		{"slow body", drip(head+"Content-Length: 1000000\r\n\r\n", "{"), "hub_slow: the answer did not end in time"},
		{"slow chunks", drip(chunked, "1\r\n{\r\n"), "hub_slow: the answer did not end in time"},
		{"hints without end", drip("", "HTTP/1.1 103 canary\r\n\r\n"), "hub_slow: the answer did not end in time"},
		{"flood of hints", flood("", "HTTP/1.1 103 canary\r\n\r\n"), noHTTP},
		{"error instead", bytesOf(sized("application/json", `{"errors":[{"message":"canary"}]}`)), "hub_error: lookup: an error in a successful answer"},
		{"error beside nothing", bytesOf(sized("application/json", `{"data":{"items":[]},"error":"canary"}`)), "hub_error: lookup: an error in a successful answer"},
		{"cut body", bytesOf(head + "Content-Length: 500\r\n\r\n" + `{"data":{"items":[{"achternaam":"canary`), broken},
		{"cut chunks", bytesOf(chunked + "20\r\n{\"canary"), broken},
		{"bad chunk size", bytesOf(chunked + "canary\r\n"), noHTTP},
		{"reset within the body", reset(head + "Content-Length: 500\r\n\r\n{\"canary"), "hub_error"},
		{"reset at once", reset(""), "hub_error: the connection broke"},
		{"closes", func(net.Conn) {}, "hub_error: the connection broke"},
		{"page", bytesOf(sized("text/html", "<html>canary</html>")), "answer_not_understood: lookup: the answer is no JSON"},
		{"more than 8 MB", bytesOf(sized("application/json", `{"canary":"`+strings.Repeat("a", maxAnswer)+`"}`)), "answer_not_understood"},
		{"endless", flood(head+"\r\n", "canary"), "answer_not_understood"},
		{"gzip bomb", func(c net.Conn) { _, _ = io.WriteString(c, zipped(bomb())) }, "answer_not_understood"},
		{"broken gzip", bytesOf(zipped("\x1f\x8b canary canary canary canary")), "answer_not_understood: the answer's compression is broken"},
		{"no gzip at all", bytesOf(zipped(`{"data":{"canary":1}}`)), "answer_not_understood: the answer's compression is broken"},
		{"two kinds of compression", bytesOf(head + "Content-Encoding: br\r\nContent-Length: 6\r\nConnection: close\r\n\r\ncanary"), "answer_not_understood"},
		{"huge headers", bytesOf(head + "X: " + strings.Repeat("canary", 20_000) + "\r\n\r\n{}"), noHTTP},
		{"no HTTP", bytesOf("canary canary canary\r\n\r\n"), noHTTP},
		{"bad header", bytesOf("HTTP/1.1 200 OK\r\ncanary\r\n\r\n{}"), noHTTP},
		{"bad length", bytesOf("HTTP/1.1 200 OK\r\nContent-Length: canary\r\n\r\n{}"), noHTTP},
		{"two lengths", bytesOf("HTTP/1.1 200 OK\r\nContent-Length: 2\r\nContent-Length: 9\r\n\r\n{}canary"), noHTTP},
		{"another protocol", bytesOf("HTTP/1.1 101 canary\r\nUpgrade: canary\r\nConnection: Upgrade\r\n\r\n"), "hub_error"},
		{"204", bytesOf("HTTP/1.1 204 canary\r\nConnection: close\r\n\r\n"), "answered"},
		{"206", bytesOf(reply("206 Partial Content", "application/json", oneContact)), "hub_error"},
		{"400", bytesOf(reply("400 canary", "application/json", `{"q":"`+canaryNumber+`"}`)), "hub_error"},
		{"401 twice", bytesOf(reply("401 canary", "application/json", `{"token":"canary-token"}`)), "credentials_refused"},
		{"403", bytesOf(reply("403 canary", "text/plain", "canary")), "scope_refused"},
		{"404 page", bytesOf(reply("404 canary", "text/html", "<p>canary")), "hub_error"},
		{"404 page that reads as JSON", bytesOf(reply("404 canary", "text/html", "{}")), "hub_error"},
		{"407", bytesOf(reply("407 canary", "text/html", "canary")), "proxy_login"},
		{"408", bytesOf(reply("408 canary", "text/html", "canary")), "hub_slow"},
		{"500", bytesOf(reply("500 canary", "text/html", "canary")), "hub_error"},
		{"504", bytesOf(reply("504 canary", "text/html", "canary")), "hub_slow"},
		{"well", bytesOf(sized("application/json", oneContact)), "answered"},
	} {
		t.Run(f.name, func(t *testing.T) {
			base := wire(t, func(c net.Conn, path string) {
				if path == "/identity/token" {
					_, _ = io.WriteString(c, sized("application/json", goodToken))
					return
				}
				f.answer(c)
			})
			look(t, base, f.want, nil)
		})
	}
}

// TestRareFaults checks failures that no server in a test can cause.
func TestRareFaults(t *testing.T) {
	late := os.ErrDeadlineExceeded
	op := func(op string, err error) error { return &net.OpError{Op: op, Err: err} }
	verify := func(err error) error { return &tls.CertificateVerificationError{Err: err} }
	for _, f := range []struct {
		err   error
		stage int32
		proxy bool
		want  string
	}{
		{late, stageConnect, true, "proxy_failed: proxy: no connection in time"},
		{late, stageConnected, true, "hub_slow: proxy: no way to the hub in time"},
		{late, stageTLS, true, "hub_slow: no TLS handshake in time"},
		{late, stageConnected, false, "hub_slow: no connection in time"},
		{context.DeadlineExceeded, stageSending, false, "hub_slow: no answer in time"},
		{context.Canceled, stageSending, false, "hub_error: given up"},
		{op("socks connect", late), stageConnected, true, "hub_slow: proxy: no way to the hub in time"},
		{op("proxyconnect", late), stageConnect, true, "proxy_failed: proxy: no connection in time"},
		{op("proxyconnect", syscall.ENETUNREACH), stageConnect, true, "no_network: no route"},
		{op("proxyconnect", syscall.ECONNREFUSED), stageConnect, true, "proxy_failed: proxy: no connection"},
		{op("dial", &net.DNSError{IsTimeout: true}), stageName, false, "no_network: name not resolved"},
		{op("dial", syscall.ENETDOWN), stageConnect, false, "no_network: no route"},
		{op("dial", syscall.Errno(10050)), stageConnect, false, "no_network: no route"},
		{op("dial", syscall.Errno(10065)), stageConnect, false, "no_network: no route"},
		{verify(x509.CertificateInvalidError{Reason: x509.NotAuthorizedToSign}), stageTLS, false,
			"certificate_unknown: the certificate breaks its authority's rules"},
		{verify(x509.CertificateInvalidError{Reason: x509.Expired}), stageTLS, false, "certificate_expired: the certificate has expired"},
		{verify(x509.SystemRootsError{}), stageTLS, false, "certificate_unknown: this computer has no root certificates"},
		{verify(x509.UnknownAuthorityError{}), stageTLS, false, "certificate_unknown: signed by an unknown authority"},
		{x509.UnknownAuthorityError{}, stageTLS, false, "certificate_unknown: signed by an unknown authority"},
		{verify(errors.New("canary")), stageTLS, false, "certificate_unknown: the certificate cannot be checked"},
		{op("remote error", errors.New("tls: unrecognized name")), stageTLS, false, "tls_failed: the hub does not serve this name"},
		{op("remote error", errors.New("tls: protocol version not supported")), stageTLS, false, "tls_failed: the hub's TLS is older than 1.2"},
		{errors.New("tls: canary"), stageTLS, false, "tls_failed: the TLS handshake failed"},
		{gzip.ErrChecksum, stageAnswer, false, "answer_not_understood: the answer's compression is broken"},
		{flate.CorruptInputError(1), stageAnswer, false, "answer_not_understood: the answer's compression is broken"},
		{op("write", syscall.EPIPE), stageAnswer, false, "hub_error: the connection broke within the answer"},
		{op("read", syscall.Errno(10053)), stageAnswer, false, "hub_error: the connection broke within the answer"},
		{op("read", syscall.Errno(10054)), stageAnswer, false, "hub_error: the connection broke within the answer"},
		{errors.New("http2: canary"), stageAnswer, false, "hub_error: the connection broke within the answer"},
		{errors.New("stream error: canary"), stageAnswer, false, "hub_error: the connection broke within the answer"},
		{errors.New("canary"), stageConnected, true, "proxy_failed: proxy: the connection broke"},
	} {
		w := &trace{online: func() bool { return false }, err: f.err}
		w.stage.Store(f.stage)
		w.proxy.Store(f.proxy)
		check(t, transportError(t.Context(), w), f.want)
	}
	w := &trace{online: func() bool { return true }, err: &net.DNSError{IsTimeout: true}}
	check(t, transportError(t.Context(), w), "hub_slow: name not resolved in time")
}

// TestNetworkFaults checks the failures when no connection is established.
func TestNetworkFaults(t *testing.T) {
	failing := func(e error) func(context.Context, string, string) (net.Conn, error) {
		return func(context.Context, string, string) (net.Conn, error) { return nil, e }
	}
	cutter := "https" + strings.TrimPrefix(serving(t, func(c net.Conn) {
		_, _ = c.Read(make([]byte, 1))
		reset("")(c)
	}), "http")
	dial := func(n syscall.Errno) error {
		return &net.OpError{Op: "dial", Net: "tcp", Err: os.NewSyscallError("connect", n)}
	}
	const hub = "https://hub.invalid"
	for _, f := range []struct {
		name    string
		base    string
		connect func(context.Context, string, string) (net.Conn, error)
		online  bool
		want    string
	}{
		{"refused", "https://" + nettest.Nobody(t), nil, true, "connection_refused: refused"},
		{"refused on Windows", hub, failing(dial(10061)), true, "connection_refused: refused"},
		{"unreachable", hub, failing(dial(syscall.ENETUNREACH)), true, "connection_refused: no route"},
		{"no network", hub, failing(dial(syscall.ENETUNREACH)), false, "no_network: no route"},
		{"no network on Windows", hub, failing(dial(10051)), false, "no_network: no route"},
		{"host unreachable", hub, failing(dial(syscall.EHOSTUNREACH)), true, "connection_refused: no route"},
		{"no such name", hub, resolver(nameServer(t, true)), true, "name_not_resolved"},
		{"no such name, no network", hub, resolver(nameServer(t, true)), false, "no_network: name not resolved"},
		{"TLS breaks", cutter, nil, true, "hub_error: the connection broke in the TLS handshake"},
	} {
		t.Run(f.name, func(t *testing.T) {
			look(t, f.base, f.want, func(cfg *Config, c *Client) {
				if cfg != nil {
					cfg.Proxy = "none"
					return
				}
				o := c.transport
				o.online = func() bool { return f.online }
				if f.connect != nil {
					o.connect = f.connect
				}
			})
		})
	}
}

// TestSlowNamesThePart: the error says what took too long to connect. TestLookupFaults has
// what comes after that.
func TestSlowNamesThePart(t *testing.T) {
	stuck := func(ctx context.Context, _, _ string) (net.Conn, error) {
		<-ctx.Done()
		return nil, ctx.Err()
	}
	for _, f := range []struct {
		base    string
		connect func(context.Context, string, string) (net.Conn, error)
		want    string
	}{
		{"https://hub.invalid", resolver(nameServer(t, false)), "hub_slow: name not resolved in time"},
		{"https://hub.invalid", stuck, "hub_slow: no connection in time"},
		{strings.Replace(serving(t, hang), "http:", "https:", 1), nil, "hub_slow: no TLS handshake in time"},
	} {
		c := newClient(t, f.base, func(cfg *Config) { cfg.Proxy = "none" })
		if f.connect != nil {
			c.transport.connect = f.connect
		}
		ctx, cancel := context.WithTimeout(t.Context(), 200*time.Millisecond)
		r := must.Get(http.NewRequestWithContext(ctx, http.MethodGet, f.base, nil))(t)
		resp, err := c.transport.RoundTrip(r)
		if err == nil {
			_ = resp.Body.Close()
			t.Errorf("%s: answered", f.want)
		} else {
			check(t, transportError(ctx, err), f.want)
		}
		cancel()
	}
}

// resolver returns a dial function that resolves names with server.
func resolver(server string) func(context.Context, string, string) (net.Conn, error) {
	d := net.Dialer{Resolver: &net.Resolver{PreferGo: true, Dial: func(ctx context.Context, _, _ string) (net.Conn, error) {
		c, err := (&net.Dialer{}).DialContext(ctx, "udp", server)
		if err == nil {
			// The resolver keeps reading even when nobody is waiting any more.
			context.AfterFunc(ctx, func() { _ = c.Close() })
		}
		return c, err
	}}}
	return d.DialContext
}

// nameServer is a name server that knows no name, or never answers.
func nameServer(t testing.TB, answers bool) string {
	t.Helper()
	c, err := net.ListenPacket("udp", "127.0.0.1:0")
	must.Do(t, err)
	done := make(chan struct{})
	go func() {
		defer close(done)
		b := make([]byte, 1500)
		for {
			n, from, err := c.ReadFrom(b)
			if err != nil {
				return
			}
			if !answers || n < 12 {
				continue
			}
			// Echo the question as an answer with "no such name" (RFC 1035 4.1.1).
			b[2], b[3] = 0x81, 0x83
			for i := 6; i < 12; i++ {
				b[i] = 0
			}
			end := 12
			for end < n && b[end] != 0 {
				end += int(b[end]) + 1
			}
			_, _ = c.WriteTo(b[:min(end+5, n)], from)
		}
	}()
	t.Cleanup(func() { _ = c.Close(); <-done })
	return c.LocalAddr().String()
}
