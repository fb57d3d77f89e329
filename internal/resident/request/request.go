// Package request holds a window's request to the resident, and the limits of an answer.
// The answering code gets a Request and knows neither the window nor how the two are
// connected. It consists of plain values and two functions; nothing runs here. The
// resident's packages share it; it imports nothing of the project.
package request

import (
	"context"
	"encoding/json"
	"strings"
)

// Limits of an answer; a message holds 64 KiB.
const (
	MaxAnswer = 40 << 10 // bytes per list
	MaxField  = 300      // bytes per text in it, see Truncate
)

// Request is a request of a window.
type Request struct {
	Ctx  context.Context // ends with the window's program
	Kind string
	Raw  json.RawMessage
	// Reply answers the requesting program. It never blocks.
	Reply func(kind string, msg any)
}

// Decode decodes the request's content; false if it is invalid.
func (q Request) Decode(into any) bool {
	return len(q.Raw) == 0 || json.Unmarshal(q.Raw, into) == nil
}

// Truncate truncates a text to fit into a message.
func Truncate(s string) string {
	if len(s) <= MaxField {
		return s
	}
	return strings.ToValidUTF8(s[:MaxField], "") + "…"
}
