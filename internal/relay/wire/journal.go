package wire

import (
	"encoding/json"
	"slices"
	"time"

	"wiebelt/internal/core/call"
)

const (
	maxPage      = 200
	maxPageBytes = 48 << 10
)

// MissedCall is a call that rang while none of the user's computers was listening.
type MissedCall struct {
	Number     string    `json:"number"`
	Line       string    `json:"line,omitempty"`
	Queue      string    `json:"queue,omitempty"`
	Reason     string    `json:"reason,omitempty"` // how it ended
	AnsweredBy string    `json:"by,omitempty"`     // who answered, if somebody else
	Rang       time.Time `json:"rang"`             // by the relay's clock; see JournalAnswer.LocalTimes
	Ended      time.Time `json:"ended"`
}

// JournalRequest asks for calls that rang while the user was away, and confirms that those
// of a previous answer are stored.
type JournalRequest struct {
	LastSeq uint64 `json:"seen,omitempty"` // from that answer, whose calls are then deleted
}

// JournalAnswer holds such calls, oldest first; an empty one is the last.
type JournalAnswer struct {
	V       int          `json:"v"`
	At      time.Time    `json:"at"` // by the relay's clock, to compute ages
	LastSeq uint64       `json:"seen,omitempty"`
	Calls   []MissedCall `json:"calls,omitempty"`

	bytes int // of Calls
}

// Add adds a call and reports whether there was room.
func (a *JournalAnswer) Add(m MissedCall, seen uint64) bool {
	b, err := json.Marshal(m)
	if a.bytes += len(b) + 1; err != nil || len(a.Calls) >= maxPage || a.bytes > maxPageBytes {
		return false
	}
	a.Calls, a.LastSeq = append(a.Calls, m), seen
	return true
}

// Encode returns the message.
func (a JournalAnswer) Encode() []byte {
	a.V = 1
	b, _ := json.Marshal(a)
	return b
}

// ParseJournalAnswer reads an answer; its texts are cleaned.
func ParseJournalAnswer(b []byte) (JournalAnswer, error) {
	var a JournalAnswer
	if len(b) > maxPageBytes+1024 || json.Unmarshal(b, &a) != nil || a.V < 1 || a.At.IsZero() || len(a.Calls) > maxPage || (len(a.Calls) == 0) != (a.LastSeq == 0) {
		return JournalAnswer{}, errMessage
	}
	for i := range a.Calls {
		m := &a.Calls[i]
		e := call.Event{Number: m.Number, Line: m.Line, Via: m.Queue, AnsweredBy: m.AnsweredBy}.Clean()
		if m.Number, m.Line, m.Queue, m.AnsweredBy = e.Number, e.Line, e.Via, e.AnsweredBy; m.Rang.IsZero() {
			return JournalAnswer{}, errMessage
		}
	}
	return a, nil
}

// LocalTimes returns the calls with times on our own clock, given when the answer arrived.
// Their ages stay the same. No time is later than now: a call in the future would stay
// in the history for too long.
func (a JournalAnswer) LocalTimes(now time.Time) []MissedCall {
	all := slices.Clone(a.Calls)
	for i := range all {
		all[i].Rang, all[i].Ended = now.Add(min(0, all[i].Rang.Sub(a.At))), now.Add(min(0, all[i].Ended.Sub(a.At)))
	}
	return all
}
