package hubwatch

import (
	"context"
	"errors"
	"log/slog"
	"sync/atomic"
	"testing"
	"testing/synctest"
	"time"

	"wiebelt/internal/health"
	"wiebelt/internal/testutil/must"
	"wiebelt/internal/text"
)

// counted is a history with the number of calls per day.
type counted map[string]int

func (c counted) incoming(_ context.Context, from, to time.Time) (int, error) {
	if !to.Equal(day(from, 1)) {
		return 0, errors.New("not a day")
	}
	return c[from.Format(time.DateOnly)], nil
}

// TestUsualIsThatOfTheLastWorkingDay checks that the usual number of calls is that of the
// last working day. 20 November 2026 is a Friday.
func TestUsualIsThatOfTheLastWorkingDay(t *testing.T) {
	at := func(d int) time.Time { return time.Date(2026, 11, d, 12, 0, 0, 0, time.Local) }
	for _, tt := range []struct {
		name string
		days counted
		now  time.Time
		want int
	}{
		{"yesterday", counted{"2026-11-19": 12, "2026-11-18": 40}, at(20), 12},
		{"on Monday that is Friday", counted{"2026-11-20": 12, "2026-11-21": 3, "2026-11-22": 2}, at(23), 12},
		{"today does not count", counted{"2026-11-20": 12}, at(20), 0},
		{"a day without a single call", counted{"2026-11-19": 0, "2026-11-18": 40}, at(20), 40},
		{"longer ago than is kept", counted{"2026-11-12": 40}, at(20), 0},
		{"nobody works at the weekend", counted{"2026-11-21": 40, "2026-11-22": 40}, at(23), 0},
	} {
		u := NewUsualCalls(tt.days.incoming, func(int) {}, slog.New(slog.DiscardHandler))
		if n, err := u.count(t.Context(), tt.now); n != tt.want || err != nil {
			t.Errorf("%s: %d, %v; want %d", tt.name, n, err, tt.want)
		}
	}
}

// TestSilenceIsSaid checks that calls are counted after every midnight and that the
// question mark then appears without anyone asking in between.
func TestSilenceIsSaid(t *testing.T) {
	synctest.Test(t, func(t *testing.T) { // starts on Saturday, 1 January 2000, UTC
		days := counted{"2000-01-03": 12, "2000-01-04": 30, "2000-01-05": 3}
		var usual atomic.Int64
		u := NewUsualCalls(days.incoming, func(n int) { usual.Store(int64(n)) }, slog.New(slog.DiscardHandler))
		must.Run(t, u.Run)
		at := func(d, hour, minute int) {
			t.Helper()
			time.Sleep(time.Until(time.Date(2000, 1, d, hour, minute, 0, 0, time.Local)))
			synctest.Wait()
		}
		state := func(opened time.Time) health.State {
			f := health.Facts{SetUp: true, UsualCalls: int(usual.Load()), StartedAt: opened}
			return health.Assess(f, text.Dutch, "", time.Now()).State
		}
		for _, tt := range []struct {
			day   int
			usual int64
			doubt bool
		}{{3, 0, false}, {4, 12, true}, {5, 30, true}, {6, 3, false}} {
			at(tt.day, 8, 0)
			opened := time.Now()
			if got := usual.Load(); got != tt.usual {
				t.Errorf("on day %d: %d calls, want %d", tt.day, got, tt.usual)
			}
			at(tt.day, 10, 59)
			if state(opened) != health.Ready {
				t.Errorf("on day %d: in doubt before two hours are over", tt.day)
			}
			at(tt.day, 11, 1)
			if got := state(opened) == health.Doubt; got != tt.doubt {
				t.Errorf("on day %d: doubt %v", tt.day, got)
			}
		}
	})
}
