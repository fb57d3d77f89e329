package e2e

import (
	"bytes"
	"context"
	"crypto/rand"
	"errors"
	"fmt"
	"net"
	"net/http"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"sync"
	"testing"
	"time"

	"github.com/chromedp/chromedp"

	"wiebelt/internal/config/profile"
	"wiebelt/internal/config/secret"
	"wiebelt/internal/simulate"
)

// wire is a relay between a browser and the listener that notes each request's
// first line with its answer's, so that "no card" is known to mean refused and
// not never sent.
type wire struct {
	*relay
	mu  sync.Mutex // protects all
	all []*passed
}

type passed struct{ request, status []byte } // first lines

func newWire(t *testing.T, port int) *wire {
	t.Helper()
	w := &wire{}
	w.relay = newRelay(t, fmt.Sprintf("127.0.0.1:%d", port), func() (sent, got func([]byte)) {
		p := &passed{}
		w.mu.Lock()
		w.all = append(w.all, p)
		w.mu.Unlock()
		note := func(line *[]byte) func([]byte) {
			return func(b []byte) {
				w.mu.Lock()
				defer w.mu.Unlock()
				if !bytes.Contains(*line, []byte("\n")) {
					*line = append(*line, b...)
				}
			}
		}
		return note(&p.request), note(&p.status)
	})
	return w
}

// answers are the statuses that the requests whose first line contains what have
// got; "" for one without an answer yet.
func (w *wire) answers(what string) []string {
	w.mu.Lock()
	defer w.mu.Unlock()
	var all []string
	for _, p := range w.all {
		request, _, _ := bytes.Cut(p.request, []byte("\n"))
		line, _, whole := bytes.Cut(p.status, []byte("\n"))
		if !bytes.Contains(request, []byte(what)) {
			continue
		}
		status := ""
		if f := strings.Fields(string(line)); whole && len(f) > 1 {
			status = f[1]
		}
		all = append(all, status)
	}
	return all
}

// surf is a Chromium of the test's own.
func surf(t *testing.T, more ...chromedp.ExecAllocatorOption) context.Context {
	t.Helper()
	opts := append(chromedp.DefaultExecAllocatorOptions[:], chromedp.NoSandbox, chromedp.UserDataDir(filepath.Join(t.TempDir(), "chromium")))
	ctx, cancelAll := chromedp.NewExecAllocator(t.Context(), append(opts, more...)...)
	ctx, cancel := chromedp.NewContext(ctx)
	if err := chromedp.Do(ctx); err != nil {
		cancel()
		cancelAll()
		t.Fatal(err)
	}
	t.Cleanup(func() {
		_ = chromedp.Cancel(ctx) // closes it and waits
		cancel()
		cancelAll()
	})
	return ctx
}

// visit shows a page. One that goes elsewhere at once is no error.
func visit(t *testing.T, ctx context.Context, address string) {
	t.Helper()
	ctx, cancel := context.WithTimeout(ctx, 20*time.Second)
	defer cancel()
	if err := chromedp.Do(ctx, chromedp.Navigate(address)); err != nil && !errors.Is(err, chromedp.ErrPageLoad) {
		t.Fatalf("%.60s: %v", address, err)
	}
}

func script(t *testing.T, ctx context.Context, js string) {
	t.Helper()
	ctx, cancel := context.WithTimeout(ctx, 20*time.Second)
	defer cancel()
	if _, err := chromedp.Run(ctx, chromedp.Evaluate[bool]("(() => {"+js+"\n;return true})()")); err != nil {
		t.Fatal(err)
	}
}

// attacks are the pages of testdata/web, the answers that the listener gives to
// each, and how many requests a page makes at least. All but those that open the
// listener as a page of its own know the right tokens.
var attacks = []struct {
	page     string
	requests int
	status   string
}{
	{"ws", 1, "403"},
	{"ws-guess", 8, "403"},
	{"ws-names", 2, "403"},
	{"ws-null", 1, "403"},
	{"ws-worker", 1, "403"},
	{"fetch", 1, "403"},
	{"fetch-post", 1, "403"},
	{"fetch-bearer", 1, "403"},
	{"xhr", 1, "403"},
	{"img", 1, "403"},
	{"script", 1, "403"},
	{"style", 2, "403"},
	{"media", 3, "403"},
	{"prefetch", 1, "403"},
	{"speculate", 1, "403"},
	{"preload", 2, "403"},
	{"iframe", 1, "403"},
	{"iframe-sandbox", 1, "403"},
	{"iframe-data", 1, "403"},
	{"form", 1, "403"},
	{"form-frame", 1, "403"},
	{"form-get", 1, "401"},
	{"eventsource", 1, "403"},
	{"beacon", 1, "403"},
	{"worker", 3, "403"},
	{"refresh", 1, "401"},
	{"open", 1, "401"},
	{"navigate", 1, "401"},
	{"top", 1, "401"},
	{"redirect", 1, "403"},
	{"ping", 1, "403"},
}

// TestAttackPages: whatever a web page in a real browser does, no card comes up
// and nothing is looked up, even if the page knows the tokens; a page whose
// origin is allowed is let in.
func TestAttackPages(t *testing.T) {
	t.Parallel()
	web := attacker(t)
	webPort := web.Listener.Addr().(*net.TCPAddr).Port
	allowed := fmt.Sprintf("http://allowed.test:%d", webPort)
	o := newOffice(t, fmt.Sprintf("[listener]\nallowed_origins = [%q]", allowed))
	a := o.at()
	tokens, err := secret.Token(profile.Dirs{Config: o.profile, State: o.profile, Run: filepath.Join(o.profile, "run")})
	if err != nil {
		t.Fatal(err)
	}
	if tokens.Socket != a.Token {
		t.Fatal("not the listener's tokens")
	}
	line := newWire(t, a.Port)
	var rules []string
	for _, host := range []string{"127.0.0.1", "localhost", "[::1]", "evil.test"} {
		rules = append(rules, fmt.Sprintf("MAP %s:%d 127.0.0.1:%d", host, a.Port, line.port()))
	}
	rules = append(rules, "MAP *.test 127.0.0.1")
	ctx := surf(t, chromedp.Flag("host-resolver-rules", strings.Join(rules, ",")))
	knows := fmt.Sprintf("#port=%d&bearer=%s&path=%s", a.Port, tokens.Socket, tokens.Path)

	// What was sent was answered, and in the one way.
	refused := func(name, what string, n int, status string) {
		t.Helper()
		var got []string
		o.Until(name+": the attack reaches the listener", func() bool {
			got = line.answers(what)
			return len(got) >= n && !slices.Contains(got, "")
		}, func() []any { return []any{got} })
		for _, s := range got {
			if s != status {
				t.Errorf("%s: answered %s, want %s", name, s, status)
			}
		}
		if !o.empty() {
			t.Errorf("%s: a card came up", name)
		}
	}
	sent := 0
	for _, p := range attacks {
		visit(t, ctx, fmt.Sprintf("http://evil.test:%d/%s.html%s", webPort, p.page, knows))
		refused(p.page, "a="+p.page+" ", p.requests, p.status)
		sent += len(line.answers("a=" + p.page + " "))
	}

	// From a file, whose origin is "null" too.
	dir := t.TempDir()
	for _, name := range []string{"attack.js", "ws.html"} {
		b, err := os.ReadFile(filepath.Join("testdata/web", name))
		if err != nil {
			t.Fatal(err)
		}
		if err := os.WriteFile(filepath.Join(dir, strings.Replace(name, "ws", "file", 1)), b, 0o600); err != nil {
			t.Fatal(err)
		}
	}
	visit(t, ctx, "file://"+dir+"/file.html"+knows)
	refused("file", "a=file ", 1, "403")

	// After a rebind the listener itself answers under the attacker's name, and
	// his script is of one origin with it.
	rebound := fmt.Sprintf("http://evil.test:%d", a.Port)
	visit(t, ctx, rebound+"/v1/call/"+tokens.Path+"?number=0698760011&a=rebound-page")
	refused("rebound page", "a=rebound-page ", 1, "421")
	script(t, ctx, fmt.Sprintf(`
		const at = "/v1/call/%s?number=0698760011&a=rebound";
		fetch(at); fetch(at, {method: "POST"}); fetch("/v1/call?number=0698760011&a=rebound", {headers: {Authorization: "Bearer %s"}});
		new Image().src = at; navigator.sendBeacon(at); new EventSource(at);
		const s = new WebSocket("ws://" + location.host + "/v1/events?a=rebound", ["wiebelt.v1", "token.%[2]s"]);
		s.onopen = () => s.send('{"event":"call","state":"ringing","number":"0698760011"}');
		if (origin !== %q) throw origin;`, tokens.Path, a.Token, rebound))
	refused("rebound", "a=rebound ", 7, "421")
	sent += len(line.answers("a=rebound"))
	t.Logf("%d pages made %d requests", len(attacks)+3, sent)

	// A thousand guesses of a page that may come in.
	visit(t, ctx, allowed+"/empty.html")
	script(t, ctx, fmt.Sprintf(`(async () => {
		const letters = "ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz0123456789-_";
		for (let i = 0; i < 1000; i += 20) await Promise.all([...Array(20).keys()].map(k => {
			const token = Array.from(crypto.getRandomValues(new Uint8Array(43)), b => letters[b %% 64]).join("");
			return fetch("http://127.0.0.1:%d/v1/call/" + token + "?number=0698760011&a=guess", {method: "POST", mode: "no-cors"});
		}));
	})()`, a.Port))
	refused("guesses", "a=guess ", 1000, "401")

	// Neither history nor hub has seen any of it when the first good call is in
	// both.
	script(t, ctx, fmt.Sprintf(`
		const s = new WebSocket("ws://127.0.0.1:%d/v1/events?a=good", ["wiebelt.v1", "token.%s"]);
		s.onopen = () => s.send('{"event":"call","state":"ringing","number":"0698760011","id":"good"}');`, a.Port, a.Token))
	o.shows("the card of the allowed page", foundCard(t, "0698760011", "", vries.Contact))
	o.Until("the call in the history", func() bool { return len(callsOf(t, o)) > 0 })
	if got := line.answers("a=good "); !slices.Equal(got, []string{"101"}) {
		t.Errorf("the allowed page was answered %q", got)
	}
	if n := len(callsOf(t, o)); n != 1 {
		t.Errorf("%d calls in the history", n)
	}
	if n := o.hub.Stats().Lookups; n != 1 {
		t.Errorf("%d lookups", n)
	}
	script(t, ctx, fmt.Sprintf(`fetch("http://127.0.0.1:%d/v1/call/%s?number=0698760012&a=goodpost", {method: "POST", mode: "no-cors"});`, a.Port, tokens.Path))
	o.Until("a second call", func() bool { return len(callsOf(t, o)) == 2 })
	o.Until("the answer to the allowed page's post", func() bool { return slices.Equal(line.answers("a=goodpost "), []string{"204"}) },
		func() []any { return []any{line.answers("a=goodpost ")} })
}

// TestThousandWrongTokens: no guess is let in by any road, however near, and
// afterwards the right token still is.
func TestThousandWrongTokens(t *testing.T) {
	t.Parallel()
	o := newOffice(t, "")
	tokens, err := secret.Token(profile.Dirs{Config: o.profile, State: o.profile, Run: filepath.Join(o.profile, "run")})
	if err != nil {
		t.Fatal(err)
	}
	var guesses []string
	for _, right := range []string{tokens.Socket, tokens.Path} {
		for i := range right {
			other := byte('A')
			if right[i] == other {
				other = 'B'
			}
			guesses = append(guesses, right[:i]+string(other)+right[i+1:], right[:i])
		}
		guesses = append(guesses, right+"A", right+right, right+"=", strings.ToLower(right), strings.ToUpper(right))
	}
	for len(guesses) < 250 {
		guesses = append(guesses, rand.Text()+rand.Text()[:17])
	}
	base := fmt.Sprintf("http://127.0.0.1:%d", o.at().Port)
	client := &http.Client{Transport: &http.Transport{DisableKeepAlives: true}, Timeout: 10 * time.Second}
	ask := func(path string, header map[string]string) int {
		r, err := http.NewRequestWithContext(t.Context(), http.MethodGet, base+path, nil)
		if err != nil {
			t.Fatal(err)
		}
		for k, v := range header {
			r.Header.Set(k, v)
		}
		resp, err := client.Do(r)
		if err != nil {
			t.Fatal(err)
		}
		_ = resp.Body.Close()
		return resp.StatusCode
	}
	upgrade := func(token, protocol string) map[string]string {
		return map[string]string{"Connection": "Upgrade", "Upgrade": "websocket", "Sec-WebSocket-Version": "13",
			"Sec-WebSocket-Key": "dGhlIHNhbXBsZSBub25jZQ==", "Authorization": token, "Sec-WebSocket-Protocol": protocol}
	}
	tried := 0
	for _, g := range append(guesses, tokens.Path) {
		path := g
		if g == tokens.Path {
			path = tokens.Socket // each token opens its own road only
		}
		for road, status := range map[string]int{
			"websocket": ask("/v1/events", upgrade("Bearer "+g, "wiebelt.v1")),
			"protocol":  ask("/v1/events", upgrade("Bearer "+tokens.Socket, "wiebelt.v1, token."+g)),
			"bearer":    ask("/v1/call?number=0698760011", map[string]string{"Authorization": "Bearer " + g}),
			"path":      ask("/v1/call/"+path+"?number=0698760011", nil),
		} {
			tried++
			if status != http.StatusUnauthorized {
				t.Errorf("%s: a guess of %d characters is answered %d", road, len(g), status)
			}
		}
	}
	if tried < 1000 {
		t.Errorf("tried %d", tried)
	}
	if !o.empty() || o.hub.Stats().Lookups != 0 {
		t.Error("a guess got in")
	}
	if err := dial(o).Ring(t.Context(), simulate.Call{ID: "1", Number: "+31698760011"}); err != nil {
		t.Fatal(err)
	}
	o.shows("the card of a good call", foundCard(t, "+31698760011", "", vries.Contact))
}
