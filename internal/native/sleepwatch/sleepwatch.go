// Package sleepwatch notices that the computer has slept, or that the program was
// stopped for a while: connections may be dead, calls over and timers late.
//
// Go's timers do not count sleep on Linux and do on Windows; the wall clock counts it
// everywhere. So whoever looks regularly compares what should have passed with that
// clock.
package sleepwatch

import "time"

// late is how much later somebody looks only after a sleep.
const late = 5 * time.Second

// Clock is for one goroutine.
type Clock struct {
	now  func() time.Time // on the wall
	last time.Time
	ran  time.Time // the same moment, by the time that the program ran
}

// NewClock begins to count.
func NewClock() *Clock {
	c := &Clock{now: now}
	c.last, c.ran = c.now(), time.Now()
	return c
}

// Look gives how far the clock has jumped since the last Look, which was not longer
// than every ago if the program ran all the time: 0 if it has not, negative if it was
// set back.
func (c *Clock) Look(every time.Duration) time.Duration {
	at, ran := c.now(), time.Now()
	gap := at.Sub(c.last) - min(ran.Sub(c.ran), every)
	c.last, c.ran = at, ran
	if gap > late || gap < -late {
		return gap
	}
	return 0
}
