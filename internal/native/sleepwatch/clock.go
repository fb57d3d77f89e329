package sleepwatch

import "time"

// now is the clock on the wall. It stands alone so that a test can build the
// program with another one.
func now() time.Time { return time.Now().Round(0) }
