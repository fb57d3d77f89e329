// Package sleepwatch: this file replaces the clocks of internal/native/sleepwatch in
// a program that only a test builds. A file says how long the computer has slept and how far
// its clock was set ahead.
package sleepwatch

import (
	"context"
	"fmt"
	"os"
	"time"
)

var began = time.Now().Round(0)

func read() (asleep time.Duration, started time.Time) {
	file := os.Getenv("WIEBELT_TEST_JUMP")
	b, _ := os.ReadFile(file)
	_ = os.WriteFile(file+".read", nil, 0o600) // for the test, which waits until it was read
	var set time.Duration
	_, _ = fmt.Sscan(string(b), (*int64)(&asleep), (*int64)(&set)) // none at first
	return asleep, began.Add(set)
}

// Jumps is as shipped, except for its clocks.
func Jumps(ctx context.Context) <-chan struct{} {
	jumped := make(chan struct{}, 1)
	go func() {
		was := ""
		for tick := time.NewTicker(50 * time.Millisecond); ctx.Err() == nil; <-tick.C {
			if b, _ := os.ReadFile(os.Getenv("WIEBELT_TEST_JUMP")); string(b) != was {
				was = string(b)
				jumped <- struct{}{}
			}
		}
	}()
	return jumped
}
