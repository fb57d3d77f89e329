package listener

import (
	"net"
	"net/http"
	"slices"
	"sync"
)

// maxSilent is how many connections may be open that have not sent a whole
// request yet.
const maxSilent = 64

// crowd keeps the number of silent connections small: when there are too many
// the oldest goes. A phone sends its request at once, so it gets through however
// many others only hold on. It is safe for concurrent use.
type crowd struct {
	mu     sync.Mutex // protects silent
	silent []net.Conn // oldest first
}

// watch is an http.Server's ConnState.
func (c *crowd) watch(conn net.Conn, s http.ConnState) {
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
