package e2e

import (
	"bytes"
	"context"
	"crypto/rand"
	"errors"
	"fmt"
	"image"
	"net"
	"net/http"
	"net/http/httptest"
	"net/url"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"sync"
	"testing"
	"time"

	"github.com/chromedp/chromedp"
	"github.com/jezek/xgb"
	"github.com/jezek/xgb/xproto"

	"wiebelt/internal/profile"
	"wiebelt/internal/secret"
	"wiebelt/internal/simulate"
	"wiebelt/internal/softphone/phonetest"
)

// relay stands between two programs of a test and passes on what they say. For
// each connection it asks for two ears, of which one hears what is sent to the
// server and the other what comes back, each piece before it is passed on.
type relay struct {
	net.Listener
	to   string
	ears func() (sent, got func([]byte))
	work sync.WaitGroup

	mu    sync.Mutex // protects the rest
	over  bool
	conns []net.Conn
}

func newRelay(t *testing.T, to string, ears func() (sent, got func([]byte))) *relay {
	t.Helper()
	l, err := net.Listen("tcp4", "127.0.0.1:0")
	if err != nil {
		t.Fatal(err)
	}
	r := &relay{Listener: l, to: to, ears: ears}
	r.work.Go(func() {
		for {
			c, err := l.Accept()
			if err != nil {
				return
			}
			r.work.Go(func() { r.pass(c) })
		}
	})
	t.Cleanup(func() {
		_ = l.Close()
		r.mu.Lock()
		r.over = true
		for _, c := range r.conns {
			_ = c.Close()
		}
		r.mu.Unlock()
		r.work.Wait()
	})
	return r
}

func (r *relay) port() int { return r.Addr().(*net.TCPAddr).Port }

func (r *relay) pass(c net.Conn) {
	defer c.Close()
	d, err := net.Dial("tcp4", r.to)
	if err != nil {
		return
	}
	defer d.Close()
	r.mu.Lock()
	over := r.over
	r.conns = append(r.conns, c, d)
	r.mu.Unlock()
	if over {
		return
	}
	sent, got := r.ears()
	var both sync.WaitGroup
	both.Go(func() { hear(d, c, sent) })
	both.Go(func() { hear(c, d, got) })
	both.Wait()
}

// hear passes on what comes from one side until either has had enough.
func hear(to, from net.Conn, ear func([]byte)) {
	defer to.Close()
	defer from.Close()
	b := make([]byte, 32<<10)
	for {
		n, err := from.Read(b)
		if n > 0 {
			ear(b[:n])
			if _, e := to.Write(b[:n]); e != nil {
				return
			}
		}
		if err != nil {
			return
		}
	}
}

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
	if got := line.answers("a=goodpost "); !slices.Equal(got, []string{"204"}) {
		t.Errorf("the allowed page's post was answered %q", got)
	}
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

// attacker serves testdata/web, and sends on from /to?ADDRESS.
func attacker(t *testing.T) *httptest.Server {
	t.Helper()
	files := http.FileServer(http.Dir("testdata/web"))
	web := httptest.NewServer(http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		if r.URL.Path == "/to" {
			to, _ := url.QueryUnescape(r.URL.RawQuery)
			w.Header().Set("Location", to)
			w.WriteHeader(http.StatusFound)
			return
		}
		files.ServeHTTP(w, r)
	}))
	t.Cleanup(web.Close)
	return web
}

// TestLaunchesFromPages: a page in a browser on the desktop launches wiebelt:
// links, of which the user said that they always open, through the registration
// that "wiebelt register" makes. A call that is on stays as it is, nothing is
// looked up, and only one card in ten seconds and three in a minute come up.
func TestLaunchesFromPages(t *testing.T) {
	t.Parallel()
	sip, control := phonetest.StartBaresip(t)
	o := newOffice(t, "[[softphone]]\nkind = \"baresip\"\nname = \"baresip\"\naddress = \""+control+"\"\n[card]\nfull_for = \"10m\"")
	o.Until("the link is up", func() bool { return strings.Contains(o.log.String(), "state=connected") })
	if out, err := o.wiebelt("register").CombinedOutput(); err != nil {
		t.Fatalf("register: %v: %s", err, out)
	}
	ended := filepath.Join(o.Dir, "ended")
	notes := o.opener("/usr/bin/xdg-open \"$1\"; echo $? >> " + ended)
	web := attacker(t)
	data := filepath.Join(t.TempDir(), "chromium")
	if err := os.MkdirAll(filepath.Join(data, "Default"), 0o700); err != nil {
		t.Fatal(err)
	}
	// What is left of a click on "always allow".
	always := fmt.Sprintf(`{"protocol_handler":{"allowed_origin_protocol_pairs":{%q:{"wiebelt":true}}}}`, web.URL)
	if err := os.WriteFile(filepath.Join(data, "Default", "Preferences"), []byte(always), 0o600); err != nil {
		t.Fatal(err)
	}
	ctx := surf(t, chromedp.UserDataDir(data), chromedp.Flag("headless", false), chromedp.NoInheritEnv,
		chromedp.Env(append(o.Env(), "PATH="+o.Dir+":"+os.Getenv("PATH"))...), chromedp.WindowSize(800, 700))
	visit(t, ctx, web.URL+"/launch.html")
	sent := 0
	launch := func(links ...string) {
		t.Helper()
		for _, l := range links {
			script(t, ctx, fmt.Sprintf("links.push(%q)", l))
			ctx, cancel := context.WithTimeout(ctx, 20*time.Second)
			err := chromedp.Do(ctx, chromedp.MouseClickXY(100, 100))
			cancel()
			if err != nil {
				t.Fatal(err)
			}
			sent++
			o.Until("the browser launches the link", func() bool { return len(opened(notes)) == sent })
		}
		o.Until("every launch is over", func() bool { return len(opened(ended)) == sent })
	}

	const ring = 20 * time.Second // gone before the third card of a launch
	live := phonetest.Place(t, sip, phonetest.Scenario{Number: "+31698760011", Ring: ring})
	o.shows("the card of the call", foundCard(t, "+31698760011", "sip:101@127.0.0.1", vries.Contact))
	eyes := watchCards(t, o)
	began := time.Now()
	const same = "wiebelt:call?number=%2B31698760011"
	launch(same, same+"&state=answered", same+"&state=ended", same+"&id=1&state=answered", "wiebelt:call?id=1&number=0698700001",
		"wiebelt://call?number=0698700002&name=Iemand&line=1", "wiebelt:call?number=0698700003&state=ended", "wiebelt:open?number=0698700004",
		"wiebelt:call?number=0698700005", "wiebelt:call?number=0698700006", "WIEBELT:call?number=0698700007", "wiebelt:call?number=0698700008")
	quick := time.Since(began)
	o.shows("the same card of the call", foundCard(t, "+31698760011", "sip:101@127.0.0.1", vries.Contact))
	if quick > ring-2*time.Second {
		t.Fatalf("%d launches took %v", sent, quick)
	}
	for n := 0; time.Since(began) < 35*time.Second; n++ { // time enough for a fourth
		launch(fmt.Sprintf("wiebelt:call?number=06987001%02d", n%100))
	}
	live.Wait()
	seen := eyes.stop()

	t.Logf("%d launches in %v (the first 12 in %v): cards came at %v", sent, time.Since(began).Round(time.Second), quick.Round(time.Millisecond), seen.rose)
	if seen.most > 3 {
		t.Errorf("%d windows of cards at once", seen.most)
	}
	if len(seen.rose) != 3 {
		t.Errorf("%d cards came by launches", len(seen.rose))
	}
	for i := 1; i < len(seen.rose); i++ {
		if d := seen.rose[i] - seen.rose[i-1]; d < 9800*time.Millisecond {
			t.Errorf("two cards within %v", d)
		}
	}
	if n := len(callsOf(t, o)); n != 1 {
		t.Errorf("%d calls in the history, want the real one", n)
	}
	if n := o.hub.Stats().Lookups; n != 1 {
		t.Errorf("%d lookups, want the real call's", n)
	}
	if n := residents(o); n != 1 {
		t.Errorf("%d residents", n)
	}
	// Its button looks up, and makes it a call that was.
	cards := eyes.cards()
	if len(cards) == 0 {
		t.Fatal("no card")
	}
	at := blue(o.look(cards[0])).Add(cards[0].Min)
	o.Move(at.X, at.Y)
	meant()
	o.Click(at.X, at.Y, 1)
	o.Until("a lookup", func() bool { return o.hub.Stats().Lookups == 2 })
	o.Until("a second call in the history", func() bool { return len(callsOf(t, o)) == 2 })
}

// blue is the middle of a card's primary button.
func blue(card *image.RGBA) image.Point {
	var at image.Rectangle
	for y := range card.Rect.Dy() {
		for x := 8; x < card.Rect.Dx(); x++ {
			if has(card, x, y, 0x0B, 0x6B, 0xCB) && y > card.Rect.Dy()/2 {
				at = at.Union(image.Rect(x, y, x+1, y+1))
			}
		}
	}
	return at.Min.Add(at.Size().Div(2))
}

// eyes watch the windows of cards on a screen.
type eyes struct {
	t    *testing.T
	conn *xgb.Conn
	root xproto.Window
	quit chan struct{}
	done chan struct{}
	seen sight
}

// sight is what eyes saw: the most windows at once, and when there was one more
// than before.
type sight struct {
	most int
	rose []time.Duration
}

func newEyes(t *testing.T, o *office) *eyes {
	t.Helper()
	c, err := xgb.NewConnDisplay(o.Display)
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(c.Close)
	return &eyes{t: t, conn: c, root: xproto.Setup(c).DefaultScreen(c).Root}
}

// watchCards looks every few milliseconds until stop.
func watchCards(t *testing.T, o *office) *eyes {
	t.Helper()
	e := newEyes(t, o)
	e.quit, e.done = make(chan struct{}), make(chan struct{})
	before, began := len(e.cards()), time.Now()
	go func() {
		defer close(e.done)
		tick := time.NewTicker(20 * time.Millisecond)
		defer tick.Stop()
		for {
			select {
			case <-e.quit:
				return
			case <-tick.C:
			}
			n := len(e.cards())
			e.seen.most = max(e.seen.most, n)
			if n > before {
				e.seen.rose = append(e.seen.rose, time.Since(began).Round(time.Millisecond))
			}
			before = n
		}
	}()
	t.Cleanup(func() { e.stop() })
	return e
}

func (e *eyes) stop() sight {
	select {
	case <-e.done:
	default:
		close(e.quit)
		<-e.done
	}
	return e.seen
}

// cards are the places of the cards' windows, the lowest first. A line that
// counts further calls is one too.
func (e *eyes) cards() []image.Rectangle {
	tree, err := xproto.QueryTree(e.conn, e.root).Reply()
	if err != nil {
		e.t.Error(err)
		return nil
	}
	type asked struct {
		attributes xproto.GetWindowAttributesCookie
		geometry   xproto.GetGeometryCookie
	}
	var all []asked
	for _, w := range tree.Children {
		all = append(all, asked{xproto.GetWindowAttributes(e.conn, w), xproto.GetGeometry(e.conn, xproto.Drawable(w))})
	}
	var cards []image.Rectangle
	for _, a := range all {
		at, err := a.attributes.Reply()
		g, err2 := a.geometry.Reply()
		if err != nil || err2 != nil || at.MapState != xproto.MapStateViewable || !at.OverrideRedirect || g.Width != cardWidth {
			continue // a window may have gone meanwhile
		}
		r := image.Rect(0, 0, int(g.Width), int(g.Height)).Add(image.Pt(int(g.X), int(g.Y)))
		if r.Min.X == width-16-cardWidth {
			cards = append(cards, r)
		}
	}
	slices.SortFunc(cards, func(a, b image.Rectangle) int { return b.Max.Y - a.Max.Y })
	return cards
}

const cardWidth = 380
