package activity

import (
	"context"
	"time"

	"wiebelt/internal/core/call"
	"wiebelt/internal/instance/windowapi"
)

// StopTest ends the running test call.
func (h *Monitor) StopTest() {
	h.mu.Lock()
	defer h.mu.Unlock()
	h.endTest()
}

// RunTest is a test call, which ends the previous one: it reports the first call that comes
// and its progress, or nil if none came. The capabilities of its source are reported last:
// until then more may be seen.
func (h *Monitor) RunTest(ctx context.Context, seen func(*windowapi.TestSeen)) {
	ctx, end := context.WithCancel(ctx)
	defer end()
	h.mu.Lock()
	h.endTest()
	h.endTest = end
	h.mu.Unlock()
	reports, unlisten := h.listen()
	defer unlisten()
	t := time.NewTimer(windowapi.TestWait)
	defer t.Stop()
	var s windowapi.TestSeen
	var declared call.ReportLevel
	for over := false; !over; {
		select {
		case <-ctx.Done():
			return
		case <-t.C:
			if s.Kind == "" {
				seen(nil)
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
			s.ReportLevel = shown(declared, s)
		}
		now := s
		seen(&now)
	}
}

var reportsName = map[call.ReportLevel]string{call.RingOnly: windowapi.RingOnly, call.RingAndEnd: windowapi.RingAndEnd, call.AllStates: windowapi.AllStates}

// shown returns the capabilities of a source given what was seen of this call; "" if it
// reported the answer and nothing matches, contrary to its declaration.
func shown(declared call.ReportLevel, s windowapi.TestSeen) string {
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
