package activity

import (
	"context"
	"sync"
	"time"

	"wiebelt/internal/core/call"
	"wiebelt/internal/instance/windowapi"
)

// TestCalls allows one test call at a time. Safe for concurrent use; the
// zero value is ready.
type TestCalls struct {
	mu  sync.Mutex
	end context.CancelFunc // of the running one
}

// Begin ends the previous test call. The context ends with over.
func (t *TestCalls) Begin(ctx context.Context) (test context.Context, over context.CancelFunc) {
	test, over = context.WithCancel(ctx)
	t.mu.Lock()
	defer t.mu.Unlock()
	if t.end != nil {
		t.end()
	}
	t.end = over
	return test, over
}

// Stop ends the running test call.
func (t *TestCalls) Stop() {
	t.mu.Lock()
	defer t.mu.Unlock()
	if t.end != nil {
		t.end()
		t.end = nil
	}
}

// Wait reports the first call that comes and its progress, or that none came. The
// capabilities of its source are reported last: until then more may be seen.
func (h *Monitor) Wait(ctx context.Context, seen func(windowapi.TestSeen), nothing func()) {
	reports, unlisten := h.listen()
	defer unlisten()
	t := time.NewTimer(windowapi.TestWait)
	defer t.Stop()
	var s windowapi.TestSeen
	var declared call.Reports
	for over := false; !over; {
		select {
		case <-ctx.Done():
			return
		case <-t.C:
			if s.Kind == "" {
				nothing()
				return
			}
			over = true
		case c := <-reports:
			switch {
			case s.Kind == "" && c.state == call.Ended:
				continue // of an earlier call
			case s.Kind == "":
				s, declared = windowapi.TestSeen{Kind: c.kind, Name: c.link, At: c.at}, c.reports
			case s.Kind != c.kind || s.Name != c.link:
				continue
			}
			t.Reset(windowapi.TestWait) // for the answer and the end
			s.Answered = s.Answered || c.state == call.Answered
			s.Ended = s.Ended || c.state == call.Ended
			over = s.Ended
		}
		if over {
			s.Reports = shown(declared, s)
		}
		seen(s)
	}
}

var reportsName = map[call.Reports]string{call.RingOnly: windowapi.RingOnly, call.RingAndEnd: windowapi.RingAndEnd, call.AllStates: windowapi.AllStates}

// shown returns the capabilities of a source given what was seen of this call; "" if it
// reported the answer and nothing matches, contrary to its declaration.
func shown(declared call.Reports, s windowapi.TestSeen) string {
	switch {
	case s.Answered && s.Ended:
		declared = call.AllStates
	case s.Ended:
		declared = max(declared, call.RingAndEnd)
	case s.Answered && declared != call.AllStates:
		return ""
	}
	return reportsName[declared]
}
