package hubwatch

import (
	"context"
	"log/slog"
	"time"

	"wiebelt/internal/core/wake"
	"wiebelt/internal/health"
)

// lastWorkdays is how many days back a working day with calls is searched: the
// history's default length.
const lastWorkdays = 7

// UsualCalls finds out how many calls the last working day had, so that a failure can be
// distinguished from a quiet day. It queries the history once a day, on its own goroutine.
type UsualCalls struct {
	incoming func(ctx context.Context, from, to time.Time) (int, error)
	counted  func(calls int)
	log      *slog.Logger
	wake     chan struct{}
}

// NewUsualCalls returns a UsualCalls; incoming counts the incoming calls between two times,
// and counted receives those of the last working day, on Run's goroutine.
func NewUsualCalls(incoming func(context.Context, time.Time, time.Time) (int, error), counted func(calls int), log *slog.Logger) *UsualCalls {
	return &UsualCalls{incoming: incoming, counted: counted, log: log, wake: make(chan struct{}, 1)}
}

// Resumed triggers a new count: the computer has slept, perhaps past midnight.
func (u *UsualCalls) Resumed() {
	wake.Up(u.wake)
}

// Run counts at the start and after every midnight until ctx ends.
func (u *UsualCalls) Run(ctx context.Context) {
	for ctx.Err() == nil {
		now := time.Now()
		if n, err := u.count(ctx, now); err == nil {
			u.counted(n)
		} else if ctx.Err() == nil {
			u.log.Warn("the calls of the last working day are not known", "why", err)
		}
		select {
		case <-ctx.Done():
		case <-time.After(time.Until(day(now, 1))):
		case <-u.wake:
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
