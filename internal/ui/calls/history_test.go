package calls

import (
	"context"
	"log/slog"
	"testing"
	"time"

	"go.uber.org/goleak"

	"wiebelt/internal/deskapi"
	"wiebelt/internal/ui/kit"
)

func TestReadHistoryWhenAsked(t *testing.T) {
	defer goleak.VerifyNone(t)
	ctx, cancel := context.WithCancel(t.Context())
	readings := make(chan struct{}, 8)
	h := NewHistory(kit.NewDesk(kit.Params{Log: slog.New(slog.DiscardHandler), Post: func(f func()) {
		f()
		readings <- struct{}{} // what is wanted, and then the answer
	}}, deskapi.Welcome{History: t.TempDir() + "/none.db"}))
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
			case <-time.After(10 * time.Second):
				t.Fatal("it was not read")
			}
		}
	}
	cancel()
	<-done
	if h.state != readingOK || len(h.entries) != 0 {
		t.Errorf("state %v with %d entries", h.state, len(h.entries))
	}
}
