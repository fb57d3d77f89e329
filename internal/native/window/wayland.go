package window

import "fmt"

// ErrWayland is returned by Open on a Wayland desktop that has no X server, and by
// OpenCards where that has no layers either: no program may put a window in a corner
// there. It wraps ErrNoDisplay.
var ErrWayland = fmt.Errorf("%w: Wayland without an X server", ErrNoDisplay)
