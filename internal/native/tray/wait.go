package tray

import (
	"context"
	"time"
)

// WaitHost waits until a tray host is there, at most for d. At log-on the panel
// comes seconds after the programs that start with it.
func WaitHost(ctx context.Context, d time.Duration) bool {
	ctx, cancel := context.WithTimeout(ctx, d)
	defer cancel()
	tick := time.NewTicker(2 * time.Second)
	defer tick.Stop()
	for {
		if HasHost(ctx) {
			return true
		}
		select {
		case <-tick.C:
		case <-ctx.Done():
			return false
		}
	}
}
