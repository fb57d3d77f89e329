package exchangelink

import (
	"context"
	"fmt"
	"slices"
	"strings"
	"testing"
	"testing/synctest"
	"time"

	"pgregory.net/rapid"

	"wiebelt/internal/core/call"
	"wiebelt/internal/softphone/link"
	"wiebelt/internal/testutil/must"
)

// with runs f with a Reporter, and returns its reports in words.
func with(t must.Test, f func(*link.Reporter)) (said []string) {
	err := link.RunOnce(context.Background(), link.Config{Receive: func(e call.Event) error {
		said = append(said, strings.TrimSpace(fmt.Sprintf("%v %v #%s %s %s", e.State, e.Reason, e.ID, e.Number, e.Via)))
		return nil
	}}, scripted(f))
	must.Do(t, err)
	return said
}

type scripted func(*link.Reporter)

func (scripted) Traits() link.Traits {
	return link.Traits{Source: call.Source{Kind: "test"}, ManyExtensions: true}
}
func (f scripted) Session(_ context.Context, r *link.Reporter) error {
	f(r)
	return nil
}

func TestLegs(t *testing.T) {
	yes, no := func(string) bool { return true }, func(string) bool { return false }
	ring := func(number string) call.Event { return call.Event{Number: number} }
	up := call.Event{State: call.Answered}
	for _, tt := range []struct {
		name string
		do   func(*Legs, *link.Reporter)
		want string
	}{
		{"one leg", func(l *Legs, r *link.Reporter) {
			l.Report(r, "a", "a", ring("1"), nil)
			l.Report(r, "a", "a", up, nil)
			l.Report(r, "a", "a", ring("2"), nil)
			l.End(r, "a", call.Rejected)
		}, "ringing  #a 1; answered  #a 1; answered  #a 2 1; ended completed #a 2 1"},
		{"two legs, the second answers", func(l *Legs, r *link.Reporter) {
			l.Report(r, "a", "a", ring("1"), yes)
			l.Report(r, "b", "b", ring("1"), yes)
			l.Report(r, "c", "c", ring("1"), yes)
			l.Report(r, "b", "b", up, yes)
			l.Report(r, "a", "a", ring("1"), yes)
			l.End(r, "a", call.AnsweredElsewhere)
			l.End(r, "b", call.ReasonUnknown)
			l.End(r, "c", call.AnsweredElsewhere)
		}, "ringing  #a 1; ringing  #a 1; ringing  #a 1; answered  #a 1; ended completed #a 1"},
		{"two legs, nobody answers", func(l *Legs, r *link.Reporter) {
			l.Report(r, "a", "a", ring("1"), yes)
			l.Report(r, "b", "b", ring("1"), yes)
			l.End(r, "a", call.Rejected)
			l.End(r, "b", call.Missed)
		}, "ringing  #a 1; ringing  #a 1; ended missed #a 1"},
		{"two legs of an extension that is cleaned, and of another", func(l *Legs, r *link.Reporter) {
			e := call.Event{Number: "1  2", Extension: "1  0"}
			l.Report(r, "a", "a", e, yes)
			l.Report(r, "b", "b", e, yes)
			l.Report(r, "c", "c", call.Event{Number: "1  2", Extension: "1  1"}, yes)
		}, "ringing  #a 1 2; ringing  #a 1 2; ringing  #c 1 2"},
		{"calls of their own", func(l *Legs, r *link.Reporter) {
			l.Report(r, "a", "a", ring("1"), no)
			l.Report(r, "b", "b", ring("1"), no)
			l.Report(r, "c", "c", ring("2"), yes)
			l.Report(r, "d", "d", ring("1"), nil)
			l.Report(r, "e", "e", call.Event{Number: "1", Direction: call.Outgoing}, yes)
			l.End(r, "b", call.Missed)
		}, "ringing  #a 1; ringing  #b 1; ringing  #c 2; ringing  #d 1; ringing  #e 1; ended missed #b 1"},
		{"too many legs of one call", func(l *Legs, r *link.Reporter) {
			for i := range maxLegs + 1 {
				l.Report(r, fmt.Sprint(i), fmt.Sprint(i), ring("1"), yes)
			}
		}, strings.Repeat("ringing  #0 1; ", maxLegs) + "ringing  #64 1"},
		{"an answered call takes no leg", func(l *Legs, r *link.Reporter) {
			l.Report(r, "a", "a", ring("1"), yes)
			l.Report(r, "a", "a", up, yes)
			l.Report(r, "b", "b", ring("1"), yes)
		}, "ringing  #a 1; answered  #a 1; ringing  #b 1"},
		{"an end of nothing", func(l *Legs, r *link.Reporter) { l.End(r, "a", call.Missed) }, ""},
		{"a snapshot", func(l *Legs, r *link.Reporter) {
			for _, id := range []string{"a", "b", "c"} {
				l.Report(r, id, id, ring(id+"1"), no)
			}
			l.EndOthers(r, map[string]bool{"b": true, "z": true})
		}, "ringing  #a a1; ringing  #b b1; ringing  #c c1; ended  #c c1; ended  #a a1"},
		{"a snapshot without the leg that answered", func(l *Legs, r *link.Reporter) {
			l.Report(r, "a", "a", ring("1"), yes)
			l.Report(r, "b", "b", ring("1"), yes)
			l.Report(r, "b", "b", up, yes)
			l.EndOthers(r, map[string]bool{"a": true})
		}, "ringing  #a 1; ringing  #a 1; answered  #a 1; ended completed #a 1"},
		{"passed on by a colleague", func(l *Legs, r *link.Reporter) {
			l.Report(r, "a", "a", call.Event{Number: "102", Name: "Bram"}, nil)
			l.Report(r, "a", "a", ring("0612345678"), nil)
			for _, via := range []string{"", "Carla"} {
				l.Report(r, "b"+via, "b"+via, ring("103"), nil)
				l.Report(r, "b"+via, "b"+via, call.Event{Number: "0687654321", Via: via}, nil)
			}
		}, "ringing  #a 102; ringing  #a 0612345678 Bram; ringing  #b 103; ringing  #b 0687654321 103; ringing  #bCarla 103; ringing  #bCarla 0687654321 Carla"},
		{"a number in another form, or learned later, is nobody's doing", func(l *Legs, r *link.Reporter) {
			l.Report(r, "a", "a", ring("0612345678"), nil)
			l.Report(r, "a", "a", ring("+31612345678"), nil)
			l.Report(r, "b", "b", call.Event{Name: "Garage"}, nil)
			l.Report(r, "b", "b", ring("0612345678"), nil)
		}, "ringing  #a 0612345678; ringing  #a +31612345678; ringing  #b; ringing  #b 0612345678"},
	} {
		t.Run(tt.name, func(t *testing.T) {
			var l Legs
			if got := strings.Join(with(t, func(r *link.Reporter) { tt.do(&l, r) }), "; "); got != tt.want {
				t.Errorf("got  %s\nwant %s", got, tt.want)
			}
		})
	}
}

// TestLegsNeverLeaveACall: whatever a flood contains, every
// reported call is reported as over once its legs are.
func TestLegsNeverLeaveACall(t *testing.T) {
	rapid.Check(t, func(t *rapid.T) {
		var l Legs
		open := map[string]bool{}
		said := with(t, func(r *link.Reporter) {
			n := rapid.IntRange(1, 600).Draw(t, "legs")
			for i := range n {
				e := call.Event{Number: fmt.Sprint(rapid.IntRange(0, 3).Draw(t, "number"))}
				if rapid.Bool().Draw(t, "up") {
					e.State = call.Answered
				}
				leg := fmt.Sprint(rapid.IntRange(0, n).Draw(t, "leg"))
				join := rapid.Bool().Draw(t, "join")
				l.Report(r, leg, leg+"."+fmt.Sprint(i), e, func(string) bool { return join })
				if rapid.IntRange(0, 4).Draw(t, "end") == 0 {
					l.End(r, leg, call.ReasonUnknown)
				}
				if len(l.calls) > maxLegCalls || len(r.Calls()) != len(l.calls) {
					t.Fatalf("%d calls, %d known", len(l.calls), len(r.Calls()))
				}
			}
			l.EndOthers(r, nil)
			if len(l.calls) != 0 || len(r.Calls()) != 0 {
				t.Fatalf("%d calls, %d known", len(l.calls), len(r.Calls()))
			}
		})
		for _, s := range said {
			f := strings.Fields(s)
			id := f[1]
			if !strings.HasPrefix(id, "#") {
				id = f[2]
			}
			if f[0] == "ended" {
				if !open[id] {
					t.Fatalf("%s ended twice", id)
				}
				delete(open, id)
			} else {
				open[id] = true
			}
		}
		if len(open) != 0 {
			t.Fatalf("left: %v", open)
		}
	})
}

func TestTooManyCalls(t *testing.T) {
	for many, most := range map[bool]int{false: maxLegCalls, true: mostCalls} {
		l := Legs{many: many}
		said := with(t, func(r *link.Reporter) {
			for i := range most + 10 {
				id := fmt.Sprint(i)
				l.Report(r, id, id, call.Event{Number: id}, nil)
			}
			if len(l.calls) != most || len(r.Calls()) != most {
				t.Errorf("%d calls, %d known", len(l.calls), len(r.Calls()))
			}
		})
		if got := said[len(said)-2]; got != "ended  #9 9" { // the oldest call makes room
			t.Error(got)
		}
	}
}

// TestNameIsNumber: a name that only repeats the number is none.
func TestNameIsNumber(t *testing.T) {
	for _, tt := range []struct{ name, number, want string }{
		{"0612345678", "0612345678", ""}, {"06-12 345678", "+31612345678", ""}, {"+31612345678", "0612345678", ""}, {"102", "102", ""},
		{"De Vries", "0612345678", "De Vries"}, {"112", "+31201234112", "112"}, {"0612345678", "0201234567", "0612345678"},
		{"102", "", "102"}, {"", "", ""},
	} {
		var got string
		with(t, func(r *link.Reporter) {
			new(Legs).Report(r, "a", "a", call.Event{Name: tt.name, Number: tt.number}, nil)
			e, _ := r.Known("a")
			got = e.Name
		})
		if got != tt.want {
			t.Errorf("%q of %q: %q", tt.name, tt.number, got)
		}
	}
}

// TestGaps: a steady stream of gaps postpones no poll; polls that
// find nothing new become rarer, up to a limit, until one does.
func TestGaps(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		g, gaps, last := NewPollScheduler(time.Second, 2*time.Second), time.Tick(100*time.Millisecond), time.Now()
		var waits []int
		for began, look := last, 1; look <= 8 && time.Since(began) < time.Hour; {
			select {
			case <-gaps:
				g.NoteGap()
			case <-g.C():
				waits, last = append(waits, int(time.Since(last).Seconds())), time.Now()
				g.Polled(look == 7)
				look++
			}
		}
		if !slices.Equal(waits, []int{1, 4, 8, 16, 30, 30, 30, 2}) {
			t.Errorf("looked after %v seconds", waits)
		}
	})
}
