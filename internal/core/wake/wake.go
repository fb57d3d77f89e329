// Package wake lets a goroutine sleep until a context ends, and wakes another by a
// channel with one place, without ever waiting for it.
package wake

import (
	"context"
	"time"
)

// Pause waits for d, or until ctx ends, whose error it gives then.
func Pause(ctx context.Context, d time.Duration) error {
	if d > 0 {
		select {
		case <-ctx.Done():
		case <-time.After(d):
		}
	}
	return ctx.Err()
}

// Up wakes whoever receives from c, which has one place. It never blocks: what is sent
// before somebody looks counts as one.
func Up(c chan<- struct{}) {
	select {
	case c <- struct{}{}:
	default:
	}
}
