package hub

import (
	"bufio"
	"crypto/tls"
	"fmt"
	"io"
	"net"
	"net/http"
	"slices"
	"sync/atomic"
	"testing"
	"time"

	"wiebelt/internal/testutil/must"
)

// TestARingPaysForNoHandshake: once warm, lookups open no connection, in
// both versions of HTTP.
func TestARingPaysForNoHandshake(t *testing.T) {
	root := newAuthority(t, "Root", nil)
	for _, two := range []bool{false, true} {
		var handshakes atomic.Int64
		warm := make(chan struct{}, 1)
		f := unstarted(t)
		f.EnableHTTP2, f.TLS = two, root.server(t)
		f.TLS.VerifyConnection = func(tls.ConnectionState) error {
			handshakes.Add(1)
			return nil
		}
		token, lookup := f.token, f.lookup
		f.token = func(w http.ResponseWriter, r *http.Request) { token(w, r); warm <- struct{}{} }
		f.lookup = func(w http.ResponseWriter, r *http.Request) {
			if (r.ProtoMajor == 2) != two {
				t.Errorf("%s", r.Proto)
			}
			lookup(w, r)
		}
		f.StartTLS()
		c := root.trusting(t, f.URL)
		c.Warm()
		<-warm
		for n := range 20 {
			must.Get(c.Lookup(t.Context(), fmt.Sprintf("+312012345%02d", n)))(t)
		}
		if n, h := f.conns.Load(), handshakes.Load(); n != 1 || h != 1 {
			t.Errorf("HTTP/2 %v: %d connections, %d handshakes for a token and 20 lookups", two, n, h)
		}
	}
}

// TestAfterASleep: the first lookup does not use a connection from before, and a token that
// expired meanwhile is renewed at once.
func TestAfterASleep(t *testing.T) {
	f := newFake(t)
	give, asked := f.token, make(chan struct{}, 8)
	f.token = func(w http.ResponseWriter, r *http.Request) {
		give(w, r)
		asked <- struct{}{}
	}
	clock := newClock()
	c := newClient(t, f.URL, func(cfg *Config) { cfg.Now = clock.Now })
	c.Warm()
	<-asked
	for n, sleep := range []time.Duration{0, time.Second, 8 * time.Hour} {
		clock.Forward(sleep)
		if sleep > 0 {
			c.Resumed()
		}
		if sleep > time.Hour {
			<-asked // without waiting for a call
		}
		must.Get(c.Lookup(t.Context(), fmt.Sprintf("+312012345%02d", n)))(t)
	}
	if n, k := f.conns.Load(), f.tokens.Load(); n != 3 || k != 2 {
		t.Errorf("%d connections, %d tokens", n, k)
	}
}

// closing is a hub that serves one connection at a time and closes it, instead of answering,
// at the listed requests: like a server whose idle timeout expires at that moment.
func closing(t *testing.T, closeAt ...int) (base string, conns *atomic.Int64) {
	t.Helper()
	conns = &atomic.Int64{}
	var requests atomic.Int64
	return serving(t, func(c net.Conn) {
		conns.Add(1)
		for in := bufio.NewReader(c); ; {
			r, err := http.ReadRequest(in)
			if err != nil {
				return
			}
			_, _ = io.Copy(io.Discard, r.Body)
			if slices.Contains(closeAt, int(requests.Add(1))) {
				return
			}
			body := oneContact
			if r.URL.Path == "/identity/token" {
				body = goodToken
			}
			fmt.Fprintf(c, "HTTP/1.1 200 OK\r\nContent-Type: application/json\r\nContent-Length: %d\r\n\r\n%s", len(body), body)
		}
	}), conns
}

// TestStaleKeepAlive checks that neither a lookup nor the token request fails
// if the server closes the idle connection just as the request is sent on it.
func TestStaleKeepAlive(t *testing.T) {
	for name, c := range map[string]struct {
		closeAt []int
		conns   int64
	}{
		"not closed":    {nil, 1},
		"at the lookup": {[]int{2}, 2}, // 1 is the token
		"at the token":  {[]int{3}, 2}, // after the token's life; 2 is a lookup
		"at all":        {[]int{2, 4}, 3},
	} {
		base, conns := closing(t, c.closeAt...)
		clock := newClock()
		cl := newClient(t, base, func(cfg *Config) { cfg.Now = clock.Now })
		for range 2 {
			if got, err := cl.Lookup(t.Context(), number); err != nil || len(got) != 1 {
				t.Errorf("%s: %d %v", name, len(got), err)
			}
			clock.Forward(2 * time.Hour)
		}
		if n := conns.Load(); n != c.conns {
			t.Errorf("%s: %d connections, want %d", name, n, c.conns)
		}
	}
}

// TestServerThatNeverAnswersIsNotAskedForEver checks that the transport stops retrying.
func TestServerThatNeverAnswersIsNotAskedForEver(t *testing.T) {
	base, conns := closing(t, 1, 2, 3, 4, 5, 6, 7, 8)
	_, err := newClient(t, base, nil).Lookup(t.Context(), number)
	check(t, err, "hub_error: the connection broke")
	if n := conns.Load(); n > 2 {
		t.Errorf("%d connections", n)
	}
}

// TestCloseEndsConnectionsInTheMaking checks that Close ends connecting,
// which the transport continues after its caller has given up.
func TestCloseEndsConnectionsInTheMaking(t *testing.T) {
	ended := make(chan error, 1)
	proxy := serving(t, func(c net.Conn) { // it answers nothing
		_ = c.SetDeadline(time.Now().Add(10 * time.Second))
		_, err := io.Copy(io.Discard, c)
		ended <- err
	})
	c := newClient(t, "https://hub.example", func(cfg *Config) {
		cfg.Proxy, cfg.LookupTimeout = proxy, 200*time.Millisecond
	})
	_, err := c.Lookup(t.Context(), number)
	check(t, err, "hub_slow")
	c.Close()
	if err := <-ended; err != nil {
		t.Errorf("the connection to the proxy stayed: %v", err)
	}
}
