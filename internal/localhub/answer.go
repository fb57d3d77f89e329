package localhub

import (
	"bytes"
	"encoding/json"
	"net/http"
	"strconv"

	"wiebelt/internal/contact"
)

// writeJSON answers an API request.
func writeJSON(w http.ResponseWriter, status int, v any) {
	var b bytes.Buffer
	e := json.NewEncoder(&b)
	e.SetEscapeHTML(false)
	if err := e.Encode(v); err != nil {
		http.Error(w, `{"error":"server_error"}`, http.StatusInternalServerError)
		return
	}
	writeBody(w, status, b.Bytes())
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

// object writes a JSON object, its members in the order of the calls.
type object struct {
	b    []byte
	more bool
}

func (o *object) name(n string) {
	if o.more {
		o.b = append(o.b, ',')
	}
	o.more = true
	o.b = append(appendString(o.b, n), ':')
}

func (o *object) text(n, v string) {
	o.name(n)
	o.b = appendString(o.b, v)
}

func (o *object) orNull(n, v string) {
	if v != "" {
		o.text(n, v)
		return
	}
	o.name(n)
	o.b = append(o.b, "null"...)
}

func (o *object) open(n string) {
	o.name(n)
	o.b, o.more = append(o.b, '{'), false
}

func (o *object) close() { o.b, o.more = append(o.b, '}'), true }

func (o *object) coded(n string, c contact.Coded) {
	o.open(n)
	o.text("code", c.Code)
	o.text("description", c.Description)
	o.close()
}

// appendString writes a JSON string.
func appendString(b []byte, s string) []byte {
	for i := 0; i < len(s); i++ {
		if c := s[i]; c < 0x20 || c >= 0x7f || c == '"' || c == '\\' {
			j, _ := json.Marshal(s) // strings do not fail
			return append(b, j...)
		}
	}
	return append(append(append(b, '"'), s...), '"')
}
