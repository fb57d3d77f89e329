package resident

import (
	"context"
	"strings"
	"time"

	"wiebelt/internal/call"
	"wiebelt/internal/deskapi"
	"wiebelt/internal/health"
	"wiebelt/internal/resident/ask"
	"wiebelt/internal/settings"
	"wiebelt/internal/softphone/detect"
	"wiebelt/internal/text"
)

// testCall waits for a real call, on the goroutine of the request, which ends with
// its window.
func (r *Resident) testCall(q ask.Request) {
	var m deskapi.TestBegin
	if !q.Decode(&m) {
		return
	}
	area, _, _ := strings.Cut(q.Kind, ".")
	ctx, over := r.testCalls.Begin(q.Ctx)
	defer over()
	r.heard.Wait(ctx, m.Seq,
		func(s deskapi.TestSeen) { q.Reply(area+"."+deskapi.VerbSeen, s) },
		func() {
			q.Reply(area+"."+deskapi.VerbNothing, deskapi.TestNothing{Seq: m.Seq, Checks: r.checks(ctx)})
		})
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
		if at := r.heard.LastOver(kind, ""); !at.IsZero() {
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
