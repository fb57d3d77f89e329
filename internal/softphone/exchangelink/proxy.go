package exchangelink

import (
	"bufio"
	"cmp"
	"context"
	"crypto/tls"
	"errors"
	"io"
	"net"
	"net/http"
	"net/url"
	"time"

	"golang.org/x/net/proxy"

	"wiebelt/internal/softphone/link"
)

var (
	errProxyGone    = &link.Failure{Why: "the proxy in between cannot be reached", Cause: link.CauseProxy}
	errProxyLogin   = &link.Failure{Why: "the proxy in between asks for a login", Cause: link.CauseProxyLogin}
	errProxyRefused = &link.Failure{Why: "the proxy in between refuses", Cause: link.CauseProxy}
)

// connect connects to address (host:port), through a proxy if Options.Proxy returns one. It
// serves both requests and sockets.
func (s *Server) connect(ctx context.Context, network, address string) (net.Conn, error) {
	direct := cmp.Or(s.fixed, address)
	if s.opts.Proxy == nil {
		return s.dial(ctx, network, direct)
	}
	req := (&http.Request{Method: http.MethodGet, URL: &url.URL{Scheme: "https", Host: address, Path: "/"}, Host: address, Header: http.Header{}}).WithContext(ctx)
	u, err := s.opts.Proxy(req)
	switch {
	case err != nil:
		return nil, errProxyGone
	case u == nil:
		return s.dial(ctx, network, direct)
	case u.Scheme == "socks5", u.Scheme == "socks5h":
		return s.socks(ctx, network, u, address)
	case u.Scheme == "http", u.Scheme == "https":
		return s.tunnel(ctx, network, u, address)
	}
	return nil, errProxyGone // unknown kind of proxy
}

func (s *Server) reach(ctx context.Context, network string, u *url.URL) (net.Conn, error) {
	port := u.Port()
	if port == "" {
		port = map[string]string{"http": "80", "https": "443", "socks5": "1080", "socks5h": "1080"}[u.Scheme]
	}
	c, err := s.dial(ctx, network, net.JoinHostPort(u.Hostname(), port))
	if err != nil {
		return nil, errProxyGone
	}
	if u.Scheme != "https" {
		return c, nil
	}
	cfg := s.tls.Clone()
	cfg.ServerName = u.Hostname()
	return tls.Client(c, cfg), nil
}

// tunnel requests a connection from an http proxy (RFC 9110 9.3.6).
func (s *Server) tunnel(ctx context.Context, network string, u *url.URL, address string) (net.Conn, error) {
	c, err := s.reach(ctx, network, u)
	if err != nil {
		return nil, err
	}
	stop := context.AfterFunc(ctx, func() { c.Close() })
	defer stop()
	_ = c.SetDeadline(time.Now().Add(s.opts.Answer))
	if err := ask(c, address); err != nil {
		c.Close()
		return nil, err
	}
	return c, c.SetDeadline(time.Time{})
}

func ask(c net.Conn, address string) error {
	req := &http.Request{Method: http.MethodConnect, URL: &url.URL{Opaque: address}, Host: address, Header: http.Header{"User-Agent": {""}}}
	_ = req.Write(c) // if it fails, no answer comes
	in := bufio.NewReader(io.LimitReader(c, maxHeader))
	resp, err := http.ReadResponse(in, req)
	switch {
	case err != nil:
		return errProxyGone
	case resp.StatusCode == http.StatusProxyAuthRequired:
		return errProxyLogin
	case resp.StatusCode != http.StatusOK:
		return errProxyRefused
	case in.Buffered() > 0: // TLS, which begins with us, would miss it
		return errProxyGone
	}
	return nil
}

// socks connects through a SOCKS proxy, which also resolves the name.
func (s *Server) socks(ctx context.Context, network string, u *url.URL, address string) (net.Conn, error) {
	d, err := proxy.SOCKS5(network, u.Host, nil, proxyDialer{s, u})
	if err != nil {
		return nil, errProxyGone
	}
	c, err := d.(proxy.ContextDialer).DialContext(ctx, network, address)
	switch {
	case errors.Is(err, errProxyGone):
		return nil, errProxyGone
	case err != nil:
		return nil, errProxyRefused
	}
	return c, nil
}

// proxyDialer dials the proxy, as a dialer for package proxy.
type proxyDialer struct {
	s *Server
	u *url.URL
}

func (r proxyDialer) Dial(network, _ string) (net.Conn, error) {
	return r.s.reach(context.Background(), network, r.u)
}

func (r proxyDialer) DialContext(ctx context.Context, network, _ string) (net.Conn, error) {
	return r.s.reach(ctx, network, r.u)
}
