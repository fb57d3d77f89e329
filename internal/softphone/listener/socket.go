package listener

import (
	"bytes"
	"errors"
	"net/http"
	"slices"
	"strconv"
	"strings"
	"sync"
	"time"
	"unicode/utf8"

	"github.com/gorilla/websocket"
	"golang.org/x/time/rate"

	"wiebelt/internal/core/call"
	"wiebelt/internal/softphone/registry"
)

// Subprotocol is the WebSocket subprotocol that a phone must request.
const Subprotocol = "wiebelt.v1"

// tokenProtocol prefixes a token sent as a subprotocol, the only place where
// a web page can put it.
const tokenProtocol = "token."

// socket is one WebSocket. Its reader, net/http's goroutine, also writes the answers, so a
// peer that does not read them is not read either.
type socket struct {
	l      *Listener
	conn   *websocket.Conn // nil in the handshake; set under the listener's lock
	source call.Source
	rate   *rate.Limiter // events
	ctl    *rate.Limiter // pings and pongs of the peer
	busy   bool          // in the middle of a message; reader only
}

func (l *Listener) events(w http.ResponseWriter, r *http.Request) {
	if r.Method != http.MethodGet {
		w.Header().Set("Allow", http.MethodGet)
		l.refuse(w, r, badMethod)
		return
	}
	const header = "Sec-Websocket-Protocol" // the library reads only its first line
	r.Header[header] = []string{strings.Join(r.Header[header], ",")}
	protocols := websocket.Subprotocols(r)
	if !l.socketTokenOK(r, protocols) {
		l.refuse(w, r, badToken)
		return
	}
	if !slices.Contains(protocols, Subprotocol) {
		l.refuse(w, r, badRequest)
		return
	}
	s := &socket{l: l, rate: newRate(), ctl: newRate()}
	if c := l.admit(s); c != none {
		l.refuse(w, r, c)
		return
	}
	defer l.leave(s)
	conn, err := l.upgrader.Upgrade(w, r, nil)
	if err != nil {
		return // refused by the upgrader's Error, or the peer is gone
	}
	s.source = registry.Of(call.KindWebSocket).CallSource(strconv.FormatUint(l.lastConn.Add(1), 10))
	s.serve(conn)
}

// admit registers a socket before the upgrade.
func (l *Listener) admit(s *socket) code {
	l.mu.Lock()
	defer l.mu.Unlock()
	switch {
	case l.stopping:
		return stopping
	case len(l.sockets) >= MaxConnections:
		return slowDown
	}
	l.sockets[s] = true
	l.serving.Add(1)
	return none
}

func (l *Listener) leave(s *socket) {
	l.mu.Lock()
	delete(l.sockets, s)
	l.mu.Unlock()
	l.serving.Done()
}

// serve reads until the peer disconnects, breaks a rule, or goes silent.
func (s *socket) serve(conn *websocket.Conn) {
	l := s.l
	defer conn.Close()
	l.mu.Lock()
	s.conn = conn
	stop := l.stopping
	l.mu.Unlock()
	if stop {
		goAway(conn)
		return
	}
	l.cfg.Log.Info("phone connected", "connection", s.source.Conn)
	done := make(chan struct{})
	var pinger sync.WaitGroup
	pinger.Go(func() { s.ping(done) })
	err := s.read()
	close(done)
	pinger.Wait()
	l.cfg.Log.Info("phone disconnected", "connection", s.source.Conn, "reason", reason(err))
	if l.cfg.SourceGone != nil {
		l.cfg.SourceGone(s.source)
	}
}

var (
	errNotText = errors.New("message is not text")
	errUTF8    = errors.New("message is not valid UTF-8")
	errFlood   = errors.New("too many messages")
)

func (s *socket) read() error {
	c, t := s.conn, s.l.time
	c.SetReadLimit(MaxMessage)
	c.SetReadDeadline(time.Now().Add(t.pong))
	c.SetPongHandler(func(string) error { return s.handleControl(nil) })
	c.SetPingHandler(func(data string) error { return s.handleControl(&data) })
	var buf bytes.Buffer
	for {
		kind, r, err := c.NextReader()
		if err != nil {
			return err
		}
		if kind != websocket.TextMessage {
			return s.sendClose(websocket.CloseUnsupportedData, errNotText)
		}
		s.busy = true
		c.SetReadDeadline(time.Now().Add(t.message))
		buf.Reset()
		if _, err := buf.ReadFrom(r); err != nil {
			return err
		}
		s.busy = false
		c.SetReadDeadline(time.Now().Add(t.pong))
		if !utf8.Valid(buf.Bytes()) {
			return s.sendClose(websocket.CloseInvalidFramePayloadData, errUTF8)
		}
		if !s.rate.AllowN(s.l.cfg.Now(), 1) {
			s.l.log.note(slowDown)
			if err := s.write(errorResponse("", slowDown)); err != nil {
				return err
			}
			return s.sendClose(websocket.ClosePolicyViolation, errFlood)
		}
		if back := s.l.handleMessage(buf.Bytes(), s.source); back != nil {
			if err := s.write(back); err != nil {
				return err
			}
		}
	}
}

// handleControl handles a control frame of the peer, with data for a ping. It extends the deadline,
// except in the middle of a message: a message that never ends is no sign of life.
func (s *socket) handleControl(data *string) error {
	if !s.ctl.AllowN(s.l.cfg.Now(), 1) {
		return errFlood
	}
	if !s.busy {
		s.conn.SetReadDeadline(time.Now().Add(s.l.time.pong))
	}
	if data == nil {
		return nil
	}
	return s.conn.WriteControl(websocket.PongMessage, []byte(*data), time.Now().Add(s.l.time.write))
}

func (s *socket) write(b []byte) error {
	s.conn.SetWriteDeadline(time.Now().Add(s.l.time.write))
	return s.conn.WriteMessage(websocket.TextMessage, b)
}

func (s *socket) sendClose(status int, err error) error {
	// Best effort: the connection is closed in any case.
	_ = s.conn.WriteControl(websocket.CloseMessage, websocket.FormatCloseMessage(status, ""), time.Now().Add(s.l.time.write))
	return err
}

// goAway ends the reader from outside and sends the peer a going-away close.
func goAway(c *websocket.Conn) {
	// A peer that does not read must not delay the program's exit.
	_ = c.WriteControl(websocket.CloseMessage, websocket.FormatCloseMessage(websocket.CloseGoingAway, ""), time.Now().Add(100*time.Millisecond))
	c.Close()
}

// ping sends pings until done is closed. A failed write needs no handling: the reader hits
// its deadline or the closed connection.
func (s *socket) ping(done <-chan struct{}) {
	tick := time.Tick(s.l.time.ping)
	for {
		select {
		case <-done:
			return
		case <-tick:
			_ = s.conn.WriteControl(websocket.PingMessage, nil, time.Now().Add(s.l.time.write))
		}
	}
}

// reason describes an error for the log. The error's own text may contain
// the peer's close reason.
func reason(err error) string {
	var closed *websocket.CloseError
	var timeout interface{ Timeout() bool }
	switch {
	case errors.As(err, &closed):
		return "closed by peer, " + strconv.Itoa(closed.Code)
	case errors.Is(err, websocket.ErrReadLimit):
		return "message too large"
	case errors.Is(err, errNotText), errors.Is(err, errUTF8), errors.Is(err, errFlood):
		return err.Error()
	case errors.As(err, &timeout) && timeout.Timeout():
		return "silent"
	default:
		return "connection lost"
	}
}
