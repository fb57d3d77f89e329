package e2e

import (
	"bytes"
	"context"
	"errors"
	"fmt"
	"net"
	"os"
	"path/filepath"
	"slices"
	"strconv"
	"strings"
	"sync"
	"testing"
	"time"

	"github.com/chromedp/chromedp"

	"wiebelt/internal/config/profile"
	"wiebelt/internal/config/secret"
	"wiebelt/internal/testutil/must"
)

// requestLog is a proxy between a browser and the listener that records
// each request's first line and that of its answer, so that "no card" is
// known to mean that the request was refused, not that it was never sent.
type requestLog struct {
	*relay
	mu  sync.Mutex // protects all
	all []*passed
}

type passed struct {
	request, status []byte // first lines
	ended           bool
}

func newRequestLog(t *testing.T, port int) *requestLog {
	t.Helper()
	w := &requestLog{}
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
		answer := note(&p.status)
		return note(&p.request), func(b []byte) {
			answer(b)
			w.mu.Lock()
			defer w.mu.Unlock()
			p.ended = b == nil
		}
	})
	return w
}

// answers returns the statuses of the requests whose first line contains
// what; "" for one not yet answered. It omits requests whose connection ended
// first: the browser had cancelled them, or retries over another connection.
func (w *requestLog) answers(what string) []string {
	w.mu.Lock()
	defer w.mu.Unlock()
	var all []string
	for _, p := range w.all {
		request, _, _ := bytes.Cut(p.request, []byte("\n"))
		line, _, whole := bytes.Cut(p.status, []byte("\n"))
		if !bytes.Contains(request, []byte(what)) || p.ended && !whole {
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

// surf starts a separate Chromium, with rules for its name resolution.
func surf(t *testing.T, rules string) context.Context {
	t.Helper()
	ctx, cancelAll := chromedp.NewExecAllocator(t.Context(), append(chromedp.DefaultExecAllocatorOptions[:], chromedp.NoSandbox,
		chromedp.UserDataDir(filepath.Join(t.TempDir(), "chromium")), chromedp.Flag("host-resolver-rules", rules))...)
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

// visit opens a page. A page that redirects at once is no error.
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
	must.Get(chromedp.Run(ctx, chromedp.Evaluate[bool]("(() => {"+js+"\n;return true})()")))(t)
}

// attacks has the pages of testdata/web, with the minimum number of requests of each if
// more than one. They know the right tokens, except those that open the listener as a
// page of its own (asPages).
const (
	attacks = "ws ws-guess=8 ws-names=2 ws-null ws-worker fetch fetch-post fetch-bearer xhr img script style=2 media=3 prefetch speculate preload=2 " +
		"iframe iframe-sandbox iframe-data form form-frame form-get eventsource beacon worker=3 refresh open navigate top redirect ping"
	asPages = "form-get refresh open navigate top"
)

// TestAttackPages: whatever a web page in a real browser does, no card appears
// and nothing is looked up, even if the page knows the tokens; a page with an
// allowed origin is accepted.
func TestAttackPages(t *testing.T) {
	t.Parallel()
	web := attacker(t)
	webPort := web.Listener.Addr().(*net.TCPAddr).Port
	allowed := fmt.Sprintf("http://allowed.test:%d", webPort)
	o := newOffice(t, fmt.Sprintf("[listener]\nallowed_origins = [%q]", allowed))
	a := o.at()
	tokens := must.Get(secret.EnsureTokens(profile.Dirs{Config: o.profile, State: o.profile, Run: filepath.Join(o.profile, "run")}))(t)
	if tokens.Socket != a.Token {
		t.Fatal("not the listener's tokens")
	}
	line := newRequestLog(t, a.Port)
	var rules []string
	for _, host := range []string{"127.0.0.1", "localhost", "[::1]", "evil.test"} {
		rules = append(rules, fmt.Sprintf("MAP %s:%d 127.0.0.1:%d", host, a.Port, line.port()))
	}
	rules = append(rules, "MAP *.test 127.0.0.1")
	ctx := surf(t, strings.Join(rules, ","))
	knows := fmt.Sprintf("#port=%d&bearer=%s&path=%s", a.Port, tokens.Socket, tokens.Path)

	// All requests were answered, in the only permitted way.
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
	for _, p := range strings.Fields(attacks) {
		page, times, _ := strings.Cut(p, "=")
		n, _ := strconv.Atoi(times)
		status := "403"
		if slices.Contains(strings.Fields(asPages), page) {
			status = "401"
		}
		visit(t, ctx, fmt.Sprintf("http://evil.test:%d/%s.html%s", webPort, page, knows))
		refused(page, "a="+page+" ", max(n, 1), status)
	}

	// From a file, whose origin is "null" too.
	dir := t.TempDir()
	for _, name := range []string{"attack.js", "ws.html"} {
		b := must.Get(os.ReadFile(filepath.Join("testdata/web", name)))(t)
		must.Do(t, os.WriteFile(filepath.Join(dir, strings.Replace(name, "ws", "file", 1)), b, 0o600))
	}
	visit(t, ctx, "file://"+dir+"/file.html"+knows)
	refused("file", "a=file ", 1, "403")

	// After a rebind, the listener itself answers under the attacker's name, and the
	// attacker's script has the same origin.
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

	visit(t, ctx, allowed+"/empty.html")
	// Neither history nor hub has seen any of it once the first valid call is in both.
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
