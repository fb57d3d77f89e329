package listener

import (
	"bytes"
	"encoding/json"
	"errors"
	"time"

	"github.com/go-json-experiment/json/jsontext"

	"wiebelt/internal/core/address"
	"wiebelt/internal/core/call"
	"wiebelt/internal/softphone/link"
)

// maxDepth limits the nesting of a message. Documented messages are flat; deeper nesting
// can only occur in ignored fields.
const maxDepth = 8

// fields is what a phone reports about a call, over WebSocket or HTTP, keyed by the
// protocol's field names. All are optional.
type fields map[string]string

// isField reports whether the protocol has a field. Names are case-sensitive, as in JSON.
func isField(name string) bool {
	switch name {
	case "event", "id", "state", "direction", "reason", "number", "name", "line", "via":
		return true
	}
	return false
}

// idOK reports whether an id can be echoed in an answer and is unambiguous.
func idOK(id string) bool { return link.CallID(id) == id }

// toEvent converts a phone's fields into an event, or returns what is wrong with them.
func (f fields) toEvent(from call.Source, at time.Time) (call.Event, code) {
	if !idOK(f["id"]) {
		return call.Event{}, badRequest
	}
	state, ok := call.ParseState(f["state"])
	if !ok {
		return call.Event{}, badState
	}
	if err := address.Validate(f["number"]); errors.Is(err, address.ErrPlaceholder) {
		return call.Event{}, unfilledMacro
	} else if err != nil {
		return call.Event{}, badNumber
	}
	e := call.Event{
		Source: from, ID: f["id"], State: state, Direction: call.ParseDirection(f["direction"]),
		Number: f["number"], Name: f["name"], Line: f["line"], Via: f["via"], At: at,
	}
	if state == call.Ended {
		e.Reason = call.ParseReason(f["reason"])
	}
	return e, none
}

var errMessage = errors.New("message is not of the documented form")

// parseMessage parses a WebSocket message: one JSON object, at most maxDepth deep, with
// nothing after it. A field is a string; null is the same as missing. A duplicate name is
// an error, since parsers differ on which of the two counts. b must be valid UTF-8.
//
// With an error about a field it also returns the id, if it was read, for the answer.
func parseMessage(b []byte) (fields, error) {
	f := fields{}
	if !json.Valid(b) { // one value, and nothing after it
		return f, errMessage
	}
	d := jsontext.NewDecoder(bytes.NewBuffer(b), jsontext.AllowDuplicateNames(true), jsontext.AllowInvalidUTF8(true))
	if d.PeekKind() != '{' {
		return f, errMessage
	}
	_, _ = d.ReadToken()
	seen := make(map[string]bool, 10)
	for d.PeekKind() == '"' {
		token, _ := d.ReadToken()
		name := token.String()
		if seen[name] {
			return fields{"id": f["id"]}, errMessage
		}
		seen[name] = true
		if kind := d.PeekKind(); isField(name) && kind != '"' && kind != 'n' {
			return fields{"id": f["id"]}, errMessage
		}
		value, err := read(d)
		if err != nil {
			return fields{"id": f["id"]}, err
		}
		if value.Kind() == '"' {
			f[name] = value.String() // an unknown name is never looked up
		}
	}
	return f, nil
}

// read consumes a field's value, however nested, and returns its last token: the value
// itself, unless it is an object or a list.
func read(d *jsontext.Decoder) (token jsontext.Token, err error) {
	for {
		token, err = d.ReadToken()
		switch depth := d.StackDepth(); {
		case err != nil, depth > maxDepth:
			return token, errMessage
		case depth == 1:
			return token, nil
		}
	}
}

type response struct {
	Event   string `json:"event"`
	ID      string `json:"id,omitempty"`
	Code    code   `json:"code,omitempty"`
	Message string `json:"message,omitempty"`
}

func ack(id string) []byte { return marshal(response{Event: "ack", ID: id}) }

func errorResponse(id string, c code) []byte {
	return marshal(response{Event: "error", ID: id, Code: c, Message: codeDetails[c].message})
}

func marshal(v any) []byte {
	b, err := json.Marshal(v)
	if err != nil {
		panic(err) // strings and numbers only: cannot fail
	}
	return b
}

// handleMessage processes one message of a WebSocket and returns the reply, nil for none:
// an event of another kind is ignored.
func (l *Listener) handleMessage(b []byte, from call.Source) []byte {
	f, _ := parseMessage(b) // of an unreadable message at most the id is known
	c := badRequest
	switch f["event"] {
	case "call":
		var e call.Event
		if e, c = f.toEvent(from, l.cfg.Now()); c == none {
			c = l.receive(e)
		}
	case "":
	default:
		return nil
	}
	id := f["id"]
	if c == none {
		return ack(id)
	}
	l.log.note(c)
	if !idOK(id) {
		id = ""
	}
	return errorResponse(id, c)
}
