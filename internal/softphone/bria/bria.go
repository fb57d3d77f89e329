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
	"time"

	"github.com/gorilla/websocket"

	"wiebelt/internal/core/call"
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
	p := &phone{dialed: address, name: host, times: usual, dialer: new(net.Dialer).DialContext}
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

// dial connects and performs the handshakes.
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
		return nil, link.NotThere(err)
	case errors.Is(err, websocket.ErrBadHandshake) && resp != nil && resp.StatusCode >= 400:
		return nil, refused(resp.StatusCode)
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

// refused returns the error for a Bria that rejects the connection. It is
// not documented which of its answers mean that its user has not agreed.
func refused(status int) error {
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
