// Package wake lets a goroutine sleep for a time or until a context ends, and wakes another
// through a channel of capacity one without blocking.
package wake

import (
	"context"
	"time"
)

// Pause waits for d or until ctx ends, and returns ctx's error.
func Pause(ctx context.Context, d time.Duration) error {
	if d > 0 {
		select {
		case <-ctx.Done():
		case <-time.After(d):
		}
	}
	return ctx.Err()
}

// Up wakes the receiver of c, which has capacity one. It never blocks: several calls before
// the receiver runs count as one.
func Up(c chan<- struct{}) {
	select {
	case c <- struct{}{}:
	default:
	}
}
