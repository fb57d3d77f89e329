package screenreader

import (
	"strings"
	"testing"

	"wiebelt/internal/testutil/winetest"
)

// TestWindows runs this package's UI Automation tests under wine, and has a
// client in another process explore a card.
func TestWindows(t *testing.T) {
	exe := winetest.BuildTests(t)
	p := winetest.New(t)
	p.Test(exe, 5, "-test.run", "^Test(NothingWithoutClients|Providers|Roles|Changes|Churn)$")
	for range 5 {
		if exploredByAnother(t, p, exe) {
			return
		}
	}
	t.Error("no client could explore the card")
}

// exploredByAnother has a client in another process explore a
// card. It returns false if wine got stuck.
func exploredByAnother(t *testing.T, p *winetest.Prefix, exe string) bool {
	t.Helper()
	serve, client := p.Start(exe, "-test.v", "-test.run", "^TestServe$"), p.Start(exe, "-test.v", "-test.run", "^TestWalk$")
	serve.Wait("ready")
	wanted := func(want string) {
		t.Helper()
		serve.Send("wanted")
		if got := serve.Wait("ok wanted "); got != want {
			t.Errorf("somebody wants to explore: %s, want %s", got, want)
		}
	}
	walk := func() string {
		t.Helper()
		client.Send("WiebeltTest")
		return client.Wait("found ")
	}
	const card = `[{"Depth":0,"Type":50032,"ID":"1","Name":"Inkomend","Dialog":true},` +
		`{"Depth":1,"Type":50020,"ID":"2","Name":"Inkomend","Live":2},` +
		`{"Depth":1,"Type":50008,"ID":"3","Name":"2 relaties"},` +
		`{"Depth":2,"Type":50007,"ID":"5","Name":"A. Bakker","Help":"Bekend","Which":[2,3]},` +
		`{"Depth":3,"Type":50000,"ID":"4","Name":"Relatie openen","Focusable":true},` +
		`{"Depth":1,"Type":50000,"ID":"6","Name":"Kaart sluiten","Off":true},` +
		`{"Depth":1,"Type":50004,"ID":"8","Name":"Zoeken","Help":"in deze relaties","Focusable":true},` +
		`{"Depth":1,"Type":50020,"ID":"9","Name":"iets anders"}] <nil>`
	wanted("false")
	found := walk()
	if strings.HasPrefix(found, "nothing") {
		serve.Send("quit")
		return false
	}
	if found != card {
		t.Errorf("a client finds\n%s, want\n%s", found, card)
	}
	wanted("true")
	serve.Send("hide")
	serve.Wait("ok hide")
	if found = walk(); found != "[] <nil>" {
		t.Errorf("with the card gone a client finds %s", found)
	}
	return true
}
