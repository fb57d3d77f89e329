package listener

import (
	"errors"
	"syscall"
)

// exclusive does nothing here: two programs cannot hold the same port.
func exclusive(_, _ string, _ syscall.RawConn) error { return nil }

// IsPortTaken reports whether another program holds the port.
func IsPortTaken(err error) bool { return errors.Is(err, syscall.EADDRINUSE) }
