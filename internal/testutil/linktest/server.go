package linktest

import (
	"crypto/x509"
	"log/slog"
	"net"
	"net/http"
	"net/http/httptest"
	"sync"
	"testing"

	"github.com/gorilla/websocket"
)

// Server is an exchange's web server: TLS, on loopback, until the test ends. It
// keeps its address when it is restarted.
type Server struct {
	*httptest.Server
	// Stopped is closed when the server stops; what waits on purpose waits for it.
	Stopped chan struct{}

	t       testing.TB
	handler http.HandlerFunc
	serving sync.WaitGroup
	mu      sync.Mutex
	sockets map[*websocket.Conn]bool
}

// Serve starts a server.
func Serve(t testing.TB, handler http.HandlerFunc) *Server {
	s := &Server{t: t, handler: handler, sockets: map[*websocket.Conn]bool{}}
	s.start(nil)
	t.Cleanup(s.stop)
	return s
}

func (s *Server) start(l net.Listener) {
	s.Server = httptest.NewUnstartedServer(http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		s.serving.Add(1)
		defer s.serving.Done()
		s.handler(w, r)
	}))
	s.Stopped = make(chan struct{})
	s.Config.ErrorLog = slog.NewLogLogger(slog.DiscardHandler, 0)
	if l != nil {
		s.Listener.Close()
		s.Listener = l
	}
	s.StartTLS()
}

func (s *Server) stop() {
	close(s.Stopped)
	s.mu.Lock()
	for c := range s.sockets {
		c.Close()
	}
	s.mu.Unlock()
	s.CloseClientConnections()
	s.Close()
	s.serving.Wait()
}

// Restart stops the server and its sockets and starts it again. In between forget
// is called: what an exchange does not know any more.
func (s *Server) Restart(forget func()) {
	s.t.Helper()
	address := s.Host()
	s.stop()
	l, err := net.Listen("tcp", address)
	if err != nil {
		s.t.Fatal(err)
	}
	forget()
	s.start(l)
}

// Host is the address, host and port.
func (s *Server) Host() string { return s.Listener.Addr().String() }

// Roots hold the server's certificate.
func (s *Server) Roots() *x509.CertPool {
	roots := x509.NewCertPool()
	roots.AddCert(s.Certificate())
	return roots
}

// Upgrade makes a request a WebSocket that ends with the server at the latest. It
// is nil if that failed; the handler closes it.
func (s *Server) Upgrade(w http.ResponseWriter, r *http.Request, up *websocket.Upgrader) *Socket {
	c, err := up.Upgrade(w, r, nil)
	if err != nil {
		return nil
	}
	s.mu.Lock()
	defer s.mu.Unlock()
	s.sockets[c] = true
	return &Socket{Conn: c, server: s}
}

// Socket is a WebSocket of a Server.
type Socket struct {
	*websocket.Conn
	server *Server
}

// Close ends the socket.
func (c *Socket) Close() error {
	c.server.mu.Lock()
	delete(c.server.sockets, c.Conn)
	c.server.mu.Unlock()
	return c.Conn.Close()
}

// Drain reads until the other side hangs up.
func (c *Socket) Drain() {
	for {
		if _, _, err := c.ReadMessage(); err != nil {
			return
		}
	}
}
