// Package activity knows when a call last came from each source, and lets somebody
// wait for one: that is how a test call is seen.
//
// Monitor owns what was heard, under a lock, and runs nothing; a test call runs on
// the goroutine that waits for it. It knows the domain's calls and what the windows
// are told of a test call.
package activity

import (
	"sync"
	"time"

	"wiebelt/internal/core/call"
)

// Monitor knows when a call last came from each source, and tells those who wait for
// one. It is told of a call after the engine has it. Safe for concurrent use.
type Monitor struct {
	mu      sync.Mutex
	last    map[string]time.Time // by sourceKey
	waiting map[chan report]struct{}
}

// report is one report of an incoming call.
type report struct {
	kind, link string
	state      call.State
	reports    call.Reports
	at         time.Time
}

// New has heard nothing yet.
func New() *Monitor {
	return &Monitor{last: map[string]time.Time{}, waiting: map[chan report]struct{}{}}
}

// sourceKey names a source: a link by its name in the settings, any other by its
// kind.
func sourceKey(kind, link string) string {
	if link != "" {
		return "link " + link
	}
	return kind
}

// Note takes a report. It never blocks.
func (h *Monitor) Note(link string, e call.Event, now time.Time) {
	at := e.At
	if !e.Since.IsZero() {
		at = e.Since
	}
	if e.Direction == call.Outgoing || now.Sub(at) > call.StaleAfter {
		return
	}
	c := report{e.Source.Kind, link, e.State, e.Source.Reports, now}
	h.mu.Lock()
	defer h.mu.Unlock()
	if e.State != call.Ended {
		h.last[sourceKey(c.kind, link)] = now
	}
	for w := range h.waiting {
		select {
		case w <- c:
		default: // more reports than anybody can look at
		}
	}
}

// Known adds what was known from before this program was started.
func (h *Monitor) Known(kind, link string, at time.Time) {
	h.mu.Lock()
	defer h.mu.Unlock()
	if key := sourceKey(kind, link); at.After(h.last[key]) {
		h.last[key] = at
	}
}

// LastOver is when a call last came from a source, zero for never.
func (h *Monitor) LastOver(kind, link string) time.Time {
	h.mu.Lock()
	defer h.mu.Unlock()
	return h.last[sourceKey(kind, link)]
}

// listen gives every report from now on until over is called.
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
