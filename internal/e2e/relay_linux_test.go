package e2e

import (
	"net"
	"sync"
	"testing"

	"wiebelt/internal/testutil/nettest"
)

// relay forwards traffic between two programs of a test. For each connection it requests
// two listeners: one receives what is sent to the server and the other what comes back,
// each chunk before it is forwarded; nil at the end.
type relay struct {
	net.Listener
	to        string
	listeners func() (sent, got func([]byte))
}

func newRelay(t testing.TB, to string, listeners func() (sent, got func([]byte))) *relay {
	t.Helper()
	r := &relay{Listener: nettest.Listen(t), to: to, listeners: listeners}
	nettest.Accept(t, r, r.pass)
	return r
}

func (r *relay) port() int { return r.Addr().(*net.TCPAddr).Port }

func (r *relay) pass(c net.Conn, keep func(net.Conn)) {
	d, err := net.Dial("tcp4", r.to)
	if err != nil {
		return
	}
	keep(d)
	sent, got := r.listeners()
	var both sync.WaitGroup
	both.Go(func() { forward(d, c, sent) })
	both.Go(func() { forward(c, d, got) })
	both.Wait()
}

// forward copies from one side until either ends.
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
