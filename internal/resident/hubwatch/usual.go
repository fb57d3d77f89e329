package hubwatch

import (
	"context"
	"log/slog"
	"sync/atomic"
	"time"

	"wiebelt/internal/core/wake"
	"wiebelt/internal/health"
)

// lastWorkdays is how many days back a working day with calls is searched: the
// history's default length.
const lastWorkdays = 7

// UsualCalls knows how many calls the last working day had, so that a failure can be
// distinguished from a quiet day. It queries the history once a day, on its own goroutine.
type UsualCalls struct {
	incoming func(ctx context.Context, from, to time.Time) (int, error)
	changed  func()
	log      *slog.Logger
	calls    atomic.Int64
	wake     chan struct{}
}

// NewUsualCalls returns a UsualCalls; incoming counts the incoming calls between two times,
// and changed is called on Run's goroutine when the number has changed.
func NewUsualCalls(incoming func(context.Context, time.Time, time.Time) (int, error), changed func(), log *slog.Logger) *UsualCalls {
	return &UsualCalls{incoming: incoming, changed: changed, log: log, wake: make(chan struct{}, 1)}
}

// Calls returns how many calls the last working day had, 0 while unknown.
func (u *UsualCalls) Calls() int { return int(u.calls.Load()) }

// Resumed triggers a new count: the computer has slept, perhaps past midnight.
func (u *UsualCalls) Resumed() {
	wake.Up(u.wake)
}

// Run counts at the start and after every midnight until ctx ends.
func (u *UsualCalls) Run(ctx context.Context) {
	for {
		now := time.Now()
		n, err := u.count(ctx, now)
		if err != nil && ctx.Err() == nil {
			u.log.Warn("the calls of the last working day are not known", "why", err)
		} else if u.calls.Swap(int64(n)) != int64(n) {
			u.changed()
		}
		t := time.NewTimer(time.Until(day(now, 1)))
		select {
		case <-ctx.Done():
		case <-t.C:
		case <-u.wake:
		}
		t.Stop()
		if ctx.Err() != nil {
			return
		}
	}
}

// count returns the calls of the last working day before now that had any: after a day on
// which no call reached us, silence is as suspicious as on that day.
func (u *UsualCalls) count(ctx context.Context, now time.Time) (int, error) {
	for back := 1; back <= lastWorkdays; back++ {
		from, to := day(now, -back), day(now, 1-back)
		if !health.Workday(from) {
			continue
		}
		if n, err := u.incoming(ctx, from, to); err != nil || n > 0 {
			return n, err
		}
	}
	return 0, nil
}

// day returns the midnight that starts the day the given number of days after now's.
func day(now time.Time, days int) time.Time {
	y, m, d := now.Local().Date()
	return time.Date(y, m, d+days, 0, 0, 0, 0, time.Local)
}
