package listener

import (
	"net"
	"net/http"
	"slices"
	"sync"
)

// maxSilent is how many open connections may not have sent a complete request yet.
const maxSilent = 64

// silentConns limits the number of silent connections: beyond the limit it closes the oldest. A
// phone sends its request at once, so it gets through however many others hold connections.
// It is safe for concurrent use.
type silentConns struct {
	mu     sync.Mutex // protects silent
	silent []net.Conn // oldest first
}

// watch implements http.Server's ConnState.
func (c *silentConns) watch(conn net.Conn, s http.ConnState) {
	c.mu.Lock()
	defer c.mu.Unlock()
	if s != http.StateNew {
		c.silent = slices.DeleteFunc(c.silent, func(o net.Conn) bool { return o == conn })
		return
	}
	if c.silent = append(c.silent, conn); len(c.silent) > maxSilent {
		c.silent[0].Close()
		c.silent = slices.Delete(c.silent, 0, 1)
	}
}
