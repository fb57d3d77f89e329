// Package clocktest provides a clock that tests move by hand.
package clocktest

import (
	"sync"
	"time"
	"unsafe"
)

// Clock stands still until a test moves it. It is safe for concurrent use.
type Clock struct {
	mu  sync.Mutex
	now time.Time
}

// New returns a clock set to at.
func New(at time.Time) *Clock { return &Clock{now: at} }

// Now returns the clock's time.
func (c *Clock) Now() time.Time {
	c.mu.Lock()
	defer c.mu.Unlock()
	return c.now
}

// Forward moves the clock, and returns its new time.
func (c *Clock) Forward(d time.Duration) time.Time {
	c.mu.Lock()
	defer c.mu.Unlock()
	c.now = c.now.Add(d)
	return c.now
}

// Slept returns t after a sleep of d on Linux, during which the wall clock went on and
// the monotonic clock stood still. Only the system creates such times, so Slept
// changes the monotonic reading in memory.
func Slept(t time.Time, d time.Duration) time.Time {
	woke := t.Add(d)
	*(*int64)(unsafe.Add(unsafe.Pointer(&woke), 8)) -= int64(d)
	if woke.Sub(t) != 0 || woke.Round(0).Sub(t.Round(0)) != d {
		panic("a time is built otherwise, or has no monotonic reading")
	}
	return woke
}
