package hub

import (
	"bytes"
	"encoding/json"
	"errors"
	"fmt"
	"maps"
	"slices"
	"strings"
	"testing"
	"unicode/utf8"

	"pgregory.net/rapid"

	"wiebelt/internal/core/call"
	"wiebelt/internal/core/contact"
	"wiebelt/internal/testutil/must"
)

// fields returns pointers to the texts of a contact by their names in the answer.
func fields(k *contact.Contact) map[string]*string {
	return map[string]*string{
		"id": &k.ID, "backofficerelatienummer": &k.RelationNumber, "voorletters": &k.Initials, "achternaam": &k.FamilyName, "voorvoegsel": &k.Prefix,
		"woonadres.straat": &k.Address.Street, "woonadres.huisnummer": &k.Address.Number, "woonadres.toevoeging": &k.Address.Addition,
		"woonadres.postcode": &k.Address.PostalCode, "woonadres.plaats": &k.Address.City, "woonadres.landIso": &k.Address.Country,
		"producent.code": &k.Producer.Code, "producent.description": &k.Producer.Description,
		"laatstGewijzigdDoor.code": &k.LastModifiedBy.Code, "laatstGewijzigdDoor.description": &k.LastModifiedBy.Description,
		"link": &k.Link,
	}
}

func quoted(s string) string {
	b, _ := json.Marshal(s) // never fails
	return string(b)
}

// TestAnyAnswerIsRead generates every kind of answer that
// decode accepts and compares the result with the input.
func TestAnyAnswerIsRead(t *testing.T) {
	noise := []string{"null", "true", "1e-7", `"x"`, "[]", `[{"id":"no"},[null]]`, `{"data":{"items":[{"id":"no"}]}}`, `{"straat":"no"}`}
	space := rapid.SampledFrom([]string{"", " ", "\n\t", "\r\n  "})
	rapid.Check(t, func(t *rapid.T) {
		object := func(members []string) string {
			s := "{"
			for n, m := range members {
				if n > 0 {
					s += ","
				}
				s += space.Draw(t, "space") + m
			}
			return s + space.Draw(t, "space") + "}"
		}
		some := func(members []string) []string { // with unknown fields, in any order
			for range rapid.IntRange(0, 2).Draw(t, "unknown") {
				members = append(members, fmt.Sprintf("%q:%s", rapid.SampledFrom([]string{"iets", "relatie", "Straatnaam", ""}).Draw(t, "name"), rapid.SampledFrom(noise).Draw(t, "noise")))
			}
			return rapid.Permutation(members).Draw(t, "order")
		}
		var want []contact.Contact
		var items []string
		for range rapid.IntRange(0, 4).Draw(t, "contacts") {
			if rapid.Bool().Draw(t, "null") {
				items = append(items, "null")
			}
			var k contact.Contact
			all := fields(&k)
			groups := map[string][]string{}
			for _, path := range slices.Sorted(maps.Keys(all)) {
				group, name, nested := strings.Cut(path, ".")
				if !nested {
					group, name = "", path
				}
				if rapid.Bool().Draw(t, "upper") {
					name = strings.ToUpper(name)
				}
				var value string
				switch rapid.IntRange(0, 4).Draw(t, "kind") {
				case 0:
					continue // missing
				case 1:
					value = "null"
				case 2:
					if value = fmt.Sprint(rapid.Int32().Draw(t, "number")); path == "link" {
						value = "null"
					} else {
						*all[path] = value
					}
				default:
					s := rapid.String().Draw(t, "text")
					value = quoted(s)
					if *all[path] = s; path != "link" {
						*all[path] = call.CleanText(s, maxText)
					}
				}
				groups[group] = append(groups[group], quoted(name)+":"+space.Draw(t, "space")+value)
			}
			members := groups[""]
			for _, g := range []string{"woonadres", "producent", "laatstGewijzigdDoor"} {
				if m := groups[g]; m != nil {
					members = append(members, quoted(g)+":"+object(some(m)))
				} else if rapid.Bool().Draw(t, "null group") {
					members = append(members, quoted(g)+":null")
				}
			}
			items = append(items, object(some(members)))
			want = append(want, k)
		}
		data := object(some([]string{`"items":[` + strings.Join(items, ",") + "]"}))
		body := object(some([]string{`"data":` + data}))
		got, err := decode([]byte(body), "")
		if err != nil || !slices.Equal(got, want) {
			t.Fatalf("%s\n%v\ngot  %+v\nwant %+v", body, err, got, want)
		}
	})
}

// answerOf wraps the members of one contact.
func answerOf(members string) []byte { return []byte(`{"data":{"items":[{` + members + `}]}}`) }

func TestWhichFieldIsTheRelationNumber(t *testing.T) {
	for _, c := range []struct{ field, members, want string }{
		{"", `"backofficerelatienummer":"1"`, "1"},
		{"", `"SysteemRelatieNummer":2`, "2"},
		{"", `"b_relatienummer":"2","a_relatienummer":"1"`, "1"},
		{"", `"a_relatienummer":"1","b_relatienummer":"2"`, "1"},
		{"", `"a_relatienummer":null,"b_relatienummer":"2"`, "2"},
		{"", `"b_relatienummer":"2","a_relatienummer":null`, "2"},
		{"", `"relatienummers":"3"`, ""},
		{"klant", `"relatienummer":"1","klant":"2"`, "2"},
		{"klant", `"relatienummer":"1","Klant":"2"`, ""},
		{"id", `"id":"7"`, "7"},
	} {
		got, err := decode(answerOf(c.members), c.field)
		if err != nil || len(got) != 1 || got[0].RelationNumber != c.want {
			t.Errorf("%q %s: %+v, %v; want %q", c.field, c.members, got, err, c.want)
		}
	}
	got, _ := decode(answerOf(`"id":"7"`), "id")
	if got[0].ID != "7" {
		t.Error("a relation number that is the id as well took it away")
	}
	// Each contact starts empty.
	got, _ = decode([]byte(`{"data":{"items":[{"a_relatienummer":"1"},{"b_relatienummer":"2"},{}]}}`), "")
	if got[0].RelationNumber != "1" || got[1].RelationNumber != "2" || got[2].RelationNumber != "" {
		t.Errorf("%+v", got)
	}
}

func TestDuplicatesAndOddText(t *testing.T) {
	for _, c := range []struct{ members, family, city string }{
		{`"achternaam":"A","achternaam":"B"`, "B", ""},
		{`"achternaam":"A","achternaam":null`, "A", ""},
		{`"achternaam":"A","ACHTERNAAM":"B"`, "B", ""},
		{`"woonadres":{"plaats":"X","straat":"S"},"woonadres":{"plaats":"Y"}`, "", "Y"},
		{`"woonadres":{"plaats":"X"},"woonadres":null`, "", "X"},
		{`"achternaam":"Jan\u00e9\ud83d\ude00"`, "Jané😀", ""},
		{`"achternaam":"J\ud83dan"`, "Jan", ""},
		{"\"achternaam\":\"J\xff\xfean\"", "Jan", ""},
		{`"achternaam":"  de\tVries \u202e "`, "de Vries", ""},
		{`"achternaam":"Vries\u0000"`, "Vries", ""},
		{`"achternaam":1.50`, "1.50", ""},
		{`"achternaam":"` + strings.Repeat("a", 600) + `"`, strings.Repeat("a", maxText), ""},
	} {
		got, err := decode(answerOf(c.members), "")
		if err != nil || len(got) != 1 || got[0].FamilyName != c.family || got[0].Address.City != c.city {
			t.Errorf("%s: %+v, %v", c.members, got, err)
		}
	}
	got, err := decode([]byte(`{"data":{"items":[{"id":"a"}],"items":[{"id":"b"},{"id":"c"}]}}`), "")
	if err != nil || len(got) != 2 || got[0].ID != "b" {
		t.Errorf("items twice: %+v, %v", got, err)
	}
	got, _ = decode(answerOf(`"link":"https://hub.example/`+strings.Repeat("x", 1<<20)+`"`), "")
	links, _ := NewLinkChecker("https://hub.example")
	if _, err := links.Check(got[0].Link); len(got[0].Link) > maxLink+1 || err != errOtherShape {
		t.Errorf("a long link: %d bytes, %v", len(got[0].Link), err)
	}
}

// TestWrongTypes: the error names the field, but nothing of its value.
func TestWrongTypes(t *testing.T) {
	wrong := func(body, field, kind string) {
		t.Helper()
		_, err := decode([]byte(body), "")
		if want := fmt.Sprintf("lookup: field %q is of type %s", field, kind); err == nil || !strings.HasSuffix(err.Error(), want) {
			t.Errorf("%s: %v, want %s", body, err, want)
		}
	}
	values := map[string]string{"object": `{"canary":1}`, "array": `["canary"]`, "bool": "true", "text": `"canary"`, "number": "4711"}
	for path := range fields(new(contact.Contact)) {
		for kind, v := range values {
			if kind == "text" || kind == "number" && path != "link" || strings.HasSuffix(path, "relatienummer") {
				continue
			}
			group, name, nested := strings.Cut(path, ".")
			if nested {
				wrong(string(answerOf(fmt.Sprintf(`%q:{%q:%s}`, group, name, v))), path, kind)
			} else {
				wrong(string(answerOf(fmt.Sprintf(`%q:%s`, path, v))), path, kind)
			}
		}
	}
	for kind, v := range values {
		if kind != "object" {
			wrong(v, "", kind)
			wrong(`{"data":`+v+`}`, "data", kind)
			wrong(`{"data":{"items":[`+v+`]}}`, "data.items", kind)
			wrong(string(answerOf(`"woonadres":`+v)), "woonadres", kind)
		}
		if kind != "array" {
			wrong(`{"data":{"items":`+v+`}}`, "data.items", kind)
		}
	}
	if _, err := decode(answerOf(`"canary_relatienummer":[1]`), ""); err == nil || !strings.HasSuffix(err.Error(), "lookup: the relation number is no text") {
		t.Errorf("%v", err)
	}
}

func TestBrokenAndHugeAnswers(t *testing.T) {
	for n := range len(oneContact) {
		if _, err := decode([]byte(oneContact[:n]), ""); contact.FailureOf(err) != contact.NotUnderstood {
			t.Fatalf("cut at %d: %v", n, err)
		}
	}
	many := func(n int) []byte {
		return []byte(`{"data":{"items":[` + strings.TrimSuffix(strings.Repeat("{},", n), ",") + `]}}`)
	}
	if got, err := decode(many(maxContacts), ""); err != nil || len(got) != maxContacts {
		t.Errorf("%d contacts: %v", len(got), err)
	}
	for name, body := range map[string][]byte{
		"too many":       many(maxContacts + 1),
		"two values":     []byte(`{} {}`),
		"rubbish behind": []byte(oneContact + "x"),
		"deep":           answerOf(`"x":` + strings.Repeat("[", 1<<20)),
		"deep and whole": answerOf(`"x":` + strings.Repeat("[", 20_000) + strings.Repeat("]", 20_000)),
		"bare NaN":       answerOf(`"id":NaN`),
		"single quotes":  []byte(`{'data':null}`),
		"comma at end":   []byte(`{"data":null,}`),
		"byte order":     []byte("\xef\xbb\xbf{}"),
	} {
		want := "answer_not_understood: lookup: broken JSON"
		if name == "too many" {
			want = "answer_not_understood: lookup: too many contacts"
		}
		got, err := decode(body, "")
		check(t, err, want)
		if got != nil {
			t.Errorf("%s: %d contacts", name, len(got))
		}
	}
}

// TestNothingStaysInTheDecoder: reused buffers contain nothing of an answer.
func TestNothingStaysInTheDecoder(t *testing.T) {
	body := answerOf(`"achternaam":"canary","` + strings.Repeat("n", 10_000) + `":1`)
	d := new(decoder)
	d.reset(body)
	must.Get(d.answer())(t)
	d.release()
	if d.src.Len() != 0 || d.src.Cap() != 0 || cap(d.name) > maxText || len(d.UnreadBuffer()) != 0 {
		t.Error("the answer is still there")
	}
}

// FuzzDecode compares decode with encoding/json, and checks that decode accepts
// no invalid JSON, that its results can be shown, and that it is deterministic.
func FuzzDecode(f *testing.F) {
	f.Add([]byte(oneContact), "")
	f.Add([]byte(`{"data":{"items":[{"Relatienummer":1}]}}`), "id")
	f.Add([]byte(`{"data":{"items":[null,{"woonadres":{"straat":"a","straat":null}}]}}`), "straat")
	f.Fuzz(func(t *testing.T, b []byte, field string) {
		before := bytes.Clone(b)
		got, err := decode(b, field)
		again, err2 := decode(b, field)
		if !slices.Equal(got, again) || fmt.Sprint(err) != fmt.Sprint(err2) || !bytes.Equal(b, before) {
			t.Fatal("another result the second time, or the answer was changed")
		}
		if err != nil {
			var l *contact.LookupError
			if !errors.As(err, &l) || l.Failure != contact.NotUnderstood || got != nil {
				t.Fatal(err)
			}
			return
		}
		if !json.Valid(b) || len(got) > maxContacts {
			t.Fatal("no JSON, or too much of it")
		}
		for _, k := range got {
			for name, s := range fields(&k) {
				if name != "link" && (*s != call.CleanText(*s, maxText) || !utf8.ValidString(*s)) || len(*s) > maxLink+1 {
					t.Fatalf("%s is not clean", name)
				}
			}
		}
	})
}
