package sleepwatch

import (
	"context"
	"testing"

	"go.uber.org/goleak"
)

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
