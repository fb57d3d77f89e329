package listener

import (
	"errors"
	"syscall"
)

const (
	soExclusiveAddrUse = ^4
	wsaeAddrInUse      = syscall.Errno(10048)
	wsaeAccess         = syscall.Errno(10013)
)

// exclusive prevents sharing the port: without it Windows lets another program bind the
// same port with SO_REUSEADDR and receive our callers.
func exclusive(_, _ string, c syscall.RawConn) error {
	var err error
	if e := c.Control(func(fd uintptr) {
		err = syscall.SetsockoptInt(syscall.Handle(fd), syscall.SOL_SOCKET, soExclusiveAddrUse, 1)
	}); e != nil {
		return e
	}
	return err
}

// IsPortTaken reports whether another program holds the port. Windows returns "access denied" if
// the other one holds it exclusively or the range is reserved.
func IsPortTaken(err error) bool {
	return errors.Is(err, wsaeAddrInUse) || errors.Is(err, wsaeAccess)
}
