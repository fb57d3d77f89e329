package simulate

import (
	"context"
	"crypto/tls"
	"fmt"
	"io"
	"log"
	"net"
	"net/http"
	"net/netip"
	"sync"
	"sync/atomic"
	"time"

	"github.com/gorilla/websocket"

	"wiebelt/internal/text"
)

const (
	updateTimeout = 2 * time.Second // for the other side to process an update
	writeTime     = 2 * time.Second
	hangUpTimeout = 2 * time.Second // for the other side to hang up
	maxMessage    = 16 << 10        // bytes of a message from a client
	maxConns      = 32
)

// server is the common part of the stand-ins to which our link connects:
// state under a lock, a way to wait for its changes, and the connections.
type server struct {
	address       Address
	account       Account         // of an exchange
	ready         func() bool     // somebody is connected to receive updates; called under the lock
	closeListener func() error    // closes the listener
	notifyEnd     func(io.Closer) // notifies a connection, if the protocol can, that the server ends
	stop          func() bool     // cancels the hook on the context's end
	once          sync.Once

	mu          sync.Mutex // protects the state
	ended       bool
	ignorePings bool
	intercept   func(http.ResponseWriter, *http.Request) bool
	conns       map[io.Closer]bool
	tasks       sync.WaitGroup
	plainConns  atomic.Int32 // HTTP connections: their clients may still ask about events they got

	wokenMu sync.Mutex // protects changed; nothing is locked while it is held
	changed chan struct{}
}

func newServer(ready func() bool) *server {
	return &server{ready: ready, changed: make(chan struct{}), conns: map[io.Closer]bool{}}
}

// Ready waits until somebody is connected to receive updates.
func (s *server) Ready(ctx context.Context) error { return s.Until(ctx, s.ready) }

// Address returns where it listens.
func (s *server) Address() Address { return s.address }

// With runs f under the lock and wakes all waiters. Tests access a fake's fields in it.
func (s *server) With(f func()) {
	defer s.wake()
	s.mu.Lock()
	defer s.mu.Unlock()
	f()
}

func (s *server) wake() {
	s.wokenMu.Lock()
	defer s.wokenMu.Unlock()
	close(s.changed)
	s.changed = make(chan struct{})
}

// Intercept calls f for each request first; if it returns true, it has
// answered the request.
func (s *server) Intercept(f func(http.ResponseWriter, *http.Request) bool) {
	s.With(func() { s.intercept = f })
}

// IgnorePings sets whether new WebSockets ignore pings.
func (s *server) IgnorePings(is bool) { s.With(func() { s.ignorePings = is }) }

// EachSocket calls f for every open WebSocket, while nobody else writes to it.
func (s *server) EachSocket(f func(*websocket.Conn)) {
	var all []*wsConn
	s.With(func() {
		for c := range s.conns {
			if ws, ok := c.(*wsConn); ok {
				all = append(all, ws)
			}
		}
	})
	for _, c := range all {
		c.mu.Lock()
		f(c.conn)
		c.mu.Unlock()
	}
}

// Until waits until ok returns true; it is called under the lock.
func (s *server) Until(ctx context.Context, ok func() bool) error {
	for {
		s.wokenMu.Lock()
		woken := s.changed
		s.wokenMu.Unlock()
		s.mu.Lock()
		done := ok()
		s.mu.Unlock()
		if done {
			return nil
		}
		select {
		case <-woken:
		case <-ctx.Done():
			return ctx.Err()
		}
	}
}

// awaitProcessed is like Until, for an update; it is not an error if nobody processes it in time.
func (s *server) awaitProcessed(ctx context.Context, ok func() bool) error {
	short, cancel := context.WithTimeout(ctx, updateTimeout)
	defer cancel()
	if err := s.Until(short, ok); err != nil && ctx.Err() != nil {
		return ctx.Err()
	}
	return nil
}

// admit registers a connection, unless the server has ended or has too many.
// Call it under the lock.
func (s *server) admit(c io.Closer) bool {
	if s.ended || len(s.conns) >= maxConns {
		return false
	}
	s.conns[c] = true
	s.tasks.Add(1)
	return true
}

// release closes and unregisters a connection that was admitted.
func (s *server) release(c io.Closer) {
	_ = c.Close()
	s.With(func() { delete(s.conns, c) })
	s.tasks.Done()
}

// Close lets clients read to the end, and waits.
func (s *server) Close() error {
	s.stop()
	s.shut(s.notifyEnd)
	return nil
}

// shut admits no more connections, closes the listener and every connection, and waits.
// If part is set, it is called first for each connection, and the clients have a moment to
// read, and ask about, what was sent.
func (s *server) shut(part func(io.Closer)) {
	s.once.Do(func() {
		var all []io.Closer
		s.With(func() {
			s.ended = true
			for c := range s.conns {
				all = append(all, c)
			}
		})
		if part != nil && len(all) > 0 {
			for _, c := range all {
				part(c)
			}
			ctx, cancel := context.WithTimeout(context.Background(), hangUpTimeout)
			_ = s.Until(ctx, func() bool { return len(s.conns) == 0 && s.plainConns.Load() == 0 })
			cancel()
		}
		_ = s.closeListener()
		for _, c := range all {
			_ = c.Close()
		}
		s.tasks.Wait()
	})
}

// startStream serves plain connections until ctx ends or Close. began is called for one
// connection after another, in the order in which they arrive, and returns what runs
// concurrently for the connection; end closes the listener.
func (s *server) startStream(ctx context.Context, l net.Listener, began func(net.Conn) func(), end func() error) {
	s.closeListener = end
	s.tasks.Go(func() {
		for {
			conn, err := l.Accept()
			if err != nil {
				return // it was closed
			}
			ok := false
			if s.With(func() { ok = s.admit(conn) }); !ok {
				_ = conn.Close()
				continue
			}
			serve := began(conn)
			go func() {
				defer s.release(conn)
				serve()
			}()
		}
	})
	s.stop = context.AfterFunc(ctx, func() { s.shut(nil) })
}

// listen listens on this computer only.
func listen(ctx context.Context, address string) (net.Listener, error) {
	if address == "" {
		address = "127.0.0.1:0"
	}
	at, err := netip.ParseAddrPort(address)
	if err != nil || !at.Addr().IsLoopback() {
		return nil, text.Errorf(text.SimulateBadAddress)
	}
	l, err := new(net.ListenConfig).Listen(ctx, "tcp", address)
	if err != nil {
		return nil, fmt.Errorf("listen: %w", err)
	}
	return l, nil
}

// startWeb serves HTTP and WebSockets until ctx ends or Close; with a
// certificate, over TLS.
func (s *server) startWeb(ctx context.Context, address string, secure *tls.Config, handler http.HandlerFunc) error {
	l, err := listen(ctx, address)
	if err != nil {
		return err
	}
	s.address = Address{Ready: true, Address: l.Addr().String()}
	web := &http.Server{Handler: s.withIntercept(handler), ReadHeaderTimeout: 10 * time.Second, IdleTimeout: time.Minute,
		MaxHeaderBytes: 64 << 10, ErrorLog: log.New(io.Discard, "", 0)}
	web.ConnState = func(_ net.Conn, to http.ConnState) {
		switch to {
		case http.StateNew:
			s.plainConns.Add(1)
		case http.StateHijacked, http.StateClosed: // also under our lock, through upgrade
			s.plainConns.Add(-1)
		}
		s.wake()
	}
	if secure != nil {
		l = tls.NewListener(l, secure)
	}
	s.closeListener, s.notifyEnd = web.Close, goAway // hijacked connections are ours to close
	s.tasks.Go(func() { _ = web.Serve(l) })
	s.stop = context.AfterFunc(ctx, func() { s.shut(nil) })
	return nil
}

func (s *server) withIntercept(handler http.HandlerFunc) http.HandlerFunc {
	return func(w http.ResponseWriter, r *http.Request) {
		s.mu.Lock()
		intercept := s.intercept
		s.mu.Unlock()
		if intercept == nil || !intercept(w, r) {
			handler(w, r)
		}
	}
}

// startExchange is like startWeb, for an exchange with its user and extension.
func (s *server) startExchange(ctx context.Context, kind, address string, a Account, handler http.HandlerFunc) error {
	s.account = a
	if err := s.startWeb(ctx, address, nil, handler); err != nil {
		return err
	}
	s.address = Address{Ready: true, Protocol: kind, Address: "http://" + s.address.Address, Extension: a.Extension, User: a.User, Secret: a.Secret}
	return nil
}

// wsConn is a WebSocket that several goroutines may write to.
type wsConn struct {
	conn *websocket.Conn
	mu   sync.Mutex // one writer at a time
}

func (c *wsConn) Close() error { return c.conn.Close() }

// send writes texts without others in between.
func (c *wsConn) send(texts ...[]byte) error {
	c.mu.Lock()
	defer c.mu.Unlock()
	return c.write(texts...)
}

// write is like send, for a caller that holds the connection's lock.
func (c *wsConn) write(texts ...[]byte) error {
	for _, t := range texts {
		_ = c.conn.SetWriteDeadline(time.Now().Add(writeTime))
		if err := c.conn.WriteMessage(websocket.TextMessage, t); err != nil {
			return err
		}
	}
	return nil
}

// halfClose closes the writing side, so that the other side can read to the end.
func halfClose(c io.Closer) {
	if t, ok := c.(*net.TCPConn); ok {
		_ = t.CloseWrite()
	}
}

// goAway tells a WebSocket that the server ends, after pending writes.
func goAway(c io.Closer) {
	if ws, ok := c.(*wsConn); ok {
		ws.mu.Lock()
		defer ws.mu.Unlock()
		ws.closeWith(websocket.CloseGoingAway)
	}
}

func (c *wsConn) closeWith(code int) {
	_ = c.conn.WriteControl(websocket.CloseMessage, websocket.FormatCloseMessage(code, ""), time.Now().Add(writeTime))
}

// socketHandler is how a server handles a WebSocket. Every field may be nil.
type socketHandler struct {
	protocols []string
	// onOpen is called under the lock, before the client can know that it is connected; the
	// function it returns runs afterwards.
	onOpen func(*wsConn) func()
	// onMessage handles each message; false ends the connection.
	onMessage func(*wsConn, []byte) bool
	// onClose is called under the lock.
	onClose func(*wsConn)
}

// upgrade turns a request into a WebSocket and serves it until it ends.
func (s *server) upgrade(w http.ResponseWriter, r *http.Request, k socketHandler) {
	up := websocket.Upgrader{Subprotocols: k.protocols, HandshakeTimeout: writeTime}
	s.serveSocket(k, func() (*websocket.Conn, error) {
		return up.Upgrade(w, r, nil) // rejects a web page's Origin
	})
}

// serveSocket serves a WebSocket until it ends. open makes it, and is
// called under the lock.
func (s *server) serveSocket(k socketHandler, open func() (*websocket.Conn, error)) {
	c, admitted := &wsConn{}, false
	var then func()
	s.With(func() {
		var err error
		if c.conn, err = open(); err != nil {
			return
		}
		if admitted = s.admit(c); !admitted {
			_ = c.Close()
			return
		}
		if s.ignorePings {
			c.conn.SetPingHandler(func(string) error { return nil })
		}
		if k.onOpen != nil {
			then = k.onOpen(c)
		}
	})
	if !admitted {
		return
	}
	defer s.release(c)
	if k.onClose != nil {
		defer s.With(func() { k.onClose(c) })
	}
	if then != nil {
		then()
	}
	c.conn.SetReadLimit(maxMessage)
	for {
		_, b, err := c.conn.ReadMessage()
		if err != nil || k.onMessage != nil && !k.onMessage(c, b) {
			return
		}
	}
}

// SendAll writes to every WebSocket.
func (s *server) SendAll(texts ...string) {
	s.sendEach(func(*wsConn) []string { return texts })
}

// sendEach writes to each WebSocket what texts, called under the lock, returns for it. It
// closes those that cannot be written to.
func (s *server) sendEach(texts func(*wsConn) []string) {
	to := map[*wsConn][][]byte{}
	s.With(func() {
		for c := range s.conns {
			if ws, ok := c.(*wsConn); ok {
				for _, t := range texts(ws) {
					to[ws] = append(to[ws], []byte(t))
				}
			}
		}
	})
	for c, texts := range to {
		if c.send(texts...) != nil {
			_ = c.Close()
		}
	}
}
