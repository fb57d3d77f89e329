package teamspage

import (
	"context"
	"net/http"
	"net/http/httptest"
	"strings"
	"sync"
	"testing"
	"time"

	"github.com/chromedp/cdproto/log"
	"github.com/chromedp/cdproto/runtime"
	"github.com/chromedp/chromedp"
	"go.uber.org/goleak"

	"wiebelt/internal/softphone/scheme"
	"wiebelt/internal/testutil/must"
	"wiebelt/internal/text"
)

func TestMain(m *testing.M) { goleak.VerifyTestMain(m) }

func browser(t *testing.T) context.Context {
	t.Helper()
	opts := append(chromedp.DefaultExecAllocatorOptions[:], chromedp.NoSandbox, chromedp.UserDataDir(t.TempDir()))
	ctx, cancelAll := chromedp.NewExecAllocator(t.Context(), opts...)
	ctx, cancel := chromedp.NewContext(ctx)
	t.Cleanup(func() {
		_ = chromedp.Cancel(ctx) // closes it and waits
		cancel()
		cancelAll()
	})
	return ctx
}

// TestPageInChromium: in a real browser, the page creates a link that Wiebelt
// accepts, the server never sees the number, and none of it remains in the address.
func TestPageInChromium(t *testing.T) {
	var mu sync.Mutex
	var asked []string
	srv := httptest.NewServer(http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		mu.Lock()
		asked = append(asked, r.RequestURI)
		mu.Unlock()
		if r.URL.Path == "/favicon.ico" {
			w.WriteHeader(http.StatusNoContent)
			return
		}
		lang := text.Dutch
		if r.URL.Path == "/en.html" {
			lang = text.English
		}
		b, err := Render(lang)
		if err != nil {
			t.Error(err)
		}
		w.Header().Set("Content-Type", "text/html; charset=utf-8")
		_, _ = w.Write(b)
	}))
	defer srv.Close()
	ctx := browser(t)
	var wrong []string
	err := chromedp.Listen(ctx, func(ev any) {
		mu.Lock()
		defer mu.Unlock()
		switch e := ev.(type) {
		case *runtime.EventExceptionThrown:
			wrong = append(wrong, e.ExceptionDetails.Text)
		case *log.EventEntryAdded:
			// A second launch from one tab requires a click, which
			// is what the link is for; Teams opens one tab per call.
			if e.Entry.Level == log.EntryLevelError && !strings.Contains(e.Entry.Text, "user gesture is required") {
				wrong = append(wrong, e.Entry.Text)
			}
		}
	})
	must.Do(t, err)
	for _, c := range []struct{ path, want string }{
		{"/nl.html#+31612345678", "wiebelt:call?number=%2B31612345678&state=answered"},
		{"/en.html#%2B31%206%201234-5678", "wiebelt:call?number=%2B31612345678&state=answered"},
		{"/nl.html#0201234567", "wiebelt:call?number=0201234567&state=answered"},
		{"/nl.html", ""},
		{"/nl.html#", ""},
		{"/nl.html#%", ""},
		{"/nl.html#{phone}", ""},
		{"/nl.html#<img src=x onerror=alert(1)>", ""},
		{"/en.html#javascript:alert(1)", ""},
		{"/nl.html#0612345678&state=ended", ""},
		{"/nl.html#" + strings.Repeat("1", 400), ""},
	} {
		run, cancel := context.WithTimeout(ctx, 30*time.Second)
		err := chromedp.Do(run, chromedp.Navigate("about:blank"), chromedp.Navigate(srv.URL+c.path))
		var got [3]string
		for i, js := range []string{`document.getElementById("open").getAttribute("href") || ""`, `location.hash`, `document.getElementById("say").textContent`} {
			if err == nil {
				got[i], err = chromedp.Run(run, chromedp.Evaluate[string](js))
			}
		}
		cancel()
		if err != nil {
			t.Fatalf("%s: %v", c.path, err)
		}
		href, hash, say := got[0], got[1], got[2]
		if href != c.want || say == "" {
			t.Errorf("%s: %q, want %q (%s)", c.path, href, c.want, say)
		}
		if href == "" {
			continue
		}
		if hash != "" {
			t.Errorf("%s: %q stays in the address", c.path, hash)
		}
		if e, err := scheme.Parse(href); err != nil || e.State.String() != "answered" {
			t.Errorf("%s: Wiebelt does not take it: %v", c.path, err)
		}
	}
	mu.Lock()
	defer mu.Unlock()
	for _, a := range asked {
		if strings.ContainsAny(a, "#+?") || strings.Contains(a, "1234") {
			t.Errorf("the server was asked for %q", a)
		}
	}
	if len(wrong) > 0 {
		t.Errorf("errors in the page: %q", wrong)
	}
}
