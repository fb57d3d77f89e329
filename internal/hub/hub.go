// Package hub is the client of the hub: the token (hub-api.md 4.1, 5), contacts
// by telephone number (4.3) and the check of deep links (2.3). Its wire format
// follows the document to the byte; where the document is silent it accepts
// every sensible answer and assumes none.
//
// A Client is safe for concurrent use. It runs a goroutine per token request and
// lookup under way, all of which Close ends. Nothing it logs or returns carries
// a number, name, token, secret or body.
package hub

import (
	"context"
	"crypto/tls"
	"crypto/x509"
	"errors"
	"fmt"
	"log/slog"
	"net"
	"net/http"
	"net/netip"
	"net/url"
	"os"
	"strings"
	"sync"
	"time"

	"golang.org/x/net/http/httpproxy"

	"wiebelt/internal/contact"
)

// DefaultScopes are the scopes that hub-api.md 5.4 recommends; the organisation
// code follows in place of <code>.
const DefaultScopes = "Basic P0boxadministrator orgCode:<code>"

// Config is what a Client needs. Secret is called for every token request and
// should be quick or obey its context.
type Config struct {
	BaseURL             string // {base_url}
	ClientID            string
	OrganisationCode    string
	Scopes              string // "" is DefaultScopes
	BasicAuthEncoding   string // "plain" (default) or "rfc6749"
	ScopeParameter      string // "scopes" (default) or "scope"
	RelationNumberField string // "" is any field whose name ends in "relatienummer"
	Proxy               string // "system" (default), "none" or an address
	ExtraCAFile         string
	LookupTimeout       time.Duration // of one attempt, token included; 0 is 5 s
	Secret              func(context.Context) (string, error)
	Log                 *slog.Logger
	Now                 func() time.Time
}

// Limits of answers and times.
const (
	maxToken   = 1 << 20
	maxAnswer  = 8 << 20
	dialTime   = 5 * time.Second
	headerTime = 10 * time.Second
	cacheFor   = 60 * time.Second
)

// Client speaks to one hub with one set of credentials.
type Client struct {
	cfg    Config
	base   *url.URL
	http   *http.Client
	token  *tokens
	life   context.Context
	end    context.CancelFunc
	work   sync.WaitGroup
	flight flights
}

// New checks the configuration and makes a client. Nothing is sent yet.
func New(cfg Config) (*Client, error) {
	base, err := checkAddress("hub.base_url", cfg.BaseURL)
	if err != nil {
		return nil, err
	}
	if cfg.ClientID == "" || strings.ContainsFunc(cfg.ClientID, func(r rune) bool { return r == ':' || r < 0x20 || r == 0x7f }) {
		return nil, errors.New("hub.client_id: missing, or with a colon or control character")
	}
	if cfg.Secret == nil {
		return nil, errors.New("hub: no secret")
	}
	if cfg.Scopes == "" {
		cfg.Scopes = DefaultScopes
	}
	cfg.Scopes = strings.ReplaceAll(cfg.Scopes, "<code>", cfg.OrganisationCode)
	if cfg.LookupTimeout == 0 {
		cfg.LookupTimeout = 5 * time.Second
	}
	if cfg.Log == nil {
		cfg.Log = slog.New(slog.DiscardHandler)
	}
	if cfg.Now == nil {
		cfg.Now = time.Now
	}
	transport, err := newTransport(cfg, base)
	if err != nil {
		return nil, err
	}
	c := &Client{cfg: cfg, base: base, http: &http.Client{
		Transport: transport,
		// A redirect could carry the token or the secret to another place.
		CheckRedirect: func(*http.Request, []*http.Request) error { return http.ErrUseLastResponse },
	}}
	c.life, c.end = context.WithCancel(context.Background())
	c.token = newTokens(c)
	c.flight.set(cfg.Now)
	return c, nil
}

// Close ends every request and gives the connections up.
func (c *Client) Close() {
	c.end()
	c.token.stop()
	c.work.Wait()
	c.http.CloseIdleConnections()
}

// Warm fetches a token before the first call needs one and keeps doing so in the
// background, which also keeps a connection open. It returns at once.
func (c *Client) Warm() { c.token.warm() }

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

// failed is a LookupError with a detail that holds nothing personal.
func failed(f contact.Failure, detail string) error {
	return &contact.LookupError{Failure: f, Detail: detail}
}
