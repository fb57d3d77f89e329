package hub

import (
	"context"
	"errors"
	"net/http"
	"net/url"
	"path"
	"strings"
	"sync"
	"time"

	"golang.org/x/net/http/httpproxy"
)

// Limits on asking the system for its proxy.
const (
	proxyWait  = 5 * time.Second // how long requests wait for the first answer
	proxyKept  = 5 * time.Minute
	maxProxies = 2048 // length of a list of proxies
)

// newProxy returns the transport's choice of proxy: the setting, else the environment, else
// the system; nil means no proxy. This computer itself is never reached through a proxy.
func newProxy(cfg Config, base *url.URL, system func() proxies) (func(*http.Request) (*url.URL, error), error) {
	var set *url.URL
	switch cfg.Proxy {
	case "none":
		return nil, nil
	case "", "system":
	default:
		var err error
		if set, err = CheckProxy(cfg.Proxy); err != nil {
			return nil, err
		}
	}
	env := httpproxy.FromEnvironment()
	switch {
	case base.Scheme == "http" || isLoopback(base.Hostname()) || base.Hostname() == "localhost":
		return nil, nil
	case set != nil:
	case env.HTTPSProxy != "":
		// Whoever sets the variable decides, exceptions (NO_PROXY) included.
		if set, _ = env.ProxyFunc()(base); set == nil {
			return nil, nil
		}
	}
	s := &systemProxy{query: func() *url.URL { return chooseProxy(system(), base) }, now: cfg.Now, wait: proxyWait}
	return func(r *http.Request) (*url.URL, error) {
		u := set
		if u == nil {
			u = s.get(r.Context())
		}
		if u != nil {
			throughProxy(r.Context())
		}
		return u, nil
	}, nil
}

// ProxyFor returns the choice of proxy for another of the office's servers,
// such as a telephone exchange: the same as for the hub. setting is hub.proxy,
// address the server's (https://host[:port]). A nil function means no proxy.
func ProxyFor(setting, address string) (func(*http.Request) (*url.URL, error), error) {
	base, err := url.Parse(strings.TrimSpace(address))
	if err != nil || base.Hostname() == "" {
		return nil, errors.New("proxy: the address of the server cannot be read")
	}
	switch base.Scheme { // in lower case, by url.Parse
	case "wss":
		base.Scheme = "https"
	case "ws":
		base.Scheme = "http"
	}
	return newProxy(Config{Proxy: setting, Now: time.Now}, base, systemProxies)
}

// CheckProxy parses the address of a proxy. Its errors do not repeat it, since it
// may contain a password.
func CheckProxy(s string) (*url.URL, error) {
	u, err := url.Parse(s)
	switch {
	case err != nil || u.Hostname() == "" || strings.Trim(u.Path, "/") != "" || u.RawQuery != "" || u.Fragment != "":
		return nil, errors.New("hub.proxy: system, none or an address such as http://proxy.example:8080")
	case u.User != nil:
		return nil, errors.New("hub.proxy: an address without user and password; settings hold no secrets")
	case u.Scheme != "http" && u.Scheme != "https" && u.Scheme != "socks5" && u.Scheme != "socks5h":
		return nil, errors.New("hub.proxy: an http, https or socks5 address")
	}
	return &url.URL{Scheme: u.Scheme, Host: u.Host}, nil
}

// systemProxy asks the system for the proxy of a client's only host and keeps the
// answer. The system may search the network for it and cannot be interrupted, so a
// goroutine asks and ends when the system answers. There is at most one at a time.
type systemProxy struct {
	query func() *url.URL // nil means no proxy
	now   func() time.Time
	wait  time.Duration

	mu      sync.Mutex
	running context.Context // ends with the current query, or when nobody waits for it any more; nil if none
	known   bool
	answer  *url.URL
	at      time.Time
}

// get returns the known proxy, and asks again in the background if the answer is old. If
// none is known yet, it waits until s.wait after the query began, and then returns nil.
func (s *systemProxy) get(ctx context.Context) *url.URL {
	s.mu.Lock()
	if age := s.now().Sub(s.at); s.running == nil && (!s.known || age < 0 || age >= proxyKept) {
		s.start()
	}
	running, known := s.running, s.known
	s.mu.Unlock()
	if !known {
		select {
		case <-running.Done():
		case <-ctx.Done():
		}
	}
	s.mu.Lock()
	defer s.mu.Unlock()
	return s.answer
}

// start starts a query. s.mu is held.
func (s *systemProxy) start() {
	ctx, answered := context.WithTimeout(context.Background(), s.wait)
	s.running = ctx
	go func() {
		u := s.query()
		s.mu.Lock()
		s.running, s.known, s.answer, s.at = nil, true, u, s.now()
		s.mu.Unlock()
		answered()
	}()
}

type proxies struct {
	script func(address string) string // automatic configuration; nil if none
	fixed  map[string]string           // by scheme; "" is any
	bypass string                      // hosts without a proxy, in Windows' format
}

// chooseProxy returns the proxy for an address: that of the automatic configuration,
// else the fixed one. A script is given scheme and host, never a number.
func chooseProxy(p proxies, base *url.URL) *url.URL {
	if p.script != nil {
		if u := firstProxy(p.script(base.Scheme+"://"+base.Host+"/"), base.Scheme); u != nil {
			return u
		}
	}
	entry, ok := p.fixed[base.Scheme]
	if !ok {
		entry = p.fixed[""]
	}
	if bypassed(base, p.bypass) {
		return nil
	}
	return firstProxy(entry, base.Scheme)
}

// firstProxy returns the first usable proxy in a list such as "https=one:8080; two:3128".
func firstProxy(list, scheme string) *url.URL {
	if len(list) > maxProxies {
		return nil
	}
	for _, e := range strings.FieldsFunc(list, func(r rune) bool { return r == ';' || r == ',' || r <= ' ' }) {
		if kind, rest, ok := strings.Cut(e, "="); ok {
			if !strings.EqualFold(kind, scheme) {
				continue
			}
			e = rest
		}
		if !strings.Contains(e, "://") {
			e = "http://" + e
		}
		if u, err := CheckProxy(e); err == nil {
			return u
		}
	}
	return nil
}

// bypassed matches Windows' list: host patterns with "*", optionally a port or scheme, and
// "<local>" for names without a dot.
func bypassed(base *url.URL, list string) bool {
	host := base.Hostname()
	for _, e := range strings.FieldsFunc(strings.ToLower(list), func(r rune) bool { return r == ';' || r == ',' || r <= ' ' }) {
		if scheme, rest, ok := strings.Cut(e, "://"); ok {
			if scheme != base.Scheme {
				continue
			}
			e = rest
		}
		if e == "<local>" {
			if !strings.ContainsAny(host, ".:") {
				return true
			}
			continue
		}
		against := host
		if strings.Count(e, ":") == 1 {
			against += ":" + portOf(base)
		}
		if ok, err := path.Match(strings.Trim(e, "[]"), against); err == nil && ok {
			return true
		}
	}
	return false
}
