package server

import (
	"sync"
	"sync/atomic"
	"time"

	"wiebelt/internal/core/call"
	"wiebelt/internal/relay/calls"
	"wiebelt/internal/relay/wire"
)

// late holds calls that were reported too late to be shown, as when a sender has kept his messages
// while the relay was away. Whoever did not take such a call has missed it; none rings.
// The zero value has none. It may be used by many goroutines.
type late struct {
	reports atomic.Int64
	mu      sync.Mutex // protects calls
	calls   map[string]lateCall
}

type lateCall struct {
	calls.Record
	told time.Time
}

// How many are remembered, and for how long, of which no end was told.
const (
	maxLate     = 1024
	lateTimeout = 10 * time.Second
)

// take takes a report, and gives the call once it is over; until then that is empty.
func (l *late) take(r calls.Report) (over calls.Record) {
	l.reports.Add(1)
	l.mu.Lock()
	defer l.mu.Unlock()
	before, known := l.calls[r.ID]
	after, _, err := before.Apply(r)
	switch ended := err == nil && r.State == call.Ended && after.Ended(); {
	case err != nil || !known && len(l.calls) >= maxLate:
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

// expire gives the calls of which nothing was told for a while.
func (l *late) expire(now time.Time) (all []calls.Record) {
	l.mu.Lock()
	defer l.mu.Unlock()
	for id, c := range l.calls {
		if now.Sub(c.told) >= lateTimeout {
			all = append(all, c.Record)
			delete(l.calls, id)
		}
	}
	return all
}

// storeMissedOfAll stores a call that is over for those at whom it rang and who did not
// take it.
func (r *relay) storeMissedOfAll(c calls.Record) {
	for u, leg := range c.Legs {
		one, ok := c.For(u)
		if !ok || one.Answered != nil || one.Direction == call.Outgoing.String() {
			continue
		}
		if one.By != "" {
			one.By = r.table.Load().Label(wire.User(one.By))
		}
		r.storeMissed(u, one, leg.At)
	}
}
