// Package nettest provides tests with servers of raw bytes, and proxies to them.
package nettest

import (
	"bufio"
	"encoding/binary"
	"fmt"
	"io"
	"maps"
	"math/rand/v2"
	"net"
	"net/http"
	"slices"
	"strconv"
	"strings"
	"sync"
	"sync/atomic"
	"testing"

	"wiebelt/internal/testutil/must"
)

// Listen returns a listener on loopback.
func Listen(t testing.TB) net.Listener {
	t.Helper()
	return must.Get(net.Listen("tcp4", "127.0.0.1:0"))(t)
}

// Nobody returns an address on which nothing listens.
func Nobody(t testing.TB) string {
	t.Helper()
	return net.JoinHostPort("127.0.0.1", strconv.Itoa(Port(t)))
}

// ports counts those that Port has returned, and firstPort is where they begin: other test
// programs run at the same time.
var (
	ports     atomic.Int32
	firstPort = rand.IntN(portRange)
)

const portRange = 7000 // from 20000: Wiebelt's own ports come after that

// Port returns a free port, for a program that must know it before it listens. It is below
// the range from which the system takes ports for everybody else.
func Port(t testing.TB) int {
	t.Helper()
	for range 100 {
		port := 20000 + (firstPort+int(ports.Add(1)))%portRange
		l, err := net.Listen("tcp", net.JoinHostPort("127.0.0.1", strconv.Itoa(port)))
		if err != nil {
			continue // used by another program
		}
		_ = l.Close()
		return port
	}
	t.Fatal("no port is free")
	return 0
}

// Accept serves each connection of a listener with serve, until the test ends. Connections
// passed to keep are closed then too.
func Accept(t testing.TB, l net.Listener, serve func(c net.Conn, keep func(net.Conn))) {
	t.Helper()
	var (
		all  sync.WaitGroup
		mu   sync.Mutex // protects the rest
		over bool
		open []net.Conn
	)
	keep := func(c net.Conn) {
		mu.Lock()
		defer mu.Unlock()
		if over {
			_ = c.Close()
		}
		open = append(open, c)
	}
	all.Go(func() {
		for {
			c, err := l.Accept()
			if err != nil {
				return
			}
			keep(c)
			all.Go(func() {
				defer c.Close()
				serve(c, keep)
			})
		}
	})
	t.Cleanup(func() {
		_ = l.Close()
		mu.Lock()
		over = true
		for _, c := range open {
			_ = c.Close()
		}
		mu.Unlock()
		all.Wait()
	})
}

// Proxy connects every requested name to one server.
type Proxy struct {
	Address string

	mu    sync.Mutex // protects asked
	asked []string
}

// Asked returns the addresses requested so far, such as "hub.example:443", each
// followed by the names of its headers, if any.
func (p *Proxy) Asked() []string {
	p.mu.Lock()
	defer p.mu.Unlock()
	return slices.Clone(p.asked)
}

func (p *Proxy) note(to string, headers ...string) {
	p.mu.Lock()
	defer p.mu.Unlock()
	p.asked = append(p.asked, strings.Join(append([]string{to}, headers...), " "))
}

// A Hello is how a proxy handles the start of a connection; it reports whether to
// connect it with the server.
type Hello func(p *Proxy, c net.Conn) bool

// StartProxy serves each connection with hello; server is host:port of its target.
func StartProxy(t testing.TB, l net.Listener, server string, hello Hello) *Proxy {
	t.Helper()
	p := &Proxy{Address: l.Addr().String()}
	Accept(t, l, func(c net.Conn, keep func(net.Conn)) {
		if !hello(p, c) {
			return
		}
		to, err := net.Dial("tcp", server)
		if err != nil {
			return
		}
		keep(to)
		var back sync.WaitGroup
		back.Go(func() { _, _ = io.Copy(to, c); _ = to.Close() })
		_, _ = io.Copy(c, to)
		_ = c.Close()
		back.Wait()
	})
	return p
}

// Joined is the response of a proxy that connects.
const Joined = "HTTP/1.1 200 Connection established\r\nVia: 1.1 x\r\n\r\n"

// Connect responds to CONNECT with answer, and connects if it begins like Joined.
func Connect(answer string) Hello {
	return func(p *Proxy, c net.Conn) bool {
		r, err := http.ReadRequest(bufio.NewReader(c))
		if err != nil || r.Method != http.MethodConnect {
			return false
		}
		p.note(r.Host, slices.Sorted(maps.Keys(r.Header))...)
		_, err = io.WriteString(c, answer)
		return err == nil && strings.HasPrefix(answer, "HTTP/1.1 200 ")
	}
}

// Socks speaks SOCKS5 (RFC 1928) without a password; reply 0 connects.
func Socks(method, reply byte) Hello {
	return func(p *Proxy, c net.Conn) bool {
		b := make([]byte, 300)
		if _, err := io.ReadFull(c, b[:2]); err != nil || b[0] != 5 {
			return false
		}
		_, _ = io.ReadFull(c, b[:b[1]])
		_, _ = c.Write([]byte{5, method})
		if method != 0 {
			return false
		}
		if _, err := io.ReadFull(c, b[:5]); err != nil || b[3] != 3 { // by name
			return false
		}
		n := int(b[4])
		_, _ = io.ReadFull(c, b[:n+2])
		p.note(fmt.Sprintf("%s:%d", b[:n], binary.BigEndian.Uint16(b[n:])))
		_, _ = c.Write([]byte{5, reply, 0, 1, 0, 0, 0, 0, 0, 0})
		return reply == 0
	}
}
