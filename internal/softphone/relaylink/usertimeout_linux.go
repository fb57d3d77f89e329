package relaylink

import (
	"time"

	"golang.org/x/sys/unix"
)

// setUserTimeout ends a connection if the other side acknowledges nothing for that long.
// Keep-alive only works while no data is in flight.
func setUserTimeout(socket uintptr, limit time.Duration) error {
	return unix.SetsockoptInt(int(socket), unix.IPPROTO_TCP, unix.TCP_USER_TIMEOUT, int(limit.Milliseconds()))
}
