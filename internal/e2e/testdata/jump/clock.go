// Package sleepwatch: this file replaces the clock of internal/native/sleepwatch in
// a program that only a test builds. The wall clock is ahead by what a file says, and
// jumps when the file changes.
package sleepwatch

import (
	"context"
	"os"
	"strings"
	"time"
)

func now() time.Time {
	file := os.Getenv("WIEBELT_TEST_JUMP")
	b, _ := os.ReadFile(file)
	_ = os.WriteFile(file+".read", nil, 0o600)                   // for the test, which waits until it was read
	ahead, _ := time.ParseDuration(strings.TrimSpace(string(b))) // none at first
	return time.Now().Round(0).Add(ahead)
}

// Jumps is as shipped, except for its clock.
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
