package sleepwatch

import (
	"context"
	"fmt"
	"os"
	"os/exec"
	"testing"
	"time"

	"go.uber.org/goleak"

	"wiebelt/internal/testutil/must"
	"wiebelt/internal/testutil/processtest"
)

// TestAsleep checks that where the clock that counts sleep is eight hours ahead of the other,
// the computer has slept for that long, and was started that much earlier.
func TestAsleep(t *testing.T) {
	const night, outside = 8 * time.Hour, "WIEBELT_TEST_OUTSIDE"
	asleep, started := read()
	if !processtest.Alone(t, func(cmd *exec.Cmd) {
		processtest.Inside(t, cmd, "unshare", "-UrT", "--boottime", fmt.Sprint(night.Seconds()))
		cmd.Env = append(cmd.Env, fmt.Sprintf("%s=%d %d", outside, asleep, started.UnixNano()))
	}) {
		return
	}
	var wasAsleep, wasStarted int64
	must.Get(fmt.Sscan(os.Getenv(outside), &wasAsleep, &wasStarted))(t)
	slept, earlier := asleep-time.Duration(wasAsleep), time.Unix(0, wasStarted).Sub(started)
	if (slept-night).Abs() > threshold || (earlier-night).Abs() > threshold {
		t.Errorf("asleep for %v, started %v earlier", slept, earlier)
	}
}

// TestJumpsEnds checks only that nothing is reported and nothing is left running,
// since a test cannot set the machine's clock.
func TestJumpsEnds(t *testing.T) {
	defer goleak.VerifyNone(t)
	ctx, cancel := context.WithCancel(t.Context())
	jumped := Jumps(ctx)
	select {
	case <-jumped:
		t.Error("nothing has jumped")
	default:
	}
	cancel()
}
