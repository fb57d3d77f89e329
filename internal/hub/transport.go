package hub

import (
	"context"
	"crypto/tls"
	"crypto/x509"
	"encoding/pem"
	"errors"
	"fmt"
	"net"
	"net/http"
	"net/http/httptrace"
	"net/netip"
	"net/url"
	"strings"
	"sync/atomic"
	"time"

	"wiebelt/internal/filetrust"
)

// ParseAddress parses an address of the hub: https, or http to a literal loopback address, since
// a name such as localhost can be redirected. key is its setting.
func ParseAddress(key, s string) (*url.URL, error) {
	u, ok := parseLink(strings.TrimRight(strings.TrimSpace(s), "/"))
	switch {
	case !ok || u.Hostname() == "" || strings.HasSuffix(u.Host, ":"):
		return nil, fmt.Errorf("%s: not an address such as https://hub.example", key)
	case u.Scheme == "http" && !isLoopback(u.Hostname()):
		return nil, fmt.Errorf("%s: http is for the test hub on this computer only; use https", key)
	}
	u.Host = strings.ToLower(u.Host)
	return u, nil
}

// isLoopback accepts 127.0.0.0/8 and ::1 in common notation, no names or other forms.
func isLoopback(host string) bool {
	a, _ := netip.ParseAddr(host)
	return a.IsLoopback() && !a.Is4In6() && a.Zone() == ""
}

// Time limits of connections. A lookup's own limit is shorter than
// their sum; these limit what continues after its caller has given up.
const (
	idleTime  = 15 * time.Minute
	pingEvery = 30 * time.Second
	pingTime  = 5 * time.Second
	maxHeader = 64 << 10
	maxCAFile = 4 << 20
)

// newTransport creates a client's only transport. It sends requests only to the configured
// host, and plain http only to this computer.
func newTransport(cfg Config, base *url.URL) (*transport, error) {
	roots, err := rootsWith(cfg.ExtraCAFile)
	if err != nil {
		return nil, err
	}
	proxy, err := newProxy(cfg, base, systemProxies)
	if err != nil {
		return nil, err
	}
	dialer := &net.Dialer{Timeout: dialTime,
		// A connection that died unnoticed (sleep, another network) must be detected before
		// the next call, and routers must not drop an idle one.
		KeepAliveConfig: net.KeepAliveConfig{Enable: true, Idle: pingEvery, Interval: pingTime, Count: 3}}
	o := &transport{scheme: base.Scheme, host: base.Host, connect: dialer.DialContext, online: online}
	o.next = &http.Transport{
		DialContext:            o.dial,
		Proxy:                  proxy,
		OnProxyConnectResponse: connectRefusal,
		TLSHandshakeTimeout:    dialTime,
		ResponseHeaderTimeout:  headerTime,
		ExpectContinueTimeout:  time.Second,
		IdleConnTimeout:        idleTime,
		MaxIdleConnsPerHost:    8,
		MaxResponseHeaderBytes: maxHeader,
		ForceAttemptHTTP2:      true,
		HTTP2:                  &http.HTTP2Config{SendPingTimeout: pingEvery, PingTimeout: pingTime},
		TLSClientConfig: &tls.Config{
			MinVersion: tls.VersionTLS12,
			RootCAs:    roots,
			// We have no certificate, but the fact that the hub asked explains what follows.
			GetClientCertificate: func(*tls.CertificateRequestInfo) (*tls.Certificate, error) {
				o.certRequested.Store(true)
				return &tls.Certificate{}, nil
			},
		},
	}
	return o, nil
}

// rootsWith returns the system's roots and those in a file (PEM
// or DER); without a file it returns nil, for the system's alone.
func rootsWith(file string) (*x509.CertPool, error) {
	if file == "" {
		return nil, nil
	}
	raw, err := filetrust.ReadPlain(file, maxCAFile)
	if err != nil {
		return nil, fmt.Errorf("hub.extra_ca_file: %w", err)
	}
	pool, err := x509.SystemCertPool()
	if err != nil {
		pool = x509.NewCertPool()
	}
	n := 0
	for rest := raw; ; {
		var block *pem.Block
		if block, rest = pem.Decode(rest); block == nil {
			break
		}
		if block.Type != "CERTIFICATE" {
			continue
		}
		c, err := x509.ParseCertificate(block.Bytes)
		if err != nil {
			return nil, fmt.Errorf("hub.extra_ca_file: its certificate %d cannot be read", n+1)
		}
		pool.AddCert(c)
		n++
	}
	if n == 0 {
		if all, err := x509.ParseCertificates(raw); err == nil {
			for _, c := range all {
				pool.AddCert(c)
				n++
			}
		}
	}
	if n == 0 {
		return nil, errors.New("hub.extra_ca_file: holds no certificate")
	}
	return pool, nil
}

// transport sends requests only to the configured host, and records how far each one
// got. Safe for concurrent use.
type transport struct {
	scheme, host  string
	next          *http.Transport
	connect       func(ctx context.Context, network, addr string) (net.Conn, error)
	online        func() bool
	certRequested atomic.Bool // the hub asked for a client certificate
	answered      atomic.Bool // the hub has answered at least once
}

// RoundTrip sends one request. Its errors are for transportError.
func (o *transport) RoundTrip(r *http.Request) (*http.Response, error) {
	return o.roundTripTraced(r, &trace{})
}

// roundTripTraced is RoundTrip, recording in w how far the request gets.
func (o *transport) roundTripTraced(r *http.Request, w *trace) (*http.Response, error) {
	if r.URL.Scheme != o.scheme || r.URL.Host != o.host {
		if r.Body != nil {
			_ = r.Body.Close() // as a RoundTripper must
		}
		return nil, errWrongHost
	}
	w.online = o.online
	ctx := context.WithValue(r.Context(), traceKey{}, w)
	r = r.WithContext(httptrace.WithClientTrace(ctx, &httptrace.ClientTrace{
		GetConn:              func(string) { w.stage.Store(stageNone) },
		DNSStart:             func(httptrace.DNSStartInfo) { w.reached(stageName) },
		ConnectStart:         func(string, string) { w.reached(stageConnect) },
		ConnectDone:          func(_, _ string, err error) { w.reachedIf(err == nil, stageConnected) },
		TLSHandshakeStart:    func() { w.reached(stageTLS) },
		GotConn:              func(httptrace.GotConnInfo) { w.reached(stageSending) },
		GotFirstResponseByte: func() { w.reached(stageAnswer) },
	}))
	resp, err := o.next.RoundTrip(r)
	if err != nil {
		w.err = err
		w.certRequested = o.certRequested.Load() && !o.answered.Load()
		return nil, w
	}
	o.answered.Store(true)
	if r.Body != nil {
		// An answer may begin before the request ends. Over HTTP/2 the transport then does not
		// notice the end of ctx as long as the hub takes no more of the request.
		context.AfterFunc(ctx, func() { _ = resp.Body.Close() })
	}
	return resp, nil
}

// dial opens a connection. Over plain http it must lead to this computer, whatever the address.
func (o *transport) dial(ctx context.Context, network, addr string) (net.Conn, error) {
	c, err := o.connect(ctx, network, addr)
	if err != nil || o.scheme != "http" {
		return c, err
	}
	if a, ok := c.RemoteAddr().(*net.TCPAddr); !ok || !a.IP.IsLoopback() {
		_ = c.Close()
		return nil, errPlainHTTP
	}
	return c, nil
}

// connectRefusal returns a proxy's refusal of CONNECT; the proxy's text is never passed on.
func connectRefusal(_ context.Context, _ *url.URL, _ *http.Request, resp *http.Response) error {
	if resp.StatusCode != http.StatusOK {
		return proxyStatus(resp.StatusCode)
	}
	return nil
}

// online reports whether this computer has a non-local address.
func online() bool {
	all, err := net.InterfaceAddrs()
	if err != nil {
		return true // unknown: do not blame the network
	}
	for _, a := range all {
		if n, ok := a.(*net.IPNet); ok && !n.IP.IsLoopback() && !n.IP.IsLinkLocalUnicast() {
			return true
		}
	}
	return false
}
