package localhub

import (
	"encoding/json"
	"net/url"
	"strings"
	"testing"

	"wiebelt/internal/testutil/must"
)

func ask(t testing.TB, h *Hub, method, path, body string) answer {
	t.Helper()
	return do(t, newClient(t), method, h.AdminURL()+path, body)
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
		do(t, newClient(t), "GET", address, "").is(t, 404, "another port")
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
	if a := ask(t, h, "PUT", "/faults/token", `{"drop":true}`); a.status != 200 || !strings.Contains(a.body, `"token":{"drop":true}`) {
		t.Errorf("%+v", a)
	}
	if a := ask(t, h, "DELETE", "/faults/lookup", ""); a.status != 200 || strings.Contains(a.body, "lookup") {
		t.Errorf("%+v", a)
	}
	lookup(t, h, tok, "0201234567").is(t, 200, "mended")
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
	const drop = `{"drop":true}`
	for name, c := range map[string]struct {
		method, path, body string
		want               int
	}{
		"no secret":            {"PUT", "/faults/token", drop, 404},
		"empty secret":         {"PUT", "//faults/token", drop, 404},
		"wrong secret":         {"PUT", "/" + strings.Repeat("A", 43) + "/faults/token", drop, 404},
		"one bit":              {"PUT", flipped + "/faults/token", drop, 404},
		"a longer one":         {"PUT", good + "A/faults/token", drop, 404},
		"read without it":      {"GET", "/faults", "", 404},
		"a megabyte":           {"PUT", good + "/faults/token", drop + strings.Repeat(" ", 1<<20), 413},
		"reset by a megabyte":  {"POST", good + "/faults/reset", strings.Repeat(" ", 1<<20), 400},
		"unknown endpoint":     {"PUT", good + "/faults/everything", drop, 404},
		"another method":       {"POST", good + "/faults/token", drop, 404},
		"not JSON":             {"PUT", good + "/faults/token", "drop", 400},
		"an array":             {"PUT", good + "/faults/token", "[" + drop + "]", 400},
		"half an object":       {"PUT", good + "/faults/token", drop[:8], 400},
		"two objects":          {"PUT", good + "/faults/token", drop + drop, 400},
		"an unknown field":     {"PUT", good + "/faults/token", `{"drop":true,"explode":true}`, 400},
		"an unknown one, off":  {"PUT", good + "/faults/token", `{"drop":true,"explode":false}`, 400},
		"a value in a name":    {"PUT", good + "/faults/token", `{"status=503":true}`, 400},
		"another spelling":     {"PUT", good + "/faults/token", `{"retry-after":"30s","status":503}`, 400},
		"a wrong type":         {"PUT", good + "/faults/token", `{"drop":"yes"}`, 400},
		"a fault that is none": {"PUT", good + "/faults/token", `{}`, 400},
		"reset with more":      {"POST", good + "/faults/reset", drop, 400},
	} {
		a, err := try(t, newClient(t), c.method, root+c.path, c.body)
		if err != nil || a.status != c.want || errorCode(t, a) == "" {
			t.Errorf("%s: %d, want %d; %v %s", name, a.status, c.want, err, a.body)
		}
		if strings.Contains(a.body+a.header.Get("Location"), good[1:]) {
			t.Errorf("%s: tells the secret", name)
		}
		if a.header.Get("Access-Control-Allow-Origin") != "" || a.header.Get("X-Content-Type-Options") != "nosniff" {
			t.Errorf("%s: %v", name, a.header)
		}
		if all := h.Faults().state().Faults; len(all) != 1 || all[EndpointLookup] != kept {
			t.Fatalf("%s: changed something: %+v", name, all)
		}
	}
}
