package simulate

import (
	"cmp"
	"encoding/json"
	"fmt"
	"maps"
	"net/http"
	"slices"
	"time"

	"wiebelt/internal/core/call"
)

// dialled returns our number that was called.
func (c Call) dialled() string { return cmp.Or(digits(c.Line), extensionNumber) }

// exchangeCall is a call of the extension at a simulated exchange. It rings on one or more
// devices; each has its own part of the call, a leg.
type exchangeCall struct {
	call         Call
	state        legState
	legs         []int // leg numbers at the exchange; the first is the device that answers
	conversation int   // number of the conversation
	began        time.Time
}

type legState uint8

const (
	legRinging legState = iota
	legDialing
	legUp
)

// extension holds what a simulated exchange knows of our extension's calls. It is
// guarded by the server's lock.
type extension struct {
	calls      []*exchangeCall // oldest first
	lastNumber int             // how many numbers have been given out
}

func (x *extension) nextNumber() int { x.lastNumber++; return x.lastNumber }

func (x *extension) find(id string) *exchangeCall {
	for _, c := range x.calls {
		if c.call.ID == id {
			return c
		}
	}
	return nil
}

// change is the result of an update: the call, and the legs that began, changed and ended.
type change struct {
	call                  exchangeCall // as it is now
	began, changed, ended []int
}

func (x *extension) listLegs(into Listing, id func(leg int) string, say func(exchangeCall, int) map[string]any) {
	clear(into)
	for _, c := range x.calls {
		for _, leg := range c.legs {
			into[id(leg)] = toJSON(say(*c, leg))
		}
	}
}

// Listing holds the calls, or their parts, that an exchange lists on request, as JSON by id.
type Listing map[string]json.RawMessage

func (l Listing) all() []json.RawMessage {
	all := []json.RawMessage{}
	for _, id := range slices.Sorted(maps.Keys(l)) {
		all = append(all, l[id])
	}
	return all
}

func (x *extension) apply(n Update) (ch change) {
	c := x.find(n.Call.ID)
	if c == nil {
		if n.Verb != Ring {
			return change{}
		}
		c = &exchangeCall{conversation: x.nextNumber(), began: time.Now()}
		if n.Call.Direction == "outgoing" {
			c.state = legDialing
		}
		x.calls = append(x.calls, c)
	}
	c.call = n.Call
	switch n.Verb {
	case Ring, RingAgain:
		leg := x.nextNumber()
		c.legs = append(c.legs, leg)
		ch.began = []int{leg}
	case Answer:
		c.state = legUp
		ch.changed = slices.Clone(c.legs[:1])
		ch.ended = slices.Clone(c.legs[1:])
		c.legs = c.legs[:1:1]
	case ChangeCaller:
		ch.changed = slices.Clone(c.legs)
	case End:
		ch.ended = c.legs
		x.calls = slices.DeleteFunc(x.calls, func(o *exchangeCall) bool { return o == c })
	}
	ch.call = *c
	return ch
}

// hangupCause returns the Q.850 cause with which a leg ends.
func hangupCause(n Update) int {
	if n.Verb == Answer {
		return 26 // the other devices when one has answered
	}
	return cmp.Or(map[call.Reason]int{call.Missed: 19, call.AnsweredElsewhere: 26, call.Rejected: 21}[n.Reason], 16)
}

// Tokens holds the tokens that an exchange has issued.
type Tokens struct {
	Valid    []string // the most recent ones, oldest first
	Issued   int
	Lifetime time.Duration
}

const maxTokens = 64

func (t *Tokens) has(token string) bool { return slices.Contains(t.Valid, token) }

func (t *Tokens) issue() string {
	t.Issued++
	token := fmt.Sprintf("simulated.token.%d", t.Issued)
	if t.Valid = append(t.Valid, token); len(t.Valid) > maxTokens {
		t.Valid = t.Valid[1:]
	}
	return token
}

// withFields sets further fields of an object: alternating names and values.
func withFields(m map[string]any, more ...any) map[string]any {
	for i := 0; i+1 < len(more); i += 2 {
		m[more[i].(string)] = more[i+1]
	}
	return m
}

func toJSON(v any) []byte {
	b, err := json.Marshal(v)
	if err != nil {
		panic(err) // strings, numbers and times: cannot fail
	}
	return b
}

func answerJSON(w http.ResponseWriter, status int, v any) {
	w.Header().Set("Content-Type", "application/json")
	w.WriteHeader(status)
	_, _ = w.Write(toJSON(v)) // the client may be gone
}

// stamp formats a time as Asterisk and Wazo do.
func stamp(t time.Time) string { return t.Format("2006-01-02T15:04:05.000-0700") }
