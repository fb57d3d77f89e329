// Package baresip is a client of the module ctrl_tcp of the softphone baresip,
// which sends an event for everything that happens to a call. It only listens and
// never sends a command.
//
// baresip serves one client at a time and silently drops the old one for a new one.
// It closes the connection the same way when it exits; its socket then no longer
// listens, or another one does.
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

const (
	dialTime  = 5 * time.Second
	frameTime = 10 * time.Second // for the rest of a started frame
)

type softphone struct {
	traits link.Traits
	served string // the listening socket of the last session, "" if not known
}

// errRestarted reports that the connection ended because the phone restarted.
var errRestarted = errors.New("baresip was started anew")

// New returns a phone for link.Run. The address is host:port of ctrl_tcp, "127.0.0.1:4444"
// by default in baresip. Only an invalid address is an error.
func New(address string) (link.Phone, error) {
	host, port, err := net.SplitHostPort(address)
	if err != nil || port == "" {
		return nil, errors.New("baresip: address is not host:port")
	}
	return &softphone{traits: link.Traits{
		Source:    registry.Of(registry.Baresip).CallSource(address),
		Local:     link.IsLocal(host),
		OneClient: true,
	}}, nil
}

func (p *softphone) Traits() link.Traits { return p.traits }

// Session processes events until the connection ends. An idle connection is normal for
// hours, so only a started frame has a deadline; TCP keep-alive detects a lost peer.
func (p *softphone) Session(ctx context.Context, r *link.Reporter) error {
	if !p.ownListener() {
		return errOwner()
	}
	d := net.Dialer{Timeout: dialTime}
	conn, err := d.DialContext(ctx, "tcp", p.traits.Source.Conn)
	switch {
	case link.NobodyListens(err):
		return link.NotThere(err)
	case err != nil:
		return fmt.Errorf("connect to baresip: %w", err)
	}
	stop := context.AfterFunc(ctx, func() { conn.Close() })
	defer stop()
	defer conn.Close()
	now, ours := p.listening(conn)
	if !ours {
		return errOwner()
	}
	if p.served != "" && now != "" && now != p.served {
		r.EndAll() // the calls of the previous process ended with it
	}
	p.served = now
	r.Up()
	in := frameReader{r: bufio.NewReaderSize(conn, 4<<10), until: conn.SetReadDeadline}
	for {
		b, err := in.next()
		switch {
		case err == io.EOF:
			if again, _ := p.listening(conn); now != "" && again != now {
				return link.NotThere(errRestarted)
			}
			return link.ErrClosed
		case err != nil:
			return fmt.Errorf("read from baresip: %w", err)
		}
		p.frame(r, b)
	}
}

// errOwner reports a phone of another user on this
// computer, whose callers are not this user's business.
func errOwner() error {
	return &link.Refusal{Why: "the baresip at this port belongs to another user", Cause: link.CauseOwner}
}

// ownListener reports whether no other user listens at the address,
// without connecting: that would disconnect the phone's own user.
func (p *softphone) ownListener() bool {
	host, port, _ := net.SplitHostPort(p.traits.Source.Conn)
	if host == "localhost" {
		host = "127.0.0.1"
	}
	at, err := netip.ParseAddrPort(net.JoinHostPort(host, port))
	if err != nil || !p.traits.Local {
		return true
	}
	_, ours := link.Listening(netip.AddrPortFrom(at.Addr().Unmap(), at.Port()))
	return ours
}

// listening identifies the listening socket that conn leads to, if it is on
// this computer, and reports whether it does not belong to another user.
func (p *softphone) listening(conn net.Conn) (socket string, ours bool) {
	a, ok := conn.RemoteAddr().(*net.TCPAddr)
	if !ok || !p.traits.Local {
		return "", true
	}
	at := a.AddrPort()
	return link.Listening(netip.AddrPortFrom(at.Addr().Unmap(), at.Port()))
}
