package browser

import "context"

// Available reports true: the system's shell opens web addresses.
func Available(context.Context) bool { return true }
