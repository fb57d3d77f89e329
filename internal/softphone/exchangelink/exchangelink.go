// Package exchangelink holds what the links to telephone exchanges share: connections to a
// server (HTTPS requests and a WebSocket checked for liveness, which the link to Bria uses
// too), and merging what rings on several devices of one extension into one call.
//
// Connections use TLS 1.2 or newer with the system's roots, and plain http only to a
// literal loopback address. No redirect is followed, and every answer and message is
// limited in size. Errors contain the address and our own description: text from the other
// side could be anything, including a caller's number or our own secret.
//
// Goroutines: a Socket has two and a Stream one, which Close waits for, and Renew one.
package exchangelink

import (
	"bytes"
	"cmp"
	"context"
	"crypto/tls"
	"crypto/x509"
	"encoding/base64"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"net"
	"net/http"
	"net/url"
	"strings"
	"syscall"
	"time"

	"wiebelt/internal/softphone/link"
)

// Options configure a server. The zero value is usable; tests shorten the times.
type Options struct {
	// Proxy returns the proxy for a request, an http, https or socks5 address without a
	// password; nil is a direct connection. Plain http never uses a proxy.
	Proxy     func(*http.Request) (*url.URL, error)
	Roots     *x509.CertPool // nil: the system's
	PingEvery time.Duration  // 0: 15 s
	Silence   time.Duration  // after which a socket counts as dead; 0: 40 s
	Answer    time.Duration  // limit of one request or upgrade; 0: 10 s
	Renewal   time.Duration  // least time between two renewals of a token; 0: 20 s
}

func (o *Options) fill() {
	o.PingEvery = cmp.Or(o.PingEvery, 15*time.Second)
	o.Silence = cmp.Or(o.Silence, 40*time.Second)
	o.Answer = cmp.Or(o.Answer, 10*time.Second)
	o.Renewal = cmp.Or(o.Renewal, 20*time.Second)
}

const (
	maxAddress = 2 << 10
	maxHeader  = 64 << 10
	maxAnswer  = 8 << 20 // a snapshot of a large exchange
	idleTime   = time.Minute
)

// Server is one exchange. Safe for concurrent use.
type Server struct {
	base   *url.URL // without trailing slash
	opts   Options
	tls    *tls.Config
	fixed  string // host and port to which it connects, "" for those of base
	client *http.Client
}

// New returns a server. The address is https://host[:port][/path], or http with a literal
// loopback host; ws and wss are treated as http and https.
func New(address string, o Options) (*Server, error) {
	base, err := parse(address)
	if err != nil {
		return nil, err
	}
	o.fill()
	if base.Scheme == "http" {
		o.Proxy = nil
	}
	s := &Server{base: base, opts: o, tls: &tls.Config{MinVersion: tls.VersionTLS12, RootCAs: o.Roots}}
	s.client = s.newClient()
	return s, nil
}

func (s *Server) newClient() *http.Client {
	return &http.Client{
		CheckRedirect: func(*http.Request, []*http.Request) error { return http.ErrUseLastResponse },
		Transport: &http.Transport{
			DialContext: s.connect, TLSClientConfig: s.tls,
			TLSHandshakeTimeout: s.opts.Answer, ResponseHeaderTimeout: s.opts.Answer,
			MaxResponseHeaderBytes: maxHeader, MaxIdleConnsPerHost: 2, IdleConnTimeout: idleTime,
		},
	}
}

func parse(address string) (*url.URL, error) {
	if len(address) > maxAddress {
		return nil, errors.New("the address is too long")
	}
	u, err := url.Parse(strings.TrimRight(strings.TrimSpace(address), "/"))
	if err != nil || u.Hostname() == "" || u.User != nil || u.RawQuery != "" || u.ForceQuery || u.Fragment != "" {
		return nil, errors.New("the address is not one such as https://exchange.example")
	}
	u.Scheme, u.Host = strings.Replace(strings.ToLower(u.Scheme), "ws", "http", 1), strings.ToLower(u.Host) // wss is https
	switch {
	case u.Scheme == "https", u.Scheme == "http" && net.ParseIP(u.Hostname()).IsLoopback():
		return u, nil
	case u.Scheme == "http":
		return nil, errors.New("http is for an exchange on this computer only; use https")
	}
	return nil, errors.New("the address needs https")
}

// Host returns the server's host in lower case, with its port if one was given.
func (s *Server) Host() string { return s.base.Host }

// Sibling returns the same host at another port, with TLS if the server itself has it.
func (s *Server) Sibling(port string) (*Server, error) {
	return New(s.base.Scheme+"://"+net.JoinHostPort(s.base.Hostname(), port), s.opts)
}

// PingEvery returns the interval between liveness checks.
func (s *Server) PingEvery() time.Duration { return s.opts.PingEvery }

// CloseIdleConnections closes idle connections.
func (s *Server) CloseIdleConnections() { s.client.CloseIdleConnections() }

// dial connects; plain http only to this computer.
func (s *Server) dial(ctx context.Context, network, address string) (net.Conn, error) {
	d := net.Dialer{Timeout: s.opts.Answer}
	c, err := d.DialContext(ctx, network, address)
	if err != nil {
		return nil, err
	}
	if s.base.Scheme == "http" {
		if a, ok := c.RemoteAddr().(*net.TCPAddr); !ok || !a.IP.IsLoopback() {
			c.Close()
			return nil, errPlainHTTP
		}
	}
	return c, nil
}

// Get requests path (including query) and decodes a JSON answer with status 200 into into.
// Any other status is returned without an error, and its answer is discarded.
func (s *Server) Get(ctx context.Context, path string, h http.Header, into any) (status int, err error) {
	return s.do(ctx, http.MethodGet, path, h, nil, into)
}

// Post is like Get, with a body.
func (s *Server) Post(ctx context.Context, path string, h http.Header, contentType string, body []byte, into any) (status int, err error) {
	h = h.Clone()
	if h == nil {
		h = http.Header{}
	}
	h.Set("Content-Type", contentType)
	return s.do(ctx, http.MethodPost, path, h, body, into)
}

func (s *Server) do(ctx context.Context, method, path string, h http.Header, body []byte, into any) (int, error) {
	b, status, err := s.Ask(ctx, method, path, h, body)
	if status == http.StatusOK && json.Unmarshal(b, into) != nil {
		return 0, s.connError(ctx, errUnreadable)
	}
	return status, err
}

const maxFailure = 4 << 10

// Ask sends a request and returns the answer, or just the beginning
// of an unsuccessful one. Without an Accept header it requests JSON.
func (s *Server) Ask(ctx context.Context, method, path string, h http.Header, body []byte) (answer []byte, status int, err error) {
	limited, cancel := context.WithTimeout(ctx, s.opts.Answer)
	defer cancel()
	resp, err := s.send(limited, s.client, method, path, h, body)
	if err != nil {
		return nil, 0, s.connError(ctx, err)
	}
	defer resp.Body.Close()
	if resp.StatusCode/100 != 2 {
		// A short answer is read to its end, so that the connection can be reused.
		b, _ := io.ReadAll(io.LimitReader(resp.Body, maxFailure))
		return b, resp.StatusCode, nil
	}
	b, err := io.ReadAll(io.LimitReader(resp.Body, maxAnswer+1))
	switch {
	case err != nil:
		return nil, 0, s.connError(ctx, err)
	case len(b) > maxAnswer:
		return nil, 0, s.connError(ctx, errLarge)
	}
	return b, resp.StatusCode, nil
}

func (s *Server) send(ctx context.Context, c *http.Client, method, path string, h http.Header, body []byte) (*http.Response, error) {
	req, err := http.NewRequestWithContext(ctx, method, s.base.String()+path, bytes.NewReader(body))
	if err != nil {
		return nil, errUnreadable
	}
	if h != nil {
		req.Header = h.Clone()
	}
	if req.Header.Get("Accept") == "" {
		req.Header.Set("Accept", "application/json")
	}
	resp, err := c.Do(req)
	if err == nil && resp.StatusCode/100 == 3 {
		resp.Body.Close()
		return nil, errRedirect
	}
	return resp, err
}

// Failure returns an error prefixed with the server's address.
func (s *Server) Failure(why string, cause link.Cause) error {
	return &link.Failure{Why: s.base.Host + ": " + why, Cause: cause}
}

// StatusError returns the error for an unexpected status.
func (s *Server) StatusError(code int) error {
	cause := link.CauseUnexpected
	if code >= 500 || code == http.StatusTooManyRequests {
		cause = link.CauseUnavailable
	}
	return s.Failure(fmt.Sprintf("it answers with status %d", code), cause)
}

// AccessError returns the error for a status; denied and rights are why nobody is let in.
func (s *Server) AccessError(status int, denied, rights string) error {
	switch status {
	case http.StatusUnauthorized:
		return &link.Refusal{Why: denied + " (401)", Cause: link.CauseDenied}
	case http.StatusForbidden:
		return &link.Refusal{Why: rights + " (403)", Cause: link.CauseRights}
	}
	return s.StatusError(status)
}

// Basic returns the header for a user name and password.
func Basic(user, password string) http.Header {
	return http.Header{"Authorization": {"Basic " + base64.StdEncoding.EncodeToString([]byte(user+":"+password))}}
}

// EncodeJSON marshals values that cannot fail: texts, numbers, and what was read as JSON.
func EncodeJSON(v any) []byte {
	b, err := json.Marshal(v)
	if err != nil {
		panic(err)
	}
	return b
}

// maxToken bounds a token; those with claims in them have a few KiB.
const maxToken = 16 << 10

// Sendable reports whether a token can be sent in a header.
func Sendable(s string) bool {
	return s != "" && len(s) <= maxToken && !strings.ContainsFunc(s, func(r rune) bool { return r <= ' ' || r >= 0x7f })
}

const extensionChars = "abcdefghijklmnopqrstuvwxyzABCDEFGHIJKLMNOPQRSTUVWXYZ0123456789_.-+*"

// ValidExtension reports whether s is a valid extension: safe to use in addresses and to compare
// with the exchange's data.
func ValidExtension(s string) bool {
	return s != "" && len(s) <= 64 && strings.Trim(s, extensionChars) == "" && s != "." && s != ".."
}

var (
	errPlainHTTP  = &link.Failure{Why: "plain http left this computer", Cause: link.CauseUnexpected}
	errRedirect   = &link.Failure{Why: "it answers with a redirect, which is not followed", Cause: link.CauseUnexpected}
	errLarge      = &link.Failure{Why: "its answer is too large", Cause: link.CauseUnexpected}
	errUnreadable = &link.Failure{Why: "its answer cannot be read", Cause: link.CauseUnexpected}
)

// connError describes an error in our own words. If ctx has ended, it returns ctx's error.
func (s *Server) connError(ctx context.Context, err error) error {
	if ctx.Err() != nil {
		return ctx.Err()
	}
	if own, ok := errors.AsType[*link.Failure](err); ok {
		return fmt.Errorf("%s: %w", s.base.Host, own)
	}
	return s.Failure(reason(err))
}

// Unreadable reports whether err means that an answer arrived but could not be read.
func Unreadable(err error) bool { return errors.Is(err, errUnreadable) }

var causeTexts = map[link.Cause]string{
	link.CauseNotResolved:   "its name cannot be resolved",
	link.CauseCertAuthority: "its certificate is not from an authority that this computer knows",
	link.CauseCertHost:      "its certificate is for another name",
	link.CauseCertExpired:   "its certificate has expired or is not valid yet",
	link.CauseTLS:           "its certificate is not valid",
	link.CauseNotListening:  "nobody listens there",
	link.CauseSilent:        "it does not answer in time",
}

// reason describes an error in our own words, with its cause: the libraries' texts quote
// addresses, headers and whatever the other side has sent.
func reason(err error) (why string, cause link.Cause) {
	var errno syscall.Errno
	cause = link.CauseOf(err)
	switch {
	case link.SpeaksNoTLS(err):
		return "it does not speak TLS there", cause
	case causeTexts[cause] != "":
		return causeTexts[cause], cause
	case errors.As(err, &errno):
		return errno.Error(), cause
	}
	return "the connection broke", cause
}
