package resident

import (
	"context"
	"sync"
	"time"

	"wiebelt/internal/call"
)

// heard knows when a call last came over each way in, and tells those who wait
// for one. It is told of a call after the engine has it. Safe for concurrent use.
type heard struct {
	mu      sync.Mutex
	last    map[string]time.Time // by wayKey
	waiting map[chan heardCall]struct{}
}

// heardCall is one report of an incoming call.
type heardCall struct {
	kind, link string
	state      call.State
	tells      call.Tells
	at         time.Time
}

func newHeard() *heard {
	return &heard{last: map[string]time.Time{}, waiting: map[chan heardCall]struct{}{}}
}

// wayKey names a way in: a link by its name in the settings, any other by its
// kind.
func wayKey(kind, link string) string {
	if link != "" {
		return "link " + link
	}
	return kind
}

// note takes a report. It never blocks.
func (h *heard) note(link string, e call.Event, now time.Time) {
	if e.Direction == call.Outgoing || !e.At.IsZero() && now.Sub(e.At) > call.StaleAfter {
		return
	}
	c := heardCall{e.Way.Kind, link, e.State, e.Way.Tells, now}
	h.mu.Lock()
	defer h.mu.Unlock()
	if e.State != call.Ended {
		h.last[wayKey(c.kind, link)] = now
	}
	for w := range h.waiting {
		select {
		case w <- c:
		default: // more reports than anybody can look at
		}
	}
}

// known adds what was known from before this program was started.
func (h *heard) known(key string, at time.Time) {
	h.mu.Lock()
	defer h.mu.Unlock()
	if at.After(h.last[key]) {
		h.last[key] = at
	}
}

// lastOver is when a call last came over a way in, zero for never.
func (h *heard) lastOver(kind, link string) time.Time {
	h.mu.Lock()
	defer h.mu.Unlock()
	return h.last[wayKey(kind, link)]
}

// listen gives every report from now on until over is called.
func (h *heard) listen() (reports <-chan heardCall, over func()) {
	c := make(chan heardCall, 16)
	h.mu.Lock()
	defer h.mu.Unlock()
	h.waiting[c] = struct{}{}
	return c, func() {
		h.mu.Lock()
		defer h.mu.Unlock()
		delete(h.waiting, c)
	}
}

// taker is what a way in hands its reports to. link is its name in the settings,
// "" for the open ways.
func (r *Resident) taker(link string) func(call.Event) error {
	return func(e call.Event) error {
		err := r.engine.Take(e)
		if err == nil { // the call is on its way to the screen already
			r.noted(link, e)
		}
		return err
	}
}

func (r *Resident) noted(link string, e call.Event) {
	r.heard.note(link, e, time.Now())
	if r.desks.open() {
		select {
		case r.retell <- struct{}{}:
		default: // it is about to look anyway
		}
	}
}

// readHeard takes over from the history when calls came before this program was
// started. Of two links of one kind the history cannot tell which it was.
func (r *Resident) readHeard(ctx context.Context) {
	if r.store == nil {
		return
	}
	last, err := r.store.LastByKind(ctx)
	if err != nil {
		r.o.Log.Warn("when calls last came is not known", "why", err)
		return
	}
	links := map[string][]string{}
	for _, p := range r.set().Softphones {
		links[p.Kind] = append(links[p.Kind], linkName(p))
	}
	for kind, at := range last {
		switch names := links[kind]; len(names) {
		case 0:
			r.heard.known(kind, at)
		case 1:
			r.heard.known(wayKey(kind, names[0]), at)
		}
	}
}
