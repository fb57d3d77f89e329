package listener

import (
	"sync"
	"time"
)

// bucket allows EventsBurst things at once and EventsPerSec a second in the long
// run. Its zero value is full. It is safe for concurrent use.
type bucket struct {
	mu   sync.Mutex // protects the rest
	used float64
	last time.Time
}

// take tells whether one more is allowed at now.
func (b *bucket) take(now time.Time) bool {
	b.mu.Lock()
	defer b.mu.Unlock()
	// A clock that was set back gives nothing and takes nothing.
	if d := now.Sub(b.last); d > 0 {
		b.used = max(0, b.used-d.Seconds()*EventsPerSec)
	}
	b.last = now
	if b.used+1 > EventsBurst {
		return false
	}
	b.used++
	return true
}
