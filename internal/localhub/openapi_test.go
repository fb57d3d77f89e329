package localhub_test

import (
	"encoding/json"
	"fmt"
	"io"
	"maps"
	"net/http"
	"net/http/httptest"
	"os"
	"slices"
	"strings"
	"testing"

	"github.com/getkin/kin-openapi/openapi3"

	"wiebelt/internal/localhub"
	"wiebelt/internal/testutil/messagetest"
)

// The description of a running hub: for everyone, valid, and this hub's own.
func TestOpenAPIIsServed(t *testing.T) {
	for _, field := range []string{"", `eigen "nummer" <ü>`} {
		h := start(t, localhub.Config{RelationField: field})
		a := do(t, client(t), "GET", h.BaseURL()+"/openapi.json", "")
		if a.status != 200 || a.header.Get("Content-Type") != "application/json" || a.header.Get("Cache-Control") != "no-store" {
			t.Fatalf("%d %v", a.status, a.header)
		}
		for name := range a.header {
			if strings.HasPrefix(name, "Access-Control-") {
				t.Errorf("header %s", name)
			}
		}
		loader := openapi3.NewLoader()
		doc, err := loader.LoadFromData([]byte(a.body))
		if err != nil {
			t.Fatal(err)
		}
		if err := doc.Validate(loader.Context, openapi3.IsOpenAPI31OrLater(), openapi3.EnableSchemaFormatValidation()); err != nil {
			t.Error(err)
		}
		if doc.OpenAPI != "3.1.0" || len(doc.Servers) != 1 || doc.Servers[0].URL != h.BaseURL() {
			t.Errorf("version %s, servers %+v", doc.OpenAPI, doc.Servers)
		}
		if field == "" {
			field = "backofficerelatienummer"
		}
		contact := doc.Components.Schemas["Contact"].Value
		if contact.Properties[field] == nil || !slices.Contains(contact.Required, field) || len(contact.Properties) != 9 {
			t.Errorf("relation number: %v", contact.Required)
		}
		if head := do(t, client(t), "HEAD", h.BaseURL()+"/openapi.json", ""); head.status != 200 || head.body != "" {
			t.Errorf("HEAD: %d", head.status)
		}
		if post := do(t, client(t), "POST", h.BaseURL()+"/openapi.json", ""); post.status != 405 {
			t.Errorf("POST: %d", post.status)
		}
	}
}

// The fields that are documented, each with its type.
func TestOpenAPIHasTheDocumentsFields(t *testing.T) {
	c := contractOf(t)
	text, orNull, object, array := []string{"string"}, []string{"string", "null"}, []string{"object"}, []string{"array"}
	for _, s := range []struct {
		schema string
		want   map[string][]string
	}{
		{"Contacts", map[string][]string{
			"data": object, "data.items": array, "data.items[]": object, "data.items[].id": text, "data.items[].backofficerelatienummer": text,
			"data.items[].voorletters": text, "data.items[].achternaam": text, "data.items[].voorvoegsel": text, "data.items[].woonadres": object,
			"data.items[].woonadres.straat": text, "data.items[].woonadres.huisnummer": text, "data.items[].woonadres.toevoeging": orNull,
			"data.items[].woonadres.postcode": text, "data.items[].woonadres.plaats": text, "data.items[].woonadres.landIso": orNull,
			"data.items[].producent": object, "data.items[].producent.code": text, "data.items[].producent.description": text,
			"data.items[].laatstGewijzigdDoor": object, "data.items[].laatstGewijzigdDoor.code": text, "data.items[].laatstGewijzigdDoor.description": text,
			"data.items[].link": text,
		}},
		{"Delivery", map[string][]string{"data": object, "data.items": array, "data.items[]": object, "data.items[].message": text}},
		{"TokenRequest", map[string][]string{"scopes": text, "grant_type": text, "scope": text /* not the document's */}},
	} {
		got := map[string][]string{}
		typesBelow(c.doc.Components.Schemas[s.schema].Value, "", got)
		if !maps.EqualFunc(got, s.want, slices.Equal) {
			t.Errorf("%s:\ngot  %v\nwant %v", s.schema, got, s.want)
		}
	}
	var paths []string
	for path, item := range c.doc.Paths.Map() {
		for method := range item.Operations() {
			paths = append(paths, method+" "+path)
		}
	}
	slices.Sort(paths)
	if want := []string{"GET /contact/contacts/telephony", "POST /identity/token", "POST /transaction/{intermediary}"}; !slices.Equal(paths, want) {
		t.Errorf("paths %v", paths)
	}
}

func typesBelow(s *openapi3.Schema, at string, all map[string][]string) {
	for name, p := range s.Properties {
		here := strings.TrimPrefix(at+"."+name, ".")
		all[here] = p.Value.Type.Slice()
		typesBelow(p.Value, here, all)
	}
	if s.Items != nil {
		all[at+"[]"] = s.Items.Value.Type.Slice()
		typesBelow(s.Items.Value, at+"[]", all)
	}
}

func contractOf(t *testing.T) *contract {
	t.Helper()
	c, err := loadContract(localhub.Describe("http://127.0.0.1:1", localhub.DefaultRelationField))
	if err != nil {
		t.Fatal(err)
	}
	return c
}

// What the document says and what was chosen are told apart everywhere: each
// operation, and all that is defined for it.
func TestOpenAPITellsDocumentedPartsApart(t *testing.T) {
	b, err := os.ReadFile("api/openapi.json")
	if err != nil {
		t.Fatal(err)
	}
	var doc any
	if err := json.Unmarshal(b, &doc); err != nil {
		t.Fatal(err)
	}
	n := 0
	labelled(doc, "", "", func(where string, part map[string]any) {
		n++
		documented, is := part["x-documented"].(bool)
		choice, chosen := part["x-choice"].(string)
		about, _ := part["description"].(string)
		if !is || !documented && !chosen || chosen && (choice == "" || !strings.Contains(about, "Not documented; we do ")) {
			t.Errorf("%s: no x-documented, or it does not say what was chosen", where)
		}
	})
	if want := strings.Count(string(b), `"x-documented":`); n != want || n < 80 {
		t.Errorf("%d parts looked at, %d labelled", n, want)
	}
}

// labelled visits every part of a description that has a label, where it is
// defined. parent is the name of the member that holds v.
func labelled(v any, where, parent string, visit func(where string, part map[string]any)) {
	switch v := v.(type) {
	case []any:
		if slices.Contains(holders, parent) {
			parent = "part"
		}
		for i, e := range v {
			labelled(e, fmt.Sprint(where, "/", i), parent, visit)
		}
	case map[string]any:
		if v["$ref"] != nil {
			return
		}
		holder := slices.Contains(holders, parent)
		part := slices.Contains([]string{"requestBody", "schema", "items", "not", "additionalProperties", "part"}, parent)
		if part {
			visit(where, v)
		}
		for name, e := range v {
			switch {
			case holder:
				labelled(e, where+"/"+name, "part", visit)
			case parent == "paths":
				labelled(e, where+"/"+name, "path", visit)
			case parent == "path":
				labelled(e, where+"/"+name, "part", visit)
			case strings.HasPrefix(name, "x-"), name == "example", name == "examples", name == "enum", name == "required":
			default:
				labelled(e, where+"/"+name, name, visit)
			}
		}
	}
}

// holders are the members whose own members, or elements, are parts.
var holders = []string{"parameters", "requestBodies", "responses", "headers", "schemas", "securitySchemes", "properties", "patternProperties", "allOf", "anyOf", "oneOf", "prefixItems"}

// Answers that the other tests have no reason to ask for.
func TestOpenAPIEveryAnswer(t *testing.T) {
	ask := func(h *localhub.Hub, tok, operation string, header ...string) answer {
		switch operation {
		case "token":
			return do(t, client(t), "POST", h.BaseURL()+"/identity/token", body, append(header, "Content-Type", form, "Authorization", basic(clientID, secret))...)
		case "lookup":
			return do(t, client(t), "GET", h.BaseURL()+"/contact/contacts/telephony?q=0201234567", "", append(header, "Authorization", "Bearer "+tok)...)
		}
		return do(t, client(t), "POST", h.BaseURL()+"/transaction/intermediary", messagetest.Request(message(t, 1)), append(header, "Content-Type", "application/json", "Authorization", "Bearer "+tok)...)
	}
	for operation, table := range map[string]string{"token": "clients", "lookup": "contacts", "deliver": "messages"} {
		h := start(t, localhub.Config{})
		tok := token(t, h)
		if a := ask(h, tok, operation); a.status != 200 {
			t.Errorf("%s: %d", operation, a.status)
		}
		if a := ask(h, tok, operation, "Host", "hub.example"); a.status != 421 || errorCode(t, a) != "invalid_host" {
			t.Errorf("%s under a foreign name: %d %s", operation, a.status, a.body)
		}
		if err := h.Exec("DROP TABLE " + table); err != nil {
			t.Fatal(err)
		}
		if a := ask(h, tok, operation); a.status != 500 || errorCode(t, a) != "server_error" || strings.Contains(a.body, table) {
			t.Errorf("%s without a table: %d %s", operation, a.status, a.body)
		}
	}
}

// A request that stops coming. Thirty seconds of silence are left out: the body
// says what reading it says then.
func TestOpenAPISilentSender(t *testing.T) {
	h := start(t, localhub.Config{})
	r := httptest.NewRequest("POST", h.BaseURL()+"/transaction/intermediary", io.MultiReader(strings.NewReader(`{"data":`), failing{os.ErrDeadlineExceeded}))
	r.Header.Set("Authorization", "Bearer "+token(t, h))
	r.Header.Set("Content-Type", "application/json")
	w := httptest.NewRecorder()
	h.Handler().ServeHTTP(w, r)
	a := answer{w.Code, w.Header(), w.Body.String()}
	if a.status != http.StatusRequestTimeout || refused(t, a).Error != "timeout" {
		t.Errorf("%d %s", a.status, a.body)
	}
	c, err := contractFor(h)
	if err != nil {
		t.Fatal(err)
	}
	if err := c.check(c.find(r), a.status, a.header, []byte(a.body)); err != nil {
		t.Error(err)
	}
	if n, _ := h.CountMessages(t.Context()); n != 0 {
		t.Error("something was stored")
	}
}
