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
	takeTime  = 2 * time.Second // how long news may take to be taken
	writeTime = 2 * time.Second
	partTime  = 2 * time.Second // for the other side to hang up
	maxAsked  = 16 << 10        // bytes of a message to us
	maxConns  = 32
)

// shared is what a server's goroutines share: a state under a lock, and a way to
// wait for what becomes of it.
type shared struct {
	mu    sync.Mutex // protects the state
	ended bool
	conns map[io.Closer]bool
	tasks sync.WaitGroup
	plain atomic.Int32 // connections of HTTP: who has one may still ask about what it has heard

	newsMu sync.Mutex // protects news; nothing is locked while it is held
	news   chan struct{}
}

func newShared() *shared {
	return &shared{news: make(chan struct{}), conns: map[io.Closer]bool{}}
}

// with runs f under the lock and wakes who waits.
func (s *shared) with(f func()) {
	defer s.wake()
	s.mu.Lock()
	defer s.mu.Unlock()
	f()
}

func (s *shared) wake() {
	s.newsMu.Lock()
	defer s.newsMu.Unlock()
	close(s.news)
	s.news = make(chan struct{})
}

// until waits until ok, which is asked under the lock.
func (s *shared) until(ctx context.Context, ok func() bool) error {
	for {
		s.newsMu.Lock()
		news := s.news
		s.newsMu.Unlock()
		s.mu.Lock()
		done := ok()
		s.mu.Unlock()
		if done {
			return nil
		}
		select {
		case <-news:
		case <-ctx.Done():
			return ctx.Err()
		}
	}
}

// taken is until for news, which are no failure if nobody takes them.
func (s *shared) taken(ctx context.Context, ok func() bool) error {
	short, cancel := context.WithTimeout(ctx, takeTime)
	defer cancel()
	if err := s.until(short, ok); err != nil && ctx.Err() != nil {
		return ctx.Err()
	}
	return nil
}

// enter begins to serve a connection, unless the server has ended or serves
// enough of them.
func (s *shared) enter(c io.Closer) (ok bool) {
	s.with(func() { ok = s.admit(c) })
	return ok
}

// admit is enter under the lock.
func (s *shared) admit(c io.Closer) bool {
	if s.ended || len(s.conns) >= maxConns {
		return false
	}
	s.conns[c] = true
	s.tasks.Add(1)
	return true
}

// leave is for the goroutine that has entered.
func (s *shared) leave(c io.Closer) {
	_ = c.Close()
	s.with(func() { delete(s.conns, c) })
	s.tasks.Done()
}

// end lets nobody in any more, closes what listens and every connection, and
// waits. With part, the others are told before that and have a moment to read,
// and ask about, what was sent.
func (s *shared) end(part func(io.Closer), listens func() error) {
	var all []io.Closer
	s.with(func() {
		s.ended = true
		for c := range s.conns {
			all = append(all, c)
		}
	})
	if part != nil && len(all) > 0 {
		for _, c := range all {
			part(c)
		}
		ctx, cancel := context.WithTimeout(context.Background(), partTime)
		_ = s.until(ctx, func() bool { return len(s.conns) == 0 && s.plain.Load() == 0 })
		cancel()
	}
	_ = listens()
	for _, c := range all {
		_ = c.Close()
	}
	s.tasks.Wait()
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

// web is a server of HTTP and WebSockets.
type web struct {
	*shared
	at     string // host:port
	server *http.Server
	stop   func() bool
	once   sync.Once
}

// startWeb serves until ctx ends or Close. With a certificate it speaks TLS. The
// handler is asked for before anybody can come.
func startWeb(ctx context.Context, address string, secure *tls.Config, handler func(*web) http.HandlerFunc) (*web, error) {
	l, err := listen(ctx, address)
	if err != nil {
		return nil, err
	}
	w := &web{shared: newShared(), at: l.Addr().String()}
	w.server = &http.Server{Handler: handler(w), ReadHeaderTimeout: 10 * time.Second, IdleTimeout: time.Minute,
		MaxHeaderBytes: 64 << 10, ErrorLog: log.New(io.Discard, "", 0)}
	w.server.ConnState = func(_ net.Conn, to http.ConnState) {
		switch to {
		case http.StateNew:
			w.plain.Add(1)
		case http.StateHijacked, http.StateClosed: // also under our lock, by upgrade
			w.plain.Add(-1)
		}
		w.wake()
	}
	if secure != nil {
		l = tls.NewListener(l, secure)
	}
	w.tasks.Go(func() { _ = w.server.Serve(l) }) // ends when the server is closed
	w.stop = context.AfterFunc(ctx, func() { w.shut(nil) })
	return w, nil
}

func (w *web) shut(part func(io.Closer)) {
	w.once.Do(func() { w.end(part, w.server.Close) }) // what was hijacked is ours to close
}

// Close lets the others read to the end, and waits.
func (w *web) Close() error {
	w.stop()
	w.shut(func(c io.Closer) {
		if ws, ok := c.(*wsConn); ok {
			_ = ws.conn.WriteControl(websocket.CloseMessage, websocket.FormatCloseMessage(websocket.CloseGoingAway, ""), time.Now().Add(writeTime))
		}
	})
	return nil
}

// wsConn is a WebSocket to which several goroutines may write.
type wsConn struct {
	conn *websocket.Conn
	mu   sync.Mutex // one writer at a time
}

func (c *wsConn) Close() error { return c.conn.Close() }

func (c *wsConn) send(text []byte) error {
	c.mu.Lock()
	defer c.mu.Unlock()
	_ = c.conn.SetWriteDeadline(time.Now().Add(writeTime))
	return c.conn.WriteMessage(websocket.TextMessage, text)
}

// shutWith closes with a code of the protocol.
func (c *wsConn) shutWith(code int) {
	_ = c.conn.WriteControl(websocket.CloseMessage, websocket.FormatCloseMessage(code, ""), time.Now().Add(writeTime))
}

// socket is what a server does with a WebSocket.
type socket struct {
	protocols []string
	// began is called under the lock, before the other side can know that it is
	// connected, and what it gives is done after that.
	began func(*wsConn) func()
	// took gets each message; false ends the connection.
	took func(*wsConn, []byte) bool
	// over is called under the lock.
	over func(*wsConn)
}

// upgrade makes a WebSocket of a request and serves it until it ends.
func (w *web) upgrade(rw http.ResponseWriter, r *http.Request, k socket) {
	up := websocket.Upgrader{Subprotocols: k.protocols, HandshakeTimeout: writeTime}
	var c *wsConn
	var then func()
	w.with(func() {
		conn, err := up.Upgrade(rw, r, nil) // a web page's Origin is refused
		if err != nil {
			return
		}
		c = &wsConn{conn: conn}
		if !w.admit(c) {
			_ = conn.Close()
			c = nil
			return
		}
		then = k.began(c)
	})
	if c == nil {
		return
	}
	defer w.leave(c)
	defer w.with(func() { k.over(c) })
	if then != nil {
		then()
	}
	c.conn.SetReadLimit(maxAsked)
	for {
		_, b, err := c.conn.ReadMessage()
		if err != nil || k.took != nil && !k.took(c, b) {
			return
		}
	}
}

// broadcast sends to all of some connections; one that does not take it is
// closed.
func broadcast(to []*wsConn, text []byte) {
	for _, c := range to {
		if c.send(text) != nil {
			_ = c.conn.Close()
		}
	}
}
