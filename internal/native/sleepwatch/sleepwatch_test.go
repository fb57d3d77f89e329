package sleepwatch

import (
	"testing"
	"testing/synctest"
	"time"
)

func TestClock(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		const every = 10 * time.Second
		var ahead time.Duration // how far the wall clock is ahead, as where only it counts sleep
		c := NewClock()
		c.now = func() time.Time { return time.Now().Round(0).Add(ahead) }
		for _, step := range []struct{ passed, jumped, want time.Duration }{
			{every, 0, 0},
			{every + time.Second, 0, 0}, // a busy machine
			{3 * time.Second, 0, 0},
			{every, 8 * time.Hour, 8 * time.Hour},
			{time.Second, 8 * time.Hour, 8 * time.Hour}, // reported at once
			{every, -time.Hour, -time.Hour},
			{every + 8*time.Hour, 0, 8 * time.Hour}, // stopped, or asleep where timers count it
			{every, 0, 0},
		} {
			time.Sleep(step.passed)
			ahead += step.jumped
			if got := c.Check(every); got != step.want {
				t.Errorf("%+v: %v", step, got)
			}
		}
	})
}
