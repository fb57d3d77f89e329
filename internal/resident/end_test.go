package resident

import (
	"context"
	"fmt"
	"log/slog"
	"path/filepath"
	"strconv"
	"testing"
	"time"

	"wiebelt/internal/core/call"
	"wiebelt/internal/core/engine"
	"wiebelt/internal/core/phone"
	"wiebelt/internal/resident/recorder"
	"wiebelt/internal/store/history"
	"wiebelt/internal/testutil/must"
)

// TestLastCallIsKept checks that a call taken while the resident shuts down is in the history.
func TestLastCallIsKept(t *testing.T) {
	store := must.Get(history.Open(filepath.Join(t.TempDir(), "history.db"), history.KeepFull, 7, time.Now))(t)
	defer store.Close()
	rules := phone.DefaultRules()
	log := slog.New(slog.DiscardHandler)
	taken := 0
	for range 100 {
		rec := recorder.New(store, func() {}, log)
		e := engine.New(engine.Params{Rules: rules, Record: rec.Enqueue, Log: log})
		ctx, cancel := context.WithCancel(t.Context())
		ended := make(chan struct{})
		go func() {
			defer close(ended)
			runEngine(ctx, e, rec.Run)
		}()
		go cancel()
		for range 20 {
			if e.Receive(call.Event{Source: call.Source{Kind: call.KindCommand}, State: call.Ringing, Direction: call.Incoming, ID: strconv.Itoa(taken), Number: fmt.Sprintf("06987%05d", taken), At: time.Now()}) != nil {
				break
			}
			taken++
		}
		cancel()
		<-ended
	}
	n, err := store.CountIncoming(t.Context(), time.Time{}, time.Now().Add(time.Hour))
	if must.Do(t, err); n != taken || taken == 0 {
		t.Errorf("%d calls in the history, want %d", n, taken)
	}
}
