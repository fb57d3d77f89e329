package localhub

import (
	"net/http"
	"net/url"
	"strings"
	"testing"

	"wiebelt/internal/testutil/messagetest"
	"wiebelt/internal/testutil/must"
)

func TestMessageBoxPages(t *testing.T) {
	h := start(t, Config{Dir: t.TempDir(), Now: newClock().Now})
	for user, admin := range map[string]bool{"anna": false, "beheer": true} {
		must.Do(t, h.AddUser(t.Context(), user, "een-wachtwoord", admin))
	}
	tok := token(t, h)
	var files []string
	for i := range 250 {
		files = append(files, strings.Repeat("a", 1+i)+".xml", "x")
	}
	many := messagetest.ZIP(t, files...)
	var messages [][]byte
	for i := range 52 {
		messages = append(messages, numbered(t, i))
	}
	all := receipts(t, deliver(t, h, tok, messagetest.Request(append(messages, many)...)))
	newest, oldest := all[len(all)-1], all[0]
	paths := []string{"/messages", "/messages/" + newest.ID, "/messages/" + newest.ID + "/zip"}

	// Only the administrator can see it, and only after logging in.
	stranger, anna, boss := newBrowser(t, h), newBrowser(t, h), newBrowser(t, h)
	anna.login("anna", "een-wachtwoord", "/")
	for _, p := range paths {
		if a := stranger.get(p); a.status != 303 || !strings.HasPrefix(a.header.Get("Location"), "/login") {
			t.Errorf("%s without login: %d", p, a.status)
		}
		if a := anna.get(p); a.status != 403 || strings.Contains(a.body, newest.ID) || a.header.Get("Content-Type") == "application/zip" {
			t.Errorf("%s for a user: %d", p, a.status)
		}
	}
	if a := boss.login("beheer", "een-wachtwoord", paths[1]); a.header.Get("Location") != paths[1] {
		t.Errorf("logged in, and sent to %s", a.header.Get("Location"))
	}

	first := boss.get("/messages").body
	if strings.Count(first, `<a href="/messages/`) != 50 || !strings.Contains(first, "53 berichten") || strings.Contains(first, oldest.ID) || strings.Contains(first, "Nieuwste berichten") {
		t.Error("the first page")
	}
	older := boss.get("/messages?before=" + all[3].ID).body
	if strings.Count(older, `<a href="/messages/`) != 3 || !strings.Contains(older, oldest.ID) || strings.Contains(older, "Oudere") || !strings.Contains(older, "Nieuwste berichten") {
		t.Error("the last page")
	}
	if a := boss.get("/messages?before=" + url.QueryEscape(`"><script>`)); a.status != 200 || strings.Contains(a.body, "<script") {
		t.Errorf("a hostile page: %d", a.status)
	}

	one := boss.get(paths[1]).body
	for _, want := range []string{newest.SHA256, newest.ID, "wiebelt-test", "90210", "intermediary", "En nog 50 bestanden.", strings.Repeat("a", 200) + ".xml"} {
		if !strings.Contains(one, want) {
			t.Errorf("the message's page has no %.20s", want)
		}
	}
	if strings.Contains(one, strings.Repeat("a", 201)+".xml") {
		t.Error("more than 200 names")
	}
	a := boss.get(paths[2])
	if a.body != string(many) || a.header.Get("Content-Type") != "application/zip" || a.header.Get("X-Content-Type-Options") != "nosniff" ||
		a.header.Get("Content-Disposition") != `attachment; filename="`+newest.ID+`.zip"` || a.header.Get("Cache-Control") != "no-store" {
		t.Errorf("the ZIP file: %d %v", a.status, a.header)
	}
	for _, p := range []string{"/messages/nobody", "/messages/" + strings.Repeat("a", 36) + "/zip", "/messages/..%2f..%2fhub.db/zip"} {
		boss.get(p).is(t, http.StatusNotFound, p)
	}
	boss.post("/messages", url.Values{}).is(t, http.StatusMethodNotAllowed, "posting to the message box")
}
