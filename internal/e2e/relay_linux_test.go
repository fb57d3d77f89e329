package e2e

import (
	"net"
	"sync"
	"testing"

	"wiebelt/internal/testutil/must"
)

// relay stands between two programs of a test and passes on what they say. For
// each connection it asks for two listeners, of which one hears what is sent to the
// server and the other what comes back, each piece before it is passed on; nil at the end.
type relay struct {
	net.Listener
	to        string
	listeners func() (sent, got func([]byte))
	work      sync.WaitGroup

	mu    sync.Mutex // protects the rest
	over  bool
	conns []net.Conn
}

func newRelay(t testing.TB, to string, listeners func() (sent, got func([]byte))) *relay {
	t.Helper()
	l := must.Get(net.Listen("tcp4", "127.0.0.1:0"))(t)
	r := &relay{Listener: l, to: to, listeners: listeners}
	r.work.Go(func() {
		for {
			c, err := l.Accept()
			if err != nil {
				return
			}
			r.work.Go(func() { r.pass(c) })
		}
	})
	t.Cleanup(func() {
		_ = l.Close()
		r.mu.Lock()
		r.over = true
		for _, c := range r.conns {
			_ = c.Close()
		}
		r.mu.Unlock()
		r.work.Wait()
	})
	return r
}

func (r *relay) port() int { return r.Addr().(*net.TCPAddr).Port }

func (r *relay) pass(c net.Conn) {
	defer c.Close()
	d, err := net.Dial("tcp4", r.to)
	if err != nil {
		return
	}
	defer d.Close()
	r.mu.Lock()
	over := r.over
	r.conns = append(r.conns, c, d)
	r.mu.Unlock()
	if over {
		return
	}
	sent, got := r.listeners()
	var both sync.WaitGroup
	both.Go(func() { forward(d, c, sent) })
	both.Go(func() { forward(c, d, got) })
	both.Wait()
}

// forward passes on what comes from one side until either has had enough.
func forward(to, from net.Conn, note func([]byte)) {
	defer to.Close()
	defer from.Close()
	defer note(nil)
	b := make([]byte, 32<<10)
	for {
		n, err := from.Read(b)
		if n > 0 {
			note(b[:n])
			if _, e := to.Write(b[:n]); e != nil {
				return
			}
		}
		if err != nil {
			return
		}
	}
}
