package localhub

import (
	_ "embed" // the description
	"errors"
	"net/http"
	"strconv"
	"strings"

	"github.com/go-json-experiment/json"
	"github.com/go-json-experiment/json/jsontext"
)

const typeJSON = "application/json"

// encode returns JSON and a line break. Invalid UTF-8 becomes U+FFFD.
func encode(v any) []byte {
	b, _ := json.Marshal(v, json.Deterministic(true), jsontext.AllowInvalidUTF8(true)) // plain values do not fail
	return append(b, '\n')
}

func writeBody(w http.ResponseWriter, status int, kind string, b []byte) {
	w.Header().Set("Cache-Control", "no-store")
	w.Header().Set("Content-Type", kind)
	w.Header().Set("X-Content-Type-Options", "nosniff")
	w.Header().Set("Content-Length", strconv.Itoa(len(b)))
	w.WriteHeader(status)
	_, _ = w.Write(b) // a client that went away does not matter
}

// wrapItems returns an answer in the form used by both interfaces.
func wrapItems(items any) any {
	return map[string]any{"data": map[string]any{"items": items}}
}

// refusal is an error answer in the form of RFC 6749 5.2, used for all API errors.
// item is the message of a delivery that caused it, from 0; -1 if none did.
type refusal struct {
	status            int
	code, description string
	item              int
}

func (e *refusal) Error() string { return e.description }

func refuse(status int, code, about string) *refusal { return &refusal{status, code, about, -1} }

func (e *refusal) write(w http.ResponseWriter) {
	answer := struct {
		Error string `json:"error"`
		About string `json:"error_description"`
		Item  *int   `json:"item,omitzero"`
	}{Error: e.code, About: e.description}
	if e.item >= 0 {
		answer.Item = &e.item
	}
	writeBody(w, e.status, typeJSON, encode(answer))
}

var (
	notFound   = refuse(http.StatusNotFound, "not_found", "there is nothing here: see /openapi.json")
	wrongToken = refuse(http.StatusUnauthorized, "invalid_token", "the token is not valid, or no longer")
)

// operation answers a request with a value for respond. from is the client whose
// token came with the request, if one is required.
type operation func(w http.ResponseWriter, r *http.Request, from client) (answer any, err error)

func (h *Hub) api(method, scope string, do operation) http.HandlerFunc {
	return func(w http.ResponseWriter, r *http.Request) {
		var from client
		var answer any
		var err error
		switch {
		case r.Method != method:
			w.Header().Set("Allow", method)
			err = refuse(http.StatusMethodNotAllowed, "invalid_request", "not with this method")
		case scope != "":
			from, err = h.bearerClient(w, r, scope)
		}
		if err == nil {
			answer, err = do(w, r, from)
		}
		h.respond(w, r, answer, err)
	}
}

// respond sends an error or else the answer: a text, bytes that already are JSON,
// or a value to be sent as JSON. Errors other than a refusal are our own failures.
func (h *Hub) respond(w http.ResponseWriter, r *http.Request, answer any, err error) {
	if err != nil {
		h.fail(w, r, err)
		return
	}
	switch a := answer.(type) {
	case string:
		writeBody(w, http.StatusOK, "text/plain; charset=utf-8", []byte(a))
	case []byte:
		writeBody(w, http.StatusOK, typeJSON, a)
	default:
		writeBody(w, http.StatusOK, typeJSON, encode(a))
	}
}

// fail writes an error.
func (h *Hub) fail(w http.ResponseWriter, r *http.Request, err error) {
	var known *refusal
	if !errors.As(err, &known) {
		h.logFailure(r, "local hub: request failed", err)
		known = refuse(http.StatusInternalServerError, "server_error", "the hub could not do it")
	}
	known.write(w)
}

// logFailure logs our own failures; a client that went away does not matter.
func (h *Hub) logFailure(r *http.Request, what string, err error) {
	if r.Context().Err() == nil {
		h.log.Error(what, "part", r.Pattern, "error", err)
	}
}

func appendString(b []byte, s string) []byte {
	b, _ = jsontext.AppendQuote(b, strings.ToValidUTF8(s, "\ufffd"))
	return b
}
