package relaylink

import (
	"time"

	"golang.org/x/sys/windows"
)

// setUserTimeout ends a connection if the other side acknowledges nothing for that long.
// Keep-alive only works while no data is in flight.
func setUserTimeout(socket uintptr, limit time.Duration) error {
	return windows.SetsockoptInt(windows.Handle(socket), windows.IPPROTO_TCP, windows.TCP_MAXRTMS, int(limit.Milliseconds()))
}
