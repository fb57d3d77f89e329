package localhub

import (
	"context"
	"fmt"
	"net/url"
	"path/filepath"
	"strings"
	"sync"
	"testing"
	"time"

	"github.com/chromedp/cdproto/audits"
	cdplog "github.com/chromedp/cdproto/log"
	cdpnet "github.com/chromedp/cdproto/network"
	cdppage "github.com/chromedp/cdproto/page"
	"github.com/chromedp/cdproto/runtime"
	"github.com/chromedp/chromedp"

	"wiebelt/internal/testutil/must"
)

// chromium is Debian's browser with a fresh profile. When it ends,
// the test fails if a page did anything that our pages must not do.
type chromium struct {
	t   *testing.T
	ctx context.Context

	mu    sync.Mutex
	wrong []string // errors, policy violations, dialogs
}

const stepTime = time.Minute

func startChromium(t *testing.T) *chromium {
	t.Helper()
	home := t.TempDir()
	opts := append(chromedp.DefaultExecAllocatorOptions[:], chromedp.NoSandbox, chromedp.UserDataDir(filepath.Join(home, "profile")),
		chromedp.Env("XDG_CONFIG_HOME="+home, "XDG_CACHE_HOME="+home)) // crash reports go there
	all, cancelAll := chromedp.NewExecAllocator(context.Background(), opts...)
	ctx, cancel := chromedp.NewContext(all)
	c := &chromium{t: t, ctx: ctx}
	t.Cleanup(func() {
		c.end()
		cancel()
		cancelAll()
	})
	must.Do(t, chromedp.Listen(ctx, c.judge))
	must.Get(chromedp.Call(ctx, audits.Enable, struct{}{}))(t)
	c.speaks("nl")
	return c
}

func (c *chromium) judge(ev any) {
	switch e := ev.(type) {
	case *runtime.EventExceptionThrown:
		c.complain("script error: " + e.ExceptionDetails.Text)
	case *runtime.EventConsoleAPICalled:
		c.complain("console: a page said something")
	case *cdplog.EventEntryAdded:
		// A page that answers 404 is logged there too; its parts are checked below.
		if !strings.HasPrefix(e.Entry.Text, "Failed to load resource") {
			c.complain("log: " + e.Entry.Text)
		}
	case *audits.EventIssueAdded:
		c.complain("issue: " + string(e.Issue.Code))
	case *cdppage.EventJavascriptDialogOpening:
		c.complain("dialog: " + e.Message)
	case *cdpnet.EventRequestWillBeSent:
		u, err := url.Parse(e.Request.URL)
		if of, err2 := url.Parse(e.DocumentURL); err != nil || err2 != nil || strings.HasPrefix(u.Scheme, "http") && u.Hostname() != of.Hostname() {
			c.complain("a request to elsewhere")
		}
	case *cdpnet.EventResponseReceived:
		if e.Type != cdpnet.ResourceTypeDocument && e.Response.Status >= 400 && !strings.HasSuffix(e.Response.URL, "/favicon.ico") {
			c.complain(fmt.Sprintf("a part of a page answers %v", e.Response.Status))
		}
	}
}

func (c *chromium) complain(what string) {
	c.mu.Lock()
	defer c.mu.Unlock()
	c.wrong = append(c.wrong, what)
}

func (c *chromium) end() {
	ctx, cancel := context.WithTimeout(c.ctx, stepTime)
	defer cancel()
	if err := chromedp.Cancel(ctx); err != nil {
		c.t.Errorf("ending the browser: %v", err)
	}
	c.mu.Lock()
	defer c.mu.Unlock()
	for _, w := range c.wrong {
		c.t.Errorf("in the browser: %s", w)
	}
}

func (c *chromium) do(steps ...chromedp.Action[chromedp.Void]) {
	c.t.Helper()
	ctx, cancel := context.WithTimeout(c.ctx, stepTime)
	defer cancel()
	must.Do(c.t, chromedp.Do(ctx, steps...))
}

func value[T any](c *chromium, a chromedp.Action[T]) T {
	c.t.Helper()
	ctx, cancel := context.WithTimeout(c.ctx, stepTime)
	defer cancel()
	return must.Get(chromedp.Run(ctx, a))(c.t)
}

func (c *chromium) goTo(address string) {
	c.t.Helper()
	c.do(chromedp.Navigate(address))
}

// press clicks and waits for the next page.
func (c *chromium) press(selector string) {
	c.t.Helper()
	ctx, cancel := context.WithTimeout(c.ctx, stepTime)
	defer cancel()
	must.Get(chromedp.RunResponse(ctx, chromedp.Click(chromedp.CSS(selector))))(c.t)
}

func (c *chromium) login(user, password string) {
	c.t.Helper()
	c.settles()
	c.do(chromedp.Clear(chromedp.CSS("#user")), chromedp.SendKeys(chromedp.CSS("#user"), user),
		chromedp.Clear(chromedp.CSS("#password")), chromedp.SendKeys(chromedp.CSS("#password"), password))
	c.press("main form button")
}

// settles waits until the page has set its focus: typing earlier prevents
// that, and the browser's log reports it.
func (c *chromium) settles() {
	c.t.Helper()
	value(c, chromedp.Poll[bool](`!document.querySelector("[autofocus]") || document.activeElement !== document.body`))
}

func (c *chromium) at(h *Hub) string {
	c.t.Helper()
	return strings.TrimPrefix(value(c, chromedp.Location()), h.HubURL())
}

func (c *chromium) text() string {
	c.t.Helper()
	return value(c, chromedp.Evaluate[string](`document.body.innerText`))
}

func (c *chromium) speaks(lang string) {
	c.t.Helper()
	must.Get(chromedp.Call(c.ctx, cdpnet.SetExtraHTTPHeaders, cdpnet.SetExtraHTTPHeadersParams{Headers: cdpnet.Headers{"Accept-Language": lang}}))(c.t)
}
