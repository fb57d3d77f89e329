package exchangelink

import (
	"slices"
	"time"

	"wiebelt/internal/core/call"
	"wiebelt/internal/softphone/link"
)

// PollScheduler schedules polls of an exchange after missed events: at once for the first
// gap in a while, and ever more rarely as long as polls find nothing new. It
// belongs to one goroutine.
type PollScheduler struct {
	due         <-chan time.Time // nil: no poll is due
	first       time.Duration
	minInterval time.Duration
	wait        time.Duration
	last        time.Time
}

// mostWait is the longest wait before a poll, if polls find nothing new.
const mostWait = 30 * time.Second

// NewPollScheduler returns a PollScheduler without gaps. least is the minimum time between polls, first the
// time for a gap to close by itself.
func NewPollScheduler(first, least time.Duration) *PollScheduler {
	return &PollScheduler{first: first, minInterval: least, wait: least}
}

// NoteGap notes that events are missing.
func (g *PollScheduler) NoteGap() {
	if g.due == nil {
		g.due = time.After(max(g.first, time.Until(g.last.Add(g.wait))))
	}
}

// C delivers a value when a poll is due.
func (g *PollScheduler) C() <-chan time.Time { return g.due }

// Polled notes a poll, and whether it found anything new.
func (g *PollScheduler) Polled(changed bool) {
	g.due, g.last, g.wait = nil, time.Now(), min(2*g.wait, mostWait)
	if changed {
		g.wait = g.minInterval
	}
}

// CallStates returns the state of all calls, for comparison.
func CallStates(r *link.Reporter) map[string]call.Event {
	all := map[string]call.Event{}
	for _, id := range r.Calls() {
		all[id], _ = r.Known(id)
	}
	return all
}

// maxRemembered limits what is remembered about calls whose end is never reported.
const maxRemembered = 4096

// Remember stores v under an ID. A full map is emptied first.
func Remember[V any](all map[string]V, id string, v V) {
	if _, known := all[id]; !known && len(all) >= maxRemembered {
		clear(all)
	}
	all[id] = v
}

// RecentIDs remembers the last few ids.
type RecentIDs struct {
	ids  [128]string
	next int
}

// Add remembers an id.
func (r *RecentIDs) Add(id string) {
	r.ids[r.next] = id
	r.next = (r.next + 1) % len(r.ids)
}

// Has reports whether an ID is remembered.
func (r *RecentIDs) Has(id string) bool { return slices.Contains(r.ids[:], id) }
