package e2e

import (
	"fmt"
	"net/http"
	"strings"
	"syscall"
	"testing"

	"wiebelt/internal/simulate"
)

// TestRefusedBeforeAnythingElse: what a web page can send never becomes a card.
func TestRefusedBeforeAnythingElse(t *testing.T) {
	t.Parallel()
	o := newOffice(t, "")
	a := o.at()
	base := fmt.Sprintf("http://127.0.0.1:%d", a.Port)
	for name, c := range map[string]struct {
		path   string
		header http.Header
		host   string
	}{
		"foreign origin":  {"/v1/events", http.Header{"Origin": {"https://evil.example"}, "Authorization": {"Bearer " + a.Token}}, ""},
		"null origin":     {"/v1/events", http.Header{"Origin": {"null"}, "Authorization": {"Bearer " + a.Token}}, ""},
		"rebinding host":  {"/v1/events", http.Header{"Authorization": {"Bearer " + a.Token}}, "evil.example"},
		"no token":        {"/v1/events", http.Header{}, ""},
		"wrong token":     {"/v1/events", http.Header{"Authorization": {"Bearer " + strings.Repeat("A", 43)}}, ""},
		"GET without":     {"/v1/call?number=0612345678", http.Header{}, ""},
		"GET wrong path":  {"/v1/call/" + strings.Repeat("A", 43) + "?number=0612345678", http.Header{}, ""},
		"GET from a page": {"/v1/call?number=0612345678", http.Header{"Sec-Fetch-Site": {"cross-site"}, "Authorization": {"Bearer " + a.Token}}, ""},
		"prefetch":        {"/v1/call?number=0612345678", http.Header{"Sec-Purpose": {"prefetch"}, "Authorization": {"Bearer " + a.Token}}, ""},
		"GET rebinding":   {"/v1/call?number=0612345678", http.Header{"Authorization": {"Bearer " + a.Token}}, "evil.example"},
	} {
		r, err := http.NewRequestWithContext(t.Context(), http.MethodGet, base+c.path, nil)
		if err != nil {
			t.Fatal(err)
		}
		r.Header = c.header
		if strings.HasSuffix(c.path, "events") {
			for k, v := range map[string]string{"Connection": "Upgrade", "Upgrade": "websocket", "Sec-WebSocket-Version": "13",
				"Sec-WebSocket-Key": "dGhlIHNhbXBsZSBub25jZQ==", "Sec-WebSocket-Protocol": "wiebelt.v1"} {
				r.Header.Set(k, v)
			}
		}
		r.Host = c.host
		resp, err := http.DefaultClient.Do(r)
		if err != nil {
			t.Fatalf("%s: %v", name, err)
		}
		_ = resp.Body.Close()
		if resp.StatusCode < 400 || resp.StatusCode >= 500 {
			t.Errorf("%s: status %d", name, resp.StatusCode)
		}
	}
	if !o.empty() {
		t.Error("a card came up")
	}
	if n := o.hub.Stats().Lookups; n != 0 {
		t.Errorf("%d lookups", n)
	}
	// The same way in works for those who may.
	if err := dial(o).Ring(t.Context(), simulate.Call{ID: "1", Number: "+31698760011"}); err != nil {
		t.Fatal(err)
	}
	o.shows("a card for a good call", foundCard(t, "+31698760011", "", vries.Contact))
}

// TestHostileArguments gives the program what a hostile caller or page could:
// a clear error or a cleaned card, never a crash, never something opened.
func TestHostileArguments(t *testing.T) {
	t.Parallel()
	o := newOffice(t, "")
	notes := o.opener("exit 0")
	hostile := []string{"", " ", "anonymous", "%CallerNumber%", "{phone}", "--help", "-x", "--profile", "$(id)", "`id`", "; rm -rf x", "'", "\"", "\\", "\n", "\t0612345678", "0612345678\r\nX: y",
		"\u202e87654321600", "０６１２３４５６７８", strings.Repeat("9", 100_000), strings.Repeat("é", 5000), "sip:evil@[::1]", "tel:+31;phone-context=" + strings.Repeat("x", 500), "<script>", "file:///etc/passwd", "https://evil.example/", "0612345678 --state ended"}
	code := func(args ...string) int {
		cmd := o.Command(o.bin, args...)
		out, err := cmd.CombinedOutput()
		if strings.Contains(string(out), "panic") || strings.Contains(string(out), "goroutine") {
			t.Errorf("%q: %s", args, out)
		}
		if err != nil && cmd.ProcessState == nil {
			t.Fatalf("%q: %v", args, err)
		}
		return cmd.ProcessState.ExitCode()
	}
	for _, h := range hostile {
		if c := code("ring", "--profile", o.profile, "--", h); c != 0 {
			t.Errorf("ring -- %.40q: exit %d", h, c)
		}
		if c := code("ring", "--profile", o.profile, "--name", "n"+h, "--id", "i"+h, "--via", "v"+h, "--", "0612345678"); c != 0 {
			t.Errorf("ring --name %.40q: exit %d", h, c)
		}
		if c := code("open-url", "--profile", o.profile, "--", h); c != 2 {
			t.Errorf("open-url -- %.40q: exit %d", h, c)
		}
	}
	if c := code("ring", "--no-such-flag", "--", "0612345678"); c != 2 {
		t.Errorf("unknown flag: exit %d", c)
	}
	for _, args := range [][]string{{}, {"wiebelt:call?number=1"}, {"--", "wiebelt:call?number=0612345678", "x"}, {"--", "-x", "--"}, {"--profile", `\\evil\share`, "--", "wiebelt:call?number=0612345678"},
		{"--profile", "relative", "--", "wiebelt:call?number=0612345678"}, {"--state", "ended", "--", "wiebelt:call?number=0612345678"},
		{"--", "wiebelt:call?state=ended&number=0612345678"}, {"--", "wiebelt:open?number=0612345678"}, {"--", "http://evil.example"}, {"--", "wiebelt:call?number=" + strings.Repeat("1", 1<<20)[:100_000]}} {
		if c := code(append([]string{"open-url"}, args...)...); c != 2 {
			t.Errorf("open-url %.80q: exit %d", args, c)
		}
	}
	if err := o.resident.Process.Signal(syscall.Signal(0)); err != nil {
		t.Fatal("the resident has gone")
	}
	if n := len(opened(notes)); n != 0 {
		t.Errorf("%d addresses were opened", n)
	}
}
