// Package sleepwatch notices that the computer has slept, or that the program was
// stopped for a while: connections may be dead, calls over and timers late.
//
// No system is asked. Go's timers do not count sleep on Linux and do on Windows;
// the wall clock counts it everywhere. So a short timer is compared with that
// clock.
package sleepwatch

import (
	"context"
	"time"
)

const (
	every = 2 * time.Second
	late  = 5 * time.Second // than which a tick is later only after a sleep
)

// Watch calls woke, from its own goroutine, which is the caller's, whenever the
// clock has jumped: slept is how far, and negative if it was set back. It returns
// when ctx ends.
func Watch(ctx context.Context, woke func(slept time.Duration)) {
	t := time.NewTicker(every)
	defer t.Stop()
	watch(ctx, t.C, now, woke)
}

func watch(ctx context.Context, tick <-chan time.Time, now func() time.Time, woke func(time.Duration)) {
	last := now().Round(0) // the clock on the wall
	for {
		select {
		case <-ctx.Done():
			return
		case <-tick:
		}
		at := now().Round(0)
		if gap := at.Sub(last) - every; gap > late || gap < -late {
			woke(gap)
		}
		last = at
	}
}
