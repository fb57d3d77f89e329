package localhub

import (
	"net/http"
	"net/http/cookiejar"
	"net/url"
	"strconv"
	"strings"
	"testing"
	"time"

	"wiebelt/internal/core/contact"
	"wiebelt/internal/testutil/clocktest"
	"wiebelt/internal/testutil/must"
)

// browser keeps cookies and does not follow redirects.
type browser struct {
	t *testing.T
	h *Hub
	c *http.Client
	u *url.URL
}

func newBrowser(t *testing.T, h *Hub) *browser {
	c := newClient(t)
	c.Jar, _ = cookiejar.New(nil)
	u, _ := url.Parse(h.HubURL())
	return &browser{t, h, c, u}
}

func (b *browser) get(path string, header ...string) answer {
	b.t.Helper()
	return do(b.t, b.c, "GET", b.h.HubURL()+path, "", header...)
}

func (b *browser) post(path string, v url.Values, header ...string) answer {
	b.t.Helper()
	return do(b.t, b.c, "POST", b.h.HubURL()+path, v.Encode(), append([]string{"Content-Type", form}, header...)...)
}

func (b *browser) login(user, password, next string) answer {
	b.t.Helper()
	return b.post("/login", url.Values{"user": {user}, "password": {password}, "next": {next}})
}

// session returns the session cookie's value, "" if there is none.
func (b *browser) session() string {
	for _, c := range b.c.Jar.Cookies(b.u) {
		if strings.HasPrefix(c.Name, "hub_session") {
			return c.Value
		}
	}
	return ""
}

func hubWithContact(t *testing.T, now *clocktest.Clock) (*Hub, string) {
	t.Helper()
	h := start(t, Config{Now: now.Now})
	must.Do(t, h.AddUser(t.Context(), "Anna", "een-wachtwoord", false))
	ids, err := h.AddInvented(t.Context(),
		Record{Contact: contact.Contact{
			RelationNumber: "100200", Initials: "B.M.", Prefix: "van den", FamilyName: "Heuvel<b>",
			Address:  contact.Address{Street: "Kade", Number: "12", Addition: "A", PostalCode: "1011AB", City: "Zaanwijk"},
			Producer: contact.CodedValue{Code: "P1", Description: "Kantoor Oost"}, LastModifiedBy: contact.CodedValue{Code: "XY",
				Description: "X. Ypma"},
		}, Numbers: []string{"+31612345678", "112"}, Emails: []string{"bm@example.org"}},
		person("Huisgenoot", "06-12345678"), person("Vreemde", "0201234567", "112"))
	must.Do(t, err)
	return h, "/contacts/viewcontact/" + ids[0]
}

func TestDeepLinkLoginFile(t *testing.T) {
	h, file := hubWithContact(t, newClock())
	b := newBrowser(t, h)
	a := b.get(file)
	if a.status != 303 || a.header.Get("Location") != "/login?next="+url.QueryEscape(file) || strings.Contains(a.body, "Heuvel") {
		t.Fatalf("%d to %s", a.status, a.header.Get("Location"))
	}
	a = b.login("anna", "een-wachtwoord", file)
	if a.status != 303 || a.header.Get("Location") != file {
		t.Fatalf("%d to %s: %s", a.status, a.header.Get("Location"), a.body)
	}
	a = b.get(file)
	if a.status != 200 {
		t.Fatal(a.status)
	}
	for _, want := range []string{"B.M. van den Heuvel&lt;b&gt;", "100 200", "Kade 12 A", "1011 AB Zaanwijk", "06 12 34 56 78", "bm@example.org", "Kantoor Oost", "X. Ypma", `href="/backoffice/100200"`, "A. Huisgenoot", ">anna<"} {
		if !strings.Contains(a.body, want) {
			t.Errorf("no %q", want)
		}
	}
	for _, not := range []string{"Vreemde", "<script", "<b>", "style=", "localhub."} {
		if strings.Contains(a.body, not) {
			t.Errorf("%q is there", not)
		}
	}
	if n := strings.Count(a.body, "<form"); n != 1 {
		t.Errorf("%d forms: there is nothing to edit, only the way out", n)
	}
	if a := b.get("/backoffice/100200"); a.status != 200 || !strings.Contains(a.body, "administratie") {
		t.Errorf("back office: %d", a.status)
	}
	if a := b.get("/login?next=" + url.QueryEscape(file)); a.status != 303 || a.header.Get("Location") != file {
		t.Errorf("login while logged in: %d", a.status)
	}
	if s := h.Stats(); s.Files != 1 {
		t.Errorf("%+v", s)
	}
}

func TestBackOfficeAddress(t *testing.T) {
	h := start(t, Config{BackOfficeURL: "backoffice:relation?n={relation}"})
	must.Do(t, h.AddUser(t.Context(), "anna", "een-wachtwoord", false))
	r := person("Een")
	r.RelationNumber = "1 2"
	ids := must.Get(h.AddInvented(t.Context(), r))(t)
	b := newBrowser(t, h)
	b.login("anna", "een-wachtwoord", "/")
	if a := b.get("/contacts/viewcontact/" + ids[0]); !strings.Contains(a.body, `href="backoffice:relation?n=1&#43;2"`) && !strings.Contains(a.body, `href="backoffice:relation?n=1+2"`) {
		t.Errorf("%s", a.body)
	}
}

func TestSessionLastsTenHours(t *testing.T) {
	now := newClock()
	h, file := hubWithContact(t, now)
	b := newBrowser(t, h)
	b.login("anna", "een-wachtwoord", file)
	for range 9 {
		now.Forward(time.Hour)
		if b.get(file).status != 200 {
			t.Fatal("too short")
		}
	}
	now.Forward(time.Hour - time.Millisecond)
	b.get(file).is(t, 200, "ended before ten hours")
	now.Forward(time.Millisecond)
	b.get(file).is(t, 303, "after ten hours")
	b.login("anna", "een-wachtwoord", file)
	now.Forward(-2 * time.Hour)
	b.get(file).is(t, 303, "a session of the future")
}

func TestLogout(t *testing.T) {
	h, file := hubWithContact(t, newClock())
	b := newBrowser(t, h)
	b.login("anna", "een-wachtwoord", file)
	kept := b.session()
	if a := b.post("/logout", nil, "Sec-Fetch-Site", "same-site"); a.status != 403 || b.get(file).status != 200 {
		t.Errorf("logout by another port's page: %d", a.status)
	}
	if a := b.get("/logout"); a.status == 200 || b.get(file).status != 200 {
		t.Errorf("logout by a link: %d", a.status)
	}
	b.post("/logout", nil).is(t, 303, "logout")
	b.get(file).is(t, 303, "still logged in")
	b.setSession(kept)
	b.get(file).is(t, 303, "an old cookie still works")
}

func (b *browser) setSession(value string) {
	b.c.Jar.SetCookies(b.u, []*http.Cookie{{Name: "hub_session_" + b.u.Port(), Value: value, Path: "/"}})
}

func TestBadSessions(t *testing.T) {
	h, file := hubWithContact(t, newClock())
	b := newBrowser(t, h)
	b.login("anna", "een-wachtwoord", file)
	good := b.session()
	for _, v := range []string{"", "x", strings.Repeat("A", 43), good[:42] + "!", good + "A", strings.ToLower(good)} {
		other := newBrowser(t, h)
		other.setSession(v)
		other.get(file).is(t, 303, v)
	}
	planted := strings.Repeat("B", 43)
	fixed := newBrowser(t, h)
	fixed.setSession(planted)
	fixed.login("anna", "een-wachtwoord", file)
	if v := fixed.session(); v == planted || v == "" {
		t.Error("the planted session was taken over")
	}
	must.Do(t, h.AddUser(t.Context(), "anna", "een-ander-wachtwoord", false))
	b.get(file).is(t, 303, "a session outlived the password")
	b.login("anna", "een-ander-wachtwoord", file)
	must.Do(t, exec(h, "DELETE FROM users"))
	b.get(file).is(t, 303, "a session outlived its user")
}

func TestLoginForms(t *testing.T) {
	h, file := hubWithContact(t, newClock())
	for name, c := range map[string]struct {
		v      url.Values
		header []string
		want   int
	}{
		"another site":    {nil, []string{"Origin", "https://evil.example"}, 403},
		"wrong password":  {url.Values{"password": {"fout"}}, nil, 401},
		"unknown user":    {url.Values{"user": {"bob"}}, nil, 401},
		"long name":       {url.Values{"user": {strings.Repeat("a", 300)}}, nil, 401},
		"long password":   {url.Values{"password": {"een-wachtwoord" + strings.Repeat("a", 300)}}, nil, 401},
		"too long":        {url.Values{"user": {strings.Repeat("a", 9000)}}, nil, 400},
		"good":            {nil, nil, 303},
		"good, own site":  {nil, []string{"Sec-Fetch-Site", "same-origin", "Origin", h.HubURL()}, 303},
		"name in capital": {url.Values{"user": {" ANNA "}}, nil, 303},
	} {
		b := newBrowser(t, h)
		v := url.Values{"user": {"anna"}, "password": {"een-wachtwoord"}, "next": {file}}
		for k, x := range c.v {
			v[k] = x
		}
		b.post("/login", v, c.header...).is(t, c.want, name)
		want := 303
		if c.want == 303 {
			want = 200
		}
		b.get(file).is(t, want, name, ", the file")
	}
}

func TestLoginLeadsOnlyToOwnPages(t *testing.T) {
	h, file := hubWithContact(t, newClock())
	const id = "0f8fad5b-d9cb-469f-a165-70867728950e"
	own := []string{file, "/messages", "/messages/" + id, "/"}
	elsewhere := []string{
		"", "https://evil.example/", "http://evil.example" + file, "//evil.example", "///evil.example", `/\evil.example`, `\\evil.example`, "/\t/evil.example",
		"/%2f/evil.example", "https:evil.example", "javascript:alert(1)", "data:text/html,x", "evil.example", " https://evil.example", "/logout", "/login",
		"/contacts/viewcontact/", "/contacts/viewcontact/..", "/contacts/viewcontact/../../logout", "/contacts/viewcontact/a/b", "/contacts/viewcontact/a?x",
		"/contacts/viewcontact/a#x", "/contacts/viewcontact/a\r\nX: y", "/contacts/viewcontact//evil.example", "/contacts/viewcontact/%2e%2e", "/CONTACTS/viewcontact/a",
		"/messages/", "/messages?before=" + id, "/messages/" + id + "/zip", "/messages/" + id + "\n", "/messages/{" + id + "}", "/messages/urn:uuid:" + id, "/messages//evil.example",
		"/backoffice/1", file + strings.Repeat("a", 200),
	}
	for i, to := range append(own, elsewhere...) {
		want := "/"
		if i < len(own) {
			want = to
		}
		if got := loginTarget(to); got != want {
			t.Errorf("%q: %q", to, got)
		}
	}
	b := newBrowser(t, h)
	for _, to := range []string{file, "//evil.example"} {
		if a := newBrowser(t, h).login("anna", "een-wachtwoord", to); a.status != 303 || a.header.Get("Location") != loginTarget(to) {
			t.Errorf("%q: %d to %q", to, a.status, a.header.Get("Location"))
		}
	}
	for path, want := range map[string]string{
		"/messages": "/messages", "/messages/" + id: "/messages/" + id, "/messages/" + id + "/zip": "/messages/" + id, "/backoffice/1": "", "/": "",
	} {
		if want != "" {
			want = "?next=" + url.QueryEscape(want)
		}
		if a := b.get(path); a.status != 303 || a.header.Get("Location") != "/login"+want {
			t.Errorf("%s: %d to %q", path, a.status, a.header.Get("Location"))
		}
	}
	for next, want := range map[string]string{"/": "om relaties te bekijken", file: "opent de relatie", "/messages": "opent de postbus"} {
		if a := b.get("/login?next=" + url.QueryEscape(next)); !strings.Contains(a.body, want) {
			t.Errorf("%s: the login page does not say what comes", next)
		}
	}
}

func TestLoginRateLimit(t *testing.T) {
	now := newClock()
	h, file := hubWithContact(t, now)
	b := newBrowser(t, h)
	for i := range 5 {
		if a := b.login("anna", "fout", file); a.status != 401 {
			t.Fatalf("attempt %d: %d", i, a.status)
		}
	}
	for wait, says := range []string{"1 seconde", "2 seconden", "4 seconden"} {
		wait = 1 << wait
		if a := b.login("anna", "een-wachtwoord", file); a.status != 429 || a.header.Get("Retry-After") != strconv.Itoa(wait) || !strings.Contains(a.body, says) {
			t.Errorf("%d, %q, want %s", a.status, a.header.Get("Retry-After"), says)
		}
		if a := b.login("bob", "fout", file); a.status != 401 { // others may still try
			t.Errorf("another name: %d", a.status)
		}
		now.Forward(time.Duration(wait) * time.Second)
		b.login("anna", "fout", file).is(t, 401, "after ", wait, " s")
	}
	for range 10 {
		now.Forward(5 * time.Minute)
		b.login("anna", "fout", file)
	}
	if a := b.login("anna", "een-wachtwoord", file); a.status != 429 || !strings.Contains(a.body, "5 minuten") {
		t.Errorf("%d, %q", a.status, a.header.Get("Retry-After"))
	}
	now.Forward(5 * time.Minute)
	b.login("anna", "een-wachtwoord", file).is(t, 303, "afterwards")
	for i := range 5 { // all attempts are available again
		newBrowser(t, h).login("anna", "fout", file).is(t, 401, "attempt ", i, " afterwards")
	}
}

func TestPageHeaders(t *testing.T) {
	h, file := hubWithContact(t, newClock())
	b := newBrowser(t, h)
	b.login("anna", "een-wachtwoord", file)
	for path, want := range map[string]int{
		"/": 200, file: 200, "/login": 303, "/nothing": 404, "/contacts/viewcontact/unknown": 404, "/web/hub.css": 200,
		"/web/icon.svg": 200, "/web/login.html": 404, "/web/..%2fhub.go": 404, "/backoffice/1": 200, "/contacts/viewcontact/%2e%2e%2flogin": 404,
	} {
		a := b.get(path)
		if a.status != want {
			t.Errorf("%s: %d, want %d", path, a.status, want)
		}
		csp := a.header.Get("Content-Security-Policy")
		for _, part := range []string{"default-src 'none'", "frame-ancestors 'none'", "form-action 'self'", "base-uri 'none'"} {
			if !strings.Contains(csp, part) {
				t.Errorf("%s: no %s", path, part)
			}
		}
		if strings.Contains(csp, "unsafe") || strings.Contains(csp, "script-src") {
			t.Errorf("%s: %s", path, csp)
		}
		for k, v := range map[string]string{"X-Content-Type-Options": "nosniff", "X-Frame-Options": "DENY", "Cache-Control": "no-store", "Referrer-Policy": "same-origin"} {
			if a.header.Get(k) != v {
				t.Errorf("%s: %s is %q", path, k, a.header.Get(k))
			}
		}
		if strings.Contains(a.body, "<script") || strings.Contains(a.body, "localhub.") {
			t.Errorf("%s: %s", path, a.body)
		}
	}
	fresh := newBrowser(t, h)
	in := fresh.post("/login", url.Values{"user": {"anna"}, "password": {"een-wachtwoord"}})
	for _, c := range in.header.Values("Set-Cookie") {
		if !strings.Contains(c, "; HttpOnly") || !strings.Contains(c, "; SameSite=Lax") || !strings.Contains(c, "Path=/;") {
			t.Errorf("cookie %s", c)
		}
	}
	if len(fresh.get("/login").header.Values("Set-Cookie")) != 0 || len(in.header.Values("Set-Cookie")) != 2 {
		t.Error("cookies are missing")
	}
	if c := in.header.Values("Set-Cookie")[0]; !strings.Contains(c, "Max-Age=36000") {
		t.Errorf("session cookie %s", c)
	}
}

// TestFailurePage checks that an internal failure has a page too, which reveals nothing about it.
func TestFailurePage(t *testing.T) {
	h, file := hubWithContact(t, newClock())
	b := newBrowser(t, h)
	b.login("anna", "een-wachtwoord", file)
	must.Do(t, exec(h, "ALTER TABLE terms RENAME TO gone"))
	if a := b.get(file); a.status != 500 || !strings.Contains(a.body, "niet gelukt") || strings.Contains(a.body, "terms") || !strings.Contains(a.header.Get("Content-Type"), "text/html") {
		t.Errorf("%d %s", a.status, a.body)
	}
}

func TestLanguages(t *testing.T) {
	h := start(t, Config{})
	b := newBrowser(t, h)
	for accept, want := range map[string]string{
		"": "nl", "nl": "nl", "nl-BE,nl;q=0.9": "nl", "en-GB,en;q=0.9": "en", "en;q=0.4, nl;q=0.8": "nl", "nl;q=0.1,en;q=0.9": "en",
		"fr": "nl", "zz;;;,": "nl",
	} {
		a := b.get("/login", "Accept-Language", accept)
		if !strings.Contains(a.body, `<html lang="`+want+`">`) || a.header.Get("Content-Language") != want {
			t.Errorf("%q: not %s", accept, want)
		}
		if strings.Contains(a.body, ">Wachtwoord<") != (want == "nl") {
			t.Errorf("%q: other words", accept)
		}
	}
}

func TestDemoShowsItsUser(t *testing.T) {
	h := start(t, Config{Demo: true, Synthetic: 20})
	b := newBrowser(t, h)
	a := b.get("/login")
	if !strings.Contains(a.body, `value="`+demoPassword+`"`) || !strings.Contains(a.body, `value="`+DemoUser+`"`) {
		t.Error("not filled in")
	}
	if strings.Contains(a.body, `type="password"`) {
		t.Error("browsers will offer to keep the demo's password")
	}
	file := "/contacts/viewcontact/" + items(t, lookup(t, h, token(t, h), PersonNumber))[0].ID
	if a := b.login(DemoUser, demoPassword, file); a.status != 303 || b.get(file).status != 200 {
		t.Errorf("%d", a.status)
	}
	plain := newBrowser(t, start(t, Config{Synthetic: 20}))
	if a := plain.get("/login"); strings.Contains(a.body, demoPassword) {
		t.Error("a hub that is no demo shows the password")
	}
}

func TestUsersAreChecked(t *testing.T) {
	h := start(t, Config{})
	for _, u := range [][2]string{{"", "een-wachtwoord"}, {"a\x00", "een-wachtwoord"}, {"a", "kort"}, {"a", strings.Repeat("x", 73)}, {strings.Repeat("a", 101), "een-wachtwoord"}} {
		if err := h.AddUser(t.Context(), u[0], u[1], false); err == nil {
			t.Errorf("%q was accepted", u[0])
		}
	}
}

// TestPagesSayWhatHubThisIs checks that the footer of every page identifies the hub.
func TestPagesSayWhatHubThisIs(t *testing.T) {
	shared := start(t, Config{})
	shared.origin.loopback = false
	for want, h := range map[string]*Hub{
		"draait alleen op deze computer": start(t, Config{}), "verzonnen": start(t, Config{Demo: true, Synthetic: 5}), "bereikbaar via het netwerk": shared,
	} {
		if a := newBrowser(t, h).get("/login"); !strings.Contains(a.body, want) {
			t.Errorf("does not say %q", want)
		}
	}
}
