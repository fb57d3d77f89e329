package exchangelink

import (
	"slices"
	"time"

	"wiebelt/internal/core/call"
	"wiebelt/internal/softphone/link"
)

// Gaps say when an exchange is looked at again after events were missed: at once for
// the first gap in a while, and more and more rarely while nothing new comes of it. They
// belong to one goroutine.
type Gaps struct {
	timer   *time.Timer
	looking bool // the timer runs
	first   time.Duration
	least   time.Duration
	wait    time.Duration
	last    time.Time
}

// mostWait is how rarely gaps of which nothing ever comes make us look.
const mostWait = 30 * time.Second

// NewGaps are none yet. least is the time between two looks, first what a gap may need
// to close by itself.
func NewGaps(first, least time.Duration) *Gaps {
	g := &Gaps{timer: time.NewTimer(0), first: first, least: least, wait: least}
	g.timer.Stop()
	return g
}

// Seen notes that events were missed.
func (g *Gaps) Seen() {
	if !g.looking {
		g.looking = true
		g.timer.Reset(max(g.first, time.Until(g.last.Add(g.wait))))
	}
}

// C tells that it is time to look.
func (g *Gaps) C() <-chan time.Time { return g.timer.C }

// Looked notes that it was looked, and whether anything new was seen.
func (g *Gaps) Looked(changed bool) {
	g.looking, g.last, g.wait = false, time.Now(), min(2*g.wait, mostWait)
	if changed {
		g.wait = g.least
	}
}

// Summary is what is known of all calls, to be compared.
func Summary(r *link.Reporter) map[string]call.Event {
	all := map[string]call.Event{}
	for _, id := range r.Calls() {
		all[id], _ = r.Known(id)
	}
	return all
}

// maxRemembered bounds what is remembered of calls whose end never comes.
const maxRemembered = 4096

// Remember puts what is to be known of an id into a map, which is emptied first if it is
// full.
func Remember[V any](all map[string]V, id string, v V) {
	if _, known := all[id]; !known && len(all) >= maxRemembered {
		clear(all)
	}
	all[id] = v
}

// Recent remembers the last few ids.
type Recent struct {
	ids  [128]string
	next int
}

// Add remembers an id.
func (r *Recent) Add(id string) {
	r.ids[r.next] = id
	r.next = (r.next + 1) % len(r.ids)
}

// Has says whether an id is remembered.
func (r *Recent) Has(id string) bool { return slices.Contains(r.ids[:], id) }
