// Package sleepwatch detects that the computer has slept, or that the program was stopped for
// a while. Connections may then be dead, calls over and timers late.
//
// Go's timers do not count sleep on Linux, but do on Windows; the wall clock counts it
// everywhere. Therefore a regular check compares the expected time with that clock.
package sleepwatch

import "time"

// jumpThreshold is a delay that only a sleep explains.
const jumpThreshold = 5 * time.Second

// Clock notices jumps of the wall clock. It must be used by a single goroutine.
type Clock struct {
	now           func() time.Time // wall clock
	last          time.Time
	lastMonotonic time.Time // the same moment, on the monotonic clock
}

// NewClock starts a Clock.
func NewClock() *Clock {
	c := &Clock{now: now}
	c.last, c.lastMonotonic = c.now(), time.Now()
	return c
}

// Check returns how far the clock has jumped since the last Check. While the program runs,
// the caller calls it at least once per every. The result is 0 if it has not
// jumped, and negative if it was set back.
func (c *Clock) Check(every time.Duration) time.Duration {
	at, ran := c.now(), time.Now()
	gap := at.Sub(c.last) - min(ran.Sub(c.lastMonotonic), every)
	c.last, c.lastMonotonic = at, ran
	if gap > jumpThreshold || gap < -jumpThreshold {
		return gap
	}
	return 0
}
