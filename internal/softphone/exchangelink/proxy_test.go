package exchangelink

import (
	"context"
	"crypto/tls"
	"errors"
	"io"
	"net"
	"net/http"
	"net/http/httptest"
	"net/url"
	"slices"
	"strings"
	"testing"
	"time"

	"github.com/gorilla/websocket"

	"wiebelt/internal/softphone/link"
	"wiebelt/internal/testutil/must"
	"wiebelt/internal/testutil/nettest"
)

// TestThroughAProxy: requests and sockets go through the
// proxy and reach the exchange by name, with end-to-end TLS.
func TestThroughAProxy(t *testing.T) {
	for _, scheme := range []string{"http", "https", "socks5", "socks5h"} {
		t.Run(scheme, func(t *testing.T) {
			var tested *httptest.Server // its certificate is for 127.0.0.1 and example.com
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
			l := nettest.Listen(t)
			hello := nettest.Connect(nettest.Joined)
			switch scheme {
			case "https":
				l = tls.NewListener(l, &tls.Config{Certificates: tested.TLS.Certificates})
			case "socks5", "socks5h":
				hello = nettest.Socks(0, 0)
			}
			p := nettest.StartProxy(t, l, exchange, hello)
			_, port, _ := net.SplitHostPort(exchange)
			through, err := New("https://example.com:"+port, Options{Roots: s.opts.Roots, Answer: 5 * time.Second,
				Proxy: func(r *http.Request) (*url.URL, error) {
					if r.URL.Scheme != "https" || r.URL.Host != "example.com:"+port {
						t.Errorf("asked for %s", r.URL)
					}
					return &url.URL{Scheme: scheme, Host: p.Address}, nil
				}})
			must.Do(t, err)
			defer through.CloseIdleConnections()
			var into any
			if status, err := through.Get(t.Context(), "/get", nil, &into); status != 200 || err != nil {
				t.Fatal(status, err)
			}
			if asked := p.Asked(); !slices.Equal(asked, []string{"example.com:" + port}) {
				t.Fatalf("asked for %q", asked)
			}
			sock, _, err := through.Dial(t.Context(), "/ws", nil)
			must.Do(t, err)
			defer sock.Close()
			if m, ok := in(t, sock); !ok || m != "example.com:"+port {
				t.Errorf("%q", m)
			}
			if asked := p.Asked(); len(asked) != 2 {
				t.Errorf("asked for %q", asked)
			}
		})
	}
}

func TestProxyInTheWay(t *testing.T) {
	gone := nettest.Listen(t)
	gone.Close()
	for _, c := range []struct {
		name, scheme string
		hello        nettest.Hello // nil: nobody listens
		want         *link.Failure
	}{
		{"nobody", "http", nil, errProxyGone},
		{"nobody", "socks5", nil, errProxyGone},
		{"a kind that nobody knows", "ftp", nettest.Connect(nettest.Joined), errProxyGone},
		{"a setting that cannot be read", "", nil, errProxyGone},
		{"login", "http", nettest.Connect("HTTP/1.1 407 Geheim-canary\r\nProxy-Authenticate: Basic realm=\"canary\"\r\n\r\n"), errProxyLogin},
		{"no", "http", nettest.Connect("HTTP/1.1 403 canary\r\n\r\n"), errProxyRefused},
		{"more than was asked for", "http", nettest.Connect(nettest.Joined + "canary"), errProxyGone},
		{"no http", "http", nettest.Connect("canary 200 \r\n\r\n"), errProxyGone},
		{"a flood", "http", nettest.Connect("HTTP/1.1 200 x\r\nA: " + strings.Repeat("canary", 1<<16) + "\r\n\r\n"), errProxyGone},
		{"a redirect", "http", nettest.Connect("HTTP/1.1 302 x\r\nLocation: http://canary\r\n\r\n"), errProxyRefused},
		{"hangs up", "http", func(*nettest.Proxy, net.Conn) bool { return false }, errProxyGone},
		{"no TLS", "https", nettest.Connect("canary 200 \r\n\r\n"), errProxyGone},
		{"no SOCKS", "socks5", func(_ *nettest.Proxy, c net.Conn) bool {
			_, _ = c.Read(make([]byte, 3))
			_, _ = io.WriteString(c, "canary\r\n\r\n")
			return false
		}, errProxyRefused},
	} {
		t.Run(c.name, func(t *testing.T) {
			address := gone.Addr().String()
			if c.hello != nil {
				address = nettest.StartProxy(t, nettest.Listen(t), gone.Addr().String(), c.hello).Address
			}
			s, err := New("https://pbx.example", Options{Answer: must.Patience, Proxy: func(*http.Request) (*url.URL, error) {
				if c.scheme == "" {
					return nil, errors.New("canary")
				}
				return &url.URL{Scheme: c.scheme, Host: address}, nil
			}})
			must.Do(t, err)
			defer s.CloseIdleConnections()
			var into any
			_, err = s.Get(t.Context(), "/", nil, &into)
			_, _, err2 := s.Dial(t.Context(), "/", nil)
			for _, err := range []error{err, err2} {
				if err == nil || strings.Contains(err.Error(), "canary") || err.Error() != "pbx.example: "+c.want.Why || link.CauseOf(err) != c.want.Cause {
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
