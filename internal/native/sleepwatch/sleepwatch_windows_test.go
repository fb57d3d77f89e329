package sleepwatch

import "testing"

// TestAsleep checks that the two clocks agree, since wine never sleeps.
func TestAsleep(t *testing.T) {
	if asleep, _ := read(); asleep.Abs() > threshold {
		t.Error(asleep)
	}
}
