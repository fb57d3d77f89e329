package relaylink

import (
	"time"

	"golang.org/x/sys/windows"
)

// unanswered ends a connection once the other side has acknowledged nothing of what
// was sent for so long. The system asks whether it is there only while nothing is on
// its way.
func unanswered(socket uintptr, limit time.Duration) error {
	return windows.SetsockoptInt(windows.Handle(socket), windows.IPPROTO_TCP, windows.TCP_MAXRTMS, int(limit.Milliseconds()))
}
