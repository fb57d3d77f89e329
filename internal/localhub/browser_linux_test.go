package localhub_test

import (
	"context"
	"fmt"
	"os"
	"path/filepath"
	"strings"
	"testing"
	"time"

	cdpbrowser "github.com/chromedp/cdproto/browser"
	"github.com/chromedp/cdproto/cdp"
	"github.com/chromedp/cdproto/page"
	"github.com/chromedp/chromedp"

	"wiebelt/internal/core/call"
	"wiebelt/internal/core/contact"
	"wiebelt/internal/localhub"
	"wiebelt/internal/testutil/clocktest"
	"wiebelt/internal/testutil/messagetest"
)

// hostile is what may stand in any field that others fill in.
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

// fullHub is a hub with everything there is to see: a contact and, on the same
// number, one for each hostile word, users and messages. The last message is
// hostile throughout.
func fullHub(t *testing.T, now *clocktest.Clock) (h *localhub.Hub, file string, bad []string) {
	t.Helper()
	h = start(t, localhub.Config{Dir: t.TempDir(), Now: now.Now})
	for user, admin := range map[string]bool{"anna": false, "beheer": true, hostileUser: true} {
		if err := h.AddUser(t.Context(), user, "een-wachtwoord", admin); err != nil {
			t.Fatal(err)
		}
	}
	people := []localhub.Record{{Contact: contact.Contact{RelationNumber: "100200", Initials: "B.M.", Prefix: "van den", FamilyName: "Heuvel",
		Address:  contact.Address{Street: "Kade", Number: "12", Addition: "A", PostalCode: "1011AB", City: "Zaanwijk"},
		Producer: contact.Coded{Code: "P1", Description: "Kantoor Oost"}, LastModifiedBy: contact.Coded{Code: "XY", Description: "X. Ypma"},
	}, Numbers: []string{"+31612345678"}, Emails: []string{"bm@example.org"}}}
	for _, x := range hostile {
		people = append(people, localhub.Record{Contact: contact.Contact{RelationNumber: x, Initials: x, Prefix: x, FamilyName: x,
			Address:  contact.Address{Street: x, Number: x, Addition: x, PostalCode: x, City: x, Country: x},
			Producer: contact.Coded{Code: x, Description: x}, LastModifiedBy: contact.Coded{Code: x, Description: x},
		}, Numbers: []string{"+31612345678"}})
	}
	ids, err := h.AddContact(t.Context(), people...)
	if err != nil {
		t.Fatal(err)
	}
	for i, id := range ids[1:] {
		bad = append(bad, "/contacts/viewcontact/"+id)
		for mail := range 2 { // such a number or address is not taken, but a database may hold it
			if err := h.Exec("INSERT INTO terms SELECT ?, n, ?, ? FROM contacts WHERE id = ?", fmt.Sprint("term", mail), hostile[i], mail, id); err != nil {
				t.Fatal(err)
			}
		}
	}
	tok := token(t, h)
	for i := range 60 {
		deliver(t, h, tok, messagetest.Request(message(t, i)))
		now.Forward(7 * time.Second)
	}
	if err := h.SetClientSecret(t.Context(), hostileClient, hostileOrg, secret); err != nil {
		t.Fatal(err)
	}
	tok = tokenOf(t, h, hostileClient, hostileOrg)
	receipts(t, deliver(t, h, tok, messagetest.Request(hostileZIP(t))))
	return h, "/contacts/viewcontact/" + ids[0], bad
}

// hostileZIP holds files whose names are hostile, as far as the hub takes them.
func hostileZIP(t *testing.T) []byte {
	t.Helper()
	var files []string
	for i, name := range []string{`"><img src=x onerror=alert(10)>.xml`, `<script>alert(11)</script>.xml`, "{{.Names}}.xml", "polis\u202efdp.exe",
		"bijlagen/polis.pdf", strings.Repeat("W", 1000), "caf\xe9.txt"} {
		files = append(files, name, strings.Repeat("x", 1+i*9_999))
	}
	return messagetest.ZIP(t, files...)
}

// The deep link in a real browser: login first, then the file. After logging out
// the browser's way back leads to the login too, although it keeps pages.
func TestDeepLinkInChromium(t *testing.T) {
	h, file, _ := fullHub(t, newClock())
	c := startChromium(t)
	asksFirst := func(when string) {
		t.Helper()
		if at := c.at(h); !strings.HasPrefix(at, "/login?next=") || strings.Contains(c.text(), "Heuvel") {
			t.Errorf("%s: at %s", when, at)
		}
	}
	c.goTo(h.HubURL() + file)
	asksFirst("not logged in")
	c.login("anna", "een-wachtwoord")
	if at := c.at(h); at != file || !strings.Contains(c.text(), "B.M. van den Heuvel") {
		t.Fatalf("logged in, and at %s", at)
	}
	c.press("header form button")
	c.back()
	asksFirst("logged out and gone back")
}

// back goes a page back, as the browser's button does. The page may come from
// the browser's memory.
func (c *chromium) back() {
	c.t.Helper()
	value(c, chromedp.WaitEvent(page.FrameNavigated, nil, chromedp.Func(func(ctx context.Context, t *chromedp.Target) error {
		past, err := cdp.Call(ctx, t, page.GetNavigationHistory, cdp.Empty{})
		if err != nil {
			return err
		}
		_, err = cdp.Call(ctx, t, page.NavigateToHistoryEntry, page.NavigateToHistoryEntryParams{EntryID: past.Entries[past.CurrentIndex-1].ID})
		return err
	})))
}

// A real browser saves a message as it was delivered.
func TestMessageIsSavedInChromium(t *testing.T) {
	h, _, _ := fullHub(t, newClock())
	all, err := h.Messages(t.Context(), "", 1)
	if err != nil {
		t.Fatal(err)
	}
	c := startChromium(t)
	c.goTo(h.HubURL() + "/messages/" + all[0].ID)
	c.login("beheer", "een-wachtwoord")
	dir, saved := t.TempDir(), make(chan *cdpbrowser.EventDownloadProgress, 1)
	if _, err := chromedp.CallBrowser(c.ctx, cdpbrowser.SetDownloadBehavior, cdpbrowser.SetDownloadBehaviorParams{
		Behavior: cdpbrowser.SetDownloadBehaviorBehaviorAllow, DownloadPath: dir, EventsEnabled: new(true),
	}); err != nil {
		t.Fatal(err)
	}
	if err := chromedp.ListenBrowser(c.ctx, func(ev any) {
		if e, ok := ev.(*cdpbrowser.EventDownloadProgress); ok && e.State != cdpbrowser.DownloadProgressStateInProgress {
			saved <- e
		}
	}); err != nil {
		t.Fatal(err)
	}
	c.do(chromedp.Click(chromedp.CSS(".primary")))
	select {
	case e := <-saved:
		b, err := os.ReadFile(filepath.Join(dir, all[0].ID+".zip"))
		if err != nil || sumOf(b) != all[0].SHA256 {
			t.Errorf("what was saved (%s) is not the message: %d bytes, %v", e.State, len(b), err)
		}
	case <-time.After(stepTime):
		t.Error("nothing was saved")
	}
}

// What others wrote is shown as text, whatever it says.
func TestHostileWordsInChromium(t *testing.T) {
	h, _, bad := fullHub(t, newClock())
	c := startChromium(t)
	c.do(chromedp.EmulateViewport(360, 700))
	harmless := func(what string, shows ...string) {
		t.Helper()
		c.fits(what)
		if n := value(c, chromedp.Evaluate[int](`document.querySelectorAll("script, iframe, svg, main img, [onerror], [onload], [onfocus]").length`)); n != 0 {
			t.Errorf("%s: %d elements that are not ours", what, n)
		}
		said := c.text()
		for _, want := range shows {
			if !strings.Contains(said, want) {
				t.Errorf("%s: does not show %q", what, want)
			}
		}
		if strings.ContainsAny(said, "\u202e\u2066\x1b\x00\ufeff") {
			t.Errorf("%s: shows characters that turn others around", what)
		}
	}
	c.goTo(h.HubURL() + "/login")
	c.login(hostileUser, "fout-wachtwoord")
	harmless("login", "klopt niet")
	if v := value(c, chromedp.Value(chromedp.CSS("#user"))); v != hostileUser {
		t.Errorf("the user name has become %q", v)
	}
	c.login(hostileUser, "een-wachtwoord")
	harmless("start page")
	if name := value(c, chromedp.TextContent(chromedp.CSS(".who span"))); name != hostileUser {
		t.Errorf("who is logged in: %q", name)
	}
	for i, x := range hostile {
		c.goTo(h.HubURL() + bad[i])
		want := strings.TrimSpace(call.CleanText(x, 100))
		harmless(fmt.Sprint("file ", i), want, "Laatst gewijzigd door", "B.M. van den Heuvel")
		if !strings.Contains(value(c, chromedp.Title()), "Lokale hub") {
			t.Errorf("file %d: the title has become another", i)
		}
		c.press("article .primary")
		harmless(fmt.Sprint("click-through ", i))
		if at := c.at(h); !strings.HasPrefix(at, "/backoffice/") {
			t.Errorf("the click-through leads to %.40s", at)
		}
	}
	c.goTo(h.HubURL() + "/messages")
	harmless("message box", strings.TrimSuffix(hostileClient, "\u202e"))
	c.press("tbody a")
	harmless("message", strings.TrimSuffix(hostileClient, "\u202e"), hostileOrg, `"><img src=x onerror=alert(10)>.xml`,
		`<script>alert(11)</script>.xml`, "{{.Names}}.xml", "polisfdp.exe", "caf?.txt", "WWW…", "40,0 kB")
}
