package localhub

import (
	"fmt"
	"testing"
	"time"
)

// TestOneAddressLocksNobodyOut: an address that tries name after name is refused
// itself, and others go on logging in.
func TestOneAddressLocksNobodyOut(t *testing.T) {
	l, now := newLimiter(), time.Now()
	taken := 0
	for i := range 3 * limitKeys {
		if _, ok := l.try(now, fmt.Sprint("name", i), "192.0.2.1"); ok {
			taken++
		}
	}
	if taken != limitPerAddress || len(l.seen) > limitPerAddress+1 {
		t.Errorf("%d attempts, %d kept", taken, len(l.seen))
	}
	if wait, ok := l.try(now, "anna", "192.0.2.2"); !ok {
		t.Errorf("another address waits %v", wait)
	}
}
