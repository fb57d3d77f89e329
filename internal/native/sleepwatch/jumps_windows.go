package sleepwatch

import (
	"context"
	"time"
)

func now() time.Time { return time.Now().Round(0) }

// Jumps reports nothing here: Look finds out.
func Jumps(context.Context) <-chan struct{} { return nil }
