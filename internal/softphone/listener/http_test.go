package listener

import (
	"context"
	"errors"
	"fmt"
	"maps"
	"strings"
	"testing"
	"time"

	"wiebelt/internal/core/call"
	"wiebelt/internal/simulate"
)

func TestCallOverHTTP(t *testing.T) {
	d := newDesk(t)
	h := d.host()
	form := func(body string, lines ...string) string {
		return "POST /v1/call HTTP/1.1\r\nHost: " + h + "\r\n" + withBearer + "\r\nContent-Type: application/x-www-form-urlencoded\r\n" +
			join(lines) + fmt.Sprintf("Content-Length: %d\r\n\r\n%s", len(body), body)
	}
	page := []string{"Sec-Fetch-Site: cross-site", "Sec-Fetch-Mode: navigate", "Sec-Fetch-Dest: document", "Accept: text/html,*/*"}
	path := "/v1/call/" + pathTok
	for _, tt := range []struct {
		name, request string
		status        int
		code          string
		number        string // of the event taken; "-" for none
	}{
		{"path token", get(path+"?number=%2B31612345678&name=J.%20de%20Vries", h), 204, "", "+31612345678"},
		{"bearer", get("/v1/call?number=0612345678", h, withBearer), 204, "", "0612345678"},
		{"plus not escaped", get(path+"?number=+31612345678", h), 204, "", "+31612345678"},
		{"plus as a space", get(path+"?number=%2031612345678", h), 204, "", "+31612345678"},
		{"a space and no plus", get(path+"?number=%200612345678", h), 204, "", "0612345678"},
		{"withheld", get(path, h), 204, "", ""},
		{"unknown fields", get(path+"?number=0612345678&utm_source=x&utm_source=y", h), 204, "", "0612345678"},
		{"localhost", get(path+"?number=0612345678", fmt.Sprintf("localhost:%d", d.Port())), 204, "", "0612345678"},
		{"IPv6 host", get(path+"?number=0612345678", fmt.Sprintf("[::1]:%d", d.Port())), 204, "", "0612345678"},
		{"HTTP/1.0", "GET " + path + "?number=0612345678 HTTP/1.0\r\nHost: " + h + "\r\n\r\n", 204, "", "0612345678"},
		{"posted form", form("number=%2B31612345678&state=ringing"), 204, "", "+31612345678"},
		{"posted, address and form", "POST " + path + "?state=ringing HTTP/1.1\r\nHost: " + h + "\r\nContent-Type: application/x-www-form-urlencoded; charset=UTF-8\r\nContent-Length: 17\r\n\r\nnumber=0612345678", 204, "", "0612345678"},
		{"posted without a form", "POST " + path + "?number=0612345678 HTTP/1.1\r\nHost: " + h + "\r\nContent-Length: 0\r\n\r\n", 204, "", "0612345678"},
		{"from an allowed page", get("/v1/call?number=0612345678", h, withBearer, "Origin: "+goodPage, "Sec-Fetch-Site: cross-site", "Referer: "+goodPage+"/x"), 204, "", "0612345678"},
		{"its referer alone", get(path+"?number=0612345678", h, "Referer: "+goodPage+"/x"), 204, "", "0612345678"},
		{"by a browser and no page", get("/v1/call?number=0612345678", h, withBearer, "Sec-Fetch-Site: none"), 204, "", "0612345678"},
		{"opened in a browser", get(path+"?number=0612345678", h, "Sec-Fetch-Site: none", "Sec-Fetch-Mode: navigate", "Sec-Fetch-Dest: document", "Accept: text/html"), 200, "", "0612345678"},
		{"opened by a page", get(path+"?number=0612345678", h, append(page, "Referer: https://teams.example/")...), 200, "", "0612345678"},
		{"old browser", get(path+"?number=0612345678", h, "Accept: text/html,application/xhtml+xml"), 200, "", "0612345678"},

		{"no token", get("/v1/call?number=0612345678", h), 401, "bad_token", "-"},
		{"path token as bearer", get("/v1/call?number=0612345678", h, "Authorization: Bearer "+pathTok), 401, "bad_token", "-"},
		{"socket token in the path", get("/v1/call/"+socketTok+"?number=0612345678", h), 401, "bad_token", "-"},
		{"token in the query", get("/v1/call?token="+socketTok+"&number=0612345678", h), 401, "bad_token", "-"},
		{"empty path token", get("/v1/call/?number=0612345678", h), 401, "bad_token", "-"},
		{"more path", get(path+"/x?number=0612345678", h), 401, "bad_token", "-"},
		{"basic", get("/v1/call", h, "Authorization: Basic "+socketTok), 401, "bad_token", "-"},
		{"two authorizations", get("/v1/call", h, withBearer, withBearer), 401, "bad_token", "-"},
		{"number twice", get(path+"?number=0612345678&number=0687654321", h), 400, "bad_request", "-"},
		{"number here and there", "POST " + path + "?number=0612345678 HTTP/1.1\r\nHost: " + h + "\r\nContent-Type: application/x-www-form-urlencoded\r\nContent-Length: 17\r\n\r\nnumber=0687654321", 400, "bad_request", "-"},
		{"number twice, posted without a form", "POST " + path + "?number=0612345678&number=0687654321 HTTP/1.1\r\nHost: " + h + "\r\nContent-Length: 0\r\n\r\n", 400, "bad_request", "-"},
		{"form cut short", "POST " + path + " HTTP/1.1\r\nHost: " + h + "\r\nContent-Type: application/x-www-form-urlencoded\r\nTransfer-Encoding: chunked\r\n\r\n11\r\nnumber=0612345678\r\nzz\r\n", 400, "bad_request", "-"},
		{"placeholder of a program", get(path+"?number=%2", h), 400, "unfilled_macro", "-"},
		{"bad escape beside a number", get(path+"?number=06%2", h), 400, "bad_request", "-"},
		{"bad escape of the state", get(path+"?number=1234&state=%2", h), 400, "bad_request", "-"},
		{"semicolon parts no fields", get(path+"?number=1234;state=ended", h), 204, "", "1234;state=ended"},
		{"SIP address as it is", get(path+"?number=sip:+31612345678@pbx.example;user=phone", h), 204, "", "sip: 31612345678@pbx.example;user=phone"},
		{"tel address as it is", get(path+"?number=tel:+31-6-1234-5678;ext=12&name=x", h), 204, "", "tel: 31-6-1234-5678;ext=12"},
		{"a percent sign in a name", get(path+"?number=0612345678&name=100%%20Zeker", h), 204, "", "0612345678"},
		{"bad escape in an unknown field", get(path+"?number=0612345678&x=%zz&%zz=1", h), 204, "", "0612345678"},
		{"macro of 3CX", get(path+"?number=%CallerNumber%", h), 400, "unfilled_macro", "-"},
		{"macro of 8x8", get(path+"?number=%%CallerNumber%%&name=%%CallerName%%", h), 400, "unfilled_macro", "-"},
		{"macro posted", form("number=%CallerNumber%"), 400, "unfilled_macro", "-"},
		{"bad number", get(path+"?number=hello", h), 400, "bad_number", "-"},
		{"bad state", get(path+"?number=1234&state=sleeping", h), 400, "bad_state", "-"},
		{"macro", get(path+"?number={phone}", h), 400, "unfilled_macro", "-"},
		{"JSON posted", "POST " + path + " HTTP/1.1\r\nHost: " + h + "\r\nContent-Type: application/json\r\nContent-Length: 2\r\n\r\n{}", 400, "bad_request", "-"},
		{"large", form("number=1234&x=" + strings.Repeat("a", MaxMessage)), 413, "too_large", "-"},
		{"HEAD", "HEAD " + path + " HTTP/1.1\r\nHost: " + h + "\r\n\r\n", 405, "", "-"},
		{"preflight", "OPTIONS " + path + " HTTP/1.1\r\nHost: " + h + "\r\nOrigin: " + goodPage + "\r\nAccess-Control-Request-Method: POST\r\n\r\n", 405, "bad_method", "-"},
		{"PUT", "PUT " + path + " HTTP/1.1\r\nHost: " + h + "\r\n\r\n", 405, "bad_method", "-"},
		{"nothing there", get("/", h), 404, "not_found", "-"},
		{"favicon", get("/favicon.ico", h), 404, "not_found", "-"},
		{"dots", get("/v1/x/../call/"+pathTok, h), 404, "not_found", "-"},
		{"double slash", get("//v1/call/"+pathTok, h), 404, "not_found", "-"},

		{"prefetch", get(path+"?number=0612345678", h, append(page, "Sec-Purpose: prefetch;prerender")...), 403, "bad_origin", "-"},
		{"old prefetch", get(path, h, "Purpose: prefetch"), 403, "bad_origin", "-"},
		{"img", get(path, h, "Sec-Fetch-Site: cross-site", "Sec-Fetch-Mode: no-cors", "Sec-Fetch-Dest: image"), 403, "bad_origin", "-"},
		{"iframe", get(path, h, "Sec-Fetch-Site: cross-site", "Sec-Fetch-Mode: navigate", "Sec-Fetch-Dest: iframe"), 403, "bad_origin", "-"},
		{"fetch", get(path, h, "Sec-Fetch-Site: same-site", "Sec-Fetch-Mode: no-cors", "Sec-Fetch-Dest: empty"), 403, "bad_origin", "-"},
		{"navigation to the bearer address", get("/v1/call", h, append(page, withBearer)...), 403, "bad_origin", "-"},
		{"posted by a page", "POST " + path + " HTTP/1.1\r\nHost: " + h + "\r\n" + join(page) + "Origin: https://evil.example\r\nContent-Length: 0\r\n\r\n", 403, "bad_origin", "-"},
		{"posted by a page, no origin", "POST " + path + " HTTP/1.1\r\nHost: " + h + "\r\n" + join(page) + "Content-Length: 0\r\n\r\n", 403, "bad_origin", "-"},
		{"navigation with an origin", get(path, h, append(page, "Origin: https://evil.example")...), 403, "bad_origin", "-"},
		{"two sites", get(path, h, "Sec-Fetch-Site: none", "Sec-Fetch-Site: cross-site"), 403, "bad_origin", "-"},
		{"referer", get(path, h, "Referer: https://evil.example/"), 403, "bad_origin", "-"},
		{"referer that is no address", get(path, h, "Referer: http://[::1"), 403, "bad_origin", "-"},
		{"referer like an allowed one", get(path, h, "Referer: "+goodPage+".evil.example/"), 403, "bad_origin", "-"},
	} {
		before := len(d.events())
		status, header, body := d.raw(tt.request)
		if status != tt.status {
			t.Errorf("%s: status %d, want %d (%s)", tt.name, status, tt.status, body)
		}
		if tt.code != "" && !strings.Contains(body, `"code":"`+tt.code+`"`) {
			t.Errorf("%s: %s, want %s", tt.name, body, tt.code)
		}
		for name := range header {
			if strings.HasPrefix(name, "Access-Control-") {
				t.Errorf("%s: header %s", tt.name, name)
			}
		}
		if header.Get("Cache-Control") != "no-store" || header.Get("Referrer-Policy") != "no-referrer" || header.Get("X-Content-Type-Options") != "nosniff" ||
			(status == 405) != (header.Get("Allow") != "") || (status == 401) != (header.Get("WWW-Authenticate") != "") {
			t.Errorf("%s: headers %v", tt.name, header)
		}
		if strings.Contains(body, "612345678") || strings.Contains(body, pathTok) || strings.Contains(body, socketTok) {
			t.Errorf("%s: answer says too much: %s", tt.name, body)
		}
		if status == 200 && (!strings.Contains(body, "U kunt dit tabblad sluiten") || !strings.HasPrefix(header.Get("Content-Type"), "text/html")) {
			t.Errorf("%s: page %s", tt.name, body)
		}
		got := d.events()
		if tt.number == "-" {
			if len(got) != before {
				t.Errorf("%s: event taken", tt.name)
			}
			continue
		}
		if len(got) != before+1 {
			t.Errorf("%s: no event taken", tt.name)
			continue
		}
		e := got[before]
		if e.Number != tt.number || e.State != call.Ringing || e.Direction != call.Incoming || e.Source.Kind != call.KindHTTP || e.Source.ReportLevel != call.RingOnly {
			t.Errorf("%s: %+v", tt.name, e)
		}
	}
}

// TestPages: a user who sees the answer in a browser gets a sentence in their language.
func TestPages(t *testing.T) {
	d := newDesk(t)
	nav := []string{"Sec-Fetch-Site: none", "Sec-Fetch-Mode: navigate", "Sec-Fetch-Dest: document"}
	for _, tt := range []struct {
		target, language string
		status           int
		says             string
	}{
		{"/v1/call/" + pathTok + "?number=0612345678", "nl-NL,nl;q=0.9", 200, "tabblad sluiten"},
		{"/v1/call/" + pathTok + "?number=0612345678", "en-GB", 200, "close this tab"},
		{"/v1/call/" + pathTok + "?number=%7Bphone%7D", "nl", 400, "vulde het nummer niet in"},
		{"/v1/call/" + pathTok + "?number=hello", "nl", 400, "geen geldig nummer"},
		{"/v1/call/" + pathTok + "?state=x", "nl", 400, "begrijpt dit adres niet"},
		{"/v1/call/wrong", "nl", 401, "verlopen"},
	} {
		status, header, body := d.raw(get(tt.target, d.host(), append(nav, "Accept-Language: "+tt.language)...))
		if status != tt.status || !strings.Contains(body, tt.says) || !strings.Contains(header.Get("Content-Security-Policy"), "default-src 'none'") {
			t.Errorf("%s: %d %s", tt.target, status, body)
		}
	}
}

func TestHTTPOff(t *testing.T) {
	d := newDesk(t, func(c *Config, _ *timing) { c.HTTP = false })
	if status, _, _ := d.raw(get("/v1/call/"+pathTok+"?number=1234", d.host())); status != 404 || len(d.events()) != 0 {
		t.Errorf("status %d", status)
	}
}

// TestSimulatedPhoneRefused: what a simulated phone says of a refusal has its code, and
// nothing secret.
func TestSimulatedPhoneRefused(t *testing.T) {
	d := newDesk(t)
	ctx := context.Background()
	var refused *simulate.RefusedError
	if err := simulate.ReportHTTP(ctx, d.Port(), "wrong", "ringing", "", simulate.Call{}); !errors.As(err, &refused) || refused.Code != "bad_token" || refused.Status != 401 {
		t.Errorf("wrong token: %v", err)
	}
	if _, err := simulate.Dial(ctx, d.Port(), "wrong"); !errors.As(err, &refused) || refused.Code != "bad_token" {
		t.Errorf("wrong token: %v", err)
	}
	d.Close()
	if _, err := simulate.Dial(ctx, d.Port(), socketTok); err == nil {
		t.Error("connected to nobody")
	}
	err := simulate.ReportHTTP(ctx, d.Port(), pathTok, "ringing", "", simulate.Call{Number: "+31612345678"})
	if err == nil || strings.Contains(err.Error(), pathTok) || strings.Contains(err.Error(), "612345678") {
		t.Errorf("error says too much: %v", err)
	}
}

// TestLoose: a name is shown as the phone wrote it.
func TestLoose(t *testing.T) {
	for raw, want := range map[string]string{"": "", "Jan": "Jan", "J.+de%20Vries": "J. de Vries", "100%": "100%", "100%%20Zeker": "100% Zeker",
		"50%2": "50%2", "%zz%41": "%zzA", "Caf%C3%A9+%": "Café %"} {
		if got := unescapeLenient(raw); got != want {
			t.Errorf("%q: %q, want %q", raw, got, want)
		}
	}
	in := fields{}
	if c := in.add("name=1%&line=2%&via=3%"); c != none || !maps.Equal(in, fields{"name": "1%", "line": "2%", "via": "3%"}) {
		t.Errorf("%s %+v", c, in)
	}
}

func FuzzForm(f *testing.F) {
	for _, s := range []string{"number=0612345678&name=J.%20de%20Vries", "number=%CallerNumber%", "name=100%%20&number=sip:1@x;user=phone", "=&=&&;%", "number=1&number=2"} {
		f.Add(s)
	}
	f.Fuzz(func(t *testing.T, s string) {
		in := fields{}
		if c := in.add(s); c != none && c != badRequest && c != unfilledMacro {
			t.Errorf("%q: %s", s, c)
		}
		_, _ = in.toEvent(call.Source{}, time.Unix(0, 0))
	})
}
