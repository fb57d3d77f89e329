// Package request is what a window asks of the resident, and what an answer may hold.
// Whoever answers gets a Request and knows neither the window nor how the two are
// connected. Plain values and two functions; nothing runs here. The packages of the
// resident share it; it imports nothing of the project.
package request

import (
	"context"
	"encoding/json"
	"strings"
)

// What an answer may hold; a message has 64 KiB.
const (
	MaxAnswer = 40 << 10 // bytes of a list
	MaxField  = 300      // bytes of a text in it, see Cut
)

// Request is what a window asks.
type Request struct {
	Ctx  context.Context // ends with the window's program
	Kind string
	Raw  json.RawMessage
	// Reply answers the program that asked. It never blocks.
	Reply func(kind string, msg any)
}

// Decode reads the request's contents; false if they are not what they should be.
func (q Request) Decode(into any) bool {
	return len(q.Raw) == 0 || json.Unmarshal(q.Raw, into) == nil
}

// Cut keeps a text short enough for a message.
func Cut(s string) string {
	if len(s) <= MaxField {
		return s
	}
	return strings.ToValidUTF8(s[:MaxField], "") + "…"
}
