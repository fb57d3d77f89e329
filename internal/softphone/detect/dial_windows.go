package detect

import (
	"context"
	"net"
	"net/netip"
	"time"
)

const dialTime = 300 * time.Millisecond

// dials reports whether a connection can be made.
func dials(ctx context.Context, at netip.AddrPort) bool {
	ctx, cancel := context.WithTimeout(ctx, dialTime)
	defer cancel()
	c, err := new(net.Dialer).DialContext(ctx, "tcp", at.String())
	if err != nil {
		return false
	}
	_ = c.Close()
	return true
}
