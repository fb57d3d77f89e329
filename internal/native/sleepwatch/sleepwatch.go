// Package sleepwatch detects that the computer has slept, so that connections may be dead, calls
// over and timers late, and that its clock was set, so that what has a time may be due.
//
// The system's clocks tell these apart, and from a program that was merely slow or stopped.
package sleepwatch

import "time"

// threshold is how short a sleep, or how small a correction of the clock, changes nothing.
const threshold = 5 * time.Second

// Clock notices sleep and a clock that was set. It must be used by a single goroutine.
type Clock struct {
	read    func() (asleep time.Duration, started time.Time)
	asleep  time.Duration
	started time.Time
}

// NewClock starts a Clock.
func NewClock() *Clock {
	c := &Clock{read: read}
	c.Check()
	return c
}

// Check returns how long the computer has slept since the last Check, and how far the wall
// clock was set ahead meanwhile, negative if back. Each is 0 up to the threshold.
func (c *Clock) Check() (slept, set time.Duration) {
	asleep, started := c.read()
	slept, set = asleep-c.asleep, started.Sub(c.started)
	c.asleep, c.started = asleep, started
	if slept <= threshold {
		slept = 0
	}
	if set.Abs() <= threshold {
		set = 0
	}
	return slept, set
}
