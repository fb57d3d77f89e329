package linktest

import (
	"errors"
	"strings"
	"testing"
	"time"

	"wiebelt/internal/core/call"
	"wiebelt/internal/softphone/link"
	"wiebelt/internal/testutil/must"
	"wiebelt/internal/testutil/phonetest"
)

// RealPhone is a real softphone and the link to it.
type RealPhone struct {
	Phone interface {
		Place(testing.TB, phonetest.Scenario) *phonetest.Running
		Stop()
		Restart(testing.TB)
	}
	Link   func() *Watch // creates another link
	Answer func()        // answers the ringing call; nil if the phone does so by itself
	Line   string        // as reported
	// Refuses is set for a phone that can refuse a call by itself.
	Refuses bool
}

// Run runs the common tests of links to real phones.
func (p RealPhone) Run(t *testing.T) {
	t.Run("calls", p.calls)
	t.Run("restart", p.restart)
}

func (p RealPhone) calls(t *testing.T) {
	w := p.Link().In(t)
	w.Until(link.Connected)
	for _, tt := range []struct {
		name     string
		scenario phonetest.Scenario
		number   string // prefix of the number
		caller   string
	}{
		{"rings, caller gives up", phonetest.Scenario{Number: "+31612345678", Name: "J. de Vries", Ring: 50 * time.Millisecond}, "sip:+31612345678@127.0.0.1", "J. de Vries"},
		{"answered", phonetest.Scenario{Number: "0612345678", Answer: true, Ring: 50 * time.Millisecond, Talk: 50 * time.Millisecond}, "sip:0612345678@127.0.0.1", ""},
		{"refused here", phonetest.Scenario{Number: "0201234567", Reject: p.Refuses}, "sip:0201234567@127.0.0.1", ""},
		{"withheld", phonetest.Scenario{Number: "+31687654321", Withheld: true}, "sip:anonymous@anonymous.invalid", "Anonymous"},
		{"quoted display name", phonetest.Scenario{Number: "0201234567", Name: `Café "De Hoek" \ Zoë`}, "sip:0201234567@127.0.0.1", `Café "De Hoek" \ Zoë`},
		{"tel with an extension", phonetest.Scenario{From: "<tel:+31-6-1234-5678;ext=12>"}, "tel:+31-6-1234-5678;ext=12", ""},
	} {
		t.Run(tt.name, func(t *testing.T) {
			w := w.In(t)
			running := p.Phone.Place(t, tt.scenario)
			first := w.Want(call.Ringing)
			if !strings.HasPrefix(first.Number, tt.number) || first.Name != tt.caller || first.Direction != call.Incoming || first.Line != p.Line || first.ID == "" {
				t.Errorf("event %+v", first)
			}
			same := func(e call.Event) {
				t.Helper()
				if e.ID != first.ID || e.Number != first.Number || e.Name != first.Name || e.Direction != first.Direction || e.Line != first.Line {
					t.Errorf("event %+v after %+v", e, first)
				}
			}
			reason := call.ReasonUnknown
			if tt.scenario.Reject {
				reason = call.Rejected
			}
			if tt.scenario.Answer {
				if p.Answer != nil {
					p.Answer()
				}
				same(w.Want(call.Answered))
				reason = call.Completed
			}
			last := w.Want(call.Ended)
			if same(last); last.Reason != reason {
				t.Errorf("reason %q", last.Reason)
			}
			running.Wait()
		})
	}
	if len(w.Events) > 0 {
		t.Errorf("%d events too many", len(w.Events))
	}
	w.Stop()
}

// restart checks that a phone that stops during a call ends the call, and that the link
// reconnects within two seconds of its return.
func (p RealPhone) restart(t *testing.T) {
	w := p.Link().In(t)
	w.Until(link.Connected)
	// The caller gets no more replies, and the exit code of its program does not matter.
	p.Phone.Place(t, phonetest.Scenario{Number: "0612345678", Ring: time.Minute})
	w.Want(call.Ringing)
	p.Phone.Stop()
	for !errors.Is(w.Until(link.Waiting).Err, link.ErrNotRunning) { // a stopping one may still accept us
	}
	w.Want(call.Ended)
	p.Phone.Restart(t)
	back := time.Now()
	w.Until(link.Connected)
	must.Within(t, back, 2*time.Second)
	p.Phone.Place(t, phonetest.Scenario{Number: "0687654321"}).Wait()
	if e := w.Want(call.Ringing); !strings.HasPrefix(e.Number, "sip:0687654321") {
		t.Errorf("first event after the restart: %+v", e)
	}
	w.Want(call.Ended)
}
