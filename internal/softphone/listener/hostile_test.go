package listener

import (
	"fmt"
	"strings"
	"testing"
)

func TestHostileOrigins(t *testing.T) {
	d := newDesk(t)
	p := d.Port()
	origins := []string{
		"", "null", "NULL", " ", "*", "undefined", "about:blank", "about:srcdoc", "data:text/html,x", "blob:https://phone.example/1",
		"file://", "file:///", "file:///C:/x.html", "javascript:0",
		"chrome-extension://abcdefghijklmnop", "moz-extension://0a1b", "safari-web-extension://0a1b", "vscode-webview://x", "app://.", "ms-appx://x",
		"http://evil.example", "https://evil.example", "https://evil.example:443", "ftp://evil.example", "ws://evil.example",
		// similar to the allowed one
		"http://phone.example", "ftp://phone.example", "wss://phone.example", "https://phone.example:443", "https://phone.example:444", "https://phone.example:",
		"https://phone.example/", "https://phone.example/x", "https://phone.example?", "https://phone.example#", "https://phone.example.", "https://.phone.example",
		"https://phone.example.evil.example", "https://evilphone.example", "https://a.phone.example", "https://www.phone.example", "https://example",
		"https://PHONE.example", "HTTPS://phone.example", "https://phone.Example", "https:phone.example", "https:/phone.example", "https:///phone.example", "//phone.example", "phone.example",
		"https://user@phone.example", "https://user:pw@phone.example", "https://phone.example@evil.example", "https://phone.example%00.evil.example", "https://phone.example%2eevil.example",
		"https://phone\uff0eexample", "https://ph\u043ene.example", "https://xn--phne-55d.example", "https://phone.example\t", "https://phone.example https://evil.example", "https://evil.example https://phone.example",
		"https://phone.example,https://evil.example", "https://phone.example, null", "https://phone.exampl", "https://phone.examplee", "\"https://phone.example\"",
		"https://*.example", "http://localhost", "http://localhost:3001", "https://localhost:3000", "http://localhost:03000", "http://127.0.0.1:3000", "http://[::1]:3000",
		// our own address: the origin of a page after DNS rebinding
		fmt.Sprintf("http://127.0.0.1:%d", p), fmt.Sprintf("http://localhost:%d", p), fmt.Sprintf("http://[::1]:%d", p), fmt.Sprintf("https://127.0.0.1:%d", p), fmt.Sprintf("ftp://127.0.0.1:%d", p),
		fmt.Sprintf("http://evil.example:%d", p), "http://0.0.0.0", "http://[::]", "http://2130706433", "http://0x7f.1", "http://127.1",
		strings.Repeat("a", 4000),
	}
	for _, o := range origins {
		for _, req := range []string{
			upgrade(d.host(), withProtocol, withBearer, "Origin: "+o),
			get("/v1/call/"+pathTok+"?number=0612345678", d.host(), "Origin: "+o),
		} {
			// A tab or space after the value is not part of it.
			if s := strings.TrimRight(o, " \t"); s == goodPage {
				continue
			}
			if status, _, _ := d.raw(req); status < 300 {
				t.Errorf("origin %q: status %d", o, status)
			}
		}
	}
	for _, lines := range [][]string{
		{"Origin: " + goodPage, "Origin: https://evil.example"}, {"Origin: https://evil.example", "Origin: " + goodPage}, {"Origin: " + goodPage, "Origin: " + goodPage},
		{"origin: https://evil.example"}, {"ORIGIN: null"},
	} {
		d.answers(403, upgrade(d.host(), append(lines, withProtocol, withBearer)...))
	}
	if d.connected(t, 0); len(d.events()) != 0 {
		t.Errorf("%d events", len(d.events()))
	}
	// Cross-check: an allowed one is accepted.
	for _, o := range []string{goodPage, "http://localhost:3000"} {
		d.answers(101, upgrade(d.host(), withProtocol, withBearer, "Origin: "+o))
	}
}

func TestOriginsThatCannotBeAllowed(t *testing.T) {
	bad := []string{"*", "null", "", "https://*.example", "https://phone.example/", "phone.example", "https://", "https://user@phone.example", "https://phone.example/x", "//phone.example", "http://[::1"}
	d := newDesk(t, func(c *Config, _ *timing) { c.AllowedOrigins = bad })
	for _, o := range bad {
		d.answers(403, upgrade(d.host(), withProtocol, withBearer, "Origin: "+o))
	}
}

func TestHostileHosts(t *testing.T) {
	d := newDesk(t)
	p := fmt.Sprintf(":%d", d.Port())
	hosts := []string{
		"", " ", ":", p, "127.0.0.1", "localhost", "[::1]", "::1", "::1" + p, "127.0.0.1:", "127.0.0.1:1", "127.0.0.1:0" + p[1:], "127.0.0.1:+" + p[1:], "127.0.0.1" + p + "0", "127.0.0.1" + p + "/",
		"localhost." + p, "LOCALHOST" + p, "Localhost" + p, "localhost.evil.example" + p, "localhost.localdomain" + p, "a.localhost" + p, "evil.example", "evil.example" + p, "evil.test" + p,
		"127.0.0.1.nip.io" + p, "127.0.0.1.evil.example" + p, "localtest.me" + p, "rebind.network" + p, "wiebelt" + p, "wiebelt.local" + p,
		"2130706433" + p, "0x7f000001" + p, "0x7f.0.0.1" + p, "0177.0.0.1" + p, "017700000001" + p, "127.1" + p, "127.0.1" + p, "127.000.000.001" + p, "127.0.0.1." + p, "127.0.0.2" + p, "0.0.0.0" + p, "0" + p,
		"[::]" + p, "[0:0:0:0:0:0:0:1]" + p, "[::0001]" + p, "[::ffff:127.0.0.1]" + p, "[::1%25lo]" + p, "[::1%lo]" + p, "[127.0.0.1]" + p,
		"user@127.0.0.1" + p, "127.0.0.1" + p + "@evil.example", "evil.example@127.0.0.1" + p, "127.0.0.1" + p + ",evil.example", "127.0.0.1%2eevil" + p, "127.0.0.1" + p + "#", "127.0.0.1" + p + "?x", "http://127.0.0.1" + p, "\"127.0.0.1" + p + "\"",
		"10.0.0.1" + p, "192.168.1.1" + p, "\uff11\uff12\uff17.0.0.1" + p, "loc\u0430lhost" + p, strings.Repeat("a", 3000) + p,
	}
	for _, h := range hosts {
		for _, req := range []string{
			upgrade(h, withProtocol, withBearer),
			get("/v1/call/"+pathTok+"?number=0612345678", h),
			// the same after rebinding: the page's origin is its host
			upgrade(h, withProtocol, withBearer, "Origin: http://"+h),
		} {
			if status, _, _ := d.raw(req); status != 421 && status != 400 && status != 431 {
				t.Errorf("host %q: status %d", h, status)
			}
		}
	}
	good := d.host()
	for name, req := range map[string]string{
		"two hosts":                   get("/v1/call/"+pathTok, good, "Host: evil.example"),
		"two hosts, other order":      get("/v1/call/"+pathTok, "evil.example", "Host: "+good),
		"same host twice":             get("/v1/call/"+pathTok, good, "Host: "+good),
		"no host":                     "GET /v1/call/" + pathTok + " HTTP/1.1\r\n\r\n",
		"no host, 1.0":                "GET /v1/call/" + pathTok + " HTTP/1.0\r\n\r\n",
		"absolute, evil host":         get("http://"+good+"/v1/call/"+pathTok, "evil.example"),
		"absolute, evil address":      get("http://evil.example"+p+"/v1/call/"+pathTok, good),
		"absolute, both good":         get("http://"+good+"/v1/call/"+pathTok, good),
		"absolute, https":             get("https://"+good+"/v1/call/"+pathTok, good),
		"connect":                     "CONNECT " + good + " HTTP/1.1\r\nHost: " + good + "\r\n\r\n",
		"asterisk":                    "OPTIONS * HTTP/1.1\r\nHost: evil.example\r\n\r\n",
		"forwarded":                   get("/v1/call/"+pathTok, "evil.example", "X-Forwarded-Host: "+good, "Forwarded: host="+good, "X-Host: "+good),
		"folded":                      "GET /v1/call/" + pathTok + " HTTP/1.1\r\nHost: evil.example\r\n " + good + "\r\n\r\n",
		"space before the colon":      "GET /v1/call/" + pathTok + " HTTP/1.1\r\nHost : " + good + "\r\n\r\n",
		"absolute WebSocket":          strings.Replace(upgrade("evil.example", withProtocol, withBearer), "GET /", "GET http://"+good+"/", 1),
		"another protocol altogether": "PRI * HTTP/2.0\r\n\r\nSM\r\n\r\n",
	} {
		if status, _, _ := d.raw(req); status < 400 && status != 0 {
			t.Errorf("%s: status %d", name, status)
		}
	}
	if n := len(d.events()); n != 0 {
		t.Errorf("%d events", n)
	}
	for _, h := range []string{good, "localhost" + p, "[::1]" + p} {
		d.answers(101, upgrade(h, withProtocol, withBearer))
	}
}

func TestTokens(t *testing.T) {
	d := newDesk(t)
	for i := range 2 * EventsBurst { // no lock-out: further down, the right token works at once
		guess := fmt.Sprint("guess-", i)
		d.answers(401, upgrade(d.host(), withProtocol, "Authorization: Bearer "+guess))
		d.answers(401, get("/v1/call/"+guess+"?number=1234", d.host()))
	}
	for _, lines := range [][]string{
		{withProtocol},
		{withProtocol, "Authorization: Bearer"},
		{withProtocol, "Authorization: Bearer "},
		{withProtocol, "Authorization: " + socketTok},
		{withProtocol, "Authorization: Basic " + socketTok},
		{withProtocol, "Authorization: Bearer " + socketTok[1:]},
		{withProtocol, "Authorization: Bearer " + socketTok + "x"},
		{withProtocol, "Authorization: Bearer " + strings.ToLower(socketTok)},
		{withProtocol, "Authorization: Bearer " + pathTok}, // for HTTP only
		{withProtocol, withBearer, withBearer},
		{withProtocol, "Authorization: Bearer wrong", withBearer},
		{"Sec-WebSocket-Protocol: wiebelt.v1, token." + pathTok},
		{"Sec-WebSocket-Protocol: wiebelt.v1, " + socketTok},
		{"Sec-WebSocket-Protocol: wiebelt.v1, token."},
		{"Sec-WebSocket-Protocol: wiebelt.v1, Token." + socketTok},
		{"Sec-WebSocket-Protocol: wiebelt.v1, token." + socketTok + ", token.wrong"},
		{"Sec-WebSocket-Protocol: wiebelt.v1, token." + socketTok, "Authorization: Bearer wrong"},
		{withProtocol, "Cookie: token=" + socketTok},
		{withProtocol, "X-Token: " + socketTok},
	} {
		if status, _, body := d.raw(upgrade(d.host(), lines...)); status != 401 || !strings.Contains(body, `"bad_token"`) {
			t.Errorf("%q: status %d", lines, status)
		}
	}
	for _, target := range []string{"/v1/events?token=" + socketTok, "/v1/events/" + socketTok, "/v1/events/" + pathTok, "/v1/call/" + pathTok} {
		req := strings.Replace(upgrade(d.host(), withProtocol), "/v1/events", target, 1)
		if status, _, _ := d.raw(req); status == 101 {
			t.Errorf("%s became a WebSocket", target)
		}
	}
	d.answers(204, get("/v1/call/"+pathTok, d.host()))
	before := len(d.events())
	for _, lines := range [][]string{
		{withProtocol, withBearer}, {withProtocol, "Authorization: bearer " + socketTok},
		{"Sec-WebSocket-Protocol: wiebelt.v1, token." + socketTok}, {"Sec-WebSocket-Protocol: token." + socketTok + ",wiebelt.v1"},
		{withProtocol, "Sec-WebSocket-Protocol: token." + socketTok},
	} {
		status, header, _ := d.raw(upgrade(d.host(), lines...))
		if status != 101 || header.Get("Sec-Websocket-Protocol") != Subprotocol {
			t.Errorf("%q: status %d, protocol %q", lines, status, header.Get("Sec-Websocket-Protocol"))
		}
	}
	if len(d.events()) != before {
		t.Error("events out of nowhere")
	}
}

func TestNoTokenSetOpensNothing(t *testing.T) {
	d := newDesk(t, func(c *Config, _ *timing) { c.SocketToken, c.PathToken = "", "" })
	for _, req := range []string{
		upgrade(d.host(), withProtocol), upgrade(d.host(), withProtocol, "Authorization: Bearer "), upgrade(d.host(), "Sec-WebSocket-Protocol: wiebelt.v1, token."),
		get("/v1/call", d.host(), "Authorization: Bearer "), get("/v1/call/", d.host()),
	} {
		d.answers(401, req)
	}
}

func TestHandshake(t *testing.T) {
	d := newDesk(t)
	for name, tt := range map[string]struct {
		req    string
		status int
	}{
		"no subprotocol":      {upgrade(d.host(), withBearer), 400},
		"other subprotocol":   {upgrade(d.host(), withBearer, "Sec-WebSocket-Protocol: wiebelt.v2"), 400},
		"no upgrade":          {get("/v1/events", d.host(), withBearer, withProtocol), 400},
		"old version":         {strings.Replace(upgrade(d.host(), withBearer, withProtocol), "Version: 13", "Version: 8", 1), 400},
		"no key":              {strings.Replace(upgrade(d.host(), withBearer, withProtocol), "Sec-WebSocket-Key", "X-Key", 1), 400},
		"POST":                {strings.Replace(upgrade(d.host(), withBearer, withProtocol), "GET", "POST", 1), 405},
		"headers of 64 KiB":   {upgrade(d.host(), withBearer, withProtocol, "X: "+strings.Repeat("a", 64<<10)), 431},
		"compression offered": {upgrade(d.host(), withBearer, withProtocol, "Sec-WebSocket-Extensions: permessage-deflate; client_max_window_bits"), 101},
	} {
		status, header, _ := d.raw(tt.req)
		// If the peer is still writing, its reset can arrive before our answer.
		if status != tt.status && !(status == 0 && tt.status == 431) {
			t.Errorf("%s: status %d, want %d", name, status, tt.status)
		}
		if header.Get("Sec-Websocket-Extensions") != "" || (status == 405) != (header.Get("Allow") != "") {
			t.Errorf("%s: headers %v", name, header)
		}
	}
}
