package localhub

import (
	"context"
	"crypto/tls"
	"errors"
	"fmt"
	"log/slog"
	"net"
	"net/http"
	"sync"
	"time"
)

// Default time limits of a request; faults and deliveries change them.
var (
	readTime  = 15 * time.Second
	writeTime = 60 * time.Second
)

// server is what runs along with the hub: its port, which may
// be closed and reopened, and the port of the admin interface.
type server struct {
	origin       origin // where it listens, and under which names
	addr         string // its host:port, constant for the life of the hub
	handler      http.Handler
	log          *slog.Logger
	grace        time.Duration // for requests in progress when the hub ends
	drainTimeout time.Duration // for sending the last answers

	lifeCtx        context.Context // ends when Close begins: deliberate waits end at once
	endLife        context.CancelFunc
	requestCtx     context.Context // the requests' context; ends when those in progress have had their time
	cancelRequests context.CancelFunc

	mu      sync.Mutex // guards the following fields
	main    *port      // nil while the hub is gone
	others  []*port
	running sync.WaitGroup // requests being answered
	stopped bool           // no more requests are answered, and nothing listens again
}

// prepareServer prepares the server for listening; it ends with ctx.
func (s *server) prepareServer(ctx context.Context, where origin, log *slog.Logger) {
	s.origin, s.log, s.grace, s.drainTimeout = where, log, 10*time.Second, time.Second
	s.lifeCtx, s.endLife = context.WithCancel(ctx)
	s.requestCtx, s.cancelRequests = context.WithCancel(context.WithoutCancel(ctx))
}

// secure reports whether the hub uses https; its cookies are then restricted to https.
func (s *server) secure() bool { return s.origin.tls != nil }

// port is an HTTP server on an open port.
type port struct {
	http.Server
	listener net.Listener
	served   chan struct{} // closed when nothing is accepted any more
}

// serve answers requests on l until the port is closed.
func (s *server) serve(l net.Listener, handler http.Handler) *port {
	p := &port{listener: l, served: make(chan struct{}), Server: http.Server{
		Handler:           handler,
		ReadHeaderTimeout: min(readTime, 5*time.Second),
		ReadTimeout:       readTime,
		WriteTimeout:      writeTime,
		IdleTimeout:       2 * time.Minute,
		MaxHeaderBytes:    16 << 10,
		BaseContext:       func(net.Listener) context.Context { return s.requestCtx },
		TLSNextProto:      map[string]func(*http.Server, *tls.Conn, http.Handler){},
		ErrorLog:          slog.NewLogLogger(slog.DiscardHandler, slog.LevelError), // may quote client input
	}}
	go func() {
		defer close(p.served)
		if err := p.Serve(l); !errors.Is(err, http.ErrServerClosed) && !errors.Is(err, net.ErrClosed) {
			s.log.Error("local hub stopped listening", "error", err)
		}
	}()
	return p
}

func (p *port) closeAll() error {
	err := p.Close()
	<-p.served
	return err
}

func (s *server) listen(addr string) error {
	l, err := listen(addr)
	if err != nil {
		return err
	}
	if s.addr == "" {
		s.addr = l.Addr().String()
		s.origin.setPort(l.Addr())
	}
	if s.origin.tls != nil {
		l = tls.NewListener(l, s.origin.tls)
	}
	s.main = s.serve(l, s.handler)
	return nil
}

// setGone closes the port and every connection, or listens on the same port again.
func (s *server) setGone(gone bool) (err error) {
	s.mu.Lock()
	defer s.mu.Unlock()
	switch {
	case s.stopped || gone == (s.main == nil):
	case gone:
		err = s.main.closeAll()
		s.main = nil
	default:
		if err = s.listen(s.addr); err != nil {
			err = fmt.Errorf("come back: %w", err)
		}
	}
	return err
}

// trackRequests makes stop wait for requests.
func (s *server) trackRequests(next http.Handler) http.Handler {
	return http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		s.mu.Lock()
		if s.stopped {
			s.mu.Unlock()
			panic(http.ErrAbortHandler)
		}
		s.running.Add(1)
		s.mu.Unlock()
		defer s.running.Done()
		next.ServeHTTP(w, r)
	})
}

// stop closes the ports, gives requests in progress their time and closes every connection.
func (s *server) stop() {
	s.endLife()
	s.mu.Lock()
	s.stopped = true
	ports := s.others
	if s.main != nil {
		ports = append(ports, s.main)
	}
	s.mu.Unlock()
	for _, p := range ports {
		_ = p.listener.Close()
	}
	answered := make(chan struct{})
	go func() {
		defer close(answered)
		s.running.Wait()
	}()
	select {
	case <-answered:
	case <-time.After(s.grace):
	}
	ctx, cancel := context.WithTimeout(context.Background(), s.drainTimeout)
	defer cancel()
	for _, p := range ports {
		_ = p.Shutdown(ctx) // the rest is closed here
		_ = p.closeAll()
	}
	s.cancelRequests()
	<-answered
}
