package localhub_test

import (
	"context"
	"fmt"
	"os"
	"os/exec"
	"path/filepath"
	"strings"
	"sync"
	"testing"
	"time"

	"github.com/chromedp/cdproto/emulation"
	cdplog "github.com/chromedp/cdproto/log"
	"github.com/chromedp/cdproto/network"
	"github.com/chromedp/cdproto/page"
	"github.com/chromedp/cdproto/runtime"
	"github.com/chromedp/chromedp"

	"wiebelt/internal/contact"
	"wiebelt/internal/localhub"
	"wiebelt/internal/npmtest"
)

// chromium is Debian's browser with a fresh profile.
type chromium struct {
	t   *testing.T
	ctx context.Context

	mu    sync.Mutex
	wrong []string // errors, violations of the policy, dialogs
}

func startChromium(t *testing.T) *chromium {
	t.Helper()
	opts := append(chromedp.DefaultExecAllocatorOptions[:], chromedp.NoSandbox, chromedp.UserDataDir(t.TempDir()))
	ctx, cancelAll := chromedp.NewExecAllocator(context.Background(), opts...)
	ctx, cancel := chromedp.NewContext(ctx)
	c := &chromium{t: t, ctx: ctx}
	t.Cleanup(func() {
		if err := chromedp.Cancel(ctx); err != nil { // ends the browser and waits for it
			t.Error(err)
		}
		cancel()
		cancelAll()
		c.mu.Lock()
		defer c.mu.Unlock()
		for _, w := range c.wrong {
			t.Errorf("in the browser: %s", w)
		}
	})
	if _, err := chromedp.Call(ctx, network.SetExtraHTTPHeaders, network.SetExtraHTTPHeadersParams{Headers: network.Headers{"Accept-Language": "nl"}}); err != nil {
		t.Fatal(err)
	}
	err := chromedp.Listen(ctx, func(ev any) {
		switch e := ev.(type) {
		case *runtime.EventExceptionThrown:
			c.complain("script error: " + e.ExceptionDetails.Text)
		case *cdplog.EventEntryAdded:
			// An answer of 4xx is noted there too, and is what some tests are about.
			if !strings.Contains(e.Entry.Text, "Failed to load resource") {
				c.complain(string(e.Entry.Level) + ": " + e.Entry.Text)
			}
		case *runtime.EventConsoleAPICalled:
			c.complain("console: a page said something")
		case *page.EventJavascriptDialogOpening:
			c.complain("dialog: " + e.Message)
		}
	})
	if err != nil {
		t.Fatal(err)
	}
	return c
}

func (c *chromium) complain(what string) {
	c.mu.Lock()
	defer c.mu.Unlock()
	c.wrong = append(c.wrong, what)
}

func (c *chromium) do(steps ...chromedp.Action[chromedp.Void]) {
	c.t.Helper()
	ctx, cancel := context.WithTimeout(c.ctx, time.Minute)
	defer cancel()
	if err := chromedp.Do(ctx, steps...); err != nil {
		c.t.Fatal(err)
	}
}

func value[T any](c *chromium, a chromedp.Action[T]) T {
	c.t.Helper()
	ctx, cancel := context.WithTimeout(c.ctx, time.Minute)
	defer cancel()
	v, err := chromedp.Run(ctx, a)
	if err != nil {
		c.t.Fatal(err)
	}
	return v
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

// login fills the form in as a person does.
func (c *chromium) login(user, password string) {
	c.t.Helper()
	c.do(chromedp.SendKeys(chromedp.CSS("#user"), user), chromedp.SendKeys(chromedp.CSS("#password"), password))
	c.press("main form button")
}

// press clicks and waits for the page that comes.
func (c *chromium) press(selector string) {
	c.t.Helper()
	ctx, cancel := context.WithTimeout(c.ctx, time.Minute)
	defer cancel()
	if _, err := chromedp.RunResponse(ctx, chromedp.Click(chromedp.CSS(selector))); err != nil {
		c.t.Fatal(err)
	}
}

func (c *chromium) goTo(address string) {
	c.t.Helper()
	c.do(chromedp.Navigate(address))
}

const hostile = `"><img src=x onerror=alert(1)><script>alert(2)</script>{{.User}}` + "\u202e"

// busy is a hub with everything there is to see: a contact, one whose every word
// is hostile, users and messages.
func busy(t *testing.T, now *clock) (h *localhub.Hub, file, hostileFile string) {
	t.Helper()
	h = start(t, localhub.Config{Dir: t.TempDir(), Now: now.Now})
	for user, admin := range map[string]bool{"anna": false, "beheer": true} {
		if err := h.AddUser(t.Context(), user, "een-wachtwoord", admin); err != nil {
			t.Fatal(err)
		}
	}
	x := hostile
	long := strings.Repeat("lang ", 2000)
	ids, err := h.AddContact(t.Context(),
		localhub.Record{Contact: contact.Contact{RelationNumber: "100200", Initials: "B.M.", Prefix: "van den", FamilyName: "Heuvel",
			Address:  contact.Address{Street: "Kade", Number: "12", Addition: "A", PostalCode: "1011AB", City: "Zaanwijk"},
			Producer: contact.Coded{Code: "P1", Description: "Kantoor Oost"}, LastModifiedBy: contact.Coded{Code: "XY", Description: "X. Ypma"},
		}, Numbers: []string{"+31612345678"}, Emails: []string{"bm@example.org"}},
		localhub.Record{Contact: contact.Contact{RelationNumber: x, Initials: x, Prefix: x, FamilyName: x + long,
			Address:  contact.Address{Street: x, Number: x, Addition: x, PostalCode: x, City: x, Country: x},
			Producer: contact.Coded{Code: x, Description: x + long}, LastModifiedBy: contact.Coded{Code: x, Description: x},
		}, Numbers: []string{"+31612345678"}})
	if err != nil {
		t.Fatal(err)
	}
	tok := token(t, h)
	for i := range 60 {
		deliver(t, h, tok, delivery(message(t, i)))
	}
	deliver(t, h, tok, delivery(zipped(t, `"><img src=x onerror=alert(3)>.xml`, "x", "bijlagen/polis.pdf", strings.Repeat("x", 40_000))))
	return h, "/contacts/viewcontact/" + ids[0], "/contacts/viewcontact/" + ids[1]
}

// The deep link in a real browser: login first, then the file; the login comes
// back after ten hours, after logging out, and for a cookie that is not good.
func TestDeepLinkInChromium(t *testing.T) {
	now := newClock()
	h, file, hostileFile := busy(t, now)
	c := startChromium(t)

	c.goTo(h.HubURL() + file)
	if at := c.at(h); !strings.HasPrefix(at, "/login?next=") || strings.Contains(c.text(), "Heuvel") {
		t.Fatalf("not logged in, and at %s", at)
	}
	c.login("anna", "een-wachtwoord")
	if at := c.at(h); at != file || !strings.Contains(c.text(), "B.M. van den Heuvel") || !strings.Contains(c.text(), "06 12 34 56 78") {
		t.Fatalf("logged in, and at %s", at)
	}
	cookie := c.session(h)

	c.goTo(h.HubURL() + hostileFile)
	if !strings.Contains(c.text(), "<script>alert(2)</script>{{.User}}") {
		t.Error("a hostile name is not shown as it is")
	}
	c.fits("a long name")

	now.add(localhub.SessionLife - time.Second)
	c.goTo(h.HubURL() + file)
	if at := c.at(h); at != file {
		t.Errorf("before ten hours: at %s", at)
	}
	now.add(2 * time.Second)
	c.goTo(h.HubURL() + file)
	if at := c.at(h); !strings.HasPrefix(at, "/login?next=") || strings.Contains(c.text(), "Heuvel") {
		t.Errorf("after ten hours and a second: at %s", at)
	}
	c.login("anna", "een-wachtwoord")
	if at := c.at(h); at != file {
		t.Errorf("logged in again, and at %s", at)
	}
	left := c.session(h)
	c.press("header form button")
	if at := c.at(h); at != "/login" {
		t.Errorf("logged out, and at %s", at)
	}

	// Who comes with something else than a session that is on is asked to log in.
	other, _, _ := busy(t, now)
	o := startChromium(t)
	o.goTo(other.HubURL() + "/login")
	o.login("anna", "een-wachtwoord")
	for name, v := range map[string]string{
		"none": "", "expired": cookie, "logged out": left, "of a user elsewhere": o.session(other), "forged": strings.Repeat("A", len(cookie)),
		"a letter changed": "A" + left[1:], "cut": left[:20], "longer": left + "A", "nonsense": "%00;x=y",
	} {
		c.setSession(h, v)
		c.goTo(h.HubURL() + file)
		if at := c.at(h); !strings.HasPrefix(at, "/login?next=") || strings.Contains(c.text(), "Heuvel") {
			t.Errorf("cookie %s: at %s", name, at)
		}
	}

	// Two users at one time see their own name each.
	c.login("beheer", "een-wachtwoord")
	o.goTo(h.HubURL() + file)
	o.login("anna", "een-wachtwoord")
	c.goTo(h.HubURL() + file)
	if !strings.Contains(c.text(), "beheer") || !strings.Contains(o.text(), "anna") || strings.Contains(o.text(), "beheer") {
		t.Error("one user sees another one's page")
	}
	o.goTo(h.HubURL() + "/messages")
	if !strings.Contains(o.text(), "beheerder") || strings.Contains(o.text(), "wiebelt-test") {
		t.Error("the message box is open to everybody")
	}
	c.press("header .who a")
	if at := c.at(h); at != "/messages" || !strings.Contains(c.text(), "61 berichten") {
		t.Errorf("message box: at %s", at)
	}
	c.do(chromedp.EmulateViewport(360, 700), chromedp.Navigate(h.HubURL()+"/messages"))
	c.fits("message box on a phone")
	c.press("tbody a")
	c.fits("message on a phone")
	if !strings.Contains(c.text(), `"><img src=x onerror=alert(3)>.xml`) || !strings.Contains(c.text(), "40\u00a0kB") {
		t.Errorf("message: %s", c.text())
	}
}

// fits reports a page that is wider than the window.
func (c *chromium) fits(what string) {
	c.t.Helper()
	if value(c, chromedp.Evaluate[bool](`document.documentElement.scrollWidth > document.documentElement.clientWidth`)) {
		c.t.Errorf("%s: the page is wider than the window", what)
	}
}

func (c *chromium) session(h *localhub.Hub) string {
	c.t.Helper()
	got, err := chromedp.Call(c.ctx, network.GetCookies, network.GetCookiesParams{URLs: []string{h.HubURL()}})
	if err != nil {
		c.t.Fatal(err)
	}
	for _, k := range got.Cookies {
		if strings.HasPrefix(k.Name, "hub_session_") {
			if !k.HTTPOnly || k.SameSite != network.CookieSameSiteLax || k.Expires <= 0 {
				c.t.Errorf("the session's cookie: %+v", k)
			}
			return k.Value
		}
	}
	c.t.Fatal("no session")
	return ""
}

func (c *chromium) setSession(h *localhub.Hub, v string) {
	c.t.Helper()
	port := h.HubURL()[strings.LastIndexByte(h.HubURL(), ':')+1:]
	name := "hub_session_" + port
	if _, err := chromedp.Call(c.ctx, network.DeleteCookies, network.DeleteCookiesParams{Name: name, URL: h.HubURL()}); err != nil {
		c.t.Fatal(err)
	}
	if v == "" {
		return
	}
	if _, err := chromedp.Call(c.ctx, network.SetCookie, network.SetCookieParams{Name: name, Value: v, URL: h.HubURL()}); err != nil && !strings.ContainsAny(v, "%;") {
		c.t.Fatal(err)
	}
}

// Every page is good HTML, in both languages. Pictures of all go to
// WIEBELT_SHOTS if that is set.
func TestPagesAreValid(t *testing.T) {
	h, file, hostileFile := busy(t, newClock())
	demo := start(t, localhub.Config{Synthetic: 50, Demo: true})
	node, tool := npmtest.Node(t), npmtest.Install(t, "testdata/html")
	dir := t.TempDir()
	anyone, anna, boss := newBrowser(t, h), newBrowser(t, h), newBrowser(t, h)
	anna.login("anna", "een-wachtwoord", "/")
	boss.login("beheer", "een-wachtwoord", "/")
	player := newBrowser(t, demo)
	player.login(localhub.DemoUser, localhub.DemoPassword, "/")
	all, err := h.Messages(t.Context(), "", 100)
	if err != nil {
		t.Fatal(err)
	}
	pages := map[string]struct {
		b    *browser
		path string
	}{
		"login": {anyone, "/login?next=" + file}, "demo-login": {newBrowser(t, demo), "/login"}, "home": {anna, "/"}, "home-admin": {boss, "/"}, "demo-home": {player, "/"},
		"file": {anna, file}, "hostile": {anna, hostileFile}, "nofile": {anna, "/contacts/viewcontact/nobody"}, "nothing": {anyone, "/nothing"},
		"backoffice": {anna, "/backoffice/1"}, "noaccess": {anna, "/messages"}, "box": {boss, "/messages"},
		"older": {boss, "/messages?before=" + all[49].ID}, "message": {boss, "/messages/" + all[0].ID}, "nomessage": {boss, "/messages/" + strings.Repeat("a", 36)},
	}
	var files []string
	for name, p := range pages {
		for _, lang := range []string{"nl", "en"} {
			a := p.b.get(p.path, "Accept-Language", lang)
			if !strings.Contains(a.body, `<html lang="`+lang+`">`) || a.header.Get("Content-Security-Policy") == "" {
				t.Errorf("%s %s: %d", name, lang, a.status)
			}
			if strings.Contains(a.body, "<script") && name != "hostile" || strings.Contains(a.body, "localhub.") {
				t.Errorf("%s %s: a script, or a text that is missing", name, lang)
			}
			f := filepath.Join(dir, name+"-"+lang+".html")
			if err := os.WriteFile(f, []byte(a.body), 0o600); err != nil {
				t.Fatal(err)
			}
			files = append(files, f)
		}
	}
	config := filepath.Join(dir, "rules.json")
	// Long titles are somebody's name; the rest is the validator's own choice.
	rules := `{"extends": ["html-validate:standard", "html-validate:a11y"], "rules": {"long-title": "off"}}`
	if err := os.WriteFile(config, []byte(rules), 0o600); err != nil {
		t.Fatal(err)
	}
	validate := func(files ...string) (string, error) {
		cmd := exec.CommandContext(t.Context(), node, append([]string{filepath.Join(tool, "node_modules", "html-validate", "bin", "html-validate.mjs"), "--config", config}, files...)...)
		cmd.Dir = tool
		out, err := cmd.CombinedOutput()
		return string(out), err
	}
	if out, err := validate(files...); err != nil {
		t.Errorf("%v\n%s", err, out)
	}
	bad := filepath.Join(dir, "bad.html")
	if err := os.WriteFile(bad, []byte("<!doctype html><title>x</title><p><div></p>"), 0o600); err != nil {
		t.Fatal(err)
	}
	if _, err := validate(bad); err == nil {
		t.Error("the validator lets bad HTML pass")
	}
	if shots := os.Getenv("WIEBELT_SHOTS"); shots != "" {
		c := startChromium(t)
		for name, p := range pages {
			for _, k := range p.b.c.Jar.Cookies(p.b.u) {
				if _, err := chromedp.Call(c.ctx, network.SetCookie, network.SetCookieParams{Name: k.Name, Value: k.Value, URL: p.b.h.HubURL()}); err != nil {
					t.Fatal(err)
				}
			}
			c.shoot(p.b.h.HubURL()+p.path, filepath.Join(shots, "hub-"+name))
			if _, err := chromedp.Call(c.ctx, network.ClearBrowserCookies, struct{}{}); err != nil {
				t.Fatal(err)
			}
		}
	}
}

// shoot takes pictures of a page: two languages, two sets of colours, two widths.
func (c *chromium) shoot(address, name string) {
	c.t.Helper()
	for _, lang := range []string{"nl", "en"} {
		if _, err := chromedp.Call(c.ctx, network.SetExtraHTTPHeaders, network.SetExtraHTTPHeadersParams{Headers: network.Headers{"Accept-Language": lang}}); err != nil {
			c.t.Fatal(err)
		}
		for _, scheme := range []string{"light", "dark"} {
			if _, err := chromedp.Call(c.ctx, emulation.SetEmulatedMedia, emulation.SetEmulatedMediaParams{Features: []*emulation.MediaFeature{{Name: "prefers-color-scheme", Value: scheme}}}); err != nil {
				c.t.Fatal(err)
			}
			for _, width := range []int64{1280, 360} {
				c.do(chromedp.EmulateViewport(width, 900), chromedp.Navigate(address))
				got, err := chromedp.Call(c.ctx, page.CaptureScreenshot, page.CaptureScreenshotParams{})
				if err != nil {
					c.t.Fatal(err)
				}
				if err := os.WriteFile(fmt.Sprintf("%s-%s-%s-%d.png", name, lang, scheme, width), got.Data, 0o600); err != nil {
					c.t.Fatal(err)
				}
			}
		}
	}
}
