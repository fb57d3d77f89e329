package relaylink

import (
	"time"

	"golang.org/x/sys/unix"
)

// unanswered ends a connection once the other side has acknowledged nothing of what
// was sent for so long. The system asks whether it is there only while nothing is on
// its way.
func unanswered(socket uintptr, limit time.Duration) error {
	return unix.SetsockoptInt(int(socket), unix.IPPROTO_TCP, unix.TCP_USER_TIMEOUT, int(limit.Milliseconds()))
}
