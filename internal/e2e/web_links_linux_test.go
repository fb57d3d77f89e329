package e2e

import (
	"context"
	"fmt"
	"net/http"
	"net/http/httptest"
	"net/url"
	"os"
	"path/filepath"
	"testing"
	"time"

	"github.com/chromedp/chromedp"

	"wiebelt/internal/testutil/must"
)

// attacker serves testdata/web, and redirects from /to?ADDRESS.
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

// TestLaunchesFromPages: a page in a browser on the desktop launches wiebelt: links, which
// the user has allowed permanently, through the registration of "wiebelt register". An
// active call is unaffected, nothing is looked up, and only one card in ten seconds appears.
func TestLaunchesFromPages(t *testing.T) {
	t.Parallel()
	o := prepare(t, "[card]\nfull_for = \"10m\"")
	live := startSimulated(t, o, "baresip", "0 ring a number=\"+31698760011\" line=\"101\"\n+3600 end a\n")
	live.setUp(o)
	o.run("register")
	ended := filepath.Join(o.Dir, "ended")
	notes := o.opener("/usr/bin/xdg-open \"$1\"; echo $? >> " + ended)
	web := attacker(t)
	data := filepath.Join(t.TempDir(), "chromium")
	must.Do(t, os.MkdirAll(filepath.Join(data, "Default"), 0o700))
	// A click on "always allow" stores this.
	always := fmt.Sprintf(`{"protocol_handler":{"allowed_origin_protocol_pairs":{%q:{"wiebelt":true}}}}`, web.URL)
	must.Do(t, os.WriteFile(filepath.Join(data, "Default", "Preferences"), []byte(always), 0o600))
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

	o.start()
	found := foundCard(t, "+31698760011", "sip:101@127.0.0.1", vries.Contact)
	o.shows("the card of the call", found)
	watcher := watchCards(t, o)
	const same = "wiebelt:call?number=%2B31698760011"
	launch(same, same+"&state=answered", same+"&state=ended", same+"&id=1&state=answered",
		"wiebelt:call?number=0698700003&state=ended", "wiebelt:open?number=0698700004")
	o.shows("the same card of the call", found)
	others := []string{"wiebelt:call?id=1&number=0698700001", "wiebelt://call?number=0698700002&name=Iemand&line=1",
		"wiebelt:call?number=0698700005", "wiebelt:call?number=0698700006", "WIEBELT:call?number=0698700007", "wiebelt:call?number=0698700008"}
	began := time.Now()
	for n := 0; watcher.rises.Load() < 2 && time.Since(began) < must.Patience; n++ {
		if n == len(others) {
			others = append(others, fmt.Sprintf("wiebelt:call?number=06987001%02d", n%100))
		}
		launch(others[n])
	}
	live.hangUp(t)
	seen := watcher.stop()

	if seen.most > 3 {
		t.Errorf("%d windows of cards at once", seen.most)
	}
	if len(seen.rose) != 2 {
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
	o.Until("one resident", func() bool { return residents(o) == 1 }) // a launch ends before its program does
	// Its button starts the lookup, and makes it a past call.
	cards := watcher.cards()
	if len(cards) == 0 {
		t.Fatal("no card")
	}
	last := cards[len(cards)-1] // on a slow machine the first may have the number that was looked up
	at := blue(o.look(last)).Add(last.Min)
	o.Move(at.X, at.Y)
	meant()
	o.Click(at.X, at.Y, 1)
	o.Until("a lookup", func() bool { return o.hub.Stats().Lookups == 2 })
	o.Until("a second call in the history", func() bool { return len(callsOf(t, o)) == 2 })
}
