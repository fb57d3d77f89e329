package hub

import (
	"context"
	"crypto/tls"
	"io"
	"net"
	"net/http"
	"net/url"
	"slices"
	"strings"
	"sync"
	"sync/atomic"
	"testing"
	"testing/synctest"
	"time"

	"wiebelt/internal/testutil/must"
	"wiebelt/internal/testutil/nettest"
)

// TestProxies looks up a number at a hub that only the proxy can
// resolve, and checks everything else that a proxy can answer.
func TestProxies(t *testing.T) {
	root := newAuthority(t, "Root", nil)
	hub := newTLSFake(t, root.server(t)).URL
	secure := func(c tls.Certificate) net.Listener {
		return tls.NewListener(nettest.Listen(t), &tls.Config{Certificates: []tls.Certificate{c}})
	}
	closed := nettest.Listen(t)
	_ = closed.Close()
	refuse := func(status string) string {
		return "HTTP/1.1 " + status + " canary\r\nProxy-Authenticate: Basic realm=\"canary\"\r\nContent-Length: 6\r\n\r\ncanary"
	}
	const asked = "hub.example:443 User-Agent"
	for _, c := range []struct {
		name, scheme string
		l            net.Listener
		serve        nettest.Hello
		asked, want  string
	}{
		{"http", "http", nettest.Listen(t), nettest.Connect(nettest.Joined), asked, "answered"},
		{"https", "https", secure(root.issue(t, nil)), nettest.Connect(nettest.Joined), asked, "answered"},
		{"socks5", "socks5", nettest.Listen(t), nettest.Socks(0, 0), "hub.example:443", "answered"},
		{"login wanted", "http", nettest.Listen(t), nettest.Connect(refuse("407")), asked, "proxy_login: proxy: status 407"},
		{"SOCKS login wanted", "socks5", nettest.Listen(t), nettest.Socks(0xff, 0), "", "proxy_login: proxy: SOCKS"},
		{"forbidden", "http", nettest.Listen(t), nettest.Connect(refuse("403")), asked, "proxy_failed: proxy: status 403"},
		{"no way on", "http", nettest.Listen(t), nettest.Connect(refuse("502")), asked, "proxy_failed: proxy: status 502"},
		{"SOCKS no way on", "socks5", nettest.Listen(t), nettest.Socks(0, 4), "hub.example:443", "proxy_failed: proxy: it does not reach the hub"},
		{"redirect", "http", nettest.Listen(t), nettest.Connect("HTTP/1.1 302 canary\r\nLocation: https://127.0.0.1/\r\nContent-Length: 0\r\n\r\n"), asked, "proxy_failed: proxy: status 302"},
		{"refused", "http", closed, nil, "", "proxy_failed: proxy: no connection"},
		{"its certificate", "https", secure(newAuthority(t, "Unknown", nil).issue(t, nil)), nettest.Connect(nettest.Joined), "", "proxy_failed: proxy: no TLS with it"},
		{"no HTTP", "http", nettest.Listen(t), nettest.Connect("canary\r\n\r\n"), asked, "proxy_failed: proxy: the connection broke"},
		{"closes", "http", nettest.Listen(t), nettest.Connect(""), asked, "proxy_failed: proxy: the connection broke"},
		{"hangs", "http", nettest.Listen(t), func(_ *nettest.Proxy, c net.Conn) bool { hang(c); return false }, "", "hub_slow"},
		{"headers without end", "http", nettest.Listen(t), func(_ *nettest.Proxy, c net.Conn) bool {
			drip("HTTP/1.1 200 OK\r\nX: ", "canary")(c)
			return false
		}, "", "hub_slow"},
		{"speaks for the hub", "http", nettest.Listen(t), func(p *nettest.Proxy, c net.Conn) bool {
			nettest.Connect(nettest.Joined)(p, c)
			_, _ = c.Read(make([]byte, 1))
			_, _ = io.WriteString(c, "HTTP/1.1 200 OK\r\nContent-Length: 6\r\n\r\ncanary")
			hang(c)
			return false
		}, asked, "tls_failed: the hub answers without TLS"},
	} {
		t.Run(c.name, func(t *testing.T) {
			p := &nettest.Proxy{Address: c.l.Addr().String()}
			if c.serve != nil {
				p = nettest.StartProxy(t, c.l, strings.TrimPrefix(hub, "https://"), c.serve)
			}
			look(t, "https://hub.example", c.want, func(cfg *Config, _ *Client) {
				if cfg != nil {
					cfg.Proxy, cfg.ExtraCAFile = c.scheme+"://"+p.Address, root.file(t)
				}
			})
			if got := strings.Join(slices.Compact(p.Asked()), " "); got != c.asked {
				t.Errorf("the proxy was asked for %q, want %q", got, c.asked)
			}
		})
	}
}

// TestWhichProxy checks that the setting takes precedence over the
// environment, and the environment over the system, that "none" disables
// both, and that this computer is never reached through a proxy.
func TestWhichProxy(t *testing.T) {
	system := func() proxies { return proxies{fixed: map[string]string{"": "system.example:1"}} }
	const env = "http://env.example:2"
	for _, c := range []struct {
		setting, https, no, base, want string
	}{
		{"http://set.example:3", env, "", "https://hub.example", "http://set.example:3"},
		{"socks5://set.example", env, "hub.example", "https://hub.example", "socks5://set.example"},
		{"", env, "", "https://hub.example", env},
		{"system", env, "", "https://hub.example", env},
		{"system", "env.example:2", "", "https://hub.example", env},
		{"system", env, ".example", "https://hub.example", ""},
		{"system", "", "", "https://hub.example", "http://system.example:1"},
		{"", "", "", "https://hub.example", "http://system.example:1"},
		{"none", env, "", "https://hub.example", ""},
		{"http://set.example:3", env, "", "http://127.0.0.1:80", ""},
		{"http://set.example:3", env, "", "https://127.0.0.1:80", ""},
		{"http://set.example:3", env, "", "https://[::1]:80", ""},
		{"system", "", "", "https://localhost", ""},
		{"system", env, "", "http://127.8.8.8:80", ""},
	} {
		for _, name := range []string{"https_proxy", "HTTPS_PROXY"} {
			t.Setenv(name, c.https)
		}
		for _, name := range []string{"no_proxy", "NO_PROXY"} {
			t.Setenv(name, c.no)
		}
		base := must.Get(ParseAddress("base", c.base))(t)
		choose := must.Get(newProxy(Config{Proxy: c.setting, Now: time.Now}, base, system))(t)
		got := ""
		if choose != nil {
			r := must.Get(http.NewRequestWithContext(t.Context(), http.MethodGet, c.base, nil))(t)
			u := must.Get(choose(r))(t)
			if u != nil {
				got = u.String()
			}
		}
		if got != c.want {
			t.Errorf("%+v: %q", c, got)
		}
	}
}

// TestProxyFor checks that another server is reached through the hub's proxy.
func TestProxyFor(t *testing.T) {
	const set = "http://set.example:8080"
	for _, c := range []struct{ setting, address, want string }{
		{set, "https://pbx.example", set}, {set, "wss://pbx.example:5001", set}, {"none", "https://pbx.example", ""},
		{set, " WSS://pbx.example", set}, {set, "ws://pbx.example", ""}, {set, "http://127.0.0.1:8088", ""}, {set, "ws://127.0.0.1:8088", ""},
	} {
		f, err := ProxyFor(c.setting, c.address)
		if err != nil || (f != nil) != (c.want != "") {
			t.Errorf("%+v: %v", c, err)
			continue
		}
		if f == nil {
			continue
		}
		r := must.Get(http.NewRequestWithContext(t.Context(), http.MethodGet, "https://pbx.example/", nil))(t)
		if u, err := f(r); err != nil || u.String() != c.want {
			t.Errorf("%+v: %v, %v", c, u, err)
		}
	}
	t.Setenv("HTTPS_PROXY", "http://env.example:3128")
	f := must.Get(ProxyFor("system", "wss://pbx.example"))(t)
	r := must.Get(http.NewRequestWithContext(t.Context(), http.MethodGet, "https://pbx.example/", nil))(t)
	if u, err := f(r); err != nil || u == nil || u.Host != "env.example:3128" {
		t.Errorf("from the environment: %v, %v", u, err)
	}
	for _, bad := range [][2]string{{"http://u:p@set.example", "https://pbx.example"}, {"system", ""}, {"system", "::"}, {"gopher://x", "https://pbx.example"}} {
		if _, err := ProxyFor(bad[0], bad[1]); err == nil {
			t.Errorf("%v was taken", bad)
		}
	}
}

func TestProxySettings(t *testing.T) {
	for s, want := range map[string]string{
		"http://proxy.example:8080": "", "https://proxy.example": "", "socks5://proxy.example:1080": "", "socks5h://127.0.0.1:1080": "", "http://[::1]:3128/": "",
		"http://canary:canary@proxy.example:8080": "hub.proxy: an address without user and password; settings hold no secrets",
		"http://canary@proxy.example:8080":        "hub.proxy: an address without user and password; settings hold no secrets",
		"http://:canary@proxy.example:8080":       "hub.proxy: an address without user and password; settings hold no secrets",
		"ftp://proxy.example":                     "hub.proxy: an http, https or socks5 address",
		"proxy.example:8080":                      "hub.proxy: system, none or an address such as http://proxy.example:8080",
		"http://":                                 "hub.proxy: system, none or an address such as http://proxy.example:8080",
		"http://:8080":                            "hub.proxy: system, none or an address such as http://proxy.example:8080",
		"http://proxy.example/canary.pac":         "hub.proxy: system, none or an address such as http://proxy.example:8080",
		"http:proxy.example:8080":                 "hub.proxy: system, none or an address such as http://proxy.example:8080",
		"http://proxy.example#canary":             "hub.proxy: system, none or an address such as http://proxy.example:8080",
		"http://proxy.example?canary":             "hub.proxy: system, none or an address such as http://proxy.example:8080",
		"http://canary:ca nary@\x7f":              "hub.proxy: system, none or an address such as http://proxy.example:8080",
	} {
		_, err := New(Config{BaseURL: "https://hub.example", ClientID: "c", Proxy: s, Secret: func(context.Context) (string, error) { return "s", nil }})
		got := ""
		if err != nil {
			got = err.Error()
		}
		if got != want {
			t.Errorf("%q: %q", s, got)
		}
	}
}

// TestWhatTheSystemSays parses the settings as returned by Windows.
func TestWhatTheSystemSays(t *testing.T) {
	script := func(s string) func(string) string {
		return func(address string) string {
			if address != "https://hub.example/" && address != "https://intranet/" {
				t.Errorf("the script saw %q", address)
			}
			return s
		}
	}
	all := func(s string) map[string]string { return map[string]string{"": s} }
	for _, c := range []struct {
		p          proxies
		base, want string
	}{
		{proxies{}, "https://hub.example", ""},
		{proxies{script: script("one:8080")}, "https://hub.example", "http://one:8080"},
		{proxies{script: script("one:8080;two:8080")}, "https://hub.example", "http://one:8080"},
		{proxies{script: script("one:8080 two:8080")}, "https://hub.example", "http://one:8080"},
		{proxies{script: script("http=one:1;https=two:2")}, "https://hub.example", "http://two:2"},
		{proxies{script: script("u:p@one:1,HTTPS=two:2")}, "https://hub.example", "http://two:2"},
		{proxies{script: script("")}, "https://hub.example", ""},
		{proxies{script: script(""), fixed: all("fixed:1")}, "https://hub.example", "http://fixed:1"},
		{proxies{script: script("u:p@one:8080;two:1")}, "https://hub.example", "http://two:1"},
		{proxies{script: script(";;==;://;\x00:1; one:1")}, "https://hub.example", "http://one:1"},
		{proxies{script: script(strings.Repeat("one:1;", 1000))}, "https://hub.example", ""},
		{proxies{fixed: map[string]string{"http": "one:1"}}, "https://hub.example", ""},
		{proxies{fixed: map[string]string{"http": "one:1", "https": "two:2", "": "three:3"}}, "https://hub.example", "http://two:2"},
		{proxies{fixed: all("http://one:1")}, "https://hub.example", "http://one:1"},
		{proxies{fixed: all("one:1"), bypass: "<local>,*.other"}, "https://hub.example", "http://one:1"},
		{proxies{fixed: all("one:1"), bypass: "<local>"}, "https://intranet", ""},
		{proxies{fixed: all("one:1"), bypass: "<local>"}, "https://[fd00::1]", "http://one:1"},
		{proxies{fixed: all("one:1"), bypass: "<local>,*.example"}, "https://hub.example", ""},
		{proxies{fixed: all("one:1"), bypass: "<local> *.example"}, "https://hub.example", ""},
		{proxies{fixed: map[string]string{"https": "", "": "one:1"}}, "https://hub.example", ""},
		{proxies{fixed: all("one:1"), bypass: "*.example"}, "https://hub.example", ""},
		{proxies{fixed: all("one:1"), bypass: "HUB.Example"}, "https://hub.example", ""},
		{proxies{fixed: all("one:1"), bypass: "https://hub.*"}, "https://hub.example", ""},
		{proxies{fixed: all("one:1"), bypass: "http://hub.*"}, "https://hub.example", "http://one:1"},
		{proxies{fixed: all("one:1"), bypass: "hub.example:443"}, "https://hub.example", ""},
		{proxies{fixed: all("one:1"), bypass: "hub.example:8443"}, "https://hub.example", "http://one:1"},
		{proxies{fixed: all("one:1"), bypass: "10.*;192.168.*"}, "https://10.1.2.3", ""},
		{proxies{fixed: all("one:1"), bypass: "[fd00::1]"}, "https://[fd00::1]", ""},
		{proxies{fixed: all("one:1"), bypass: "[", script: script("")}, "https://hub.example", "http://one:1"},
	} {
		base := must.Get(url.Parse(c.base))(t)
		got := ""
		if u := chooseProxy(c.p, base); u != nil {
			got = u.String()
		}
		if got != c.want {
			t.Errorf("%+v for %s: %q, want %q", c.p, c.base, got, c.want)
		}
	}
}

// TestAskingTheSystem checks that concurrent callers share one query, that its answer is cached
// for minutes and renewed in the background, and that nobody waits longer than the limit.
func TestAskingTheSystem(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		var asked atomic.Int64
		gate := make(chan struct{})
		answer := &url.URL{Scheme: "http", Host: "one:1"}
		s := &systemProxy{now: time.Now, wait: proxyWait, query: func() *url.URL {
			asked.Add(1)
			<-gate
			return answer
		}}
		// Nothing is known yet, and the system hangs: all concurrent
		// callers wait five seconds, and later ones not at all.
		began := time.Now()
		var all sync.WaitGroup
		for range 20 {
			all.Go(func() {
				if s.get(t.Context()) != nil {
					t.Error("a proxy out of nothing")
				}
			})
		}
		all.Wait()
		if took := time.Since(began); took != proxyWait {
			t.Errorf("waited %v", took)
		}
		if s.get(t.Context()) != nil || time.Since(began) != proxyWait {
			t.Errorf("waited again: %v", time.Since(began))
		}
		gave, cancel := context.WithTimeout(t.Context(), time.Second)
		defer cancel()
		s.get(gave)
		if n := asked.Load(); n != 1 {
			t.Errorf("asked %d times", n)
		}
		// The late answer is used.
		gate <- struct{}{}
		synctest.Wait()
		if u := s.get(t.Context()); u != answer {
			t.Errorf("%v", u)
		}
		// It is cached, and the old answer is still used while it is renewed.
		time.Sleep(proxyKept - time.Second)
		if s.get(t.Context()) != answer || asked.Load() != 1 {
			t.Errorf("asked %d times", asked.Load())
		}
		time.Sleep(2 * time.Second)
		old := answer
		answer = nil
		if s.get(t.Context()) != old {
			t.Error("the old answer was not used")
		}
		synctest.Wait()
		if n := asked.Load(); n != 2 {
			t.Errorf("asked %d times", n)
		}
		close(gate)
		synctest.Wait()
		if u := s.get(t.Context()); u != nil {
			t.Errorf("%v", u)
		}
		// A caller whose context ends stops waiting.
		hang := make(chan struct{})
		fresh := &systemProxy{now: time.Now, wait: proxyWait, query: func() *url.URL { <-hang; return nil }}
		short, cancel := context.WithTimeout(t.Context(), time.Second)
		defer cancel()
		began = time.Now()
		fresh.get(short)
		if took := time.Since(began); took != time.Second {
			t.Errorf("waited %v", took)
		}
		close(hang)
		// One that comes earlier is not waited for any longer.
		soon := &systemProxy{now: time.Now, wait: proxyWait, query: func() *url.URL { time.Sleep(time.Second); return old }}
		began = time.Now()
		if u := soon.get(t.Context()); u != old || time.Since(began) != time.Second {
			t.Errorf("%v after %v", u, time.Since(began))
		}
	})
}
