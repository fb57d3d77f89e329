package localhub

import (
	"encoding/json"
	"net"
	"net/url"
	"strings"
	"testing"

	"wiebelt/internal/testutil/must"
)

// ask sends a request as the admin interface expects it.
func ask(t testing.TB, h *Hub, method, path, body string, header ...string) answer {
	t.Helper()
	return do(t, newClient(t), method, h.AdminURL()+path, body, append([]string{"Content-Type", "application/json"}, header...)...)
}

func TestAdminInterface(t *testing.T) {
	if h := start(t, Config{}); h.AdminURL() != "" {
		t.Error("there without being asked for")
	}
	h := start(t, Config{Admin: true})
	u, err := url.Parse(h.AdminURL())
	if err != nil || u.Scheme != "http" || u.Hostname() != "127.0.0.1" || len(u.Path) != 44 || strings.Contains(h.BaseURL(), u.Host) {
		t.Fatalf("address %v %v", u.Redacted(), err)
	}
	for _, path := range []string{"", "/"} {
		if a := do(t, newClient(t), "GET", h.AdminURL()+path, ""); a.status != 200 || !strings.HasPrefix(a.header.Get("Content-Type"), "text/plain") ||
			!strings.Contains(a.body, "PUT    /faults/<endpoint>") || strings.Contains(a.body, u.Path[1:]) {
			t.Errorf("about: %d %v", a.status, a.header)
		}
	}
	if a := ask(t, h, "GET", "/faults", ""); a.status != 200 || a.body != `{"faults":{},"waiting":{}}`+"\n" || a.header.Get("Cache-Control") != "no-store" {
		t.Errorf("%+v", a)
	}
	// It is separate from the hub's own port, and two hubs have different secrets.
	for _, address := range []string{h.BaseURL() + u.Path + "/faults", h.AdminURL() + "/login"} {
		if a := do(t, newClient(t), "GET", address, ""); a.status != 404 {
			t.Errorf("%d", a.status)
		}
	}
	if v, err := url.Parse(start(t, Config{Admin: true}).AdminURL()); err != nil || v.Path == u.Path {
		t.Error("two hubs with one secret", err)
	}
	tok := token(t, h)
	full := `{"delay":"10ms","status":503,"retry_after":"30s","body":"html","content_type":"text/plain","slow":"10/1ms","times":2}`
	want := `{"faults":{"lookup":` + full + `},"waiting":{}}` + "\n"
	if a := ask(t, h, "PUT", "/faults/lookup", full); a.status != 200 || a.body != want {
		t.Errorf("%+v", a)
	}
	if a := lookup(t, h, tok, "0201234567"); a.status != 503 || a.header.Get("Retry-After") != "30" || a.header.Get("Content-Type") != "text/plain" || !strings.HasPrefix(a.body, "<!doctype") {
		t.Errorf("%+v", a)
	}
	if a := ask(t, h, "GET", "/faults", ""); !strings.Contains(a.body, `"times":1}`) {
		t.Errorf("what is left: %s", a.body)
	}
	if a := ask(t, h, "PUT", "/faults/token", `{"drop":true}`, "Content-Type", "application/json; charset=utf-8"); a.status != 200 || !strings.Contains(a.body, `"token":{"drop":true}`) {
		t.Errorf("%+v", a)
	}
	if a := ask(t, h, "DELETE", "/faults/lookup", ""); a.status != 200 || strings.Contains(a.body, "lookup") {
		t.Errorf("%+v", a)
	}
	if a := lookup(t, h, tok, "0201234567"); a.status != 200 {
		t.Errorf("mended: %d", a.status)
	}
	if a := ask(t, h, "POST", "/faults/reset", ""); a.status != 200 || a.body != `{"faults":{},"waiting":{}}`+"\n" {
		t.Errorf("%+v", a)
	}
	h.Faults().RefuseCredentials(true)
	must.Do(t, h.Faults().SetGone(true))
	if a := ask(t, h, "POST", "/faults/reset", "{}"); a.status != 200 { // answers while the hub is gone
		t.Errorf("%+v", a)
	}
	token(t, h)
	var s struct{ Tokens, Lookups, Messages, Files, Faults *int64 }
	if err := json.Unmarshal([]byte(ask(t, h, "GET", "/stats", "").body), &s); err != nil || s.Tokens == nil || s.Lookups == nil || s.Messages == nil || s.Files == nil || s.Faults == nil ||
		*s.Tokens != 2 || *s.Lookups != 1 || *s.Faults != 1 {
		t.Errorf("%+v %v", s, err)
	}
}

func TestAdminShowsWhoWaits(t *testing.T) {
	h := start(t, Config{Admin: true})
	ask(t, h, "PUT", "/faults/pages", `{"delay":"1h"}`)
	c := wire(t, h, loginRequest)
	for ask(t, h, "GET", "/faults", "").body != `{"faults":{"pages":{"delay":"1h0m0s"}},"waiting":{"pages":1}}`+"\n" {
	}
	_ = c.Close()
	for !strings.HasSuffix(ask(t, h, "GET", "/faults", "").body, `"waiting":{}}`+"\n") {
	}
}

// TestAdminRefuses checks that nobody unauthorized can change anything.
func TestAdminRefuses(t *testing.T) {
	h := start(t, Config{Admin: true})
	kept := Fault{Status: 418, Times: 7}
	h.Faults().Set(EndpointLookup, kept)
	u, _ := url.Parse(h.AdminURL())
	root, good := "http://"+u.Host, u.Path
	flipped := good[:43] + string(good[43]^1)
	_, port, _ := net.SplitHostPort(u.Host)
	const drop = `{"drop":true}`
	for name, c := range map[string]struct {
		method, path, body string
		header             []string
		want               int
	}{
		"no secret":             {"PUT", "/faults/token", drop, nil, 404},
		"empty secret":          {"PUT", "//faults/token", drop, nil, 404},
		"wrong secret":          {"PUT", "/" + strings.Repeat("A", 43) + "/faults/token", drop, nil, 404},
		"one bit":               {"PUT", flipped + "/faults/token", drop, nil, 404},
		"a longer one":          {"PUT", good + "A/faults/token", drop, nil, 404},
		"read without it":       {"GET", "/faults", "", nil, 404},
		"a page's origin":       {"PUT", good + "/faults/token", drop, []string{"Origin", "https://evil.example"}, 403},
		"its own origin":        {"PUT", good + "/faults/token", drop, []string{"Origin", root}, 403},
		"origin null":           {"PUT", good + "/faults/token", drop, []string{"Origin", "null"}, 403},
		"another site":          {"DELETE", good + "/faults/lookup", "", []string{"Sec-Fetch-Site", "cross-site"}, 403},
		"the same site":         {"POST", good + "/faults/reset", "", []string{"Sec-Fetch-Site", "same-origin"}, 403},
		"a foreign name":        {"PUT", good + "/faults/token", drop, []string{"Host", "evil.example:" + port}, 421},
		"localhost":             {"PUT", good + "/faults/token", drop, []string{"Host", "localhost:" + port}, 421},
		"the hub's name":        {"POST", good + "/faults/reset", "", []string{"Host", strings.TrimPrefix(h.BaseURL(), "http://")}, 421},
		"a form":                {"POST", good + "/faults/reset", "", []string{"Content-Type", form}, 415},
		"plain text":            {"PUT", good + "/faults/token", drop, []string{"Content-Type", "text/plain"}, 415},
		"no type":               {"POST", good + "/faults/reset", "", []string{"Content-Type", ""}, 415},
		"a megabyte":            {"PUT", good + "/faults/token", drop + strings.Repeat(" ", 1<<20), nil, 413},
		"reset by a megabyte":   {"POST", good + "/faults/reset", strings.Repeat(" ", 1<<20), nil, 400},
		"unknown endpoint":      {"PUT", good + "/faults/everything", drop, nil, 404},
		"unknown, delete":       {"DELETE", good + "/faults/everything", "", nil, 404},
		"all at once":           {"PUT", good + "/faults", drop, nil, 404},
		"another method":        {"POST", good + "/faults/token", drop, nil, 404},
		"reset by reading":      {"GET", good + "/faults/reset", "", nil, 404},
		"not JSON":              {"PUT", good + "/faults/token", "drop", nil, 400},
		"nothing":               {"PUT", good + "/faults/token", "", nil, 400},
		"null":                  {"PUT", good + "/faults/token", "null", nil, 400},
		"an array":              {"PUT", good + "/faults/token", "[" + drop + "]", nil, 400},
		"half an object":        {"PUT", good + "/faults/token", drop[:8], nil, 400},
		"two objects":           {"PUT", good + "/faults/token", drop + drop, nil, 400},
		"an unknown field":      {"PUT", good + "/faults/token", `{"drop":true,"explode":true}`, nil, 400},
		"an unknown one, off":   {"PUT", good + "/faults/token", `{"drop":true,"explode":false}`, nil, 400},
		"a value in a name":     {"PUT", good + "/faults/token", `{"status=503":true}`, nil, 400},
		"another spelling":      {"PUT", good + "/faults/token", `{"retry-after":"30s","status":503}`, nil, 400},
		"a wrong type":          {"PUT", good + "/faults/token", `{"drop":"yes"}`, nil, 400},
		"a fault that is none":  {"PUT", good + "/faults/token", `{}`, nil, 400},
		"drop false":            {"PUT", good + "/faults/token", `{"drop":false}`, nil, 400},
		"a status of nobody":    {"PUT", good + "/faults/token", `{"status":1000}`, nil, 400},
		"a header of two lines": {"PUT", good + "/faults/token", `{"content_type":"a\r\nX: y"}`, nil, 400},
		"both":                  {"PUT", good + "/faults/token", `{"drop":true,"status":500}`, nil, 400},
		"reset with more":       {"POST", good + "/faults/reset", drop, nil, 400},
	} {
		header := append([]string{"Content-Type", "application/json"}, c.header...)
		a, err := try(t, newClient(t), c.method, root+c.path, c.body, header...)
		if err != nil || a.status != c.want || errorCode(t, a) == "" {
			t.Errorf("%s: %d, want %d; %v %s", name, a.status, c.want, err, a.body)
		}
		if strings.Contains(a.body+a.header.Get("Location"), good[1:]) {
			t.Errorf("%s: tells the secret", name)
		}
		if a.header.Get("Access-Control-Allow-Origin") != "" || a.header.Get("X-Content-Type-Options") != "nosniff" || a.header.Get("Referrer-Policy") != "no-referrer" {
			t.Errorf("%s: %v", name, a.header)
		}
		if all := h.Faults().state().Faults; len(all) != 1 || all[EndpointLookup] != kept {
			t.Fatalf("%s: changed something: %+v", name, all)
		}
	}
}

func FuzzAdminFault(f *testing.F) {
	h := must.Get(Start(f.Context(), Config{Admin: true}))(f)
	f.Cleanup(func() { _ = h.Close() })
	for _, s := range []string{`{"drop":true}`, `{"delay":"1s","times":3}`, `{"slow":"1/1s"}`, `{"body":"cut"}`, `{"status":"x"}`, `[]`, ``, `{"times":1e9}`} {
		f.Add(s)
	}
	c := newClient(f)
	f.Fuzz(func(t *testing.T, body string) {
		h.Faults().Clear(EndpointLookup)
		a := do(t, c, "PUT", h.AdminURL()+"/faults/lookup", body, "Content-Type", "application/json")
		set := h.Faults().state().Faults
		if (a.status == 200) != (len(set) == 1) || a.status != 200 && a.status != 400 && a.status != 413 {
			t.Fatalf("%d %+v", a.status, set)
		}
		if a.status != 200 {
			return
		}
		if _, y, err := ParseFault("lookup:" + set[EndpointLookup].String()); err != nil || y != set[EndpointLookup] {
			t.Errorf("%+v, %v", set, err)
		}
	})
}
