// Package activity records when a call last came from each source, and lets callers wait
// for one: that is how a test call is detected.
//
// Monitor owns the recorded times, under a lock, and runs nothing; a test call runs
// on the waiting goroutine. The package knows the domain's calls and the windows'
// messages about test calls.
package activity

import (
	"context"
	"sync"
	"time"

	"wiebelt/internal/core/call"
)

// Monitor records when a call last came from each source, and notifies those waiting for
// one. It is told about a call after the engine. Safe for concurrent use.
type Monitor struct {
	mu      sync.Mutex
	last    map[string]time.Time // by sourceKey
	waiting map[chan report]struct{}
	endTest context.CancelFunc // ends the running test call
}

type report struct {
	kind, link string
	state      call.State
	reports    call.ReportLevel
	at         time.Time
}

// New returns a Monitor without any calls.
func New() *Monitor {
	return &Monitor{last: map[string]time.Time{}, waiting: map[chan report]struct{}{}, endTest: func() {}}
}

// sourceKey identifies a source: a link by its name in the settings, any other by its kind.
func sourceKey(kind, link string) string {
	if link != "" {
		return "link " + link
	}
	return kind
}

// Note records a report of an incoming call that is not stale. It never blocks.
func (h *Monitor) Note(link string, e call.Event, now time.Time) {
	at := e.At
	if !e.StateSince.IsZero() {
		at = e.StateSince
	}
	if e.Direction == call.Outgoing || now.Sub(at) > call.StaleAfter {
		return
	}
	c := report{e.Source.Kind, link, e.State, e.Source.ReportLevel, now}
	h.mu.Lock()
	defer h.mu.Unlock()
	if e.State != call.Ended {
		h.last[sourceKey(c.kind, link)] = now
	}
	for w := range h.waiting {
		select {
		case w <- c:
		default: // too many reports to look at
		}
	}
}

// AddKnown adds what was known before this program started.
func (h *Monitor) AddKnown(kind, link string, at time.Time) {
	h.mu.Lock()
	defer h.mu.Unlock()
	if key := sourceKey(kind, link); at.After(h.last[key]) {
		h.last[key] = at
	}
}

// LastCallAt returns when a call last came from a source, zero for never.
func (h *Monitor) LastCallAt(kind, link string) time.Time {
	h.mu.Lock()
	defer h.mu.Unlock()
	return h.last[sourceKey(kind, link)]
}

// listen delivers reports from now on until over is called; while 16 are unread, further
// ones are dropped.
func (h *Monitor) listen() (reports <-chan report, over func()) {
	c := make(chan report, 16)
	h.mu.Lock()
	defer h.mu.Unlock()
	h.waiting[c] = struct{}{}
	return c, func() {
		h.mu.Lock()
		defer h.mu.Unlock()
		delete(h.waiting, c)
	}
}
