package messagebox

import (
	"context"
	"errors"
	"testing"
)

func TestTooLate(t *testing.T) {
	ctx, cancel := context.WithCancel(t.Context())
	cancel()
	if err := Show(ctx, "title", "text"); !errors.Is(err, context.Canceled) {
		t.Error(err)
	}
}
