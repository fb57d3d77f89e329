package wire

import (
	"cmp"
	"encoding/json"
	"slices"
	"time"

	"wiebelt/internal/core/call"
)

// Limits of a snapshot.
const (
	MaxCalls = 32
	MaxBytes = 16 << 10
)

// EndedShownFor is how long an ended call stays in snapshots, so that its reason can be shown.
const EndedShownFor = 10 * time.Second

// ReceiptTime is how long a user's computers have to confirm the end of a call.
const ReceiptTime = 10 * time.Second

// Snapshot holds all current calls of one user. Whoever has the newest one has missed
// nothing that still matters.
type Snapshot struct {
	V     int       `json:"v"`
	Relay string    `json:"relay"` // its creator, for people
	Epoch int64     `json:"epoch"` // when the in-memory bucket of calls was created, ms since 1970
	Seq   uint64    `json:"seq"`   // the bucket's revision it reflects
	At    time.Time `json:"at"`    // by the relay's clock, to compute ages
	Calls []Call    `json:"calls"` // in order of Began
}

// Call is one call as shown to one user.
type Call struct {
	ID                string     `json:"id"` // the exchange link's name, "/", the exchange's id
	State             string     `json:"state"`
	Direction         string     `json:"direction"`
	Number            string     `json:"number"`
	Name              string     `json:"name,omitempty"`
	Line              string     `json:"line,omitempty"`
	Queue             string     `json:"queue,omitempty"`
	Via               string     `json:"via,omitempty"`
	Reason            string     `json:"reason,omitempty"` // if ended
	AnsweredBy        string     `json:"by,omitempty"`     // who answered, if somebody else
	Began             time.Time  `json:"began"`
	Answered          *time.Time `json:"answered"`
	AnsweredElsewhere bool       `json:"elsewhere"` // somebody else answered
}

// ParseSnapshot reads a snapshot and cleans what is shown of it. A missing or duplicate
// call id makes the whole message invalid, since it would be unclear which calls are over.
func ParseSnapshot(b []byte) (Snapshot, error) {
	var s Snapshot
	if len(b) > MaxBytes || json.Unmarshal(b, &s) != nil || s.V < 1 || s.Epoch <= 0 || s.At.IsZero() || len(s.Calls) > MaxCalls {
		return Snapshot{}, errMessage
	}
	seen := make(map[string]bool, len(s.Calls))
	for i := range s.Calls {
		c := &s.Calls[i]
		id := call.CleanText(c.ID, call.MaxID)
		if id == "" || id != c.ID || seen[id] {
			return Snapshot{}, errMessage
		}
		seen[id] = true
	}
	return s, nil
}

// Compare returns a value above 0 if s is newer than o, below 0 if it is older.
func (s Snapshot) Compare(o Snapshot) int {
	return cmp.Or(cmp.Compare(s.Epoch, o.Epoch), cmp.Compare(s.Seq, o.Seq))
}

// Encode returns the message, with as many calls as it may hold.
func (s Snapshot) Encode() []byte {
	s.V = 1
	all := slices.Clone(s.Calls)
	slices.SortFunc(all, func(a, b Call) int { return b.Compare(a) })
	for n := min(len(all), MaxCalls); ; n-- {
		s.Calls = append([]Call{}, all[:n]...)
		slices.SortFunc(s.Calls, func(a, b Call) int { return cmp.Or(a.Began.Compare(b.Began), cmp.Compare(a.ID, b.ID)) })
		if b, err := json.Marshal(s); n == 0 || err == nil && len(b) <= MaxBytes {
			return b
		}
	}
}

// Compare orders calls by which is dropped first if there are too many; it is below 0
// if that is c. Ended calls go first, then ringing ones, then those in progress;
// among equals, those that began first.
func (c Call) Compare(o Call) int {
	rank := func(c Call) int {
		switch {
		case c.State == call.Ended.String():
			return 0
		case c.Answered == nil:
			return 1
		}
		return 2
	}
	return cmp.Or(cmp.Compare(rank(c), rank(o)), c.Began.Compare(o.Began), cmp.Compare(c.ID, o.ID))
}

// Event returns a call as a current event on our own clock, with the age it has on the
// relay's. An unknown state means that the call is ongoing.
func (s Snapshot) Event(c Call, now time.Time) call.Event {
	state, _ := call.ParseState(c.State)
	if state == call.Ringing && c.Answered != nil {
		state = call.Answered
	}
	e := call.Event{ID: c.ID, State: state, Direction: call.ParseDirection(c.Direction), Number: c.Number, Name: c.Name, Line: c.Line, Via: c.Via, Queue: c.Queue, At: now, StateSince: now.Add(-s.age(c))}
	if state == call.Ended {
		e.Reason, e.AnsweredBy = call.ParseReason(c.Reason), c.AnsweredBy
	}
	return e.Clean()
}

// RingEvent returns the event of the moment at which the call began to ring.
func (s Snapshot) RingEvent(c Call, now time.Time) call.Event {
	c.State, c.Answered = call.Ringing.String(), nil
	return s.Event(c, now)
}

// Excludes reports whether the call is not in the snapshot although that holds
// fewer than MaxCalls.
func (s Snapshot) Excludes(id string) bool {
	return len(s.Calls) < MaxCalls && !slices.ContainsFunc(s.Calls, func(c Call) bool { return c.ID == id })
}

// age is how long before the snapshot the call reached its state; never below 0.
func (s Snapshot) age(c Call) time.Duration {
	since := c.Began
	if c.Answered != nil {
		since = *c.Answered
	}
	if since.IsZero() {
		return 0
	}
	return max(0, s.At.Sub(since))
}
