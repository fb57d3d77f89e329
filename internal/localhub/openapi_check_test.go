package localhub_test

import (
	"bytes"
	"cmp"
	"context"
	"encoding/json"
	"errors"
	"flag"
	"fmt"
	"io"
	"net/http"
	"os"
	"slices"
	"strings"
	"sync"
	"testing"

	"github.com/getkin/kin-openapi/openapi3"
	"github.com/getkin/kin-openapi/openapi3filter"
	"github.com/getkin/kin-openapi/routers"
	"github.com/getkin/kin-openapi/routers/gorillamux"

	"wiebelt/internal/localhub"
)

const (
	maxCheckedRequest = 1 << 20  // larger bodies are not looked at
	maxCheckedAnswer  = 16 << 20 // no answer of the hub's is larger
)

// contract is a hub's description, and what tests saw of it.
type contract struct {
	doc    *openapi3.T
	router routers.Router

	mu   sync.Mutex
	seen map[string]bool // what answers gives
}

// loadContract reads a description. Members that the description does not list
// are an error in the tests; in the description itself they are not, for
// another hub may send more.
func loadContract(description []byte) (*contract, error) {
	loader := openapi3.NewLoader()
	doc, err := loader.LoadFromData(description)
	if err != nil {
		return nil, err
	}
	if err := doc.Validate(loader.Context, openapi3.IsOpenAPI31OrLater(), openapi3.EnableSchemaFormatValidation()); err != nil {
		return nil, err
	}
	doc.Servers = nil // a test's hub can go by more than one name
	for name, s := range doc.Components.Schemas {
		if name != "TokenRequest" && name != "Delivery" { // what senders add is passed over
			closeSchema(s)
		}
	}
	router, err := gorillamux.NewRouter(doc)
	if err != nil {
		return nil, err
	}
	return &contract{doc: doc, router: router, seen: map[string]bool{}}, nil
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
var contracts = struct {
	sync.Mutex
	all map[string]*contract
}{all: map[string]*contract{}}

func contractFor(h *localhub.Hub) (*contract, error) {
	field := localhub.DefaultRelationField
	if h != nil {
		field = h.RelationField()
	}
	contracts.Lock()
	defer contracts.Unlock()
	if c := contracts.all[field]; c != nil {
		return c, nil
	}
	c, err := loadContract(localhub.Describe("http://127.0.0.1:1", field))
	if err == nil {
		contracts.all[field] = c
	}
	return c, err
}

// hubs are those that tests started, by host and port.
var hubs sync.Map

// checked lets requests through and compares them and their answers with the
// hub's description. What the hub takes must be as described; what it refuses
// was sent wrongly on purpose, or the test that sent it fails by itself. Answers
// that a fault happened to are left alone.
type checked struct {
	next     http.RoundTripper
	contract *contract // nil: that of the hub which is asked
	fail     func(format string, args ...any)
}

// check puts c's requests through a checker.
func check(t testing.TB, c *http.Client) *http.Client {
	if _, ok := c.Transport.(*checked); ok {
		return c
	}
	if _, ok := t.(*testing.B); ok { // its time is not the hub's
		return c
	}
	same := *c
	same.Transport = &checked{next: cmp.Or(c.Transport, http.DefaultTransport), fail: t.Errorf}
	return &same
}

func (c *checked) CloseIdleConnections() {
	if i, ok := c.next.(interface{ CloseIdleConnections() }); ok {
		i.CloseIdleConnections()
	}
}

func (c *checked) RoundTrip(r *http.Request) (*http.Response, error) {
	var h *localhub.Hub
	var faults int64
	if x, ok := hubs.Load(r.URL.Host); ok {
		h = x.(*localhub.Hub)
		faults = h.Stats().Faults
	}
	resp, err := c.next.RoundTrip(r)
	if err != nil || h != nil && h.Stats().Faults != faults {
		return resp, err
	}
	of := c.contract
	if of == nil {
		if of, err = contractFor(h); err != nil {
			c.fail("the hub's description: %v", err)
			return resp, nil
		}
	}
	in := of.find(r)
	if in == nil {
		return resp, nil
	}
	b, err := io.ReadAll(io.LimitReader(resp.Body, maxCheckedAnswer+1))
	rest := io.Reader(bytes.NewReader(b))
	if err != nil {
		rest = io.MultiReader(rest, failing{err})
	}
	resp.Body = struct {
		io.Reader
		io.Closer
	}{rest, resp.Body}
	switch {
	case err != nil: // whoever reads it sees that
	case len(b) > maxCheckedAnswer:
		c.fail("%s %s: an answer of more than %d bytes", r.Method, in.Route.Path, maxCheckedAnswer)
	default:
		if err := of.check(in, resp.StatusCode, resp.Header, b); err != nil {
			c.fail("%s %s is not as described: status %d: %v", r.Method, in.Route.Path, resp.StatusCode, err)
		}
	}
	return resp, nil
}

type failing struct{ err error }

func (f failing) Read([]byte) (int, error) { return 0, f.err }

// find finds the operation of a request, or nil if the description has no such
// path. A method that is not described belongs to the path's only operation.
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

// check compares a request that was answered, and the answer.
func (c *contract) check(in *openapi3filter.RequestValidationInput, status int, header http.Header, body []byte) error {
	if in.Request.Method != in.Route.Method && status != http.StatusMethodNotAllowed && status != http.StatusMisdirectedRequest {
		return errors.New("it should have been refused: another method")
	}
	if status < 300 {
		if err := checkRequest(in); err != nil {
			return fmt.Errorf("it was taken, but %w", err)
		}
	}
	out := &openapi3filter.ResponseValidationInput{
		RequestValidationInput: in, Status: status, Header: header,
		Options: &openapi3filter.Options{IncludeResponseStatus: true, MultiError: true},
	}
	out.SetBodyBytes(body)
	if err := openapi3filter.ValidateResponse(in.Request.Context(), out); err != nil {
		return err
	}
	if in.Request.Method == http.MethodHead {
		return nil
	}
	if !json.Valid(body) {
		return errors.New("its body is not JSON")
	}
	code, err := checkCode(in.Route.Operation.Responses.Status(status).Value, body)
	if err != nil {
		return err
	}
	c.mu.Lock()
	defer c.mu.Unlock()
	c.seen[answerName(in.Route.Operation, fmt.Sprint(status), code)] = true
	return nil
}

func checkRequest(in *openapi3filter.RequestValidationInput) error {
	r := in.Request
	large := r.ContentLength > maxCheckedRequest || r.Body != nil && r.GetBody == nil
	options := &openapi3filter.Options{
		SkipSettingDefaults: true, MultiError: true, RejectWhenRequestBodyNotSpecified: true,
		ExcludeRequestBody: large, AuthenticationFunc: authenticated,
	}
	r.Body = http.NoBody // the transport has read it
	if !large && r.GetBody != nil {
		b, err := r.GetBody()
		if err != nil {
			return err
		}
		r.Body = b
	}
	again := *in
	again.Options = options
	return openapi3filter.ValidateRequest(r.Context(), &again)
}

// authenticated wants the scheme that is described.
func authenticated(_ context.Context, in *openapi3filter.AuthenticationInput) error {
	scheme, _, _ := strings.Cut(in.RequestValidationInput.Request.Header.Get("Authorization"), " ")
	if !strings.EqualFold(scheme, in.SecurityScheme.Scheme) {
		return errors.New("it has other credentials than described")
	}
	return nil
}

// checkCode gives the member error, which must be one of x-codes.
func checkCode(response *openapi3.Response, body []byte) (string, error) {
	codes := codesOf(response)
	if len(codes) == 0 {
		return "", nil
	}
	var v struct{ Error string }
	if err := json.Unmarshal(body, &v); err != nil {
		return "", err
	}
	if !slices.Contains(codes, v.Error) {
		return "", fmt.Errorf("error %q is none of %v", v.Error, codes)
	}
	return v.Error, nil
}

func codesOf(response *openapi3.Response) (codes []string) {
	all, _ := response.Extensions["x-codes"].([]any)
	for _, a := range all {
		codes = append(codes, a.(string))
	}
	return codes
}

func answerName(o *openapi3.Operation, status, code string) string {
	return strings.TrimSpace(o.OperationID + " " + status + " " + code)
}

// answers are all that the description lists: operation, status and code.
func (c *contract) answers() (all []string) {
	for _, path := range c.doc.Paths.Map() {
		for _, o := range path.Operations() {
			for status, r := range o.Responses.Map() {
				codes := codesOf(r.Value)
				if len(codes) == 0 {
					all = append(all, answerName(o, status, ""))
				}
				for _, code := range codes {
					all = append(all, answerName(o, status, code))
				}
			}
		}
	}
	slices.Sort(all)
	return all
}

// hardToProvoke are answers that no test need see, and why.
var hardToProvoke = map[string]string{
	"deliver 507 no_space": "needs a disk that is full",
}

// uncovered are the described answers that no test saw, and those to be excused
// that were seen after all, or are not described.
func uncovered(all ...*contract) (left []string) {
	described, seen := map[string]bool{}, map[string]bool{}
	for _, c := range all {
		for _, a := range c.answers() {
			described[a] = true
		}
		c.mu.Lock()
		for a := range c.seen {
			seen[a] = true
		}
		c.mu.Unlock()
	}
	for a := range described {
		if !seen[a] && hardToProvoke[a] == "" {
			left = append(left, "no test saw: "+a)
		}
	}
	for a := range hardToProvoke {
		if seen[a] || !described[a] {
			left = append(left, "needs no excuse: "+a)
		}
	}
	slices.Sort(left)
	return left
}

// suite runs the tests and then asks whether they saw every answer that the
// description lists. A run of only some tests, or of none, is not asked.
type suite struct{ m *testing.M }

func (s suite) Run() int {
	code := s.m.Run()
	if code != 0 || os.Getenv("HUB_PROCESS_DIR") != "" {
		return code
	}
	for _, some := range []string{"test.run", "test.skip", "test.list", "test.fuzz"} {
		if flag.Lookup(some).Value.String() != "" {
			return code
		}
	}
	contracts.Lock()
	defer contracts.Unlock()
	var all []*contract
	for _, c := range contracts.all {
		all = append(all, c)
	}
	for _, a := range uncovered(all...) {
		fmt.Fprintln(os.Stderr, "openapi.json:", a)
		code = 1
	}
	return code
}
