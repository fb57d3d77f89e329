package activity

import (
	"context"
	"reflect"
	"slices"
	"sync"
	"sync/atomic"
	"testing"
	"testing/synctest"
	"time"

	"go.uber.org/goleak"

	"wiebelt/internal/core/call"
	"wiebelt/internal/instance/windowapi"
)

func TestMain(m *testing.M) { goleak.VerifyTestMain(m) }

func rings(kind string, reports call.ReportLevel, state call.State) call.Event {
	return call.Event{Source: call.Source{Kind: kind, ReportLevel: reports}, State: state, At: time.Now()}
}

// waiter waits for a call in synctest time.
type waiter struct {
	mu   sync.Mutex
	told []windowapi.TestSeen
	none atomic.Int64
	over atomic.Bool
}

func (x *waiter) take(s *windowapi.TestSeen) {
	x.mu.Lock()
	defer x.mu.Unlock()
	if s == nil {
		x.none.Add(1)
	} else {
		x.told = append(x.told, *s)
	}
}

func (x *waiter) seen() []windowapi.TestSeen {
	x.mu.Lock()
	defer x.mu.Unlock()
	return slices.Clone(x.told)
}

func (x *waiter) wait(ctx context.Context, h *Monitor) {
	go func() {
		h.RunTest(ctx, x.take)
		x.over.Store(true)
	}()
	synctest.Wait()
}

// TestACallIsSeen checks that a call is reported on arrival, then its further progress,
// and, once it has ended, what its source can report.
func TestACallIsSeen(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		h, x := New(), &waiter{}
		h.Note("", rings("http", call.RingOnly, call.Ringing), time.Now()) // before anyone waits
		x.wait(t.Context(), h)
		note := func(link string, e call.Event) {
			h.Note(link, e, time.Now())
			synctest.Wait()
		}
		time.Sleep(59 * time.Second)
		outgoing := rings("baresip", call.AllStates, call.Ringing)
		outgoing.Direction = call.Outgoing
		note("phone", outgoing)
		note("", rings("command", call.RingOnly, call.Ended)) // of an earlier call
		old := rings("http", call.RingOnly, call.Ringing)
		old.At = old.At.Add(-2 * call.StaleAfter)
		note("", old)
		if len(x.seen()) != 0 {
			t.Fatalf("seen %+v", x.seen())
		}
		at := time.Now()
		note("phone", rings("baresip", call.AllStates, call.Ringing))
		note("", rings("http", call.RingOnly, call.Ringing)) // another source reports it too
		note("other", rings("baresip", call.AllStates, call.Ended))
		note("phone", rings("http", call.RingAndEnd, call.Ended))
		time.Sleep(59 * time.Second)
		note("phone", rings("baresip", call.AllStates, call.Answered))
		time.Sleep(59 * time.Second)
		note("phone", rings("baresip", call.AllStates, call.Ended))
		s := windowapi.TestSeen{Kind: "baresip", Name: "phone", At: at}
		answered := s
		answered.Answered = true
		ended := answered
		ended.Ended, ended.ReportLevel = true, windowapi.AllStates
		if want := []windowapi.TestSeen{s, answered, ended}; !reflect.DeepEqual(x.seen(), want) {
			t.Errorf("seen %+v, want %+v", x.seen(), want)
		}
		if !x.over.Load() || x.none.Load() != 0 || waiting(h) != 0 {
			t.Errorf("over: %v, nothing: %d, %d still wait", x.over.Load(), x.none.Load(), waiting(h))
		}
	})
}

// TestOnlyARing checks that, if only a ring comes, what the phone can
// report is known when the wait is over.
func TestOnlyARing(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		h, x := New(), &waiter{}
		x.wait(t.Context(), h)
		h.Note("", rings("http", call.RingOnly, call.Ringing), time.Now())
		s := windowapi.TestSeen{Kind: "http", At: time.Now()}
		time.Sleep(60 * time.Second)
		synctest.Wait()
		over := s
		over.ReportLevel = windowapi.RingOnly
		if want := []windowapi.TestSeen{s, over}; !reflect.DeepEqual(x.seen(), want) || !x.over.Load() || x.none.Load() != 0 {
			t.Errorf("seen %+v, want %+v; over: %v, nothing: %d", x.seen(), want, x.over.Load(), x.none.Load())
		}
	})
}

// TestNoCall checks that the absence of a call is reported
// after sixty seconds, not before, and once.
func TestNoCall(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		h, x := New(), &waiter{}
		x.wait(t.Context(), h)
		time.Sleep(60*time.Second - time.Millisecond)
		synctest.Wait()
		if x.none.Load() != 0 {
			t.Fatal("too soon")
		}
		time.Sleep(time.Millisecond)
		synctest.Wait()
		if x.none.Load() != 1 || !x.over.Load() || waiting(h) != 0 {
			t.Errorf("nothing: %d, over: %v, %d still wait", x.none.Load(), x.over.Load(), waiting(h))
		}
	})
}

// TestTestCallEnds checks that a test call ends with its window, on
// "stop", and when the next one begins.
func TestTestCallEnds(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		h := New()
		first, second, third := &waiter{}, &waiter{}, &waiter{}
		window, closed := context.WithCancel(t.Context())
		first.wait(window, h)
		second.wait(window, h)
		if !first.over.Load() || second.over.Load() {
			t.Error("two at a time")
		}
		h.StopTest()
		synctest.Wait()
		if !second.over.Load() {
			t.Error("goes on after stop")
		}
		third.wait(window, h)
		closed()
		synctest.Wait()
		if !third.over.Load() || waiting(h) != 0 {
			t.Error("goes on without its window")
		}
		if first.none.Load()+second.none.Load()+third.none.Load() != 0 {
			t.Error("says that no call came")
		}
	})
}

// TestWhatASourceReports checks that a source reports no less than it declares, no more
// than was seen, and nothing that contradicts the answer that was seen.
func TestWhatASourceReports(t *testing.T) {
	for _, tt := range []struct {
		declared        call.ReportLevel
		answered, ended bool
		want            string
	}{
		{call.RingOnly, false, false, windowapi.RingOnly},
		{call.RingOnly, true, false, ""},
		{call.RingOnly, false, true, windowapi.RingAndEnd},
		{call.RingOnly, true, true, windowapi.AllStates},
		{call.AllStates, true, false, windowapi.AllStates},
		{call.AllStates, false, true, windowapi.AllStates},
		{call.RingAndEnd, true, false, ""},
		{call.RingAndEnd, false, true, windowapi.RingAndEnd},
	} {
		if got := shown(tt.declared, windowapi.TestSeen{Answered: tt.answered, Ended: tt.ended}); got != tt.want {
			t.Errorf("%+v: %q", tt, got)
		}
	}
}

func TestHeard(t *testing.T) {
	h, now := New(), time.Now()
	h.AddKnown("http", "", now.Add(-time.Hour))
	h.Note("a", rings("baresip", call.AllStates, call.Ringing), now)
	h.Note("a", rings("baresip", call.AllStates, call.Ended), now.Add(time.Minute))
	h.AddKnown("baresip", "a", now.Add(-time.Hour))
	goesOn := rings("baresip", call.AllStates, call.Answered)
	goesOn.At, goesOn.StateSince = now, now.Add(-2*call.StaleAfter)
	h.Note("b", goesOn, now)
	for _, tt := range []struct {
		kind, link string
		want       time.Time
	}{{"http", "", now.Add(-time.Hour)}, {"baresip", "a", now}, {"baresip", "b", time.Time{}}, {"command", "", time.Time{}}} {
		if got := h.LastCallAt(tt.kind, tt.link); !got.Equal(tt.want) {
			t.Errorf("%s %s: %v, want %v", tt.kind, tt.link, got, tt.want)
		}
	}
	reports, over := h.listen() // a reader that does not read blocks nobody
	defer over()
	for range 100 {
		h.Note("", rings("http", call.RingOnly, call.Ringing), now)
	}
	if n := len(reports); n != cap(reports) {
		t.Errorf("%d reports wait", n)
	}
}

func waiting(h *Monitor) int {
	h.mu.Lock()
	defer h.mu.Unlock()
	return len(h.waiting)
}
