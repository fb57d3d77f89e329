// Package bria is a client of the softphone Bria's Desktop API, a WebSocket on this
// computer. Bria announces that something has happened; the client then requests the list
// of calls and compares it with the previous one. It requests nothing else: some of Bria's
// other answers change what its user sees.
//
// On a terminal server only one user's Bria gets the port. It asks its own
// user for permission.
//
// Goroutines: those of an exchangelink.Socket, which end before Session returns.
package bria

import (
	"cmp"
	"context"
	"crypto/tls"
	"errors"
	"fmt"
	"net"
	"strconv"
	"time"

	"github.com/gorilla/websocket"
	"golang.org/x/time/rate"

	"wiebelt/internal/core/call"
	"wiebelt/internal/softphone/exchangelink"
	"wiebelt/internal/softphone/link"
	"wiebelt/internal/softphone/registry"
)

// Bria's address. The vendor's name for this computer exists for browsers: Bria's
// certificate is issued for it. It is not looked up in DNS.
const (
	defaultAddress = makerName + ":9002"
	makerName      = "cpclientapi.softphone.com"
	path           = "/counterpath/socketapi/v1/"
)

const (
	dialTime     = 10 * time.Second
	maxMessage   = 64 << 10 // bytes; a call takes about 400
	maxHandshake = 16 << 10 // bytes
)

type phone struct {
	dialed string // host:port
	name   string // the name its certificate is issued for
	traits link.Traits
	times  times
	// dialer is replaced by tests.
	dialer func(ctx context.Context, network, address string) (net.Conn, error)
}

// New returns a phone for link.Run. The address is host:port, "" for the default one on
// this computer. Only an invalid address is an error.
func New(address string) (link.Phone, error) {
	address = cmp.Or(address, defaultAddress)
	host, port, err := net.SplitHostPort(address)
	if err != nil || host == "" || port == "" {
		return nil, errors.New("bria: address is not host:port")
	}
	p := &phone{dialed: address, name: host, times: defaultTimes, dialer: new(net.Dialer).DialContext}
	if host == makerName {
		p.dialed = net.JoinHostPort("127.0.0.1", port)
	}
	local := host == makerName || link.IsLocal(host)
	if local {
		p.name = makerName
	}
	p.traits = link.Traits{Source: registry.Of(registry.Bria).CallSource(p.dialed), Local: local}
	return p, nil
}

func (p *phone) Traits() link.Traits { return p.traits }

func (p *phone) dial(ctx context.Context) (*websocket.Conn, error) {
	var under *limited
	d := websocket.Dialer{
		HandshakeTimeout: dialTime, // for everything from here to the WebSocket
		ReadBufferSize:   4 << 10,
		WriteBufferSize:  1 << 10,
		NetDialTLSContext: func(ctx context.Context, network, _ string) (net.Conn, error) {
			conn, err := p.dialer(ctx, network, p.dialed)
			if err != nil {
				return nil, err
			}
			t := tls.Client(conn, p.tls(conn.RemoteAddr()))
			if err := t.HandshakeContext(ctx); err != nil {
				conn.Close()
				return nil, err
			}
			under = &limited{Conn: t, left: maxHandshake}
			return under, nil
		},
	}
	_, port, _ := net.SplitHostPort(p.dialed)
	ws, resp, err := d.DialContext(ctx, "wss://"+net.JoinHostPort(p.name, port)+path, nil)
	switch {
	case err == nil:
		under.left = -1
		return ws, nil
	case link.NobodyListens(err):
		return nil, link.NotRunningError(err)
	case errors.Is(err, websocket.ErrBadHandshake) && resp.StatusCode >= 400:
		return nil, statusError(resp.StatusCode)
	}
	// Some errors quote input that could not be read.
	return nil, &link.Failure{Why: "connect to Bria: " + call.CleanText(err.Error(), 200), Cause: link.CauseOf(err)}
}

// tls returns the settings for a connection to peer. Bria ships its certificate in the
// program: it expires with the version, and its key is in every installation, so it proves
// nothing. Nothing can intercept a connection on this computer, so it is not verified, as
// in the vendor's samples. What counts is the address connected to, not the name dialled.
func (p *phone) tls(peer net.Addr) *tls.Config {
	addr, ok := peer.(*net.TCPAddr)
	return &tls.Config{
		ServerName:         p.name,
		MinVersion:         tls.VersionTLS12,
		InsecureSkipVerify: ok && addr.IP.IsLoopback(),
	}
}

// statusError returns the error for a Bria that rejects the connection. It is
// not documented which of its answers mean that its user has not agreed.
func statusError(status int) error {
	return &link.Refusal{Why: fmt.Sprintf("Bria does not let us in (answer %d). %s Bria must be signed in; its free version has no interface.", status, advice), Cause: link.CauseBria}
}

// silentError returns the error for a Bria that accepts the connection but does not answer.
func silentError() error {
	return &link.Refusal{Why: "Bria does not answer. " + advice, Cause: link.CauseBria}
}

const advice = `Choose "Allow Access" when Bria asks, or allow it in Bria under Preferences, Application, Security.`

// limited is a connection on which at most left bytes are read; negative means no limit.
type limited struct {
	net.Conn
	left int
}

var errLong = errors.New("the answer to the handshake is too long")

func (l *limited) Read(b []byte) (int, error) {
	if l.left < 0 {
		return l.Conn.Read(b)
	}
	if l.left == 0 {
		return 0, errLong
	}
	n, err := l.Conn.Read(b[:min(len(b), l.left)])
	l.left -= n
	return n, err
}

// times are the timeouts of a connection; tests shorten them.
type times struct {
	allow  time.Duration // for the first answer: the user may have to click
	answer time.Duration // for every other answer
	ping   time.Duration // between pings
	silent time.Duration // without a message from Bria, after which a request is sent
}

var defaultTimes = times{allow: 30 * time.Second, answer: 10 * time.Second, ping: 30 * time.Second, silent: 45 * time.Second}

const (
	askBurst = 10                    // requests allowed at once,
	askPause = 20 * time.Millisecond // and one per this interval after that
)

type session struct {
	sock  *exchangelink.Socket
	r     *link.Reporter
	times times

	up           bool
	id           int           // of the last request
	pending      bool          // it is not answered yet
	changedSince bool          // something has happened since that request
	deadline     time.Time     // for its answer
	limit        *rate.Limiter // of requests
}

// Session processes events until the connection ends.
func (p *phone) Session(ctx context.Context, r *link.Reporter) error {
	ws, err := p.dial(ctx)
	if err != nil {
		return err
	}
	// Not every program answers pings, but Bria answers a request: the silence that ends
	// the connection is longer than the one that triggers a request.
	o := exchangelink.Options{PingEvery: p.times.ping, Silence: 2 * (p.times.silent + p.times.answer)}
	s := &session{sock: exchangelink.NewSocket(ctx, ws, p.dialed, o, maxMessage), r: r, times: p.times, limit: rate.NewLimiter(rate.Every(askPause), askBurst)}
	defer s.sock.Close()
	return s.run(ctx)
}

func (s *session) run(ctx context.Context) error {
	err := s.request()
	for err == nil {
		select {
		case b, ok := <-s.sock.Messages():
			if !ok {
				return s.closeError(ctx)
			}
			err = s.message(b)
		case <-time.After(time.Until(s.next())):
			err = s.actOnTimeout()
		}
	}
	return err
}

// next returns when the next action is due if nothing arrives.
func (s *session) next() time.Time {
	switch {
	case s.pending:
		return s.deadline
	case s.changedSince: // when a request is allowed
		return time.Now().Add(time.Duration((1 - s.limit.Tokens()) * float64(askPause)))
	}
	return s.sock.LastFrame().Add(s.times.silent)
}

func (s *session) actOnTimeout() error {
	switch {
	case s.pending && !s.up:
		return silentError()
	case s.pending:
		return errors.New("the phone does not answer any more")
	case s.changedSince, time.Since(s.sock.LastFrame()) >= s.times.silent:
		return s.request()
	}
	return nil
}

// changed requests the calls. However many changes arrive during a request,
// only one more follows it.
func (s *session) changed() error {
	if s.pending {
		s.changedSince = true
		return nil
	}
	return s.request()
}

// request requests the calls, or postpones that until it is allowed.
func (s *session) request() error {
	if !s.limit.Allow() {
		s.changedSince = true
		return nil
	}
	s.id++
	s.pending, s.changedSince = true, false
	s.deadline = time.Now().Add(s.times.answer)
	if !s.up {
		s.deadline = time.Now().Add(s.times.allow)
	}
	return s.sock.Send(statusRequest(s.id))
}

// message processes a message from Bria. An unreadable one is skipped,
// the connection stays.
func (s *session) message(b []byte) error {
	m, ok := parseMessage(b)
	switch {
	case !ok:
		s.r.Unreadable(len(b))
	case m.answer:
		return s.answer(m, len(b))
	case m.event == "call":
		return s.changed()
	}
	return nil
}

func (s *session) answer(m message, size int) error {
	if !s.pending || m.id != "" && m.id != strconv.Itoa(s.id) {
		return nil
	}
	if m.status != 200 {
		return statusError(m.status)
	}
	s.pending = false
	if !s.up {
		s.up = true
		s.r.Up()
	}
	if calls, ok := readCalls(m.body); ok {
		reportChanges(s.r, calls)
	} else {
		s.r.Unreadable(size)
	}
	if s.changedSince {
		return s.request()
	}
	return nil
}

// closeError returns the error for the end of the connection.
func (s *session) closeError(ctx context.Context) error {
	err := s.sock.Err()
	switch {
	case ctx.Err() != nil || link.CauseOf(err) != link.NoCause: // too long, or no message
		return err
	case !s.up:
		return silentError()
	}
	return link.ErrClosed
}
