package resident

import (
	"context"
	"strings"
	"sync"
	"time"

	"wiebelt/internal/call"
	"wiebelt/internal/deskapi"
	"wiebelt/internal/health"
	"wiebelt/internal/resident/ask"
	"wiebelt/internal/settings"
	"wiebelt/internal/softphone/detect"
	"wiebelt/internal/text"
)

// testCalls lets one test call be waited for at a time.
type testCalls struct {
	mu  sync.Mutex
	end context.CancelFunc // of the one that runs
}

// begin ends the test call before it. The context ends with over.
func (t *testCalls) begin(ctx context.Context) (test context.Context, over context.CancelFunc) {
	test, over = context.WithCancel(ctx)
	t.mu.Lock()
	defer t.mu.Unlock()
	if t.end != nil {
		t.end()
	}
	t.end = over
	return test, over
}

// stop ends the one that runs.
func (t *testCalls) stop() {
	t.mu.Lock()
	defer t.mu.Unlock()
	if t.end != nil {
		t.end()
		t.end = nil
	}
}

// testCall waits for a real call, on the goroutine of the request, which ends with
// its window.
func (r *Resident) testCall(q ask.Request) {
	var m deskapi.TestBegin
	if !q.Decode(&m) {
		return
	}
	area, _, _ := strings.Cut(q.Kind, ".")
	ctx, over := r.testCalls.begin(q.Ctx)
	defer over()
	waitForCall(ctx, r.heard, m.Seq,
		func(s deskapi.TestSeen) { q.Reply(area+"."+deskapi.VerbSeen, s) },
		func() {
			q.Reply(area+"."+deskapi.VerbNothing, deskapi.TestNothing{Seq: m.Seq, Checks: r.checks(ctx)})
		})
}

// waitForCall tells of the first call that comes, and of what more is seen of
// it; or that none came.
func waitForCall(ctx context.Context, h *heard, seq int, seen func(deskapi.TestSeen), nothing func()) {
	reports, over := h.listen()
	defer over()
	t := time.NewTimer(deskapi.TestWait)
	defer t.Stop()
	var s deskapi.TestSeen
	for {
		select {
		case <-ctx.Done():
			return
		case <-t.C:
			if s.Kind == "" {
				nothing()
			}
			return
		case c := <-reports:
			switch {
			case s.Kind == "" && c.state == call.Ended:
				continue // of a call from before
			case s.Kind == "":
				s = deskapi.TestSeen{Seq: seq, Kind: c.kind, Name: c.link, At: c.at, Tells: tells[c.tells]}
				t.Reset(deskapi.TestWait) // for the answer and the end
			case s.Kind != c.kind || s.Name != c.link:
				continue
			}
			s.Answered = s.Answered || c.state == call.Answered
			s.Ended = s.Ended || c.state == call.Ended
			s.Tells = more(s)
			seen(s)
			if s.Ended {
				return
			}
		}
	}
}

var tells = map[call.Tells]string{call.TellsRing: deskapi.TellsRing, call.TellsRingEnd: deskapi.TellsEnd, call.TellsAll: deskapi.TellsAll}

// more is what the way can tell after what was seen of this call.
func more(s deskapi.TestSeen) string {
	switch {
	case s.Answered && s.Ended:
		return deskapi.TellsAll
	case s.Ended && s.Tells == deskapi.TellsRing:
		return deskapi.TellsEnd
	}
	return s.Tells
}

// checks says what to look at when no call came: for every way that is set up,
// for every phone that was found, and where there is nothing at all.
func (r *Resident) checks(ctx context.Context) []deskapi.TestCheck {
	l, set := r.lang(), r.set()
	all := []deskapi.TestCheck{} // none is written as a list too
	add := func(name string, key text.Key, args ...any) {
		all = append(all, deskapi.TestCheck{Name: name, Sentence: l.T(key, args...)})
	}
	for _, p := range set.Softphones {
		phase, _ := r.linkPhase(linkName(p))
		name := phoneName(l, p)
		switch {
		case phase == health.Refused && p.Kind == detect.Bria:
			add(name, text.StartCheckBria)
		case phase == health.Refused, phase == health.Incomplete:
			add(name, text.StartCheck(linkPhases[phase]), r.support())
		default:
			add(name, text.StartCheck(phaseWord(phase)))
		}
	}
	for _, p := range r.found(ctx) {
		switch name := l.T(text.StartPhone(p.Kind)); {
		case r.linked(p):
		case p.Ours:
			add(name, text.StartCheckOurs, name)
		default:
			add(name, text.StartFound(string(p.Obstacle)))
		}
	}
	if port, taken := r.facts.listening(set.Listener.Port); taken {
		add(l.T(text.StartCheckPortName), text.StartCheckPort, port, r.support())
	}
	for _, kind := range []string{call.KindWebSocket, call.KindHTTP, call.KindURL, call.KindCommand} {
		if at := r.heard.lastOver(kind, ""); !at.IsZero() {
			add(l.T(text.StartWay(kind)), text.StartCheckBefore, moment(l, at, time.Now()))
		}
	}
	if len(all) == 0 {
		add(l.T(text.StartCheckNoneName), text.StartCheckNone)
	}
	return all
}

func phaseWord(p health.Phase) string {
	if w := linkPhases[p]; w != "" {
		return w
	}
	return "trying"
}

// phoneName is what people call a link.
func phoneName(l text.Language, p settings.Softphone) string {
	if p.Name != "" && p.Name != p.Kind {
		return p.Name
	}
	return l.T(text.Way(p.Kind))
}

// moment writes a time as people say it: without the day if that is today.
func moment(l text.Language, at, now time.Time) string {
	if sameDay(at, now) {
		return l.Clock(at)
	}
	return l.Day(at, now) + " " + l.Clock(at)
}
