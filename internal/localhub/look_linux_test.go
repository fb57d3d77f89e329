package localhub_test

import (
	"fmt"
	"math/bits"
	"net/url"
	"os"
	"os/exec"
	"path/filepath"
	"slices"
	"strings"
	"testing"

	"github.com/chromedp/cdproto/emulation"
	"github.com/chromedp/cdproto/network"
	"github.com/chromedp/cdproto/page"
	"github.com/chromedp/chromedp"

	"wiebelt/internal/localhub"
	"wiebelt/internal/testutil/npmtest"
)

// pageSeenBy is a page as somebody sees it.
type pageSeenBy struct {
	name string
	b    *browser // who is logged in there
	path string
}

// allPages are all pages there are; hostile are files that look alike but for
// what they say.
func allPages(t *testing.T) (pages, hostile []pageSeenBy) {
	t.Helper()
	h, file, bad := fullHub(t, newClock())
	demo := start(t, localhub.Config{Synthetic: 50, Demo: true, Now: newClock().Now})
	all, err := h.Messages(t.Context(), "", 100)
	if err != nil {
		t.Fatal(err)
	}
	anyone, anna, boss := newBrowser(t, h), newBrowser(t, h), newBrowser(t, h)
	anna.login("anna", "een-wachtwoord", "/")
	boss.login("beheer", "een-wachtwoord", "/")
	guest, player := newBrowser(t, demo), newBrowser(t, demo)
	player.login(localhub.DemoUser, localhub.DemoPassword, "/")
	s, err := demo.Sample(t.Context(), localhub.Family)
	if err != nil {
		t.Fatal(err)
	}
	pages = []pageSeenBy{
		{"login", anyone, "/login?next=" + file}, {"login-box", anyone, "/login?next=/messages"}, {"demo-login", guest, "/login"},
		{"home", anna, "/"}, {"home-admin", boss, "/"}, {"demo-home", player, "/"},
		{"file", anna, file}, {"demo-file", player, "/contacts/viewcontact/" + s.IDs[0]},
		{"nofile", anna, "/contacts/viewcontact/nobody"}, {"nothing", anyone, "/nothing"}, {"backoffice", anna, "/backoffice/1"}, {"noaccess", anna, "/messages"},
		{"box", boss, "/messages"}, {"older", boss, "/messages?before=" + all[49].ID}, {"box-empty", player, "/messages"},
		{"message", boss, "/messages/" + all[1].ID}, {"message-hostile", boss, "/messages/" + all[0].ID}, {"nomessage", boss, "/messages/" + strings.Repeat("a", 36)},
	}
	for i, path := range bad {
		hostile = append(hostile, pageSeenBy{fmt.Sprint("hostile-", i), anna, path})
	}
	return pages, hostile
}

// Every page is good HTML, in both languages.
func TestPagesAreValid(t *testing.T) {
	node, tool := npmtest.Node(t), npmtest.Install(t, "testdata/html")
	dir := t.TempDir()
	var files []string
	write := func(name, lang string, a answer) {
		if !strings.Contains(a.body, `<html lang="`+lang+`">`) || strings.Contains(a.body, "<script") || strings.Contains(a.body, "localhub.") {
			t.Errorf("%s %s: %d: another language, a script, or a text that is missing", name, lang, a.status)
		}
		f := filepath.Join(dir, name+"-"+lang+".html")
		if err := os.WriteFile(f, []byte(a.body), 0o600); err != nil {
			t.Fatal(err)
		}
		files = append(files, f)
	}
	pages, hostile := allPages(t)
	for _, lang := range []string{"nl", "en"} {
		for _, p := range slices.Concat(pages, hostile) {
			write(p.name, lang, p.b.get(p.path, "Accept-Language", lang))
		}
		b := newBrowser(t, pages[0].b.h)
		v := url.Values{"form": {b.form(b.get("/login"))}, "user": {hostileUser}, "password": {"fout"}}
		for _, want := range []int{401, 401, 401, 401, 401, 429} {
			v.Set("user", lang+hostileUser)
			a := b.post("/login", v, "Accept-Language", lang)
			if a.status != want {
				t.Fatalf("login: %d", a.status)
			}
			write(fmt.Sprint("login-", want), lang, a)
		}
		v.Del("form")
		write("login-403", lang, b.post("/login", v, "Accept-Language", lang))
	}
	rules := filepath.Join(dir, "rules.json")
	// Long titles are somebody's name.
	if err := os.WriteFile(rules, []byte(`{"extends": ["html-validate:recommended", "html-validate:document"],
		"rules": {"long-title": "off", "require-sri": ["error", {"target": "crossorigin"}]}}`), 0o600); err != nil {
		t.Fatal(err)
	}
	validate := func(files ...string) (string, error) {
		cmd := exec.CommandContext(t.Context(), node, append([]string{filepath.Join(tool, "node_modules", "html-validate", "bin", "html-validate.mjs"), "--config", rules}, files...)...)
		cmd.Dir = tool
		out, err := cmd.CombinedOutput()
		return string(out), err
	}
	slices.Sort(files)
	files = slices.Compact(files)
	if out, err := validate(files...); err != nil {
		t.Errorf("%v\n%s", err, out)
	}
	t.Logf("%d pages", len(files))
	bad := filepath.Join(dir, "bad.html")
	if err := os.WriteFile(bad, []byte("<!doctype html><title>x</title><p><div></p>"), 0o600); err != nil {
		t.Fatal(err)
	}
	if _, err := validate(bad); err == nil {
		t.Error("the validator lets bad HTML pass")
	}
}

// unreadable lists texts with a contrast below 4.5 : 1 and fields whose edge has
// one below 3 : 1 (WCAG 2.2, 1.4.3 and 1.4.11).
const unreadable = `(() => {
	const parts = c => c.match(/[\d.]+/g).map(Number)
	const light = c => { const [r, g, b] = c.slice(0, 3).map(v => (v /= 255) <= 0.04045 ? v / 12.92 : ((v + 0.055) / 1.055) ** 2.4); return 0.2126 * r + 0.7152 * g + 0.0722 * b }
	const contrast = (a, b) => { const [x, y] = [light(a), light(b)].sort((x, y) => y - x); return (x + 0.05) / (y + 0.05) }
	const behind = e => { for (; e; e = e.parentElement) { const c = parts(getComputedStyle(e).backgroundColor); if (c.length < 4 || c[3] > 0) return c } return [255, 255, 255] }
	const bad = []
	for (const e of document.body.querySelectorAll("*")) {
		const style = getComputedStyle(e), field = e.matches("input:not([type=hidden])")
		if (!field && ![...e.childNodes].some(n => n.nodeType === 3 && n.data.trim())) continue
		const ratio = contrast(parts(style.color), behind(e))
		if (ratio < 4.5) bad.push(e.className + " " + e.textContent.slice(0, 20) + ": " + ratio.toFixed(2))
		if (field) { const edge = contrast(parts(style.borderTopColor), behind(e.parentElement)); if (edge < 3) bad.push("edge of " + e.id + ": " + edge.toFixed(2)) }
	}
	return bad
})()`

// focused tells what the keyboard is at, and whether that can be seen.
const focused = `(() => {
	const e = document.activeElement
	if (!e || e === document.body) return ""
	const all = [...document.querySelectorAll("a, button, input")], s = getComputedStyle(e)
	return all.indexOf(e) + (s.outlineStyle === "solid" && parseFloat(s.outlineWidth) >= 2 ? "" : " cannot be seen")
})()`

// Every page can be read, on a phone and on a wide screen, by day and by night,
// and be used with the keyboard alone. Pictures of all go to WIEBELT_SHOTS if
// that is set.
func TestPagesCanBeRead(t *testing.T) {
	c := startChromium(t)
	shots := os.Getenv("WIEBELT_SHOTS")
	pages, hostile := allPages(t)
	for _, p := range append(pages, hostile[len(hostile)-2:]...) { // the long ones
		if _, err := chromedp.Call(c.ctx, network.ClearBrowserCookies, struct{}{}); err != nil {
			t.Fatal(err)
		}
		for _, k := range p.b.c.Jar.Cookies(p.b.u) {
			if _, err := chromedp.Call(c.ctx, network.SetCookie, network.SetCookieParams{Name: k.Name, Value: k.Value, URL: p.b.h.HubURL()}); err != nil {
				t.Fatal(err)
			}
		}
		for i := range 8 {
			lang, scheme, width := []string{"nl", "en"}[i&1], []string{"light", "dark"}[i>>1&1], []int64{1280, 360}[i>>2]
			if shots == "" && bits.OnesCount(uint(i))%2 == 1 {
				continue // the other four have each pair of the three
			}
			c.speaks(lang)
			if _, err := chromedp.Call(c.ctx, emulation.SetEmulatedMedia, emulation.SetEmulatedMediaParams{Features: []*emulation.MediaFeature{{Name: "prefers-color-scheme", Value: scheme}}}); err != nil {
				t.Fatal(err)
			}
			what := fmt.Sprintf("%s-%s-%s-%d", p.name, lang, scheme, width)
			c.do(chromedp.EmulateViewport(width, 900), chromedp.Navigate(p.b.h.HubURL()+p.path))
			c.fits(what)
			for _, bad := range value(c, chromedp.Evaluate[[]string](unreadable)) {
				t.Errorf("%s: %s", what, bad)
			}
			if shots != "" {
				c.shoot(filepath.Join(shots, "hub-"+what+".png"))
			}
		}
		c.tabThrough(p.name)
	}
}

// tabThrough goes through what can be used on a page with the Tab key.
func (c *chromium) tabThrough(what string) {
	c.t.Helper()
	n := value(c, chromedp.Evaluate[int](`document.querySelectorAll("a, button, input:not([type=hidden])").length`))
	c.settles()
	seen := map[string]bool{}
	for range n + 1 { // the first may land on the page itself
		c.do(chromedp.KeyEvent("\t"))
		at := value(c, chromedp.Evaluate[string](focused))
		if strings.Contains(at, " ") {
			c.t.Errorf("%s: where the keyboard is (%s)", what, at)
		}
		if at != "" {
			seen[at] = true
		}
	}
	if len(seen) != n {
		c.t.Errorf("%s: the keyboard reaches %d of %d", what, len(seen), n)
	}
}

// cutOff lists what is wider than the place it has; a long user name may end in
// dots, and a table's head is there for screen readers only on a phone.
const cutOff = `[document.documentElement, ...document.body.querySelectorAll(":not(input)")].filter(e => {
	const s = getComputedStyle(e)
	return e.scrollWidth > e.clientWidth + 1 && (e.parentElement === null || s.overflowX !== "visible") && s.clipPath === "none" && s.textOverflow !== "ellipsis"
}).map(e => e.localName + "." + e.className)`

// fits reports a page that is wider than the window, or a part of it that is
// cut off.
func (c *chromium) fits(what string) {
	c.t.Helper()
	for _, e := range value(c, chromedp.Evaluate[[]string](cutOff)) {
		c.t.Errorf("%s: %s is cut off", what, e)
	}
}

func (c *chromium) shoot(name string) {
	c.t.Helper()
	got, err := chromedp.Call(c.ctx, page.CaptureScreenshot, page.CaptureScreenshotParams{})
	if err != nil {
		c.t.Fatal(err)
	}
	if err := os.WriteFile(name, got.Data, 0o600); err != nil {
		c.t.Fatal(err)
	}
}
