package sleepwatch

import (
	"testing"
	"time"
)

func TestClock(t *testing.T) {
	var asleep time.Duration
	started := time.Now()
	c := NewClock()
	c.read = func() (time.Duration, time.Time) { return asleep, started }
	c.Check()
	const night = 8 * time.Hour
	for _, step := range []struct{ slept, set, wantSlept, wantSet time.Duration }{
		{}, // however late that is
		{time.Second, 0, 0, 0},
		{0, time.Second, 0, 0},
		{night, 0, night, 0},
		{0, time.Hour, 0, time.Hour},
		{0, -time.Hour, 0, -time.Hour},
		{night, time.Minute, night, time.Minute},
		{},
	} {
		asleep, started = asleep+step.slept, started.Add(step.set)
		if slept, set := c.Check(); slept != step.wantSlept || set != step.wantSet {
			t.Errorf("%+v: %v, %v", step, slept, set)
		}
	}
}
