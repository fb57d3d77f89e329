package sleepwatch

import (
	"context"
	"testing"

	"go.uber.org/goleak"
)

// TestJumpsEnds: the clock of a machine that runs tests is not set, so all that can be
// seen here is that nothing is told and that nothing stays behind.
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
