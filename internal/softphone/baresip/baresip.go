// Package baresip speaks with the softphone baresip: it is a client of its module
// ctrl_tcp, which sends an event for everything that happens to a call. We only
// listen and never send a command.
//
// baresip serves one client at a time and drops the old one for a new one
// without a word. When it ends, it closes the connection just the same; then
// its socket no longer listens, or another one does.
package baresip

import (
	"bufio"
	"context"
	"errors"
	"fmt"
	"io"
	"net"
	"net/netip"
	"time"

	"wiebelt/internal/softphone/link"
	"wiebelt/internal/softphone/registry"
)

// Config is where baresip is found.
type Config struct {
	// Address is host:port of ctrl_tcp, "127.0.0.1:4444" as baresip comes.
	Address string
	// Dial connects; nil is an ordinary TCP dialler.
	Dial func(ctx context.Context, network, address string) (net.Conn, error)
}

const (
	dialTime  = 5 * time.Second
	frameTime = 10 * time.Second // for the rest of a frame that has begun
)

type softphone struct {
	cfg    Config
	traits link.Traits
	served string // the listening socket of the last session, "" if not known
}

// errRestarted is a connection that ended because the phone has.
var errRestarted = errors.New("baresip was started anew")

// New makes the phone for link.Run. Only the address can be wrong.
func New(cfg Config) (link.Phone, error) {
	host, port, err := net.SplitHostPort(cfg.Address)
	if err != nil || port == "" {
		return nil, errors.New("baresip: address is not host:port")
	}
	if cfg.Dial == nil {
		cfg.Dial = (&net.Dialer{Timeout: dialTime}).DialContext
	}
	ip := net.ParseIP(host)
	return &softphone{cfg: cfg, traits: link.Traits{
		Source:    registry.Of(registry.Baresip).CallSource(cfg.Address),
		Local:     host == "localhost" || ip != nil && ip.IsLoopback(),
		OneClient: true,
	}}, nil
}

func (p *softphone) Traits() link.Traits { return p.traits }

// Session takes events until the connection ends. An idle connection is normal
// for hours, so only a frame that has begun has a deadline; TCP's keep-alive
// finds a peer that is gone.
func (p *softphone) Session(ctx context.Context, r *link.Reporter) error {
	conn, err := p.dial(ctx)
	if err != nil {
		return err
	}
	stop := context.AfterFunc(ctx, func() { conn.Close() })
	defer stop()
	defer conn.Close()
	now := p.listening(conn)
	if p.served != "" && now != "" && now != p.served {
		r.EndAll() // what the one before told of ended with it
	}
	p.served = now
	r.Up()
	in := newFrameReader(bufio.NewReaderSize(conn, 4<<10))
	in.began = func() { conn.SetReadDeadline(time.Now().Add(frameTime)) }
	in.ended = func() { conn.SetReadDeadline(time.Time{}) }
	for {
		b, err := in.next()
		switch {
		case err == io.EOF && now != "" && p.listening(conn) != now:
			return link.NotThere(errRestarted)
		case err == io.EOF:
			return link.ErrClosed
		case err != nil:
			return fmt.Errorf("read from baresip: %w", err)
		}
		p.frame(r, b)
	}
}

// listening identifies the socket that listens where conn leads to, if that is
// on this computer.
func (p *softphone) listening(conn net.Conn) string {
	a, ok := conn.RemoteAddr().(*net.TCPAddr)
	if !ok || !p.traits.Local {
		return ""
	}
	at := a.AddrPort()
	return link.Listening(netip.AddrPortFrom(at.Addr().Unmap(), at.Port()))
}

func (p *softphone) dial(ctx context.Context) (net.Conn, error) {
	ctx, cancel := context.WithTimeout(ctx, dialTime)
	defer cancel()
	conn, err := p.cfg.Dial(ctx, "tcp", p.cfg.Address)
	switch {
	case link.Nobody(err):
		return nil, link.NotThere(err)
	case err != nil:
		return nil, fmt.Errorf("connect to baresip: %w", err)
	}
	return conn, nil
}
