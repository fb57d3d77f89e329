package sleepwatch

import (
	"context"
	"slices"
	"testing"
	"time"
)

func TestWatch(t *testing.T) {
	clock := []time.Time{time.Date(2026, 3, 2, 9, 0, 0, 0, time.UTC)} // what the watcher reads, one after another
	for _, step := range []time.Duration{every, every + time.Second, every + 3*time.Second, every, every + 8*time.Hour, every, -time.Hour, every, every + 6*time.Second} {
		clock = append(clock, clock[len(clock)-1].Add(step))
	}
	tick := make(chan time.Time, len(clock))
	for range len(clock) - 1 {
		tick <- time.Time{}
	}
	ctx, cancel := context.WithCancel(t.Context())
	var got []time.Duration
	watch(ctx, tick, func() time.Time {
		now := clock[0]
		if clock = clock[1:]; len(clock) == 0 {
			cancel()
		}
		return now
	}, func(d time.Duration) { got = append(got, d) })
	if want := []time.Duration{8 * time.Hour, -time.Hour - every, 6 * time.Second}; !slices.Equal(got, want) {
		t.Errorf("%v, want %v", got, want)
	}
}

func TestWatchEndsWithItsContext(t *testing.T) {
	ctx, cancel := context.WithCancel(t.Context())
	cancel()
	Watch(ctx, func(time.Duration) { t.Error("nothing slept") })
}
