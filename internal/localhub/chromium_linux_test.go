package localhub_test

import (
	"bytes"
	"context"
	"fmt"
	"net/http"
	"net/http/httptest"
	"net/url"
	"os"
	"os/exec"
	"path/filepath"
	"slices"
	"strconv"
	"strings"
	"sync"
	"testing"
	"time"

	"github.com/chromedp/cdproto/audits"
	cdplog "github.com/chromedp/cdproto/log"
	"github.com/chromedp/cdproto/network"
	"github.com/chromedp/cdproto/page"
	"github.com/chromedp/cdproto/runtime"
	"github.com/chromedp/chromedp"
	"golang.org/x/sys/unix"

	"wiebelt/internal/localhub"
)

// chromium is Debian's browser with a fresh profile. What a page does that none
// of ours may do fails the test when the browser ends.
type chromium struct {
	t    *testing.T
	ctx  context.Context
	home string // holds all it writes, and stands in the command line of its processes

	news chan struct{} // told of each complaint

	mu    sync.Mutex
	wrong []string // errors, violations of the policy, dialogs
}

// stepTime is how long one step in the browser may take.
const stepTime = time.Minute

func startChromium(t *testing.T) *chromium {
	t.Helper()
	return startChromiumIn(t, t.TempDir())
}

func startChromiumIn(t *testing.T, home string) *chromium {
	t.Helper()
	opts := append(chromedp.DefaultExecAllocatorOptions[:], chromedp.NoSandbox, chromedp.UserDataDir(filepath.Join(home, "profile")),
		chromedp.Env("XDG_CONFIG_HOME="+home, "XDG_CACHE_HOME="+home)) // crash reports go there
	all, cancelAll := chromedp.NewExecAllocator(context.Background(), opts...)
	ctx, cancel := chromedp.NewContext(all)
	c := &chromium{t: t, ctx: ctx, home: home, news: make(chan struct{}, 1)}
	t.Cleanup(func() {
		c.end()
		cancel()
		cancelAll()
	})
	if err := chromedp.Listen(ctx, c.heard); err != nil {
		t.Fatal(err)
	}
	if _, err := chromedp.Call(ctx, audits.Enable, struct{}{}); err != nil {
		t.Fatal(err)
	}
	c.speaks("nl")
	return c
}

// heard judges what happens in the browser.
func (c *chromium) heard(ev any) {
	switch e := ev.(type) {
	case *runtime.EventExceptionThrown:
		c.complain("script error: " + e.ExceptionDetails.Text)
	case *runtime.EventConsoleAPICalled:
		c.complain("console: a page said something")
	case *cdplog.EventEntryAdded:
		// A page that answers 404 is noted there too; its parts are looked at below.
		if !strings.HasPrefix(e.Entry.Text, "Failed to load resource") {
			c.complain("log: " + e.Entry.Text)
		}
	case *audits.EventIssueAdded:
		c.complain("issue: " + string(e.Issue.Code))
	case *page.EventJavascriptDialogOpening:
		c.complain("dialog: " + e.Message)
	case *network.EventRequestWillBeSent:
		u, err := url.Parse(e.Request.URL)
		if of, err2 := url.Parse(e.DocumentURL); err != nil || err2 != nil || strings.HasPrefix(u.Scheme, "http") && u.Hostname() != of.Hostname() {
			c.complain("a request to elsewhere")
		}
	case *network.EventResponseReceived:
		if e.Type != network.ResourceTypeDocument && e.Response.Status >= 400 && !strings.HasSuffix(e.Response.URL, "/favicon.ico") {
			c.complain(fmt.Sprintf("a part of a page answers %v", e.Response.Status))
		}
	}
}

func (c *chromium) complain(what string) {
	c.mu.Lock()
	defer c.mu.Unlock()
	c.wrong = append(c.wrong, what)
	select {
	case c.news <- struct{}{}:
	default:
	}
}

// taken gives the complaints so far and forgets them.
func (c *chromium) taken() []string {
	c.mu.Lock()
	defer c.mu.Unlock()
	w := c.wrong
	c.wrong = nil
	return w
}

// end ends the browser by its own handle and sees to it that none of its
// processes is left.
func (c *chromium) end() {
	ours := watch(c.t, c.home)
	ctx, cancel := context.WithTimeout(c.ctx, stepTime)
	defer cancel()
	if err := chromedp.Cancel(ctx); err != nil {
		c.t.Errorf("ending the browser: %v", err)
	}
	ours.gone(c.t)
	for _, w := range c.taken() {
		c.t.Errorf("in the browser: %s", w)
	}
}

// watched are handles of processes, by id.
type watched map[int]int

// watch takes a handle of every process with the folder in its command line.
func watch(t *testing.T, folder string) watched {
	t.Helper()
	all, err := filepath.Glob("/proc/[0-9]*/cmdline")
	if err != nil || len(all) == 0 {
		t.Fatal("no list of processes: ", err)
	}
	w := watched{}
	for _, name := range all {
		line, err := os.ReadFile(name)
		pid, _ := strconv.Atoi(filepath.Base(filepath.Dir(name)))
		if err != nil || pid == os.Getpid() || !bytes.Contains(line, []byte(folder)) {
			continue
		}
		if fd, err := unix.PidfdOpen(pid, 0); err == nil { // else it has just ended
			w[pid] = fd
		}
	}
	return w
}

// gone waits until all have ended; one that has not is an error, and is ended.
func (w watched) gone(t *testing.T) {
	t.Helper()
	until := time.Now().Add(20 * time.Second)
	for pid, fd := range w {
		for {
			n, err := unix.Poll([]unix.PollFd{{Fd: int32(fd), Events: unix.POLLIN}}, int(max(0, time.Until(until).Milliseconds())))
			if err == unix.EINTR {
				continue
			}
			if n == 0 || err != nil {
				t.Errorf("process %d of the browser is left (%v)", pid, err)
				_ = unix.PidfdSendSignal(fd, unix.SIGKILL, nil, 0)
			}
			break
		}
		_ = unix.Close(fd)
	}
}

func (c *chromium) do(steps ...chromedp.Action[chromedp.Void]) {
	c.t.Helper()
	ctx, cancel := context.WithTimeout(c.ctx, stepTime)
	defer cancel()
	if err := chromedp.Do(ctx, steps...); err != nil {
		c.t.Fatal(err)
	}
}

func value[T any](c *chromium, a chromedp.Action[T]) T {
	c.t.Helper()
	ctx, cancel := context.WithTimeout(c.ctx, stepTime)
	defer cancel()
	v, err := chromedp.Run(ctx, a)
	if err != nil {
		c.t.Fatal(err)
	}
	return v
}

func (c *chromium) goTo(address string) {
	c.t.Helper()
	c.do(chromedp.Navigate(address))
}

// press clicks and waits for the page that comes.
func (c *chromium) press(selector string) {
	c.t.Helper()
	ctx, cancel := context.WithTimeout(c.ctx, stepTime)
	defer cancel()
	if _, err := chromedp.RunResponse(ctx, chromedp.Click(chromedp.CSS(selector))); err != nil {
		c.t.Fatal(err)
	}
}

// login fills the form in as a person does.
func (c *chromium) login(user, password string) {
	c.t.Helper()
	c.settles()
	c.do(chromedp.Clear(chromedp.CSS("#user")), chromedp.SendKeys(chromedp.CSS("#user"), user),
		chromedp.Clear(chromedp.CSS("#password")), chromedp.SendKeys(chromedp.CSS("#password"), password))
	c.press("main form button")
}

// settles waits until the page has put the keyboard where it wants it: who
// types earlier takes that away, and the browser's log says so.
func (c *chromium) settles() {
	c.t.Helper()
	value(c, chromedp.Poll[bool](`!document.querySelector("[autofocus]") || document.activeElement !== document.body`))
}

// at is the path that the browser shows.
func (c *chromium) at(h *localhub.Hub) string {
	c.t.Helper()
	return strings.TrimPrefix(value(c, chromedp.Location()), h.HubURL())
}

func (c *chromium) text() string {
	c.t.Helper()
	return value(c, chromedp.Evaluate[string](`document.body.innerText`))
}

func (c *chromium) speaks(lang string) {
	c.t.Helper()
	if _, err := chromedp.Call(c.ctx, network.SetExtraHTTPHeaders, network.SetExtraHTTPHeadersParams{Headers: network.Headers{"Accept-Language": lang}}); err != nil {
		c.t.Fatal(err)
	}
}

// What the other tests rely on: each kind of trouble is seen.
func TestChromiumSeesTrouble(t *testing.T) {
	troubles := []struct{ want, body string }{
		{"script error", `<script>throw new Error("x")</script>`},
		{"console", `<script>console.log("x")</script>`},
		{"log", `<p style="color: red">against the policy</p>`},
		{"issue", `<iframe src="data:text/html,x" title="against the policy"></iframe>`},
		{"a part of a page", `<img src="/none.png" alt="">`},
		{"a request to elsewhere", `<link rel="stylesheet" href="http://127.0.0.2:1/x.css">`},
		{"dialog", `<script>setTimeout(() => alert(1))</script>`}, // last: the page waits for it
	}
	srv := httptest.NewServer(http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		n, err := strconv.Atoi(strings.Trim(r.URL.Path, "/"))
		if err != nil || n >= len(troubles) {
			http.NotFound(w, r)
			return
		}
		w.Header().Set("Content-Security-Policy", "default-src 'none'; script-src 'unsafe-inline'; img-src 'self'; style-src http:")
		w.Header().Set("Content-Type", "text/html; charset=utf-8")
		_, _ = fmt.Fprintf(w, `<!doctype html><html lang="en"><title>x</title>%s`, troubles[n].body)
	}))
	defer srv.Close()
	c := startChromium(t)
	for n, trouble := range troubles {
		c.taken()
		if _, err := chromedp.Call(c.ctx, page.Navigate, page.NavigateParams{URL: fmt.Sprintf("%s/%d/", srv.URL, n)}); err != nil {
			t.Fatal(err)
		}
		late := time.After(20 * time.Second)
		for seen := []string(nil); !slices.ContainsFunc(seen, func(s string) bool { return strings.HasPrefix(s, trouble.want) }); {
			select {
			case <-c.news:
				seen = append(seen, c.taken()...)
			case <-late:
				t.Fatalf("%s is not seen, but %q", trouble.want, seen)
			}
		}
	}
	if _, err := chromedp.Call(c.ctx, page.HandleJavaScriptDialog, page.HandleJavaScriptDialogParams{Accept: true}); err != nil {
		t.Error(err)
	}
	c.taken()
}

// TestFailsInChromium is what TestChromiumEndsWithItsTest runs; on its own it
// does nothing.
func TestFailsInChromium(t *testing.T) {
	home := os.Getenv("CHROMIUM_PROCESS_DIR")
	if home == "" {
		return
	}
	c := startChromiumIn(t, home)
	c.goTo("about:blank")
	fmt.Println("ready")
	if os.Getenv("CHROMIUM_PROCESS_WAITS") != "" {
		_, _ = os.Stdin.Read(make([]byte, 1)) // until this process is killed
	}
	t.Fatal("on purpose")
}

// Nothing of the browser is left when its test failed, nor when the whole
// program was killed.
func TestChromiumEndsWithItsTest(t *testing.T) {
	for _, killed := range []bool{false, true} {
		home := t.TempDir()
		cmd := exec.CommandContext(t.Context(), os.Args[0], "-test.run=^TestFailsInChromium$", "-test.timeout=5m")
		cmd.Env = append(os.Environ(), "CHROMIUM_PROCESS_DIR="+home)
		if killed {
			cmd.Env = append(cmd.Env, "CHROMIUM_PROCESS_WAITS=1")
		}
		in, err := cmd.StdinPipe()
		if err != nil {
			t.Fatal(err)
		}
		out, err := cmd.StdoutPipe()
		if err != nil {
			t.Fatal(err)
		}
		if err := cmd.Start(); err != nil {
			t.Fatal(err)
		}
		var said []byte
		for b := make([]byte, 4096); !bytes.Contains(said, []byte("ready")); {
			n, err := out.Read(b)
			if said = append(said, b[:n]...); err != nil {
				t.Fatalf("the browser did not start: %s", said)
			}
		}
		ours := watch(t, home)
		if killed {
			if len(ours) < 3 {
				t.Errorf("only %d processes of the browser are seen", len(ours))
			}
			if err := cmd.Process.Kill(); err != nil {
				t.Error(err)
			}
		}
		for b := make([]byte, 4096); ; {
			n, err := out.Read(b)
			if said = append(said, b[:n]...); err != nil {
				break
			}
		}
		_ = cmd.Wait()
		_ = in.Close()
		if !killed && !bytes.Contains(said, []byte("on purpose")) {
			t.Errorf("the test that is to fail said %s", said)
		}
		ours.gone(t)
		left := watch(t, home)
		for pid := range left {
			t.Errorf("process %d of the browser is left", pid)
		}
		left.gone(t)
	}
}
