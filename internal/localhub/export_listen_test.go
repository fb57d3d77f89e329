package localhub

import (
	"net"
	"net/netip"
	"time"
)

// SetGrace sets how long requests under way get when the hub ends.
func (h *Hub) SetGrace(d time.Duration) { h.grace = d }

// SetReadTime sets how long reading a request may take and gives a function
// that takes it back. No hub may be starting meanwhile.
func SetReadTime(d time.Duration) (back func()) {
	old := readTime
	readTime = d
	return func() { readTime = old }
}

// Secure reports whether cookies are for https only.
func (h *Hub) Secure() bool { return h.secure() }

// PlaceOf is where a hub with these settings would be reached, had it been
// given that address.
func PlaceOf(c Config, given string) (url string, takes func(host string) bool, err error) {
	p, err := c.withDefaults().place()
	if err != nil {
		return "", nil, err
	}
	p.onPort(net.TCPAddrFromAddrPort(netip.MustParseAddrPort(given)))
	return p.url, p.takes, nil
}
