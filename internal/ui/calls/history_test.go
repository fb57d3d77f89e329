package calls

import (
	"context"
	"log/slog"
	"testing"
	"time"

	"go.uber.org/goleak"

	"wiebelt/internal/instance/windowapi"
	"wiebelt/internal/store/history"
	"wiebelt/internal/text"
	"wiebelt/internal/ui/uitest"
	"wiebelt/internal/ui/widgets"
)

func TestReadHistoryWhenAsked(t *testing.T) {
	defer goleak.VerifyNone(t)
	ctx, cancel := context.WithCancel(t.Context())
	readings := make(chan struct{}, 8)
	h := NewHistory(widgets.NewHost(widgets.Params{Log: slog.New(slog.DiscardHandler), Post: func(f func()) {
		f()
		readings <- struct{}{} // what is wanted, and then the answer
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
			select {
			case <-readings:
			case <-time.After(time.Minute):
				t.Fatal("it was not read")
			}
		}
	}
	cancel()
	<-done
	if h.state != readingOK || len(h.first.entries) != 0 {
		t.Errorf("state %v with %d entries", h.state, len(h.first.entries))
	}
}

// What was read goes with the window, and the next one asks for it anew.
func TestCallsForgetWhenClosed(t *testing.T) {
	b := newHarness(t, uitest.Greeting(text.Dutch))
	b.read([]history.Entry{customer()}, nil)
	b.Show(windowapi.WindowCalls)
	b.took(answer{wish: b.wanted(), entries: []history.Entry{customer()}, count: 1, exact: true})
	reading := b.wanted().ctx
	b.calls.win.Close()
	if b.calls != nil || b.first.entries != nil || b.History.state != readingNot || b.Page(windowapi.WindowCalls) != nil {
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
