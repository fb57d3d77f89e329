package hub

import (
	"context"
	"crypto/tls"
	"crypto/x509"
	"errors"
	"fmt"
	"net"
	"net/http"
	"net/netip"
	"net/url"
	"os"
	"strings"
	"time"

	"golang.org/x/net/http/httpproxy"
)

// checkAddress reads an address of the hub: https, or http to a literal loopback
// address (corrections.md 26).
func checkAddress(key, s string) (*url.URL, error) {
	u, err := url.Parse(strings.TrimRight(strings.TrimSpace(s), "/"))
	if err != nil || u.Host == "" || u.User != nil || u.RawQuery != "" || u.Fragment != "" || u.Opaque != "" {
		return nil, fmt.Errorf("%s: not an address such as https://hub.example", key)
	}
	u.Scheme, u.Host = strings.ToLower(u.Scheme), strings.ToLower(u.Host)
	switch {
	case u.Scheme == "https":
	case u.Scheme == "http" && isLoopback(u.Hostname()):
	case u.Scheme == "http":
		return nil, fmt.Errorf("%s: http is for the test hub on this computer only; use https", key)
	default:
		return nil, fmt.Errorf("%s: use https", key)
	}
	return u, nil
}

func isLoopback(host string) bool {
	a, err := netip.ParseAddr(host)
	return err == nil && a.IsLoopback()
}

// newTransport makes the one transport of a client. It carries requests to the
// configured host only, and over plain http to this computer only.
func newTransport(cfg Config, base *url.URL) (http.RoundTripper, error) {
	dialer := &net.Dialer{Timeout: dialTime, KeepAlive: 30 * time.Second}
	t := &http.Transport{
		DialContext:            dialer.DialContext,
		TLSHandshakeTimeout:    dialTime,
		ResponseHeaderTimeout:  headerTime,
		ExpectContinueTimeout:  time.Second,
		IdleConnTimeout:        4 * time.Minute,
		MaxIdleConnsPerHost:    8,
		ForceAttemptHTTP2:      true,
		TLSClientConfig:        &tls.Config{MinVersion: tls.VersionTLS12},
		MaxResponseHeaderBytes: 64 << 10,
	}
	if cfg.ExtraCAFile != "" {
		pem, err := os.ReadFile(cfg.ExtraCAFile)
		if err != nil {
			return nil, fmt.Errorf("hub.extra_ca_file: %w", err)
		}
		pool, err := x509.SystemCertPool()
		if err != nil {
			pool = x509.NewCertPool()
		}
		if !pool.AppendCertsFromPEM(pem) {
			return nil, errors.New("hub.extra_ca_file: holds no certificate")
		}
		t.TLSClientConfig.RootCAs = pool
	}
	switch {
	case base.Scheme == "http":
		t.DialContext = func(ctx context.Context, network, addr string) (net.Conn, error) {
			c, err := dialer.DialContext(ctx, network, addr)
			if err != nil {
				return nil, err
			}
			if a, ok := c.RemoteAddr().(*net.TCPAddr); !ok || !a.IP.IsLoopback() {
				_ = c.Close()
				return nil, errors.New("plain http left this computer")
			}
			return c, nil
		}
	case cfg.Proxy == "none":
	case cfg.Proxy == "" || cfg.Proxy == "system":
		proxy := httpproxy.FromEnvironment().ProxyFunc()
		t.Proxy = func(r *http.Request) (*url.URL, error) { return proxy(r.URL) }
	default:
		u, err := url.Parse(cfg.Proxy)
		if err != nil || u.Host == "" {
			return nil, errors.New("hub.proxy: system, none or an address")
		}
		t.Proxy = http.ProxyURL(u)
	}
	return &onlyTo{scheme: base.Scheme, host: base.Host, next: t}, nil
}

// onlyTo refuses to carry a request anywhere but to the configured host.
type onlyTo struct {
	scheme, host string
	next         *http.Transport
}

func (o *onlyTo) RoundTrip(r *http.Request) (*http.Response, error) {
	if r.URL.Scheme != o.scheme || r.URL.Host != o.host {
		return nil, errors.New("request for another host")
	}
	return o.next.RoundTrip(r)
}

func (o *onlyTo) CloseIdleConnections() { o.next.CloseIdleConnections() }
