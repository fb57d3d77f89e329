package exchangelink

import (
	"bufio"
	"context"
	"crypto/tls"
	"crypto/x509"
	"errors"
	"fmt"
	"io"
	"log/slog"
	"net"
	"net/http"
	"net/http/httptest"
	"net/url"
	"path/filepath"
	"strings"
	"sync"
	"testing"
	"time"

	"github.com/gorilla/websocket"
	"go.uber.org/goleak"

	"wiebelt/internal/softphone/link"
	"wiebelt/internal/testutil/must"
	"wiebelt/internal/testutil/nettest"
)

func TestMain(m *testing.M) { goleak.VerifyTestMain(m) }

func serve(t *testing.T, h http.HandlerFunc, change func(*httptest.Server, *Options)) *Server {
	t.Helper()
	srv := httptest.NewUnstartedServer(h)
	srv.Config.ErrorLog = slog.NewLogLogger(slog.DiscardHandler, 0)
	o := Options{Answer: 5 * time.Second}
	srv.TLS = &tls.Config{}
	if change != nil {
		change(srv, &o)
	}
	srv.StartTLS()
	t.Cleanup(srv.Close)
	if o.Roots == nil {
		o.Roots = x509.NewCertPool()
		o.Roots.AddCert(srv.Certificate())
	}
	s := must.Get(New(srv.URL, o))(t)
	t.Cleanup(s.CloseIdleConnections)
	return s
}

func TestAddresses(t *testing.T) {
	for in, want := range map[string]string{
		"https://Pbx.Example": "https://pbx.example", "https://pbx.example:5001/": "https://pbx.example:5001", "wss://pbx.example/a/": "https://pbx.example/a",
		"http://127.0.0.1:8088": "http://127.0.0.1:8088", "ws://[::1]:8088": "http://[::1]:8088", "http://127.8.9.1": "http://127.8.9.1", " https://10.0.0.1 ": "https://10.0.0.1",
	} {
		if s, err := New(in, Options{}); err != nil || s.base.String() != want {
			t.Errorf("%s: %v", in, err)
		}
	}
	for _, in := range []string{
		"", "pbx.example", "pbx.example:8089", "https://", "https:///x", "http://pbx.example", "http://localhost", "http://10.0.0.1", "http://127.0.0.1.evil.example", "ws://pbx.example",
		"ftp://127.0.0.1", "file:///etc/passwd", "https://u:p@pbx.example", "https://pbx.example?x=y", "https://pbx.example/?", "https://pbx.example#x", "https:pbx.example", "https://a b",
		"https://pbx.example/" + strings.Repeat("x", 3000), "http://0.0.0.0:1", "http://127.0.0.1@evil.example",
	} {
		if _, err := New(in, Options{}); err == nil {
			t.Errorf("%q accepted", in)
		}
	}
}

func TestWhatGoesWrong(t *testing.T) {
	ok := func(w http.ResponseWriter, _ *http.Request) { io.WriteString(w, "{}") }
	for _, tt := range []struct {
		name   string
		server func(t *testing.T) *Server
		want   string
		cause  link.Cause
	}{
		{"nobody there", func(t *testing.T) *Server {
			return must.Get(New("https://"+nettest.Nobody(t), Options{}))(t)
		}, "nobody listens there", link.CauseNotListening},
		{"unknown authority", func(t *testing.T) *Server {
			return serve(t, ok, func(_ *httptest.Server, o *Options) { o.Roots = x509.NewCertPool() })
		}, "its certificate is not from an authority that this computer knows", link.CauseCertAuthority},
		{"TLS too old", func(t *testing.T) *Server {
			return serve(t, ok, func(s *httptest.Server, _ *Options) {
				s.TLS.MaxVersion = tls.VersionTLS11
				s.TLS.MinVersion = tls.VersionTLS10
			})
		}, "the connection broke", link.NoCause},
		{"no TLS", func(t *testing.T) *Server {
			plain := httptest.NewServer(http.HandlerFunc(ok))
			t.Cleanup(plain.Close)
			return must.Get(New(strings.Replace(plain.URL, "http:", "https:", 1), Options{}))(t)
		}, "it does not speak TLS there", link.CauseTLS},
		{"silent", func(t *testing.T) *Server {
			stop := make(chan struct{})
			s := serve(t, func(http.ResponseWriter, *http.Request) { <-stop }, func(_ *httptest.Server, o *Options) { o.Answer = 100 * time.Millisecond })
			t.Cleanup(func() { close(stop) })
			return s
		}, "it does not answer in time", link.CauseSilent},
		{"redirect", func(t *testing.T) *Server {
			return serve(t, func(w http.ResponseWriter, r *http.Request) {
				if r.URL.Path != "/x" {
					t.Error("the redirect was followed")
				}
				http.Redirect(w, r, "/stolen", http.StatusTemporaryRedirect)
			}, nil)
		}, "it answers with a redirect, which is not followed", link.CauseUnexpected},
	} {
		t.Run(tt.name, func(t *testing.T) {
			s := tt.server(t)
			want := s.Host() + ": " + tt.want
			var into any
			secret := http.Header{"Authorization": {"Basic c2VjcmV0"}}
			if _, err := s.Get(t.Context(), "/x", secret, &into); err == nil || err.Error() != want || link.CauseOf(err) != tt.cause {
				t.Errorf("GET: %v", err)
			}
			if _, err := s.Post(t.Context(), "/x", secret, "text/plain", []byte("secret"), &into); err == nil || err.Error() != want {
				t.Errorf("POST: %v", err)
			}
			if sock, _, err := s.Dial(t.Context(), "/x", secret); sock != nil || err == nil || err.Error() != want {
				t.Errorf("WebSocket: %v", err)
			}
		})
	}
}

func TestWordsOfErrors(t *testing.T) {
	for _, tt := range []struct {
		err  error
		want string
	}{
		{&net.DNSError{Err: "no such host", Name: "canary.example", IsNotFound: true}, "its name cannot be resolved"},
		{x509.HostnameError{Certificate: &x509.Certificate{DNSNames: []string{"canary"}}, Host: "canary"}, "its certificate is for another name"},
		{x509.CertificateInvalidError{Reason: x509.Expired, Detail: "canary"}, "its certificate has expired or is not valid yet"},
		{x509.CertificateInvalidError{Reason: x509.NameMismatch, Detail: "canary"}, "its certificate is not valid"},
		{&url.Error{Op: "Get", URL: "https://canary/", Err: context.DeadlineExceeded}, "it does not answer in time"},
		{errors.New("canary"), "the connection broke"},
		{fmt.Errorf("canary: %w", errLarge), "its answer is too large"},
	} {
		s := Server{base: &url.URL{Host: "x"}}
		if got := s.connError(t.Context(), &url.Error{Op: "Get", URL: "canary", Err: tt.err}); got.Error() != "x: "+tt.want {
			t.Errorf("%v: %v", tt.err, got)
		}
	}
}

func TestAnswers(t *testing.T) {
	sent := make(chan int, 1) // MiB of the large answer
	s := serve(t, func(w http.ResponseWriter, r *http.Request) {
		switch r.URL.Path {
		case "/ok":
			fmt.Fprintf(w, `{"v":%q}`, r.Header.Get("X-Auth-Token")+r.Header.Get("Content-Type"))
		case "/cut":
			w.Header().Set("Content-Length", "3")
			io.WriteString(w, "{}")
		case "/odd":
			io.WriteString(w, "<html>")
		case "/deep":
			io.WriteString(w, strings.Repeat("[", 1<<20))
		case "/large":
			n := 0
			for n < 100 {
				if _, err := w.Write(make([]byte, 1<<20)); err != nil {
					break
				}
				n++
			}
			sent <- n
		default:
			w.WriteHeader(http.StatusTeapot)
			io.WriteString(w, `{"v":"wrong"}`+strings.Repeat(" ", 1<<20))
		}
	}, func(_ *httptest.Server, o *Options) {
		o.Proxy = func(*http.Request) (*url.URL, error) { return nil, nil } // none for this exchange
	})
	var into struct{ V string }
	if status, err := s.Get(t.Context(), "/ok", http.Header{"X-Auth-Token": {"t"}}, &into); status != 200 || err != nil || into.V != "t" {
		t.Error(status, err, into)
	}
	if status, err := s.Post(t.Context(), "/ok", nil, "a/b", nil, &into); status != 200 || err != nil || into.V != "a/b" {
		t.Error(status, err, into)
	}
	for path, odd := range map[string]bool{"/odd": true, "/deep": true, "/large": false} {
		if status, err := s.Get(t.Context(), path, nil, &into); link.CauseOf(err) != link.CauseUnexpected || status != 0 || Unreadable(err) != odd {
			t.Errorf("%s: %d %v", path, status, err)
		}
	}
	if _, err := s.Get(t.Context(), "/cut", nil, &into); err == nil || Unreadable(err) {
		t.Error(err)
	}
	if n := <-sent; n > 50 {
		t.Errorf("%d MiB were taken", n)
	}
	if status, err := s.Get(t.Context(), "/other", nil, &into); status != http.StatusTeapot || err != nil || into.V != "a/b" {
		t.Error(status, err, into)
	}
	for status, cause := range map[int]link.Cause{http.StatusTeapot: link.CauseUnexpected, http.StatusServiceUnavailable: link.CauseUnavailable, http.StatusTooManyRequests: link.CauseUnavailable} {
		if got := link.CauseOf(s.StatusError(status)); got != cause {
			t.Errorf("status %d: %q", status, got)
		}
	}
	ctx, cancel := context.WithCancel(t.Context())
	cancel()
	if _, err := s.Get(ctx, "/ok", nil, &into); !errors.Is(err, context.Canceled) {
		t.Error(err)
	}
	if _, _, err := s.Dial(ctx, "/ok", nil); !errors.Is(err, context.Canceled) {
		t.Error(err)
	}
	if sock, status, err := s.Dial(t.Context(), "/other", nil); sock != nil || status != http.StatusTeapot || err != nil {
		t.Error(status, err)
	}
	if sock, _, err := s.Dial(t.Context(), "/ok", nil); sock != nil || !Unreadable(err) { // 200 is no upgrade
		t.Error(err)
	}
}

// TestPlainHTTP connects to this computer without TLS, and without a proxy.
func TestPlainHTTP(t *testing.T) {
	srv := httptest.NewServer(http.HandlerFunc(func(w http.ResponseWriter, _ *http.Request) { io.WriteString(w, "{}") }))
	defer srv.Close()
	s, err := New(srv.URL, Options{Proxy: func(*http.Request) (*url.URL, error) {
		t.Error("a proxy was asked for")
		return nil, nil
	}})
	must.Do(t, err)
	defer s.CloseIdleConnections()
	var into any
	if status, err := s.Get(t.Context(), "/", nil, &into); status != 200 || err != nil {
		t.Error(status, err)
	}
	// As if a name had resolved to another computer's address.
	other := must.Get(net.Listen("unix", filepath.Join(t.TempDir(), "s")))(t)
	defer other.Close()
	if _, err := s.dial(t.Context(), "unix", other.Addr().String()); !errors.Is(err, errPlainHTTP) {
		t.Errorf("left this computer: %v", err)
	}
}

func talk(t *testing.T, o Options, f func(*websocket.Conn)) (*Server, *sync.WaitGroup) {
	var done sync.WaitGroup
	s := serve(t, func(w http.ResponseWriter, r *http.Request) {
		done.Add(1)
		defer done.Done()
		c, err := (&websocket.Upgrader{Subprotocols: []string{"p"}}).Upgrade(w, r, nil)
		if err != nil {
			return
		}
		defer c.Close()
		f(c)
	}, func(_ *httptest.Server, into *Options) {
		o.Answer = into.Answer
		*into = o
	})
	return s, &done
}

func in(t *testing.T, k *Socket) (string, bool) {
	t.Helper()
	b := must.Receive(t, k.Messages(), "a message")
	return string(b), b != nil
}

func TestSocket(t *testing.T) {
	s, done := talk(t, Options{}, func(c *websocket.Conn) {
		_, b, _ := c.ReadMessage()
		c.WriteMessage(websocket.BinaryMessage, []byte("not this"))
		c.WriteMessage(websocket.TextMessage, b)
		c.WriteControl(websocket.CloseMessage, websocket.FormatCloseMessage(4003, "canary"), time.Now().Add(time.Second))
	})
	k, status, err := s.Dial(t.Context(), "/", http.Header{"X-Auth-Token": {"t"}}, "p")
	if err != nil || status != http.StatusSwitchingProtocols {
		t.Fatal(status, err)
	}
	must.Do(t, k.Send([]byte("hello")))
	if m, ok := in(t, k); m != "hello" || !ok {
		t.Error(m)
	}
	if _, ok := in(t, k); ok {
		t.Error("not over")
	}
	var closed *CloseError
	if !errors.As(k.Err(), &closed) || closed.Code != 4003 || strings.Contains(k.Err().Error(), "canary") {
		t.Error(k.Err())
	}
	k.Close()
	if k.Send([]byte("x")) == nil {
		t.Error("sent on a closed connection")
	}
	done.Wait()
}

// TestDeadPeer: unanswered pings end the connection; answered ones keep
// it although nothing else arrives, and so do pings from the other end.
func TestDeadPeer(t *testing.T) {
	stop := make(chan struct{})
	s, _ := talk(t, Options{PingEvery: 50 * time.Millisecond, Silence: 500 * time.Millisecond}, func(*websocket.Conn) { <-stop })
	k, _, err := s.Dial(t.Context(), "/", nil)
	must.Do(t, err)
	if _, ok := in(t, k); ok || !strings.HasSuffix(k.Err().Error(), ": it does not answer in time") {
		t.Error(k.Err())
	}
	k.Close()
	close(stop)

	s, done := talk(t, Options{PingEvery: 50 * time.Millisecond, Silence: 500 * time.Millisecond}, func(c *websocket.Conn) {
		pings := 0
		c.SetPingHandler(func(d string) error {
			kind := websocket.PongMessage
			if pings++; pings > 15 {
				kind = websocket.PingMessage
			}
			if pings == 30 { // three times Silence
				c.WriteMessage(websocket.TextMessage, []byte("still here"))
			}
			return c.WriteControl(kind, []byte(d), time.Now().Add(time.Second))
		})
		c.ReadMessage()
	})
	k, _, err = s.Dial(t.Context(), "/", nil)
	must.Do(t, err)
	if m, ok := in(t, k); !ok || m != "still here" {
		t.Error(k.Err())
	}
	k.Close()
	done.Wait()
}

// TestAlive: when two goroutines ask at once whether the other end
// is alive, one pong serves both, even if it answers two pings.
func TestAlive(t *testing.T) {
	s, done := talk(t, Options{}, func(c *websocket.Conn) {
		pings := 0
		c.SetPingHandler(func(d string) error {
			if pings++; pings < 2 {
				return nil
			}
			return c.WriteControl(websocket.PongMessage, []byte(d), time.Now().Add(time.Second))
		})
		c.ReadMessage()
	})
	k, _, err := s.Dial(t.Context(), "/", nil)
	must.Do(t, err)
	ctx, cancel := context.WithTimeout(t.Context(), must.Patience)
	defer cancel()
	var asking sync.WaitGroup
	for range 2 {
		asking.Go(func() {
			if !k.Answers(ctx) {
				t.Error("it does not answer")
			}
		})
	}
	asking.Wait()
	k.Close()
	done.Wait()
	if k.Answers(t.Context()) {
		t.Error("a closed one answers")
	}
}

// TestUntakenStream: data that nobody has read yet does not end a stream, but silence does.
func TestUntakenStream(t *testing.T) {
	const silence, parts = 200 * time.Millisecond, 2 * queued
	late := make(chan struct{})
	s := serve(t, func(w http.ResponseWriter, r *http.Request) {
		io.WriteString(w, strings.Repeat("x\n", parts))
		http.NewResponseController(w).Flush()
		time.AfterFunc(2*silence, func() { close(late) })
		<-r.Context().Done()
	}, func(_ *httptest.Server, o *Options) { o.Silence = silence })
	k, _, err := s.Stream(t.Context(), http.MethodGet, "/", nil, nil, bufio.ScanLines)
	must.Do(t, err)
	defer k.Close()
	<-late
	n := 0
	for range k.Parts() {
		n++
	}
	if n != parts || link.CauseOf(k.Err()) != link.CauseSilent {
		t.Errorf("%d of %d parts, %v", n, parts, k.Err())
	}
}

func TestTooLarge(t *testing.T) {
	s, _ := talk(t, Options{}, func(c *websocket.Conn) {
		c.WriteMessage(websocket.TextMessage, make([]byte, maxMessage))
		c.WriteMessage(websocket.TextMessage, make([]byte, maxMessage+1))
		c.ReadMessage()
	})
	k, _, err := s.Dial(t.Context(), "/", nil)
	must.Do(t, err)
	defer k.Close()
	if m, ok := in(t, k); !ok || len(m) != maxMessage {
		t.Error(len(m))
	}
	if _, ok := in(t, k); ok || !strings.HasSuffix(k.Err().Error(), ": its answer is too large") {
		t.Error(k.Err())
	}
}

// TestEnds: the socket ends with its context, and Close does not wait for a
// reader without a consumer.
func TestEnds(t *testing.T) {
	s, _ := talk(t, Options{}, func(c *websocket.Conn) {
		for c.WriteMessage(websocket.TextMessage, []byte("x")) == nil {
		}
	})
	ctx, cancel := context.WithCancel(t.Context())
	k, _, err := s.Dial(ctx, "/", nil)
	must.Do(t, err)
	in(t, k)
	cancel()
	k.Close()
	for over := false; !over; {
		select {
		case _, ok := <-k.Messages():
			over = !ok
		default:
			t.Fatal("Close has not waited for the reader")
		}
	}
	k, _, err = s.Dial(t.Context(), "/", nil)
	must.Do(t, err)
	in(t, k)
	k.Close()
}

// TestTokenLife: the announced lifetime of a token is trusted up to a day.
func TestTokenLife(t *testing.T) {
	var s Server
	for _, tt := range []struct{ life, least, most time.Duration }{{time.Hour, 39 * time.Minute, 40 * time.Minute}, {240 * time.Hour, 15 * time.Hour, 16 * time.Hour}} {
		if token := must.Get(s.NewToken("x", "", tt.life))(t); !token.Valid() || token.renewIn(0) < tt.least || token.renewIn(0) > tt.most {
			t.Errorf("of %v it is renewed in %v", tt.life, token.renewIn(0))
		}
	}
	if (Token{}).Valid() || must.Get(s.NewToken("x", "", 0))(t).Valid() {
		t.Error("a token lives that cannot")
	}
}

func TestWords(t *testing.T) {
	for s, want := range map[string]bool{"abc.DEF-123_~": true, "": false, "a b": false, "a\r\nb": false, "é": false, strings.Repeat("x", maxToken): true, strings.Repeat("x", maxToken+1): false} {
		if Sendable(s) != want {
			t.Errorf("token %q", s)
		}
	}
	for s, want := range map[string]bool{"101": true, "101-mobile": true, "*8.a_b+": true, "": false, "1/2": false, "1 2": false, "..": false, ".": false, "101?x": false, "%31": false, strings.Repeat("1", 65): false} {
		if ValidExtension(s) != want {
			t.Errorf("extension %q", s)
		}
	}
}
