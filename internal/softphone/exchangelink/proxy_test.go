package exchangelink

import (
	"bufio"
	"context"
	"crypto/tls"
	"encoding/binary"
	"fmt"
	"io"
	"net"
	"net/http"
	"net/http/httptest"
	"net/url"
	"strings"
	"sync"
	"sync/atomic"
	"testing"
	"time"

	"github.com/gorilla/websocket"

	"wiebelt/internal/softphone/link"
	"wiebelt/internal/testutil/must"
)

// between is a proxy that joins every connection with one exchange.
type between struct {
	address string
	asked   atomic.Int32
	target  atomic.Value // string: the last one
}

// startBetween serves each connection with hello, which gives what was asked for.
func startBetween(t *testing.T, l net.Listener, exchange string, hello func(net.Conn) (string, error)) *between {
	b := &between{address: l.Addr().String()}
	var all sync.WaitGroup
	var mu sync.Mutex
	var open []net.Conn
	keep := func(c net.Conn) {
		mu.Lock()
		defer mu.Unlock()
		open = append(open, c)
	}
	all.Go(func() {
		for {
			c, err := l.Accept()
			if err != nil {
				return
			}
			keep(c)
			all.Go(func() {
				defer c.Close()
				_ = c.SetDeadline(time.Now().Add(patient))
				target, err := hello(c)
				b.asked.Add(1)
				b.target.Store(target)
				if err != nil {
					return
				}
				to, err := net.Dial("tcp", exchange)
				if err != nil {
					return
				}
				keep(to)
				all.Go(func() { _, _ = io.Copy(to, c); to.Close() })
				_, _ = io.Copy(c, to)
			})
		}
	})
	t.Cleanup(func() {
		l.Close()
		mu.Lock()
		for _, c := range open {
			c.Close()
		}
		mu.Unlock()
		all.Wait()
	})
	return b
}

func connects(answer string) func(net.Conn) (string, error) {
	return func(c net.Conn) (string, error) {
		r, err := http.ReadRequest(bufio.NewReader(c))
		if err != nil {
			return "", err
		}
		if r.Method != http.MethodConnect || len(r.Header) > 0 {
			return "", fmt.Errorf("%s %v", r.Method, r.Header)
		}
		if _, err := io.WriteString(c, answer); err != nil || !strings.Contains(answer, " 200 ") {
			return r.Host, fmt.Errorf("refused %w", err)
		}
		return r.Host, nil
	}
}

const good = "HTTP/1.1 200 Connection established\r\nVia: 1.1 x\r\n\r\n"

// speaksSocks is the server's side of RFC 1928 without a login.
func speaksSocks(c net.Conn) (string, error) {
	b := make([]byte, 262)
	if _, err := io.ReadFull(c, b[:2]); err != nil {
		return "", err
	}
	if _, err := io.ReadFull(c, b[:b[1]]); err != nil {
		return "", err
	}
	_, _ = c.Write([]byte{5, 0})
	if _, err := io.ReadFull(c, b[:5]); err != nil || b[3] != 3 {
		return "", fmt.Errorf("no name: %w", err)
	}
	n := int(b[4])
	if _, err := io.ReadFull(c, b[:n+2]); err != nil {
		return "", err
	}
	_, _ = c.Write([]byte{5, 0, 0, 1, 0, 0, 0, 0, 0, 0})
	return fmt.Sprintf("%s:%d", b[:n], binary.BigEndian.Uint16(b[n:])), nil
}

// Requests and sockets go through the proxy and reach the exchange by its name,
// with TLS from end to end.
func TestThroughAProxy(t *testing.T) {
	for _, scheme := range []string{"http", "https", "socks5", "socks5h"} {
		t.Run(scheme, func(t *testing.T) {
			var tested *httptest.Server // whose certificate is for 127.0.0.1 and example.com
			s := serve(t, func(w http.ResponseWriter, r *http.Request) {
				if r.URL.Path == "/get" {
					io.WriteString(w, "{}")
					return
				}
				c, err := (&websocket.Upgrader{}).Upgrade(w, r, nil)
				if err != nil {
					return
				}
				defer c.Close()
				_ = c.WriteMessage(websocket.TextMessage, []byte(r.Host))
				_, _, _ = c.ReadMessage()
			}, func(srv *httptest.Server, _ *Options) { tested = srv })
			exchange := s.base.Host
			l := must.Get(net.Listen("tcp4", "127.0.0.1:0"))(t)
			hello := connects(good)
			switch scheme {
			case "https":
				l = tls.NewListener(l, &tls.Config{Certificates: tested.TLS.Certificates})
			case "socks5", "socks5h":
				hello = speaksSocks
			}
			b := startBetween(t, l, exchange, hello)
			_, port, _ := net.SplitHostPort(exchange)
			through, err := New("https://example.com:"+port, Options{Roots: s.opts.Roots, Answer: 5 * time.Second,
				Proxy: func(r *http.Request) (*url.URL, error) {
					if r.URL.Scheme != "https" || r.URL.Host != "example.com:"+port {
						t.Errorf("asked for %s", r.URL)
					}
					return &url.URL{Scheme: scheme, Host: b.address}, nil
				}})
			must.Do(t, err)
			defer through.Idle()
			var into any
			if status, err := through.Get(t.Context(), "/get", nil, &into); status != 200 || err != nil {
				t.Fatal(status, err)
			}
			if b.asked.Load() != 1 || b.target.Load() != "example.com:"+port {
				t.Fatalf("%d times, %v", b.asked.Load(), b.target.Load())
			}
			sock, _, err := through.Dial(t.Context(), "/ws", nil)
			must.Do(t, err)
			defer sock.Close()
			if m, ok := in(t, sock); !ok || m != "example.com:"+port {
				t.Errorf("%q", m)
			}
			if b.asked.Load() != 2 {
				t.Errorf("%d times", b.asked.Load())
			}
		})
	}
}

// Without a proxy for it, the exchange is reached straight.
func TestNoProxyForIt(t *testing.T) {
	asked := 0
	s := serve(t, func(w http.ResponseWriter, _ *http.Request) { io.WriteString(w, "{}") }, func(_ *httptest.Server, o *Options) {
		o.Proxy = func(*http.Request) (*url.URL, error) { asked++; return nil, nil }
	})
	var into any
	if status, err := s.Get(t.Context(), "/", nil, &into); status != 200 || err != nil || asked != 1 {
		t.Error(status, err, asked)
	}
}

func TestProxyInTheWay(t *testing.T) {
	gone := must.Get(net.Listen("tcp4", "127.0.0.1:0"))(t)
	gone.Close()
	cause := map[error]link.Cause{errProxyGone: link.CauseProxy, errProxyRefused: link.CauseProxy, errProxyLogin: link.CauseLogin}
	for _, c := range []struct {
		name, scheme string
		hello        func(net.Conn) (string, error) // nil: nobody listens
		want         error
	}{
		{"nobody", "http", nil, errProxyGone},
		{"nobody", "socks5", nil, errProxyGone},
		{"a kind that nobody knows", "ftp", nil, errProxyGone},
		{"login", "http", connects("HTTP/1.1 407 Geheim-canary\r\nProxy-Authenticate: Basic realm=\"canary\"\r\n\r\n"), errProxyLogin},
		{"no", "http", connects("HTTP/1.1 403 canary\r\n\r\n"), errProxyRefused},
		{"more than was asked for", "http", connects(good + "canary"), nil},
		{"no http", "http", connects("canary 200 \r\n\r\n"), errProxyGone},
		{"a flood", "http", connects("HTTP/1.1 200 x\r\nA: " + strings.Repeat("canary", 1<<16) + "\r\n\r\n"), errProxyGone},
		{"a redirect", "http", connects("HTTP/1.1 302 x\r\nLocation: http://canary\r\n\r\n"), errProxyRefused},
		{"hangs up", "http", func(net.Conn) (string, error) { return "", io.EOF }, errProxyGone},
		{"no TLS", "https", connects("canary 200 \r\n\r\n"), errProxyGone},
		{"no SOCKS", "socks5", func(c net.Conn) (string, error) {
			_, _ = c.Read(make([]byte, 3))
			_, _ = io.WriteString(c, "canary\r\n\r\n")
			return "", io.EOF
		}, errProxyRefused},
	} {
		t.Run(c.name, func(t *testing.T) {
			address := gone.Addr().String()
			if c.hello != nil {
				l := must.Get(net.Listen("tcp4", "127.0.0.1:0"))(t)
				address = startBetween(t, l, gone.Addr().String(), c.hello).address
			}
			s, err := New("https://pbx.example", Options{Answer: 2 * time.Second, Proxy: func(*http.Request) (*url.URL, error) {
				return &url.URL{Scheme: c.scheme, Host: address}, nil
			}})
			must.Do(t, err)
			defer s.Idle()
			var into any
			_, err = s.Get(t.Context(), "/", nil, &into)
			_, _, err2 := s.Dial(t.Context(), "/", nil)
			for _, err := range []error{err, err2} {
				if err == nil || strings.Contains(err.Error(), "canary") || c.want != nil && (err.Error() != "pbx.example: "+c.want.Error() || link.CauseOf(err) != cause[c.want]) {
					t.Errorf("%v, want %v", err, c.want)
				}
			}
			ctx, cancel := context.WithCancel(t.Context())
			cancel()
			if _, err := s.Get(ctx, "/", nil, &into); err != context.Canceled {
				t.Error(err)
			}
		})
	}
}
