package wire

import (
	"encoding/json"
	"slices"
	"time"

	"wiebelt/internal/core/call"
)

// Limits of one answer about the journal.
const (
	maxPage      = 200
	maxPageBytes = 48 << 10
)

// MissedCall is a call that rang for a user while none of his computers heard it.
type MissedCall struct {
	Number string    `json:"number"`
	Line   string    `json:"line,omitempty"`
	Queue  string    `json:"queue,omitempty"`
	Reason string    `json:"reason,omitempty"` // how it ended
	By     string    `json:"by,omitempty"`     // who took it, where it was somebody else
	Rang   time.Time `json:"rang"`             // by the relay's clock; see JournalAnswer.LocalTimes
	Ended  time.Time `json:"ended"`
}

// JournalRequest asks for calls that rang while the user was away, and says that those
// of an answer before have been kept.
type JournalRequest struct {
	Seen uint64 `json:"seen,omitempty"` // as in that answer; those calls are forgotten
}

// JournalAnswer has such calls, the oldest first; none is the end.
type JournalAnswer struct {
	V     int          `json:"v"`
	At    time.Time    `json:"at"` // of the relay's clock, with which alone ages are told
	Seen  uint64       `json:"seen,omitempty"`
	Calls []MissedCall `json:"calls,omitempty"`

	bytes int // of Calls
}

// Add puts a call into an answer, and reports whether there was room.
func (a *JournalAnswer) Add(m MissedCall, seen uint64) bool {
	b, err := json.Marshal(m)
	if a.bytes += len(b) + 1; err != nil || len(a.Calls) >= maxPage || a.bytes > maxPageBytes {
		return false
	}
	a.Calls, a.Seen = append(a.Calls, m), seen
	return true
}

// Encode gives the message.
func (a JournalAnswer) Encode() []byte {
	a.V = 1
	b, _ := json.Marshal(a)
	return b
}

// ParseJournalAnswer reads an answer; its texts are cleaned.
func ParseJournalAnswer(b []byte) (JournalAnswer, error) {
	var a JournalAnswer
	if len(b) > maxPageBytes+1024 || json.Unmarshal(b, &a) != nil || a.V < 1 || a.At.IsZero() || len(a.Calls) > maxPage || (len(a.Calls) == 0) != (a.Seen == 0) {
		return JournalAnswer{}, errMessage
	}
	for i := range a.Calls {
		m := &a.Calls[i]
		e := call.Event{Number: m.Number, Line: m.Line, Via: m.Queue, By: m.By}.Clean()
		if m.Number, m.Line, m.Queue, m.By = e.Number, e.Line, e.Via, e.By; m.Rang.IsZero() {
			return JournalAnswer{}, errMessage
		}
	}
	return a, nil
}

// LocalTimes gives the calls by our own clock, at the moment when the answer came: they are as
// old as they are by the relay's. None is still to come: it would stay in the history.
func (a JournalAnswer) LocalTimes(now time.Time) []MissedCall {
	all := slices.Clone(a.Calls)
	for i := range all {
		all[i].Rang, all[i].Ended = now.Add(min(0, all[i].Rang.Sub(a.At))), now.Add(min(0, all[i].Ended.Sub(a.At)))
	}
	return all
}
