package localhub

import (
	"cmp"
	"encoding/base64"
	"net/http"
	"net/url"
	"strings"
	"testing"

	"wiebelt/internal/core/contact"
	"wiebelt/internal/testutil/must"
)

func TestLookupEveryField(t *testing.T) {
	for _, field := range []string{"", "eigenrelatienummer"} {
		h := start(t, Config{RelationField: field})
		ids, err := h.AddInvented(t.Context(),
			Record{Contact: contact.Contact{
				ID: "c-1", RelationNumber: "0042", Initials: "B.M.", Prefix: "van den", FamilyName: `Heu"v<e>l ü`,
				Address:        contact.Address{Street: "Kade", Number: "12", Addition: "A", PostalCode: "1011AB", City: "Zaanwijk", Country: "NL"},
				Producer:       contact.CodedValue{Code: "P1", Description: "Kantoor"},
				LastModifiedBy: contact.CodedValue{Code: "XY", Description: "X. Y"}, Link: "http://elsewhere.example/",
			}, Numbers: []string{"0612345678"}},
			Record{Numbers: []string{"06-12345678", "+31612345678"}})
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
			`"link":"` + h.HubURL() + `/contacts/viewcontact/` + ids[1] + `"}]}}` + "\n"
		if a.body != want || a.header.Get("Content-Type") != "application/json" {
			t.Errorf("got  %s\nwant %s", a.body, want)
		}
	}
}

// TestLookupMatches checks which queries find which contacts; TestTermOf covers the notations.
func TestLookupMatches(t *testing.T) {
	h := start(t, Config{})
	mail := person("Mail", "0201111111")
	mail.Emails = []string{"Wim.12345678@Example.org"}
	must.Get(h.AddInvented(t.Context(), person("Zelfde", "06-12345678"), person("Zelfde", "+31612345678", "0612345678 (2)"),
		person("Ander", "0612345679"), person("Kort", "12345678"), person("Korter", "112"), mail))(t)
	tok := token(t, h)
	for q, want := range map[string]int{
		"sip:0612345678@pbx": 2, "12345678": 0, "112": 0, "abc": 0, "+": 0, "%": 0, "' OR 1=1 --": 0, "short:112": 0, "short:12345678": 0,
		"WIM.12345678@EXAMPLE.ORG": 1, "wim@example.org": 0,
	} {
		if got := items(t, lookup(t, h, tok, q)); len(got) != want {
			t.Errorf("%q: %d found, want %d", q, len(got), want)
		}
	}
}

func TestLookupBadRequests(t *testing.T) {
	h := start(t, Config{})
	tok := token(t, h)
	for query, want := range map[string]int{
		"": 400, "?q=": 400, "?q=%20": 400, "?q=0612345678&q=1": 400, "?x=0612345678": 400, "?q=%zz": 400,
		"?q=" + strings.Repeat("1", 300): 400, "?q=+31612345678": 200, "?q=0612345678&x=y": 200,
	} {
		a := do(t, newClient(t), "GET", h.BaseURL()+"/contact/contacts/telephony"+query, "", "Authorization", "Bearer "+tok)
		if a.status != want {
			t.Errorf("%q: %d, want %d", query, a.status, want)
		}
		if want == 400 && errorCode(t, a) != "invalid_request" {
			t.Errorf("%q: %s", query, a.body)
		}
	}
}

func TestAddInventedAllOrNone(t *testing.T) {
	h := start(t, Config{})
	twice := person("Dubbel", "0612345678")
	twice.ID = "same"
	if _, err := h.AddInvented(t.Context(), person("Goed", "0612345678"), twice, twice); err == nil {
		t.Error("an id was accepted twice")
	}
	bad := person("Fout", "0612345678")
	bad.Emails = []string{"geen adres"}
	if _, err := h.AddInvented(t.Context(), person("Goed", "0612345678"), bad); err == nil {
		t.Error("an e-mail address was accepted that nobody can find")
	}
	if n := count(t, h.Data); n != 0 {
		t.Errorf("%d stored", n)
	}
}

// TestNothingThere checks that a program that requests something the
// interfaces do not have gets an answer in JSON, whatever the method.
func TestNothingThere(t *testing.T) {
	h := start(t, Config{})
	for _, path := range []string{"/transaction/", "/transaction/a/b", "/contact/contacts/telephony/", "/contact/contacts", "/identity/", "/identity/token/"} {
		for _, method := range []string{"GET", "POST", "PUT"} {
			a := do(t, newClient(t), method, h.BaseURL()+path, "{}", "Content-Type", "application/json")
			if a.status != 404 || a.header.Get("Content-Type") != "application/json" || !strings.Contains(a.body, `"error":"not_found"`) {
				t.Errorf("%s %s: %d %s", method, path, a.status, a.body)
			}
		}
	}
}

func TestTermOf(t *testing.T) {
	for want, all := range map[string][]string{
		"612345678": {
			"0612345678", "06-12345678", "06 12 34 56 78", "+31612345678", "+31 (0)6 1234 5678", "0031612345678", "(06) 1234.5678", "612345678", " 31612345678",
			"06/123 456 78", "+31\u00a06\u201112345678", "sip:0612345678@10.11.12.13:5060;user=phone", "<sip:+31612345678@pbx.example;transport=tcp>",
			`"Jan 2" <sip:0612345678@pbx>`, "tel:+31-6-1234-5678;ext=12", "Mob. 06-12345678", "06-12345678 (privé 2)", "+99 777 612345678",
			"sip:0612345678@10.1.2.3", "<sip:0612345678@h>;tag=123456789", "06\u00a01234\u20115678", "\xff0612345678", "0612345678@pbx",
			"06-12345678 (2e)", "0612345678/79", "06 12345678, 24 uur", "+31612345678#12",
		},
		"201234567": {"tel:0201234567;ext=99", "020-1234567 tst 12", "thuis: 020-1234567"},
		"123456789": {"123456789"},
		"a@b.nl":    {"a@b.nl", " A@B.NL "},
		"112@x":     {"112@x"},
		"":          {"12345678", "", "x", "0900-1234", "sip:jan@pbx", "jan@", "@x", "jan 1@x", "jan@x;y"},
	} {
		for _, s := range all {
			if got, ok := termOf(s); got != want || ok != (want != "") {
				t.Errorf("%q: %q, want %q", s, got, want)
			}
		}
	}
}

func FuzzLastNine(f *testing.F) {
	for _, s := range []string{"0612345678", "+31 (0)6 12", "sip:06@x", "<>", "a@b", "06-12345678 (x)"} {
		f.Add(s)
	}
	f.Fuzz(func(t *testing.T, s string) {
		nine, ok := lastNine(s)
		if ok != (len(nine) == 9) || strings.Trim(nine, "0123456789") != "" {
			t.Fatalf("%q", nine)
		}
		if ok {
			for _, same := range []string{nine, "+31" + nine, "0031 (0)" + nine[:3] + "-" + nine[3:] + " "} {
				if again, _ := lastNine(same); again != nine {
					t.Fatalf("%q became %q", same, again)
				}
			}
		}
		if term, ok := emailTerm(s); ok {
			if again, ok := emailTerm(term); !ok || again != term {
				t.Fatalf("%q became %q", term, again)
			}
		}
		_, _ = termOf(s)
	})
}

func FuzzBasicCredentials(f *testing.F) {
	for _, s := range []string{"a:b", "a%3Ab:c+d", ":", "a:%zz", "é:ü", "a:b:c"} {
		f.Add("Basic " + base64.StdEncoding.EncodeToString([]byte(s)))
	}
	for _, s := range []string{"Basic", "bearer x", "plus+id:a b", "an id:x", "pct%41:%41", "percent:100%", "utf-é:wachtwoord-ü", "colon:a:b:c"} {
		f.Add(s)
	}
	read := func(header string) []credentials {
		return basicCredentials(&http.Request{Header: http.Header{"Authorization": {header}}})
	}
	f.Fuzz(func(t *testing.T, header string) {
		for _, c := range read(header) {
			if c.id == "" || !printable(c.id) || !printable(c.secret) {
				t.Fatalf("%q", c)
			}
		}
		// The credentials that a client sends are read back, raw and encoded.
		id, secret, found := strings.Cut(header, ":")
		if !found || id == "" || !printable(header) || len(header) > 500 {
			return
		}
		raw := read("Basic " + base64.StdEncoding.EncodeToString([]byte(id+":"+secret)))
		if len(raw) == 0 || raw[0] != (credentials{id, secret}) {
			t.Fatalf("raw %q: %q", header, raw)
		}
		enc := read("Basic " + base64.StdEncoding.EncodeToString([]byte(url.QueryEscape(id)+":"+url.QueryEscape(secret))))
		if len(enc) == 0 || enc[len(enc)-1] != (credentials{id, secret}) {
			t.Fatalf("encoded %q: %q", header, enc)
		}
	})
}
