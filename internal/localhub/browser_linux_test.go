package localhub

import (
	"context"
	"fmt"
	"strings"
	"testing"

	"github.com/chromedp/cdproto/cdp"
	"github.com/chromedp/cdproto/emulation"
	cdpnet "github.com/chromedp/cdproto/network"
	cdppage "github.com/chromedp/cdproto/page"
	"github.com/chromedp/chromedp"

	"wiebelt/internal/core/call"
	"wiebelt/internal/core/contact"
	"wiebelt/internal/testutil/clocktest"
	"wiebelt/internal/testutil/messagetest"
	"wiebelt/internal/testutil/must"
)

// hostile are texts that may be in any field filled in by others.
var hostile = []string{
	`<script>alert(1)</script>`,
	`"><img src=x onerror=alert(2)>`,
	`{{.User}} {{template "page" .}} ${alert(3)}`,
	`' onfocus=alert(4) autofocus x='`,
	`javascript:alert(5)`,
	`</title></textarea><svg onload=alert(6)>`,
	"fdp.\u202eexe\u2066",
	"\x1b[31m\u0000\ufeffrood",
	strings.Repeat("lang ", 2000),
	strings.Repeat("W", 10_000),
}

const (
	hostileUser   = `"><script>alert(7)</script>{{.who}}`
	hostileClient = `"><img src=x onerror=alert(8)>{{.Sender}}`
	hostileOrg    = `<svg/onload=alert(9)>`
)

// fullHub returns a hub with everything there is to see: a contact and, on the same number, one for
// each hostile text, plus users and messages. The last message is hostile throughout.
func fullHub(t *testing.T, now *clocktest.Clock) (h *Hub, file string, bad []string) {
	t.Helper()
	h = start(t, Config{Dir: t.TempDir(), Now: now.Now})
	for user, admin := range map[string]bool{"anna": false, hostileUser: true} {
		must.Do(t, h.AddUser(t.Context(), user, "een-wachtwoord", admin))
	}
	people := []Record{{Contact: contact.Contact{RelationNumber: "100200", Initials: "B.M.", Prefix: "van den", FamilyName: "Heuvel",
		Address:  contact.Address{Street: "Kade", Number: "12", Addition: "A", PostalCode: "1011AB", City: "Zaanwijk"},
		Producer: contact.CodedValue{Code: "P1", Description: "Kantoor Oost"}, LastModifiedBy: contact.CodedValue{Code: "XY",
			Description: "X. Ypma"},
	}, Numbers: []string{"+31612345678"}, Emails: []string{"bm@example.org"}}}
	for _, x := range hostile {
		people = append(people, Record{Contact: contact.Contact{RelationNumber: x, Initials: x, Prefix: x, FamilyName: x,
			Address:  contact.Address{Street: x, Number: x, Addition: x, PostalCode: x, City: x, Country: x},
			Producer: contact.CodedValue{Code: x, Description: x}, LastModifiedBy: contact.CodedValue{Code: x, Description: x},
		}, Numbers: []string{"+31612345678"}})
	}
	ids := must.Get(h.AddInvented(t.Context(), people...))(t)
	for i, id := range ids[1:] {
		bad = append(bad, "/contacts/viewcontact/"+id)
		for mail := range 2 { // not accepted as number or address, but a database may contain it
			must.Do(t, exec(h, "INSERT INTO terms SELECT ?, n, ?, ? FROM contacts WHERE id = ?", fmt.Sprint("term", mail), hostile[i], mail, id))
		}
	}
	tok := token(t, h)
	var messages [][]byte
	for i := range 60 {
		messages = append(messages, numbered(t, i))
	}
	receipts(t, deliver(t, h, tok, messagetest.Request(messages...)))
	must.Do(t, h.SetClientSecret(t.Context(), hostileClient, hostileOrg, secret))
	tok = tokenOf(t, h, hostileClient, hostileOrg)
	receipts(t, deliver(t, h, tok, messagetest.Request(hostileZIP(t))))
	return h, "/contacts/viewcontact/" + ids[0], bad
}

func hostileZIP(t *testing.T) []byte {
	t.Helper()
	var files []string
	for i, name := range []string{`"><img src=x onerror=alert(10)>.xml`, `<script>alert(11)</script>.xml`, "{{.Names}}.xml", "polis\u202efdp.exe",
		"bijlagen/polis.pdf", strings.Repeat("W", 1000), "caf\xe9.txt"} {
		files = append(files, name, strings.Repeat("x", 1+i*9_999))
	}
	return messagetest.ZIP(t, files...)
}

// TestChromium views the hub's pages in a real browser, started once.
func TestChromium(t *testing.T) {
	h, file, bad := fullHub(t, newClock())
	c := startChromium(t)
	c.followDeepLink(h, file)
	for _, p := range allPages(t, h, file, bad) {
		c.lookAt(p)
	}
}

// followDeepLink checks that a deep link leads to the login first, then to the file, and that after
// logging out the browser's back button leads to the login too, although the browser caches pages.
func (c *chromium) followDeepLink(h *Hub, file string) {
	asksFirst := func(when string) {
		c.t.Helper()
		if at := c.at(h); !strings.HasPrefix(at, "/login?next=") || strings.Contains(c.text(), "Heuvel") {
			c.t.Errorf("%s: at %s", when, at)
		}
	}
	c.goTo(h.HubURL() + file)
	asksFirst("not logged in")
	c.login(hostileUser, "fout-wachtwoord")
	if v := value(c, chromedp.Value(chromedp.CSS("#user"))); v != hostileUser || !strings.Contains(c.text(), "klopt niet") {
		c.t.Errorf("the user name has become %q", v)
	}
	c.login("anna", "een-wachtwoord")
	if at := c.at(h); at != file || !strings.Contains(c.text(), "B.M. van den Heuvel") {
		c.t.Fatalf("logged in, and at %s", at)
	}
	c.press("header form button")
	c.back()
	asksFirst("logged out and gone back")
}

// back goes back one page like the browser's button. The page may come from the browser's cache.
func (c *chromium) back() {
	c.t.Helper()
	value(c, chromedp.WaitEvent(cdppage.FrameNavigated, nil, chromedp.Func(func(ctx context.Context, t *chromedp.Target) error {
		past, err := cdp.Call(ctx, t, cdppage.GetNavigationHistory, cdp.Empty{})
		if err != nil {
			return err
		}
		_, err = cdp.Call(ctx, t, cdppage.NavigateToHistoryEntry, cdppage.NavigateToHistoryEntryParams{EntryID: past.Entries[past.CurrentIndex-1].ID})
		return err
	})))
}

type pageSeenBy struct {
	name  string
	b     *browser // logged in there
	path  string
	shows []string // text written by others
}

// allPages returns all pages, including those with the worst others can write.
func allPages(t *testing.T, h *Hub, file string, bad []string) []pageSeenBy {
	t.Helper()
	demo := start(t, Config{Synthetic: 50, Demo: true, Now: newClock().Now})
	all := must.Get(h.Messages(t.Context(), "", 100))(t)
	anyone, anna, boss := newBrowser(t, h), newBrowser(t, h), newBrowser(t, h)
	anna.login("anna", "een-wachtwoord", "/")
	boss.login(hostileUser, "een-wachtwoord", "/")
	guest, player := newBrowser(t, demo), newBrowser(t, demo)
	player.login(DemoUser, demoPassword, "/")
	pages := []pageSeenBy{
		{"login", anyone, "/login?next=" + file, nil}, {"login-box", anyone, "/login?next=/messages", nil}, {"demo-login", guest, "/login", nil},
		{"home", anna, "/", nil}, {"home-admin", boss, "/", nil}, {"demo-home", player, "/", nil},
		{"file", anna, file, []string{"B.M. van den Heuvel"}}, {"nofile", anna, "/contacts/viewcontact/nobody", nil}, {"nothing", anyone, "/nothing", nil},
		{"backoffice", anna, "/backoffice/1", nil}, {"noaccess", anna, "/messages", nil},
		{"box", boss, "/messages", []string{hostileClient}}, {"older", boss, "/messages?before=" + all[49].ID, nil}, {"box-empty", player, "/messages", nil},
		{"message", boss, "/messages/" + all[1].ID, nil}, {"nomessage", boss, "/messages/" + strings.Repeat("a", 36), nil},
		{"message-hostile", boss, "/messages/" + all[0].ID, []string{hostileClient, hostileOrg, `"><img src=x onerror=alert(10)>.xml`,
			`<script>alert(11)</script>.xml`, "{{.Names}}.xml", "polisfdp.exe", "caf?.txt", "WWW…"}},
	}
	for i, path := range bad {
		pages = append(pages, pageSeenBy{fmt.Sprint("hostile-", i), anna, path, []string{strings.TrimSpace(call.CleanText(hostile[i], 100)), "B.M. van den Heuvel"}})
	}
	return pages
}

// unreadable lists texts with a contrast below 4.5 : 1 and fields whose edge has a
// contrast below 3 : 1 (WCAG 2.2, 1.4.3 and 1.4.11).
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

// focused returns the element that has the keyboard focus, and whether that is visible.
const focused = `(() => {
	const e = document.activeElement
	if (!e || e === document.body) return ""
	const all = [...document.querySelectorAll("a, button, input")], s = getComputedStyle(e)
	return all.indexOf(e) + (s.outlineStyle === "solid" && parseFloat(s.outlineWidth) >= 2 ? "" : " cannot be seen")
})()`

type look struct {
	scheme string
	width  int64
}

// looks lists the views per language: every pair of language, scheme and width occurs.
var looks = map[string][]look{"nl": {{"light", 1280}, {"dark", 360}}, "en": {{"dark", 1280}, {"light", 360}}}

// lookAt checks that a page is readable on a phone and on a wide screen, in light and
// dark, in both languages, and usable with the keyboard alone. What others wrote is shown
// as text, whatever it contains.
func (c *chromium) lookAt(p pageSeenBy) {
	must.Get(chromedp.Call(c.ctx, cdpnet.ClearBrowserCookies, struct{}{}))(c.t)
	for _, k := range p.b.c.Jar.Cookies(p.b.u) {
		must.Get(chromedp.Call(c.ctx, cdpnet.SetCookie, cdpnet.SetCookieParams{Name: k.Name, Value: k.Value, URL: p.b.h.HubURL()}))(c.t)
	}
	all := looks
	if strings.HasPrefix(p.name, "hostile") { // differs from another file in its text only
		all = map[string][]look{"nl": {{"dark", 360}}}
	}
	for lang, looks := range all {
		c.speaks(lang)
		c.goTo(p.b.h.HubURL() + p.path)
		c.isHarmless(p.name+"-"+lang, p.shows)
		for _, l := range looks {
			c.sees(l)
			what := fmt.Sprintf("%s-%s-%s-%d", p.name, lang, l.scheme, l.width)
			for _, e := range value(c, chromedp.Evaluate[[]string](cutOff)) {
				c.t.Errorf("%s: %s is cut off", what, e)
			}
			for _, bad := range value(c, chromedp.Evaluate[[]string](unreadable)) {
				c.t.Errorf("%s: %s", what, bad)
			}
		}
	}
	c.tabThrough(p.name)
}

func (c *chromium) sees(l look) {
	c.t.Helper()
	must.Get(chromedp.Call(c.ctx, emulation.SetEmulatedMedia, emulation.SetEmulatedMediaParams{Features: []*emulation.MediaFeature{{Name: "prefers-color-scheme", Value: l.scheme}}}))(c.t)
	c.do(chromedp.EmulateViewport(l.width, 900))
}

// isHarmless reports parts of a page that are not ours, and expected text that is missing.
func (c *chromium) isHarmless(what string, shows []string) {
	c.t.Helper()
	if n := value(c, chromedp.Evaluate[int](`document.querySelectorAll("script, iframe, svg, main img, [onerror], [onload], [onfocus]").length`)); n != 0 {
		c.t.Errorf("%s: %d elements that are not ours", what, n)
	}
	said := c.text()
	for _, want := range shows {
		if !strings.Contains(said, want) {
			c.t.Errorf("%s: does not show %q", what, want)
		}
	}
	if strings.ContainsAny(said, "\u202e\u2066\x1b\x00\ufeff") || strings.Contains(said, "localhub.") {
		c.t.Errorf("%s: shows characters that turn others around, or a text that is missing", what)
	}
}

func (c *chromium) tabThrough(what string) {
	c.t.Helper()
	n := value(c, chromedp.Evaluate[int](`document.querySelectorAll("a, button, input:not([type=hidden])").length`))
	c.settles()
	seen := map[string]bool{}
	for range n + 1 { // the first may focus the page itself
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

// cutOff lists elements that are wider than their space. A long user name may
// end in an ellipsis, and on a phone a table's head is for screen readers only.
const cutOff = `[document.documentElement, ...document.body.querySelectorAll(":not(input)")].filter(e => {
	const s = getComputedStyle(e)
	return e.scrollWidth > e.clientWidth + 1 && (e.parentElement === null || s.overflowX !== "visible") && s.clipPath === "none" && s.textOverflow !== "ellipsis"
}).map(e => e.localName + "." + e.className)`
