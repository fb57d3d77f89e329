package listener

import (
	"errors"
	"syscall"
)

// exclusive is nothing here: two programs cannot hold one port.
func exclusive(_, _ string, _ syscall.RawConn) error { return nil }

// Taken tells whether another program holds the port.
func Taken(err error) bool { return errors.Is(err, syscall.EADDRINUSE) }
