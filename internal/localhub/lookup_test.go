package localhub_test

import (
	"cmp"
	"encoding/json"
	"strings"
	"testing"

	"wiebelt/internal/core/contact"
	"wiebelt/internal/localhub"
	"wiebelt/internal/testutil/must"
)

func TestLookupEveryField(t *testing.T) {
	for _, field := range []string{"", "eigenrelatienummer"} {
		h := start(t, localhub.Config{RelationField: field})
		ids, err := h.AddContact(t.Context(),
			localhub.Record{Contact: contact.Contact{
				ID: "c-1", RelationNumber: "0042", Initials: "B.M.", Prefix: "van den", FamilyName: `Heu"v<e>l ü`,
				Address:        contact.Address{Street: "Kade", Number: "12", Addition: "A", PostalCode: "1011AB", City: "Zaanwijk", Country: "NL"},
				Producer:       contact.Coded{Code: "P1", Description: "Kantoor"},
				LastModifiedBy: contact.Coded{Code: "XY", Description: "X. Y"}, Link: "http://elsewhere.example/",
			}, Numbers: []string{"0612345678"}},
			localhub.Record{Numbers: []string{"06-12345678", "+31612345678"}})
		if err != nil || len(ids) != 2 || ids[0] != "c-1" || len(ids[1]) < 32 {
			t.Fatal(ids, err)
		}
		field = cmp.Or(field, "backofficerelatienummer")
		a := lookup(t, h, token(t, h), "0612345678")
		want := `{"data":{"items":[{"id":"c-1","` + field + `":"0042","voorletters":"B.M.","achternaam":"Heu\"v<e>l ü","voorvoegsel":"van den",` +
			`"woonadres":{"straat":"Kade","huisnummer":"12","toevoeging":"A","postcode":"1011AB","plaats":"Zaanwijk","landIso":"NL"},` +
			`"producent":{"code":"P1","description":"Kantoor"},"laatstGewijzigdDoor":{"code":"XY","description":"X. Y"},` +
			`"link":"` + h.HubURL() + `/contacts/viewcontact/c-1"},` +
			`{"id":"` + ids[1] + `","` + field + `":"","voorletters":"","achternaam":"","voorvoegsel":"",` +
			`"woonadres":{"straat":"","huisnummer":"","toevoeging":null,"postcode":"","plaats":"","landIso":null},` +
			`"producent":{"code":"","description":""},"laatstGewijzigdDoor":{"code":"","description":""},` +
			`"link":"` + h.HubURL() + `/contacts/viewcontact/` + ids[1] + `"}]}}`
		if got := canonical(t, a.body); got != canonical(t, want) || a.header.Get("Content-Type") != "application/json" {
			t.Errorf("got  %s\nwant %s", a.body, want)
		}
		if strings.Index(a.body, `"voorletters"`) > strings.Index(a.body, `"achternaam"`) {
			t.Error("not in the document's order")
		}
	}
}

func canonical(t *testing.T, s string) string {
	t.Helper()
	var v any
	if err := json.Unmarshal([]byte(s), &v); err != nil {
		t.Fatal(err, s)
	}
	b, _ := json.Marshal(v)
	return string(b)
}

func TestLookupMatchesWhateverTheNotation(t *testing.T) {
	notations := []string{
		"0612345678", "06-12345678", "06 12 34 56 78", "+31612345678", "+31 (0)6 1234 5678", "0031612345678", "(06) 1234.5678",
		"612345678", " 31612345678", "06/123 456 78", "+31\u00a06\u201112345678", "sip:0612345678@10.11.12.13:5060;user=phone",
		"<sip:+31612345678@pbx.example;transport=tcp>", `"Jan 2" <sip:0612345678@pbx>`, "tel:+31-6-1234-5678;ext=12", "Mob. 06-12345678", "06-12345678 (privé 2)",
	}
	h := start(t, localhub.Config{})
	var in []localhub.Record
	for _, n := range notations {
		in = append(in, person("Zelfde", n))
	}
	in = append(in, person("Ander", "0612345679"), person("Kort", "12345678"), person("Korter", "112"), person("Mail", "0201111111"))
	in[len(in)-1].Emails = []string{"Wim.12345678@Example.org"}
	must.Get(h.AddContact(t.Context(), in...))(t)
	tok := token(t, h)
	for _, q := range notations {
		if got := items(t, lookup(t, h, tok, q)); len(got) != len(notations) {
			t.Errorf("%q: %d found, want %d", q, len(got), len(notations))
		}
	}
	for q, want := range map[string]int{
		"+99 777 612345678": len(notations), // the last nine digits are all that counts
		"12345678":          0,              // fewer than nine, and a contact has exactly these
		"112":               0, "abc": 0, "+": 0, "%": 0, "' OR 1=1 --": 0, "short:112": 0, "short:12345678": 0,
		"wim.12345678@example.org": 1, "WIM.12345678@EXAMPLE.ORG": 1, "wim@example.org": 0,
	} {
		if got := items(t, lookup(t, h, tok, q)); len(got) != want {
			t.Errorf("%q: %d found, want %d", q, len(got), want)
		}
	}
}

func TestLookupBadRequests(t *testing.T) {
	h := start(t, localhub.Config{})
	tok := token(t, h)
	for query, want := range map[string]int{
		"": 400, "?q=": 400, "?q=%20": 400, "?q=0612345678&q=1": 400, "?x=0612345678": 400, "?q=%zz": 400,
		"?q=" + strings.Repeat("1", 300): 400, "?q=+31612345678": 200, "?q=0612345678&x=y": 200,
	} {
		a := do(t, client(t), "GET", h.BaseURL()+"/contact/contacts/telephony"+query, "", "Authorization", "Bearer "+tok)
		if a.status != want {
			t.Errorf("%q: %d, want %d", query, a.status, want)
		}
		if want == 400 && errorCode(t, a) != "invalid_request" {
			t.Errorf("%q: %s", query, a.body)
		}
	}
	if a := do(t, client(t), "POST", h.BaseURL()+"/contact/contacts/telephony?q=0612345678", "", "Authorization", "Bearer "+tok); a.status != 405 {
		t.Errorf("POST: %d", a.status)
	}
	if a := do(t, client(t), "GET", h.BaseURL()+"/contact/contacts/telephony?q=0612345678", ""); a.status != 401 {
		t.Errorf("without token: %d", a.status)
	}
}

func TestAddContactAllOrNone(t *testing.T) {
	h := start(t, localhub.Config{})
	for _, id := range []string{"a/b", "..", "a b", "é", "a?b", strings.Repeat("x", 201)} {
		bad := person("Fout", "0612345678")
		bad.ID = id
		if _, err := h.AddContact(t.Context(), person("Goed", "0612345678"), bad); err == nil {
			t.Errorf("id %q was accepted", id)
		}
	}
	twice := person("Dubbel", "0612345678")
	twice.ID = "same"
	if _, err := h.AddContact(t.Context(), twice, twice); err == nil {
		t.Error("an id was accepted twice")
	}
	if n, err := h.Count(t.Context()); n != 0 || err != nil {
		t.Errorf("%d stored, %v", n, err)
	}
}

func TestNumbersThatAreAlwaysTheSame(t *testing.T) {
	h := start(t, localhub.Config{Synthetic: 500, Demo: true})
	tok := token(t, h)
	for number, want := range map[string]int{localhub.OnePerson: 1, localhub.Family: 3, localhub.Nobody: 0} {
		got := items(t, lookup(t, h, tok, number))
		if len(got) != want {
			t.Errorf("%s: %d contacts, want %d", number, len(got), want)
		}
		for _, g := range got {
			if g.Link != h.HubURL()+"/contacts/viewcontact/"+g.ID {
				t.Errorf("%s: %+v", number, g)
			}
		}
	}
	if _, err := h.AddContact(t.Context(), person("Echt", "0612345678")); err == nil {
		t.Error("a demo took a contact from outside")
	}
	if _, err := h.AddInvented(t.Context(), person("Verzonnen", "0699998888")); err != nil {
		t.Error(err)
	}
}

// TestNothingThere: a program that asks the interfaces for what they do not have
// is answered in JSON, whatever its method.
func TestNothingThere(t *testing.T) {
	h := start(t, localhub.Config{})
	for _, path := range []string{"/transaction/", "/transaction/a/b", "/contact/contacts/telephony/", "/contact/contacts", "/identity/", "/identity/token/"} {
		for _, method := range []string{"GET", "POST", "PUT"} {
			a := do(t, client(t), method, h.BaseURL()+path, "{}", "Content-Type", "application/json")
			if a.status != 404 || a.header.Get("Content-Type") != "application/json" || !strings.Contains(a.body, `"error":"not_found"`) {
				t.Errorf("%s %s: %d %s", method, path, a.status, a.body)
			}
		}
	}
}
