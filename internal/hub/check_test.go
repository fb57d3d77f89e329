package hub

import (
	"context"
	"crypto/tls"
	"crypto/x509"
	"net"
	"net/http"
	"testing"
	"time"

	"wiebelt/internal/core/contact"
	"wiebelt/internal/testutil/must"
	"wiebelt/internal/testutil/nettest"
)

// TestProbe checks that Probe reports certificate and clock without sending credentials.
func TestProbe(t *testing.T) {
	root := newAuthority(t, "Root", nil)
	until := time.Now().Add(40 * 24 * time.Hour).Truncate(time.Second)
	f := newTLSFake(t, &tls.Config{Certificates: []tls.Certificate{root.issue(t, func(c *x509.Certificate) { c.NotAfter = until })}})
	f.lookup = func(w http.ResponseWriter, r *http.Request) {
		if r.Header.Get("Accept") != "application/json" || r.Header.Get("Authorization") != "" || r.Method != http.MethodHead || r.ContentLength > 0 {
			t.Errorf("%s with %d bytes and %v", r.Method, r.ContentLength, r.Header)
		}
		w.Header().Set("Date", time.Now().Add(-7*time.Minute).UTC().Format(http.TimeFormat))
		w.WriteHeader(http.StatusMethodNotAllowed)
	}
	c := root.trusting(t, f.URL)
	r, err := c.Probe(t.Context())
	if err != nil || !r.Resolved || r.Proxy || r.TestHub || !r.Expires.Equal(until) {
		t.Fatalf("%+v, %v", r, err)
	}
	if !r.HasDate || (r.ClockAhead-7*time.Minute).Abs() > 2*time.Second {
		t.Errorf("ahead by %v", r.ClockAhead)
	}
}

// TestProbeStops checks that Probe reports where the path to the hub ends.
func TestProbeStops(t *testing.T) {
	if r, err := newClient(t, "http://"+nettest.Nobody(t), nil).Probe(t.Context()); contact.FailureOf(err) != contact.ConnectionRefused {
		t.Errorf("gone: %+v, %v", r, err)
	}
	ctx, cancel := context.WithTimeout(t.Context(), 300*time.Millisecond)
	defer cancel()
	r, err := newClient(t, serving(t, hang), nil).Probe(ctx)
	if contact.FailureOf(err) != contact.HubSlow || !r.TestHub {
		t.Errorf("hanging: %+v, %v", r, err)
	}
	asked := make(chan struct{}, 1)
	closed := newClient(t, serving(t, func(c net.Conn) { asked <- struct{}{}; hang(c) }), nil)
	ended := make(chan error, 1)
	go func() { _, err := closed.Probe(t.Context()); ended <- err }()
	<-asked
	began := time.Now()
	closed.Close() // which ends it
	if err := <-ended; err == nil {
		t.Error("it hangs, and something was reached")
	}
	must.Within(t, began, fetchTime/2)
	if _, err := closed.Probe(t.Context()); err == nil {
		t.Error("a closed client reached something")
	}
}

// TestFirstExpiry checks that an intermediate certificate that expires first counts, and a root does not.
func TestFirstExpiry(t *testing.T) {
	at := func(day int) *x509.Certificate {
		return &x509.Certificate{NotAfter: time.Date(2026, 11, day, 0, 0, 0, 0, time.UTC)}
	}
	for _, c := range []struct {
		chain []*x509.Certificate
		want  int
	}{
		{[]*x509.Certificate{at(9)}, 9},
		{[]*x509.Certificate{at(9), at(3)}, 9},
		{[]*x509.Certificate{at(9), at(5), at(3)}, 5},
		{[]*x509.Certificate{at(9), at(12), at(3)}, 9},
		{[]*x509.Certificate{at(9), at(7), at(8), at(3)}, 7},
	} {
		if got := firstExpiry(c.chain).Day(); got != c.want {
			t.Errorf("%d certificates: %d, want %d", len(c.chain), got, c.want)
		}
	}
}

// TestProbeThroughAProxy checks that Probe reports the proxy.
func TestProbeThroughAProxy(t *testing.T) {
	p := newFake(t)
	p.lookup = func(w http.ResponseWriter, _ *http.Request) { w.WriteHeader(http.StatusProxyAuthRequired) }
	r, err := newClient(t, "https://hub.example", func(cfg *Config) { cfg.Proxy = p.URL }).Probe(t.Context())
	if contact.FailureOf(err) != contact.ProxyLogin || !r.Proxy {
		t.Errorf("%+v, %v", r, err)
	}
}

// TestCheckAsksAnew checks that Check requests a new token even if
// there is a valid one, which stays in use if the hub then refuses.
func TestCheckAsksAnew(t *testing.T) {
	f := newFake(t)
	c := newClient(t, f.URL, func(cfg *Config) { cfg.DeliveryScopes = "Basic other" })
	for n := range int64(3) {
		if life, err := c.Check(t.Context()); err != nil || life != time.Hour || f.tokens.Load() != n+1 {
			t.Fatalf("%v, %v after %d requests", life, err, f.tokens.Load())
		}
	}
	if err := c.CheckDeliveryToken(t.Context()); err != nil || f.tokens.Load() != 4 {
		t.Errorf("delivery: %v after %d requests", err, f.tokens.Load())
	}
	f.token = func(w http.ResponseWriter, _ *http.Request) { w.WriteHeader(http.StatusUnauthorized) }
	if _, err := c.Check(t.Context()); contact.FailureOf(err) != contact.CredentialsRefused {
		t.Errorf("%v", err)
	}
	if _, err := c.Lookup(t.Context(), "+31201234567"); err != nil {
		t.Errorf("the good token was given up: %v", err)
	}
	asked := f.tokens.Load()
	if err := newClient(t, f.URL, nil).CheckDeliveryToken(t.Context()); err != nil || f.tokens.Load() != asked {
		t.Errorf("one set of scopes: %v after %d requests", err, f.tokens.Load()-asked)
	}
}
