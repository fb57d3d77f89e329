package sleepwatch

import (
	"context"
	"testing"

	"go.uber.org/goleak"
)

// TestJumpsEnds: a test cannot set the machine's clock, so this checks only that nothing is
// reported and that nothing is left running.
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
