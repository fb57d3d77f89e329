package exchangelink

import (
	"slices"
	"testing"
	"testing/synctest"
	"time"
)

// TestGaps: a steady stream of gaps postpones no poll; polls that
// find nothing new become rarer, up to a limit, until one does.
func TestGaps(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		g, gaps, last := NewGaps(time.Second, 2*time.Second), time.Tick(100*time.Millisecond), time.Now()
		var waits []int
		for began, look := last, 1; look <= 8 && time.Since(began) < time.Hour; {
			select {
			case <-gaps:
				g.Seen()
			case <-g.C():
				waits, last = append(waits, int(time.Since(last).Seconds())), time.Now()
				g.Polled(look == 7)
				look++
			}
		}
		if !slices.Equal(waits, []int{1, 4, 8, 16, 30, 30, 30, 2}) {
			t.Errorf("looked after %v seconds", waits)
		}
	})
}
