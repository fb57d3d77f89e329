package localhub

import (
	"errors"
	"net/http"
	"strconv"
	"strings"

	"github.com/go-json-experiment/json"
	"github.com/go-json-experiment/json/jsontext"
)

// writeJSON answers an API request.
func writeJSON(w http.ResponseWriter, status int, v any) {
	b, err := encode(v)
	if err != nil {
		http.Error(w, `{"error":"server_error"}`, http.StatusInternalServerError)
		return
	}
	writeBody(w, status, b)
}

// encode gives JSON and a line break. Bytes that are no UTF-8 become U+FFFD.
func encode(v any) ([]byte, error) {
	b, err := json.Marshal(v, json.Deterministic(true), jsontext.AllowInvalidUTF8(true))
	return append(b, '\n'), err
}

func writeBody(w http.ResponseWriter, status int, b []byte) {
	w.Header().Set("Content-Type", "application/json")
	w.Header().Set("X-Content-Type-Options", "nosniff")
	w.Header().Set("Content-Length", strconv.Itoa(len(b)))
	w.WriteHeader(status)
	_, _ = w.Write(b) // a client that went away is no concern of ours
}

// refusal is an error answer in the shape of RFC 6749 5.2, which all API errors
// have. item, from 0, says which message of a delivery is to blame; -1: none.
type refusal struct {
	status      int
	code, about string
	item        int
}

func (e *refusal) Error() string { return e.about }

func refuse(status int, code, about string) error { return &refusal{status, code, about, -1} }

// api answers requests with one method. Errors that are no refusal are failures
// of our own.
func (h *Hub) api(method string, answer func(w http.ResponseWriter, r *http.Request) error) http.HandlerFunc {
	return func(w http.ResponseWriter, r *http.Request) {
		w.Header().Set("Cache-Control", "no-store")
		if r.Method != method {
			w.Header().Set("Allow", method)
			writeError(w, http.StatusMethodNotAllowed, "invalid_request", "not with this method")
			return
		}
		if err := answer(w, r); err != nil {
			h.answer(w, part(r.URL.Path), err)
		}
	}
}

// answer writes an error.
func (h *Hub) answer(w http.ResponseWriter, what string, err error) {
	var said *refusal
	if !errors.As(err, &said) {
		h.log.Error("local hub: request failed", "what", what, "error", err)
		said = &refusal{http.StatusInternalServerError, "server_error", "the hub could not do it", -1}
	}
	said.write(w)
}

func (e *refusal) write(w http.ResponseWriter) {
	answer := struct {
		Error string `json:"error"`
		About string `json:"error_description"`
		Item  *int   `json:"item,omitzero"`
	}{Error: e.code, About: e.about}
	if e.item >= 0 {
		answer.Item = &e.item
	}
	w.Header().Set("Cache-Control", "no-store")
	writeJSON(w, e.status, answer)
}

func writeError(w http.ResponseWriter, status int, code, about string) {
	(&refusal{status, code, about, -1}).write(w)
}

// appendString writes a JSON string.
func appendString(b []byte, s string) []byte {
	b, _ = jsontext.AppendQuote(b, strings.ToValidUTF8(s, "\ufffd"))
	return b
}
