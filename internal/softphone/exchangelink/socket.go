package exchangelink

import (
	"bufio"
	"bytes"
	"context"
	"errors"
	"fmt"
	"io"
	"net"
	"net/http"
	"net/http/httptrace"
	"net/url"
	"os"
	"strings"
	"sync"
	"time"

	"github.com/gorilla/websocket"
)

const (
	maxMessage = 256 << 10 // an event may hold all channels of a conference
	queued     = 8         // messages read ahead, so that requests do not block pongs
	writeTime  = 5 * time.Second
)

// CloseError reports that the server closed the connection with a code of RFC 6455 or of its
// own. Its reason text is dropped.
type CloseError struct {
	Host string
	Code int
}

func (c *CloseError) Error() string {
	return fmt.Sprintf("%s: it closed the connection (code %d)", c.Host, c.Code)
}

// Socket is a WebSocket with liveness checks: it is pinged, and closed if nothing arrives
// for Options.Silence. Send and Close belong to one goroutine.
type Socket struct {
	server *Server
	conn   *websocket.Conn
	in     chan []byte
	mu     sync.Mutex      // protects the next two
	news   chan struct{}   // closed when the next frame arrives
	heard  time.Time       // when the last one arrived
	ctx    context.Context // ends with the reader
	end    context.CancelFunc
	tasks  sync.WaitGroup
	err    error // why the reader ended; read it after in is closed
}

// Dial opens a WebSocket at path (including query). If a server answers without upgrading,
// Dial returns its status, no socket and no error. The socket ends with ctx.
func (s *Server) Dial(ctx context.Context, path string, h http.Header, protocols ...string) (sock *Socket, status int, err error) {
	d := websocket.Dialer{
		NetDialContext: s.connect, TLSClientConfig: s.tls.Clone(),
		HandshakeTimeout: s.opts.Answer, Subprotocols: protocols,
	}
	limited, cancel := context.WithTimeout(ctx, s.opts.Answer)
	defer cancel()
	conn, resp, err := d.DialContext(limited, "ws"+strings.TrimPrefix(s.base.String(), "http")+path, h)
	switch {
	case errors.Is(err, websocket.ErrBadHandshake):
		if resp.StatusCode >= 300 && resp.StatusCode < 400 {
			return nil, 0, s.connError(ctx, errRedirect)
		}
		if resp.StatusCode < 300 {
			return nil, 0, s.connError(ctx, errUnreadable) // not an error status
		}
		return nil, resp.StatusCode, nil
	case err != nil:
		return nil, 0, s.connError(ctx, err)
	}
	return s.socket(ctx, conn, maxMessage), http.StatusSwitchingProtocols, nil
}

// Accept upgrades the request of an exchange that connects to us; name identifies it in
// errors. The socket ends with ctx. If the request is not for a WebSocket, it has been
// answered when Accept returns the error.
func Accept(ctx context.Context, w http.ResponseWriter, r *http.Request, name string, o Options, protocols ...string) (*Socket, error) {
	s := namedServer(name, o)
	up := websocket.Upgrader{HandshakeTimeout: s.opts.Answer, Subprotocols: protocols} // rejects a web page's Origin
	conn, err := up.Upgrade(w, r, nil)
	if err != nil {
		return nil, s.connError(ctx, err)
	}
	return s.socket(ctx, conn, maxAnswer), nil
}

// NewSocket makes a Socket from a WebSocket that was opened elsewhere, with messages of
// at most most bytes; name identifies the other end in errors. It ends with ctx.
func NewSocket(ctx context.Context, conn *websocket.Conn, name string, o Options, most int64) *Socket {
	return namedServer(name, o).socket(ctx, conn, most)
}

// namedServer returns the other end of a connection that was opened elsewhere.
func namedServer(name string, o Options) *Server {
	o.fill()
	return &Server{base: &url.URL{Host: name}, opts: o}
}

// socket starts reading a connection with messages of at most most bytes.
func (s *Server) socket(ctx context.Context, conn *websocket.Conn, most int64) *Socket {
	k := &Socket{server: s, conn: conn, in: make(chan []byte, queued), news: make(chan struct{}), heard: time.Now()}
	k.ctx, k.end = context.WithCancel(ctx)
	stop := context.AfterFunc(ctx, func() { conn.Close() }) // which ends the reader
	conn.SetReadLimit(most)
	conn.SetPongHandler(func(string) error { return k.noteFrame() })
	conn.SetPingHandler(func(data string) error {
		_ = conn.WriteControl(websocket.PongMessage, []byte(data), time.Now().Add(writeTime))
		return k.noteFrame()
	})
	k.tasks.Go(k.ping)
	k.tasks.Go(func() {
		defer stop()
		k.read(ctx)
	})
	return k
}

// Answers pings the other end and reports whether it answers before ctx ends. It is
// safe for concurrent use.
func (k *Socket) Answers(ctx context.Context) bool {
	k.mu.Lock()
	news := k.news
	k.mu.Unlock()
	_ = k.conn.WriteControl(websocket.PingMessage, nil, time.Now().Add(writeTime))
	select {
	case <-news:
		return true
	case <-k.ctx.Done():
	case <-ctx.Done():
	}
	return false
}

// LastFrame returns when the last frame arrived, or else when the socket started.
func (k *Socket) LastFrame() time.Time {
	k.mu.Lock()
	defer k.mu.Unlock()
	return k.heard
}

// Server returns the other end.
func (k *Socket) Server() *Server { return k.server }

func (k *Socket) noteFrame() error {
	k.mu.Lock()
	close(k.news)
	k.news, k.heard = make(chan struct{}), time.Now()
	k.mu.Unlock()
	return k.conn.SetReadDeadline(time.Now().Add(k.server.opts.Silence))
}

func (k *Socket) ping() {
	t := time.Tick(k.server.opts.PingEvery)
	for {
		select {
		case <-k.ctx.Done():
			return
		case <-t:
			// A failure surfaces on the reading side.
			_ = k.conn.WriteControl(websocket.PingMessage, nil, time.Now().Add(writeTime))
		}
	}
}

func (k *Socket) read(ctx context.Context) {
	defer close(k.in)
	defer k.end()
	for {
		_ = k.noteFrame()
		kind, b, err := k.conn.ReadMessage()
		if err != nil {
			k.err = k.why(ctx, err)
			return
		}
		if kind != websocket.TextMessage {
			continue // none of the protocols has binary messages
		}
		select {
		case k.in <- b:
		case <-k.ctx.Done():
			k.err = ctx.Err()
			return
		}
	}
}

func (k *Socket) why(ctx context.Context, err error) error {
	var closed *websocket.CloseError
	var network net.Error
	switch {
	case ctx.Err() != nil:
		return ctx.Err()
	case errors.As(err, &closed):
		return &CloseError{Host: k.server.Host(), Code: closed.Code}
	case errors.Is(err, websocket.ErrReadLimit):
		return k.server.connError(ctx, errLarge)
	case !errors.As(err, &network) && !errors.Is(err, io.ErrUnexpectedEOF): // not a WebSocket frame
		return k.server.connError(ctx, errUnreadable)
	}
	return k.server.connError(ctx, err)
}

// Messages delivers the text messages. It is closed when the connection has ended.
func (k *Socket) Messages() <-chan []byte { return k.in }

// Err returns why Messages was closed.
func (k *Socket) Err() error { return k.err }

// Send writes a text message.
func (k *Socket) Send(b []byte) error {
	_ = k.conn.SetWriteDeadline(time.Now().Add(writeTime))
	if err := k.conn.WriteMessage(websocket.TextMessage, b); err != nil {
		return k.server.connError(context.Background(), err)
	}
	return nil
}

// Close ends the connection and waits for its goroutines.
func (k *Socket) Close() {
	_ = k.conn.WriteControl(websocket.CloseMessage, websocket.FormatCloseMessage(websocket.CloseNormalClosure, ""), time.Now().Add(writeTime/10))
	k.end()
	k.conn.Close()
	k.tasks.Wait()
}

// Stream is an answer that lasts as long as its connection. It is closed when no part has
// arrived for Options.Silence, not counting the time in which a part waits for its receiver.
// Close belongs to one goroutine.
type Stream struct {
	// Server is the one that answered, of possibly several behind one name.
	Server *Server
	// Cookies are the server's cookies, formatted for the Cookie header.
	Cookies string

	requestServer *Server // under the common name
	in            chan []byte
	ctx           context.Context // ends with the stream
	end           context.CancelCauseFunc
	task          sync.WaitGroup
	err           error // why the reader ended; read it after in is closed
}

// Stream sends a request and delivers its answer in parts, as cut by split. If a server
// refuses, it returns the status, no stream and no error. The stream ends with ctx.
func (s *Server) Stream(ctx context.Context, method, path string, h http.Header, body []byte, split bufio.SplitFunc) (k *Stream, status int, err error) {
	k = &Stream{requestServer: s, in: make(chan []byte, queued)}
	on, end := context.WithCancelCause(ctx)
	var at string
	traced := httptrace.WithClientTrace(on, &httptrace.ClientTrace{GotConn: func(c httptrace.GotConnInfo) { at = c.Conn.RemoteAddr().String() }})
	resp, err := s.send(traced, s.client, method, path, h, body)
	if err == nil && resp.StatusCode/100 != 2 {
		resp.Body.Close()
		end(nil)
		return nil, resp.StatusCode, nil
	} else if err != nil {
		end(nil)
		return nil, 0, s.connError(ctx, err)
	}
	k.ctx, k.end = on, end
	here := *s
	here.fixed = at
	here.client = here.newClient()
	k.Server = &here
	for i, c := range resp.Cookies() {
		if i > 0 {
			k.Cookies += "; "
		}
		k.Cookies += c.Name + "=" + c.Value
	}
	k.task.Go(func() { k.read(ctx, resp.Body, split) })
	return k, resp.StatusCode, nil
}

func (k *Stream) read(ctx context.Context, body io.ReadCloser, split bufio.SplitFunc) {
	defer close(k.in)
	defer body.Close()
	silent := time.AfterFunc(k.requestServer.opts.Silence, func() { k.end(os.ErrDeadlineExceeded) })
	defer silent.Stop()
	parts := bufio.NewScanner(body)
	parts.Buffer(nil, maxMessage)
	parts.Split(split)
	for parts.Scan() {
		silent.Stop() // waiting for the receiver is not the server's silence
		select {
		case k.in <- bytes.Clone(parts.Bytes()):
		case <-k.ctx.Done():
		}
		silent.Reset(k.requestServer.opts.Silence)
	}
	switch err := parts.Err(); {
	case k.Silent(): // err may be that of the connection, which was broken for it
		k.err = k.requestServer.connError(ctx, os.ErrDeadlineExceeded)
	case errors.Is(err, bufio.ErrTooLong):
		k.err = k.requestServer.connError(ctx, errLarge)
	default:
		k.err = k.requestServer.connError(ctx, errors.Join(io.ErrUnexpectedEOF, err)) // an unexpected end
	}
}

// Parts delivers the parts. It is closed when the answer has ended.
func (k *Stream) Parts() <-chan []byte { return k.in }

// Silent reports whether the stream was closed because nothing arrived for Options.Silence.
func (k *Stream) Silent() bool { return errors.Is(context.Cause(k.ctx), os.ErrDeadlineExceeded) }

// Err returns why Parts was closed.
func (k *Stream) Err() error { return k.err }

// Close ends the connection and waits for its goroutine.
func (k *Stream) Close() {
	k.end(nil)
	k.task.Wait()
	k.Server.CloseIdleConnections()
}
