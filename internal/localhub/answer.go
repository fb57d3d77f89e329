package localhub

import (
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

// writeError answers in the shape of RFC 6749 5.2, which all API errors have.
func writeError(w http.ResponseWriter, status int, code, about string) {
	w.Header().Set("Cache-Control", "no-store")
	writeJSON(w, status, struct {
		Error string `json:"error"`
		About string `json:"error_description"`
	}{code, about})
}

// broken answers for a failure of our own.
func (h *Hub) broken(w http.ResponseWriter, what string, err error) {
	h.log.Error("local hub: request failed", "what", what, "error", err)
	writeError(w, http.StatusInternalServerError, "server_error", "the hub could not do it")
}

// appendString writes a JSON string.
func appendString(b []byte, s string) []byte {
	b, _ = jsontext.AppendQuote(b, strings.ToValidUTF8(s, "\ufffd"))
	return b
}
