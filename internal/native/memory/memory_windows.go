package memory

import "runtime/debug"

// Rest gives the system the garbage of the heap. Pages of files Windows takes by itself.
func Rest() error {
	debug.FreeOSMemory()
	return nil
}
