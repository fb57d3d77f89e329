package simulate_test

import (
	"context"
	"errors"
	"fmt"
	"reflect"
	"strings"
	"testing"
	"time"

	"wiebelt/internal/core/call"
	"wiebelt/internal/simulate"
	"wiebelt/internal/softphone/registry"
	"wiebelt/internal/testutil/must"
)

type paper struct {
	lines []string
	when  []time.Duration
	began time.Time
	fail  error
	news  chan struct{}
}

func (p *paper) Ready(context.Context) error { return nil }
func (p *paper) Close() error                { return nil }
func (p *paper) SendUpdate(ctx context.Context, n simulate.Update) error {
	if p.fail != nil {
		return p.fail
	}
	if err := ctx.Err(); err != nil {
		return err
	}
	p.lines = append(p.lines, strings.TrimSpace(fmt.Sprintf("%s %s %s %v %s", n.Verb, n.Call.ID, n.Call.Number, n.Answered, n.Reason)))
	p.when = append(p.when, time.Since(p.began))
	if p.news != nil {
		p.news <- struct{}{}
	}
	return nil
}

var tellsAll = registry.Capabilities{Answer: true, End: true, Withheld: true, Outgoing: true, RingsAgain: true, Transfer: registry.TransferSameCall, Name: true, Line: true, Via: true,
	Reasons: []call.Reason{call.Completed, call.Missed, call.AnsweredElsewhere, call.Rejected}}

func parse(t testing.TB, text string) *simulate.Scenario {
	t.Helper()
	return must.Get(simulate.Parse([]byte(text)))(t)
}

const movedStory = "0 ring a number=101\n0 answer a\n0 caller a number=102 name=x via=y\n0 ring b withheld line=1\n0 again b\n0 end b elsewhere\n0 ring c outgoing number=2\n0 answer c\n0 end c\n0 end a"

func TestWhatCannotBeTold(t *testing.T) {
	anew := tellsAll
	anew.Transfer = registry.TransferNewCall
	for _, tt := range []struct {
		name string
		can  registry.Capabilities
		left string
		want []string
	}{
		{"everything", tellsAll, "[]", []string{"ring p1 101 false", "answer p1 101 true", "caller p1 102 true", "ring p2  false", "again p2  false", "end p2  false elsewhere",
			"ring p3 2 false", "answer p3 2 true", "end p3 2 true completed", "end p1 102 true completed"}},
		{"nothing but the ring", registry.Capabilities{}, "[answer end withheld outgoing again moved name line via]", []string{"ring p1 101 false"}},
		{"passed on as a new call", anew, "[samecall]", []string{"ring p1 101 false", "answer p1 101 true", "ring p2 102 true", "answer p2 102 true", "end p1 101 true completed",
			"ring p3  false", "again p3  false", "end p3  false elsewhere", "ring p4 2 false", "answer p4 2 true", "end p4 2 true completed", "end p2 102 true completed"}},
		{"one end like another", registry.Capabilities{End: true, Answer: true, Transfer: registry.TransferSameCall,
			Reasons: []call.Reason{call.Completed}},
			"[withheld outgoing again name line via reason]", []string{"ring p1 101 false", "answer p1 101 true", "caller p1 102 true", "end p1 102 true completed"}},
	} {
		t.Run(tt.name, func(t *testing.T) {
			s, p := parse(t, movedStory), &paper{}
			if left := fmt.Sprint(simulate.Omissions(s, tt.can)); left != tt.left {
				t.Errorf("left out %s, want %s", left, tt.left)
			}
			must.Do(t, (simulate.Play{Capabilities: tt.can, Repeat: 1, Prefix: "p"}).Run(t.Context(), p, s))
			if !reflect.DeepEqual(p.lines, tt.want) {
				t.Errorf("told %q\nwant %q", p.lines, tt.want)
			}
		})
	}
}

// TestTimes checks that steps run at their times, faster and repeated if asked; remaining
// calls are hung up each time, and no id is reused.
func TestTimes(t *testing.T) {
	p := &paper{began: time.Now()}
	s := parse(t, "repeat 2\n0 ring a number=1\n2 answer a\n4 ring b number=2\n")
	must.Do(t, (simulate.Play{Capabilities: tellsAll, Repeat: 1, Speed: 20, Prefix: "p"}).Run(t.Context(), p, s))
	want := []string{"ring p1 1 false", "answer p1 1 true", "ring p2 2 false", "end p1 1 true completed", "end p2 2 false missed",
		"ring p3 1 false", "answer p3 1 true", "ring p4 2 false", "end p3 1 true completed", "end p4 2 false missed"}
	if !reflect.DeepEqual(p.lines, want) {
		t.Fatalf("told %q\nwant %q", p.lines, want)
	}
	for i, at := range map[int]time.Duration{1: 100 * time.Millisecond, 2: 200 * time.Millisecond, 6: 300 * time.Millisecond, 7: 400 * time.Millisecond} {
		if p.when[i] < at {
			t.Errorf("%s after %v, before its time %v", p.lines[i], p.when[i], at)
		}
	}
}

// TestStopped checks that stopping a scenario leaves no call behind.
func TestStopped(t *testing.T) {
	ctx, cancel := context.WithCancel(t.Context())
	p := &paper{news: make(chan struct{}, 10)}
	done := make(chan error)
	go func() {
		done <- simulate.Play{Capabilities: tellsAll, Prefix: "p"}.Run(ctx, p, parse(t, "0 ring a number=1\n0 ring b number=2\n3600 end a\n"))
	}()
	<-p.news
	<-p.news
	cancel()
	if err := <-done; !errors.Is(err, context.Canceled) {
		t.Errorf("%v", err)
	}
	if got := strings.Join(p.lines, "; "); got != "ring p1 1 false; ring p2 2 false; end p1 1 false missed; end p2 2 false missed" {
		t.Errorf("told %s", got)
	}
	// Forever means until stopped.
	ctx, cancel = context.WithCancel(t.Context())
	n := 0
	err := simulate.Play{Capabilities: tellsAll, Speed: 1000, OnStep: func(simulate.Step) {
		if n++; n == 50 {
			cancel()
		}
	}}.Run(ctx, &paper{}, parse(t, "0 ring a number=1\n0 end a\n"))
	if !errors.Is(err, context.Canceled) || n != 50 {
		t.Errorf("%v after %d steps", err, n)
	}
	broken := errors.New("broken")
	if err := (simulate.Play{Capabilities: tellsAll, Repeat: 1}).Run(t.Context(), &paper{fail: broken}, parse(t, "0 ring a number=1\n")); !errors.Is(err, broken) {
		t.Errorf("%v", err)
	}
}
