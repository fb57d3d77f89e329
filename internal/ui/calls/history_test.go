package calls

import (
	"context"
	"log/slog"
	"sync/atomic"
	"testing"
	"testing/synctest"
	"time"

	"go.uber.org/goleak"

	"wiebelt/internal/instance/windowapi"
	"wiebelt/internal/store/history"
	"wiebelt/internal/testutil/must"
	"wiebelt/internal/ui/widgets"
)

func TestReadHistoryWhenAsked(t *testing.T) {
	defer goleak.VerifyNone(t)
	ctx, cancel := context.WithCancel(t.Context())
	readings := make(chan struct{}, 8)
	h := NewHistory(widgets.NewHost(widgets.Params{Log: slog.New(slog.DiscardHandler), Post: func(f func()) {
		f()
		readings <- struct{}{} // the request, and then the answer
	}}, windowapi.Welcome{History: t.TempDir() + "/none.db"}))
	kicks := make(chan struct{}, 1)
	done := make(chan struct{})
	go func() {
		defer close(done)
		h.Follow(ctx, kicks)
	}()
	for range 3 {
		kicks <- struct{}{}
		for range 2 {
			must.Receive(t, readings, "a reading")
		}
	}
	cancel()
	<-done
	if h.state != readingOK || len(h.first.entries) != 0 {
		t.Errorf("state %v with %d entries", h.state, len(h.first.entries))
	}
}

// TestNewDayAfterSleep: a day that began while the computer
// slept is noticed, although Go's timers stood still.
func TestNewDayAfterSleep(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		ctx, cancel := context.WithCancel(t.Context())
		defer cancel()
		var slept, posts atomic.Int64
		h := NewHistory(widgets.NewHost(widgets.Params{Post: func(f func()) { f(); posts.Add(1) }}, windowapi.Welcome{}))
		h.file.now = func() time.Time { return time.Now().Add(time.Duration(slept.Load())) }
		go h.Follow(ctx, nil)
		after := func(d time.Duration, want int64, when string) {
			t.Helper()
			time.Sleep(d)
			synctest.Wait()
			if got := posts.Load(); got != want {
				t.Errorf("%s: %d posts, want %d", when, got, want)
			}
		}
		y, m, d := time.Now().Date()
		noon := time.Date(y, m, d+1, 12, 0, 0, 0, time.Local)
		after(0, 0, "at first")
		slept.Store(int64(time.Until(noon)))
		after(2*time.Minute, 2, "the next day") // the request, and then the answer
		after(time.Hour, 2, "an hour later")
	})
}

// TestCallsForgetWhenClosed: what was read is dropped
// with the window, and the next one requests it again.
func TestCallsForgetWhenClosed(t *testing.T) {
	b := opened(t, customer())
	b.storeResult(readResult{readRequest: b.nextRequest(), entries: []history.Entry{customer()}, count: 1, exact: true})
	reading := b.nextRequest().ctx
	b.calls.win.Close()
	if b.calls != nil || b.first.entries != nil || b.History.state != readingPending || b.Page(windowapi.WindowCalls) != nil {
		t.Error("a closed window is still held, or what it showed")
	}
	if reading.Err() == nil {
		t.Error("it is still read for a closed window")
	}
	b.HistoryReads = 0
	b.Show(windowapi.WindowCalls)
	if b.HistoryReads != 1 {
		t.Errorf("the next window asked %d times", b.HistoryReads)
	}
}
