package listener

import (
	"container/list"
	"net"
	"net/http"
	"sync"
)

// maxSilent is how many connections may be open that have not sent a whole
// request yet.
const maxSilent = 64

// crowd keeps the number of silent connections small: when there are too many
// the oldest goes. A phone sends its request at once, so it gets through however
// many others only hold on. It is safe for concurrent use.
type crowd struct {
	mu     sync.Mutex // protects the rest
	silent list.List  // of net.Conn, oldest first
	where  map[net.Conn]*list.Element
}

// watch is an http.Server's ConnState.
func (c *crowd) watch(conn net.Conn, s http.ConnState) {
	if oldest := c.note(conn, s); oldest != nil {
		oldest.Close()
	}
}

func (c *crowd) note(conn net.Conn, s http.ConnState) net.Conn {
	c.mu.Lock()
	defer c.mu.Unlock()
	if c.where == nil {
		c.where = map[net.Conn]*list.Element{}
	}
	if s != http.StateNew {
		if e := c.where[conn]; e != nil {
			c.silent.Remove(e)
			delete(c.where, conn)
		}
		return nil
	}
	c.where[conn] = c.silent.PushBack(conn)
	if c.silent.Len() <= maxSilent {
		return nil
	}
	oldest := c.silent.Remove(c.silent.Front()).(net.Conn)
	delete(c.where, oldest)
	return oldest
}
