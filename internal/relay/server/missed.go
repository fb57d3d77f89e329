package server

import (
	"context"
	"encoding/json"
	"sync"
	"sync/atomic"
	"time"

	"github.com/nats-io/nats.go"

	"wiebelt/internal/core/call"
	"wiebelt/internal/relay/calls"
	"wiebelt/internal/relay/users"
	"wiebelt/internal/relay/wire"
)

// storeMissed stores a call that none of a user's computers received.
func (r *relay) storeMissed(u wire.User, c wire.Call, over time.Time) {
	if r.table.Load().Knows(u) {
		r.journal.Enqueue(u, c, over)
	}
}

// answerMissed answers a user's request for missed calls; the subject identifies the user,
// who may then look those numbers up.
func (r *relay) answerMissed(ctx context.Context, m *nats.Msg) {
	u, err := wire.Asker(m.Subject, m.Reply)
	var q wire.JournalRequest
	if err != nil || !r.table.Load().Knows(u) || len(m.Data) > wire.MaxRequest || json.Unmarshal(m.Data, &q) != nil {
		return
	}
	if !r.lookups.missedLimit.try(string(u), time.Now()) { // others wait for their answers
		return
	}
	page, err := r.journal.Page(ctx, u, q.LastSeq)
	if err != nil {
		r.Log.Warn("missed calls cannot be read", "why", err)
		return // the user asks again
	}
	for _, c := range page.Calls {
		r.lookups.rememberNumber(c.Number, u)
	}
	_ = m.Respond(page.Encode())
}

// purgeRemoved deletes the missed calls of removed users and the numbers they may look up.
func (r *relay) purgeRemoved(all []users.Entry) {
	var gone []wire.User
	for _, e := range all {
		if !e.Removed.IsZero() {
			gone = append(gone, e.User)
		}
	}
	r.lookups.forget(gone)
	r.journal.ForgetUsers(gone)
}

// lateCalls holds calls reported too late to be shown, for instance because the sender kept its
// messages while the relay was away. They count as missed by users who did not answer, and
// never ring. The zero value is empty. It is safe for concurrent use.
type lateCalls struct {
	reports atomic.Int64
	mu      sync.Mutex // protects calls
	calls   map[string]lateCall
}

type lateCall struct {
	calls.Record
	reportedAt time.Time
}

// How many calls are kept, and for how long if their end is not reported.
const (
	maxLateCalls = 1024
	lateTimeout  = 10 * time.Second
)

// add takes a report and returns the call once it is over; until then an empty one.
func (l *lateCalls) add(r calls.Report) (over calls.Record) {
	l.reports.Add(1)
	l.mu.Lock()
	defer l.mu.Unlock()
	before, known := l.calls[r.ID]
	after, _, err := before.Apply(r)
	switch ended := err == nil && r.State == call.Ended && after.Ended(); {
	case err != nil || !known && len(l.calls) >= maxLateCalls:
	case ended:
		delete(l.calls, r.ID)
		return after
	default:
		if l.calls == nil {
			l.calls = map[string]lateCall{}
		}
		l.calls[r.ID] = lateCall{after, time.Now()}
	}
	return over
}

// expire removes and returns the calls without reports for lateTimeout.
func (l *lateCalls) expire(now time.Time) (all []calls.Record) {
	l.mu.Lock()
	defer l.mu.Unlock()
	for id, c := range l.calls {
		if now.Sub(c.reportedAt) >= lateTimeout {
			all = append(all, c.Record)
			delete(l.calls, id)
		}
	}
	return all
}

// storeMissedOfAll stores an ended call for those at whom it rang and who did not answer.
func (r *relay) storeMissedOfAll(c calls.Record) {
	for u, leg := range c.Legs {
		one, ok := c.ForUser(u)
		if !ok || one.Answered != nil || one.Direction == call.Outgoing.String() {
			continue
		}
		if one.AnsweredBy != "" {
			one.AnsweredBy = r.table.Load().Label(wire.User(one.AnsweredBy))
		}
		r.storeMissed(u, one, leg.At)
	}
}
