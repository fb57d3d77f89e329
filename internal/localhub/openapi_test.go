package localhub

import (
	"bytes"
	"cmp"
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"net/http"
	"net/http/httptest"
	"os"
	"slices"
	"strings"
	"sync"
	"testing"
	"testing/iotest"

	"github.com/getkin/kin-openapi/openapi3"
	"github.com/getkin/kin-openapi/openapi3filter"
	"github.com/getkin/kin-openapi/routers"
	"github.com/getkin/kin-openapi/routers/gorillamux"

	"wiebelt/internal/testutil/messagetest"
	"wiebelt/internal/testutil/must"
)

type contract struct {
	doc    *openapi3.T
	router routers.Router
}

// loadContract reads a description. Members that it does not list are an error in the
// tests but not in the description itself, as another hub may send more.
func loadContract(description []byte) (*contract, error) {
	loader := openapi3.NewLoader()
	doc, err := loader.LoadFromData(description)
	if err != nil {
		return nil, err
	}
	if err := doc.Validate(loader.Context, openapi3.IsOpenAPI31OrLater(), openapi3.EnableSchemaFormatValidation()); err != nil {
		return nil, err
	}
	doc.Servers = nil // a test hub can have more than one name
	for name, s := range doc.Components.Schemas {
		if name != "TokenRequest" && name != "Delivery" { // extra members from senders are ignored
			closeSchema(s)
		}
	}
	router, err := gorillamux.NewRouter(doc)
	return &contract{doc, router}, err
}

func closeSchema(ref *openapi3.SchemaRef) {
	if ref == nil || ref.Value == nil {
		return
	}
	s := ref.Value
	if len(s.Properties) > 0 {
		no := false
		s.AdditionalProperties.Has = &no
	}
	for _, p := range s.Properties {
		closeSchema(p)
	}
	closeSchema(s.Items)
}

// contracts holds one contract for each name of the relation number.
var contracts sync.Map

func contractFor(h *Hub) (*contract, error) {
	field := DefaultRelationField
	if h != nil {
		field = h.cfg.RelationField
	}
	load, _ := contracts.LoadOrStore(field, sync.OnceValues(func() (*contract, error) {
		return loadContract(describe("http://127.0.0.1:1", field))
	}))
	return load.(func() (*contract, error))()
}

var hubs sync.Map

// checked forwards requests and compares them and their answers with the hub's
// description. What the hub accepts must be as described; what it refuses was wrong on
// purpose, or else the sending test fails anyway. Answers affected by a fault are ignored.
type checked struct {
	next http.RoundTripper
	fail func(format string, args ...any)
}

func (c *checked) RoundTrip(r *http.Request) (*http.Response, error) {
	var h *Hub
	var faults int64
	if x, ok := hubs.Load(r.URL.Host); ok {
		h = x.(*Hub)
		faults = h.Stats().Faults
	}
	resp, err := c.next.RoundTrip(r)
	if err != nil || h != nil && h.Stats().Faults != faults {
		return resp, err
	}
	of, err := contractFor(h)
	if err != nil {
		c.fail("the hub's description: %v", err)
		return resp, nil
	}
	in := of.find(r)
	if in == nil {
		return resp, nil
	}
	b, err := io.ReadAll(resp.Body)
	_ = resp.Body.Close()
	rest := io.Reader(bytes.NewReader(b))
	if err != nil { // the caller gets the error when reading
		rest = io.MultiReader(rest, iotest.ErrReader(err))
	} else if err := compare(in, resp.StatusCode, resp.Header, b); err != nil {
		c.fail("%s %s is not as described: status %d: %v", r.Method, in.Route.Path, resp.StatusCode, err)
	}
	resp.Body = io.NopCloser(rest)
	return resp, nil
}

// find returns the operation of a request, or nil if the description has no such
// path. A request with an undescribed method belongs to the path's only operation.
func (c *contract) find(r *http.Request) *openapi3filter.RequestValidationInput {
	for _, method := range []string{r.Method, http.MethodGet, http.MethodPost} {
		same := r.Clone(r.Context())
		same.Method = method
		if route, params, err := c.router.FindRoute(same); err == nil {
			same.Method = r.Method
			return &openapi3filter.RequestValidationInput{Request: same, PathParams: params, Route: route}
		}
	}
	return nil
}

func compare(in *openapi3filter.RequestValidationInput, status int, header http.Header, body []byte) error {
	if in.Request.Method != in.Route.Method && status != http.StatusMethodNotAllowed && status != http.StatusMisdirectedRequest {
		return errors.New("it should have been refused: another method")
	}
	if status < 300 {
		if err := checkRequest(*in); err != nil {
			return fmt.Errorf("it was taken, but %w", err)
		}
	}
	out := &openapi3filter.ResponseValidationInput{
		RequestValidationInput: in, Status: status, Header: header,
		Options: &openapi3filter.Options{IncludeResponseStatus: true, MultiError: true},
	}
	out.SetBodyBytes(body)
	if err := openapi3filter.ValidateResponse(in.Request.Context(), out); err != nil || in.Request.Method == http.MethodHead {
		return err
	}
	var said struct{ Error string }
	if err := json.Unmarshal(body, &said); err != nil {
		return err
	}
	codes, _ := in.Route.Operation.Responses.Status(status).Value.Extensions["x-codes"].([]any)
	if len(codes) > 0 && !slices.Contains(codes, any(said.Error)) {
		return fmt.Errorf("error %q is none of %v", said.Error, codes)
	}
	return nil
}

// checkRequest checks a request whose body the transport has read; a large one is skipped.
func checkRequest(in openapi3filter.RequestValidationInput) error {
	r := in.Request
	r.Body = http.NoBody
	left := r.ContentLength > 1<<20 || r.GetBody == nil
	if !left {
		b, err := r.GetBody()
		if err != nil {
			return err
		}
		r.Body = b
	}
	in.Options = &openapi3filter.Options{
		SkipSettingDefaults: true, MultiError: true, RejectWhenRequestBodyNotSpecified: true,
		ExcludeRequestBody: left, AuthenticationFunc: authenticated,
	}
	return openapi3filter.ValidateRequest(r.Context(), &in)
}

func authenticated(_ context.Context, in *openapi3filter.AuthenticationInput) error {
	scheme, _, _ := strings.Cut(in.RequestValidationInput.Request.Header.Get("Authorization"), " ")
	if !strings.EqualFold(scheme, in.SecurityScheme.Scheme) {
		return errors.New("it has other credentials than described")
	}
	return nil
}

// TestOpenAPIIsServed checks that a running hub's description is public, valid and its own.
func TestOpenAPIIsServed(t *testing.T) {
	for _, field := range []string{"", `eigen "nummer" <ü>`} {
		h := start(t, Config{RelationField: field})
		a := do(t, newClient(t), "GET", h.BaseURL()+"/openapi.json", "")
		if a.status != 200 || a.header.Get("Content-Type") != "application/json" || a.header.Get("Cache-Control") != "no-store" ||
			a.header.Get("Access-Control-Allow-Origin") != "" {
			t.Fatalf("%d %v", a.status, a.header)
		}
		c := must.Get(loadContract([]byte(a.body)))(t)
		if c.doc.OpenAPI != "3.1.0" || !strings.Contains(a.body, `"`+h.BaseURL()+`"`) {
			t.Errorf("version %s, or another address", c.doc.OpenAPI)
		}
		contact := c.doc.Components.Schemas["Contact"].Value
		if field = cmp.Or(field, "backofficerelatienummer"); contact.Properties[field] == nil || !slices.Contains(contact.Required, field) || len(contact.Properties) != 9 {
			t.Errorf("relation number: %v", contact.Required)
		}
		for method, want := range map[string]int{"HEAD": 200, "POST": 405} {
			do(t, newClient(t), method, h.BaseURL()+"/openapi.json", "").is(t, want, method)
		}
	}
}

// TestOpenAPITellsDocumentedPartsApart checks that what is
// documented and what was chosen here are labeled as such.
func TestOpenAPITellsDocumentedPartsApart(t *testing.T) {
	b := must.Get(os.ReadFile("api/openapi.json"))(t)
	labels := 0
	var look func(where string, v any)
	look = func(where string, v any) {
		if all, ok := v.([]any); ok {
			for i, e := range all {
				look(fmt.Sprint(where, "/", i), e)
			}
		}
		part, _ := v.(map[string]any)
		if documented, is := part["x-documented"].(bool); is {
			labels++
			choice, chosen := part["x-choice"].(string)
			about, _ := part["description"].(string)
			if !documented && !chosen || chosen && (choice == "" || !strings.Contains(about, "Not documented; we do ")) {
				t.Errorf("%s does not say what was chosen", where)
			}
		}
		for name, e := range part {
			look(where+"/"+name, e)
		}
	}
	var doc any
	must.Do(t, json.Unmarshal(b, &doc))
	if look("", doc); labels < 80 {
		t.Errorf("%d parts with a label", labels)
	}
}

// TestEveryInterfaceFails checks that every interface refuses a request
// under a foreign name and reveals nothing about its own failures.
func TestEveryInterfaceFails(t *testing.T) {
	ask := func(h *Hub, tok, operation string, header ...string) answer {
		switch operation {
		case "token":
			return do(t, newClient(t), "POST", h.BaseURL()+"/identity/token", body, append(header, "Content-Type", form, "Authorization", basic(clientID, secret))...)
		case "lookup":
			return do(t, newClient(t), "GET", h.BaseURL()+"/contact/contacts/telephony?q=0201234567", "", append(header, "Authorization", "Bearer "+tok)...)
		}
		return do(t, newClient(t), "POST", h.BaseURL()+"/transaction/intermediary", messagetest.Request(numbered(t, 1)), append(header, "Content-Type", "application/json", "Authorization", "Bearer "+tok)...)
	}
	for operation, table := range map[string]string{"token": "clients", "lookup": "contacts", "deliver": "messages"} {
		h := start(t, Config{})
		tok := token(t, h)
		ask(h, tok, operation).is(t, 200, operation)
		if a := ask(h, tok, operation, "Host", "hub.example"); a.status != 421 || errorCode(t, a) != "invalid_host" {
			t.Errorf("%s under a foreign name: %d %s", operation, a.status, a.body)
		}
		must.Do(t, exec(h, "DROP TABLE "+table))
		if a := ask(h, tok, operation); a.status != 500 || errorCode(t, a) != "server_error" || strings.Contains(a.body, table) {
			t.Errorf("%s without a table: %d %s", operation, a.status, a.body)
		}
	}
}

// TestSilentSender checks a request that stalls. It skips the thirty seconds of silence:
// the body returns the error that reading would return then.
func TestSilentSender(t *testing.T) {
	h := start(t, Config{})
	r := httptest.NewRequest("POST", h.BaseURL()+"/transaction/intermediary", io.MultiReader(strings.NewReader(`{"data":`), iotest.ErrReader(os.ErrDeadlineExceeded)))
	r.Header.Set("Authorization", "Bearer "+token(t, h))
	r.Header.Set("Content-Type", "application/json")
	w := httptest.NewRecorder()
	h.handler.ServeHTTP(w, r)
	if a := (answer{w.Code, w.Header(), w.Body.String()}); a.status != http.StatusRequestTimeout || refused(t, a).Error != "timeout" || len(box(t, h.Data)) != 0 {
		t.Errorf("%d %s", a.status, a.body)
	}
}
