package resident

import (
	"context"
	"encoding/json"
)

// request is what a window asks. Its kind is "area.verb".
type request struct {
	ctx  context.Context // ends with the window's program
	kind string
	raw  json.RawMessage
	// reply answers the program that asked. It never blocks.
	reply func(kind string, msg any)
}

// decode reads the request's contents; false if they are not what they should be.
func (q request) decode(into any) bool {
	return len(q.raw) == 0 || json.Unmarshal(q.raw, into) == nil
}

// areas answer the windows' requests, each on a goroutine of its own.
var areas = map[string]func(*Resident, request){"calls": answerCalls, "delivery": answerDelivery, "doctor": answerDoctor, "lookup": answerLookup,
	"settings": answerSettings, "start": answerStart, "test": answerStart, "ways": answerWays}
