package localhub_test

import (
	"encoding/json"
	"fmt"
	"io"
	"maps"
	"net/http"
	"net/http/httptest"
	"os"
	"reflect"
	"slices"
	"strings"
	"testing"

	"github.com/getkin/kin-openapi/openapi3"

	"wiebelt/internal/localhub"
	"wiebelt/internal/messagetest"
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

// What the document says and what was chosen are told apart everywhere.
func TestOpenAPITellsDocumentedPartsApart(t *testing.T) {
	b, err := os.ReadFile("api/openapi.json")
	if err != nil {
		t.Fatal(err)
	}
	parts := func(edit func(doc map[string]any)) (n int, bad []string) {
		var doc map[string]any
		if err := json.Unmarshal(b, &doc); err != nil {
			t.Fatal(err)
		}
		edit(doc)
		labelled(doc, "", func(where string, part map[string]any) {
			n++
			if why := badLabel(part); why != "" {
				bad = append(bad, where+": "+why)
			}
		})
		return n, bad
	}
	n, bad := parts(func(map[string]any) {})
	for _, s := range bad {
		t.Error(s)
	}
	if want := strings.Count(string(b), `"x-documented":`); n != want || n < 80 {
		t.Errorf("%d parts looked at, %d labelled", n, want)
	}
	// It notices what is not labelled, and labels that say nothing.
	schema := func(doc map[string]any, name string) map[string]any {
		return doc["components"].(map[string]any)["schemas"].(map[string]any)[name].(map[string]any)
	}
	for name, edit := range map[string]func(map[string]any){
		"new property": func(d map[string]any) {
			schema(d, "Contact")["properties"].(map[string]any)["nieuw"] = map[string]any{}
		},
		"no label":     func(d map[string]any) { delete(schema(d, "Token"), "x-documented") },
		"no choice":    func(d map[string]any) { delete(schema(d, "Token"), "x-choice") },
		"no sentence":  func(d map[string]any) { schema(d, "Token")["description"] = "A token." },
		"another kind": func(d map[string]any) { schema(d, "Contact")["x-documented"] = "yes" },
		"inline response": func(d map[string]any) {
			d["paths"].(map[string]any)["/x"] = map[string]any{"get": map[string]any{"x-documented": true, "responses": map[string]any{"200": map[string]any{}}}}
		},
		"inline schema": func(d map[string]any) {
			d["components"].(map[string]any)["headers"].(map[string]any)["X"] = map[string]any{"x-documented": true, "schema": map[string]any{"type": "string"}}
		},
	} {
		if _, bad := parts(edit); len(bad) != 1 {
			t.Errorf("%s: %q", name, bad)
		}
	}
}

// badLabel says what is wrong with a part's label, or nothing.
func badLabel(part map[string]any) string {
	about, _ := part["description"].(string)
	choice, chosen := part["x-choice"].(string)
	switch documented := part["x-documented"].(type) {
	case bool:
		if !documented && !chosen {
			return "no x-choice"
		}
	default:
		return "no x-documented"
	}
	if chosen && (choice == "" || !strings.Contains(about, "Not documented; we do ")) {
		return "the description does not say what is chosen"
	}
	return ""
}

// labelled visits every part of a description that has a label: operations and
// all that is defined for them, where it is defined.
func labelled(v any, where string, visit func(where string, part map[string]any)) {
	m, _ := v.(map[string]any)
	each := func(name string, do func(v any, where string)) {
		switch all := m[name].(type) {
		case map[string]any:
			for k, v := range all {
				do(v, where+"/"+name+"/"+k)
			}
		case []any:
			for i, v := range all {
				do(v, fmt.Sprint(where, "/", name, "/", i))
			}
		}
	}
	one := func(name string, do func(v any, where string)) {
		if v, ok := m[name]; ok {
			do(v, where+"/"+name)
		}
	}
	down := func(v any, where string) { labelled(v, where, visit) }
	part := func(v any, where string) {
		m, _ := v.(map[string]any)
		if _, ref := m["$ref"]; ref {
			return // it is visited where it is defined
		}
		visit(where, m)
		down(m, where)
	}
	for _, holder := range []string{"components", "content"} { // hold parts, or media types of parts
		one(holder, down)
	}
	if strings.HasSuffix(where, "/content") {
		for kind, v := range m {
			down(v, where+"/"+kind)
		}
		return
	}
	each("paths", func(v any, where string) {
		for method, operation := range v.(map[string]any) {
			part(operation, where+"/"+method)
		}
	})
	for _, name := range []string{"parameters", "requestBodies", "responses", "headers", "schemas", "securitySchemes", "properties", "patternProperties", "allOf", "anyOf", "oneOf", "prefixItems"} {
		each(name, part)
	}
	for _, name := range []string{"requestBody", "schema", "items", "not"} {
		one(name, part)
	}
	if more, ok := m["additionalProperties"].(map[string]any); ok {
		part(more, where+"/additionalProperties")
	}
}

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

// canned answers every request in the same way.
type canned struct {
	status int
	header http.Header
	body   string
}

func (c canned) RoundTrip(r *http.Request) (*http.Response, error) {
	if r.Body != nil {
		_, _ = io.Copy(io.Discard, r.Body)
		_ = r.Body.Close()
	}
	return &http.Response{StatusCode: c.status, Header: c.header, Body: io.NopCloser(strings.NewReader(c.body)), Request: r}, nil
}

// The checker notices what it is there for.
func TestOpenAPICheckBites(t *testing.T) {
	const (
		contactJSON = `{"id":"c-1","backofficerelatienummer":"42","voorletters":"A.","achternaam":"Een","voorvoegsel":"",` +
			`"woonadres":{"straat":"Kade","huisnummer":"1","toevoeging":null,"postcode":"1011AB","plaats":"Zaanwijk","landIso":"NL"},` +
			`"producent":{"code":"","description":""},"laatstGewijzigdDoor":{"code":"","description":""},"link":"http://127.0.0.1:1/contacts/viewcontact/c-1"}`
		found   = `{"data":{"items":[` + contactJSON + `]}}`
		granted = `{"access_token":"a.b.c","token_type":"Bearer","expires_in":3600,"scope":"Basic"}`
		stored  = `{"data":{"items":[{"id":"6f0e2a54-5b7c-4c7e-9d5e-0a3b1c2d4e5f","sha256":"` + zeros + `","size":1,"received":"2026-03-02T09:00:00Z","repeated":false}]}}`
		refusal = `{"error":"invalid_zip","error_description":"no","item":0}`
	)
	swap := func(s, old, new string) string {
		t.Helper()
		if strings.Count(s, old) != 1 {
			t.Fatalf("%q", old)
		}
		return strings.Replace(s, old, new, 1)
	}
	type row struct {
		operation string
		status    int
		body      string
		want      string // in the complaint; "": none
		edit      func(r *http.Request, h http.Header)
	}
	set := func(name, value string) func(*http.Request, http.Header) {
		return func(_ *http.Request, h http.Header) { h.Set(name, value) }
	}
	for name, c := range map[string]row{
		"lookup":                 {"lookup", 200, found, "", nil},
		"nobody":                 {"lookup", 200, `{"data":{"items":[]}}`, "", nil},
		"number for a string":    {"lookup", 200, swap(found, `"42"`, `42`), "backofficerelatienummer", nil},
		"null is not allowed":    {"lookup", 200, swap(found, `"voorvoegsel":""`, `"voorvoegsel":null`), "voorvoegsel", nil},
		"number for null":        {"lookup", 200, swap(found, `"toevoeging":null`, `"toevoeging":1`), "toevoeging", nil},
		"empty for null":         {"lookup", 200, swap(found, `"landIso":"NL"`, `"landIso":""`), "landIso", nil},
		"a member is missing":    {"lookup", 200, swap(found, `"plaats":"Zaanwijk",`, ``), "plaats", nil},
		"a member more":          {"lookup", 200, swap(found, `"plaats"`, `"nieuw":1,"plaats"`), "nieuw", nil},
		"a member more, outside": {"lookup", 200, swap(found, `"data"`, `"total":1,"data"`), "total", nil},
		"null for an array":      {"lookup", 200, `{"data":{"items":null}}`, "items", nil},
		"another link":           {"lookup", 200, swap(found, `viewcontact/`, `view/`), "link", nil},
		"no JSON":                {"lookup", 200, found + "x", "not JSON", nil},
		"another type":           {"lookup", 200, found, "Content-Type", set("Content-Type", "text/html")},
		"stored by browsers":     {"lookup", 200, found, "Cache-Control", set("Cache-Control", "max-age=60")},
		"another status":         {"lookup", 204, ``, "status", nil},
		"a status of another":    {"lookup", 413, refusal, "status", nil},
		"no challenge":           {"lookup", 401, `{"error":"invalid_token","error_description":"no"}`, "WWW-Authenticate", nil},
		"a challenge":            {"lookup", 401, `{"error":"invalid_token","error_description":"no"}`, "", set("Www-Authenticate", `Bearer realm="hub"`)},
		"another code":           {"lookup", 400, `{"error":"invalid_scope","error_description":"no"}`, "invalid_scope", nil},
		"an unknown code":        {"lookup", 400, `{"error":"oops","error_description":"no"}`, "error", nil},
		"no description":         {"lookup", 400, `{"error":"invalid_request"}`, "error_description", nil},
		"405 of another method":  {"lookup", 405, `{"error":"invalid_request","error_description":"no"}`, "", func(r *http.Request, h http.Header) { r.Method = "PUT"; h.Set("Allow", "GET") }},
		"half a body":            {"lookup", 200, found[:40], "decode", nil},
		"HEAD":                   {"lookup", 405, ``, "", func(r *http.Request, h http.Header) { r.Method = "HEAD"; h.Set("Allow", "GET") }},
		"HEAD taken":             {"lookup", 200, ``, "method", func(r *http.Request, _ http.Header) { r.Method = "HEAD" }},
		"another method taken":   {"lookup", 200, found, "method", func(r *http.Request, _ http.Header) { r.Method = "PUT" }},
		"taken without q":        {"lookup", 200, found, `"q"`, func(r *http.Request, _ http.Header) { r.URL.RawQuery = "" }},
		"taken with a blank q":   {"lookup", 200, found, `"q"`, func(r *http.Request, _ http.Header) { r.URL.RawQuery = "q=%20" }},
		"taken without a token":  {"lookup", 200, found, "credentials", func(r *http.Request, _ http.Header) { r.Header.Del("Authorization") }},

		"token":                     {"token", 200, granted, "", nil},
		"text for a number":         {"token", 200, swap(granted, `3600`, `"3600"`), "expires_in", nil},
		"a part of a second":        {"token", 200, swap(granted, `3600`, `3600.5`), "expires_in", nil},
		"another kind of token":     {"token", 200, swap(granted, `Bearer`, `bearer`), "token_type", nil},
		"token without Pragma":      {"token", 200, granted, "Pragma", func(_ *http.Request, h http.Header) { h.Del("Pragma") }},
		"another scope taken":       {"token", 200, granted, "scopes", func(r *http.Request, _ http.Header) { rebody(r, "scopes=admin&grant_type=client_credentials") }},
		"another grant taken":       {"token", 200, granted, "grant_type", func(r *http.Request, _ http.Header) { rebody(r, "scopes=Basic&grant_type=password") }},
		"JSON taken":                {"token", 200, granted, "Content-Type", func(r *http.Request, _ http.Header) { r.Header.Set("Content-Type", "application/json") }},
		"bearer taken for a token":  {"token", 200, granted, "credentials", func(r *http.Request, _ http.Header) { r.Header.Set("Authorization", "Bearer a.b.c") }},
		"refused, and sent wrongly": {"token", 400, `{"error":"invalid_scope","error_description":"no"}`, "", func(r *http.Request, _ http.Header) { rebody(r, "scopes=admin") }},

		"delivery":          {"deliver", 200, stored, "", nil},
		"no receipt":        {"deliver", 200, `{"data":{"items":[]}}`, "items", nil},
		"short checksum":    {"deliver", 200, swap(stored, zeros, "00"), "sha256", nil},
		"text for a truth":  {"deliver", 200, swap(stored, `false`, `"false"`), "repeated", nil},
		"not a time":        {"deliver", 200, swap(stored, `2026-03-02T09`, `yesterday`), "received", nil},
		"a refusal":         {"deliver", 400, refusal, "", nil},
		"item is text":      {"deliver", 400, swap(refusal, `"item":0`, `"item":"0"`), "item", nil},
		"item below zero":   {"deliver", 400, swap(refusal, `"item":0`, `"item":-1`), "item", nil},
		"items taken: none": {"deliver", 200, stored, "items", func(r *http.Request, _ http.Header) { rebody(r, `{"data":{"items":[]}}`) }},
		"number taken":      {"deliver", 200, stored, "message", func(r *http.Request, _ http.Header) { rebody(r, `{"data":{"items":[{"message":1}]}}`) }},
		"members passed over": {"deliver", 200, stored, "", func(r *http.Request, _ http.Header) {
			rebody(r, `{"x":1,"data":{"y":2,"items":[{"message":"UEsDBA==","z":3}]}}`)
		}},
		"a large one is not read": {"deliver", 200, stored, "", func(r *http.Request, _ http.Header) { rebody(r, "["+strings.Repeat(" ", 2<<20)+"]") }},
		"its answer is checked":   {"deliver", 202, stored, "status", func(r *http.Request, _ http.Header) { rebody(r, "["+strings.Repeat(" ", 2<<20)+"]") }},
		"a stream is not read":    {"deliver", 200, stored, "", func(r *http.Request, _ http.Header) { r.GetBody = nil }},

		"not of the interface": {"page", 418, `x`, "", nil},
	} {
		method, path, sent := "POST", "/identity/token", body
		head := http.Header{"Content-Type": {"application/json"}, "Cache-Control": {"no-store"}}
		in := http.Header{"Content-Type": {form}, "Authorization": {basic(clientID, secret)}}
		switch c.operation {
		case "token":
			head.Set("Pragma", "no-cache")
		case "lookup":
			method, path, sent = "GET", "/contact/contacts/telephony?q=0201234567", ""
			in = http.Header{"Authorization": {"Bearer a.b.c"}}
		case "deliver":
			path, sent = "/transaction/intermediary", messagetest.Request(message(t, 1))
			in = http.Header{"Content-Type": {"application/json"}, "Authorization": {"Bearer a.b.c"}}
		case "page":
			path = "/login"
		}
		r, err := http.NewRequestWithContext(t.Context(), method, "http://127.0.0.1:1"+path, strings.NewReader(sent))
		if err != nil {
			t.Fatal(err)
		}
		r.Header = in
		if c.edit != nil {
			c.edit(r, head)
		}
		var complaints []string
		tr := &checked{next: canned{c.status, head, c.body}, contract: contractOf(t),
			fail: func(format string, args ...any) { complaints = append(complaints, fmt.Sprintf(format, args...)) }}
		resp, err := tr.RoundTrip(r)
		if err != nil {
			t.Errorf("%s: %v", name, err)
			continue
		}
		if b, err := io.ReadAll(resp.Body); string(b) != c.body || err != nil {
			t.Errorf("%s: the answer came through as %q, %v", name, b, err)
		}
		if c.want == "" && len(complaints) > 0 || c.want != "" && (len(complaints) != 1 || !strings.Contains(complaints[0], c.want)) {
			t.Errorf("%s: want %q, got %q", name, c.want, complaints)
		}
	}
}

const zeros = "0000000000000000000000000000000000000000000000000000000000000000"

func rebody(r *http.Request, body string) {
	r.Body = io.NopCloser(strings.NewReader(body))
	r.GetBody = func() (io.ReadCloser, error) { return io.NopCloser(strings.NewReader(body)), nil }
	r.ContentLength = int64(len(body))
}

// The run as a whole notices answers that no test saw, and excuses that are
// not needed.
func TestOpenAPICoverageBites(t *testing.T) {
	c := contractOf(t)
	all := c.answers()
	if len(all) < 30 {
		t.Fatalf("only %d answers", len(all))
	}
	for _, a := range all {
		if hardToProvoke[a] == "" {
			c.seen[a] = true
		}
	}
	if left := uncovered(c); len(left) > 0 {
		t.Errorf("all seen, and still %q", left)
	}
	delete(c.seen, "lookup 200")
	delete(c.seen, "deliver 400 invalid_zip")
	c.seen["deliver 507 no_space"] = true
	want := []string{"needs no excuse: deliver 507 no_space", "no test saw: deliver 400 invalid_zip", "no test saw: lookup 200"}
	if left := uncovered(c); !reflect.DeepEqual(left, want) {
		t.Errorf("%q", left)
	}
}
