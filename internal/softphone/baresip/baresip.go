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
	"strings"
	"time"

	"wiebelt/internal/core/address"
	"wiebelt/internal/core/call"
	"wiebelt/internal/softphone/link"
	"wiebelt/internal/softphone/registry"
)

const (
	dialTime  = 5 * time.Second
	frameTime = 10 * time.Second // for the rest of a started frame
)

type softphone struct {
	traits         link.Traits
	listenerSocket string // the listening socket of the last session, "" if not known
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
	if _, ours := p.listening(p.traits.Source.Conn); !ours {
		return errOwner
	}
	d := net.Dialer{Timeout: dialTime}
	conn, err := d.DialContext(ctx, "tcp", p.traits.Source.Conn)
	switch {
	case link.NobodyListens(err):
		return link.NotRunningError(err)
	case err != nil:
		return fmt.Errorf("connect to baresip: %w", err)
	}
	stop := context.AfterFunc(ctx, func() { conn.Close() })
	defer stop()
	defer conn.Close()
	now, ours := p.listening(conn.RemoteAddr().String())
	if !ours {
		return errOwner
	}
	if p.listenerSocket != "" && now != "" && now != p.listenerSocket {
		r.EndAll() // the calls of the previous process ended with it
	}
	p.listenerSocket = now
	r.Up()
	in := frameReader{r: bufio.NewReaderSize(conn, 4<<10), setDeadline: conn.SetReadDeadline}
	for {
		b, err := in.next()
		switch {
		case err == io.EOF:
			if again, _ := p.listening(conn.RemoteAddr().String()); now != "" && again != now {
				return link.NotRunningError(errRestarted)
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
var errOwner = &link.Refusal{Why: "the baresip at this port belongs to another user", Cause: link.CauseOwner}

// listening identifies the socket that listens at an address, if that is on this
// computer, and reports whether it does not belong to another user. It does not connect:
// that would disconnect the phone's own user.
func (p *softphone) listening(address string) (socket string, ours bool) {
	at, err := netip.ParseAddrPort(strings.Replace(address, "localhost", "127.0.0.1", 1))
	if err != nil || !p.traits.Local {
		return "", true
	}
	return link.ListeningSocket(at)
}

// frame holds the fields used of an event. Version 4.9 adds more fields and types and may
// omit peeruri; everything else is ignored.
type frame struct {
	Event    bool   `json:"event"`
	Type     string `json:"type"`
	Account  string `json:"accountaor"`
	Source   string `json:"direction"`
	Peer     string `json:"peeruri"`
	Name     string `json:"peerdisplayname"`
	Diverter string `json:"diverteruri"`
	ID       string `json:"id"`
	Param    string `json:"param"`
}

// frame processes the content of one netstring. It ignores anything but call events; an
// unreadable event is skipped, the connection stays.
func (p *softphone) frame(r *link.Reporter, b []byte) {
	var f frame
	if !r.Decode(b, &f) || !f.Event { // not an event: the answer to another program's command
		return
	}
	e := event(f)
	last, known := r.Known(e.ID)
	switch f.Type {
	case "CALL_INCOMING":
		e.Direction = call.Incoming
	case "CALL_OUTGOING", "CALL_RINGING", "CALL_PROGRESS":
		// The last two are the caller's events; version 1.0.0 has no CALL_OUTGOING. The
		// first of them reports the call.
		if f.Source == "incoming" || known {
			return
		}
		e.Direction = call.Outgoing
	case "CALL_ESTABLISHED":
		e.State = call.Answered
	case "CALL_CLOSED":
		e.State = call.Ended
		if known && last.State == call.Ringing {
			e.Reason = notAnswered(last.Direction, f.Param)
		}
	default:
		return
	}
	r.Report(e)
}

// notAnswered returns why a call that was not answered ended, from the text of its end. Since
// version 3.24 that includes the Reason (RFC 3326) why an exchange cancelled an incoming one.
// Without it, the call may have been missed or answered elsewhere.
func notAnswered(d call.Direction, param string) call.Reason {
	switch code, _, _ := strings.Cut(param, " "); {
	case d == call.Incoming && (param == "Connection reset by user" || param == "Rejected by user"), // until and since version 4
		code == "486", code == "600", code == "603":
		return call.Rejected
	case d == call.Incoming && strings.Contains(strings.ReplaceAll(strings.ToLower(param), " ", "")+";", ",sip;cause=200;"):
		return call.AnsweredElsewhere
	}
	return call.ReasonUnknown
}

func event(f frame) call.Event {
	e := call.Event{
		ID: link.CallID(f.ID), State: call.Ringing, Direction: call.DirectionUnknown,
		Number: f.Peer, Name: address.Unescape(f.Name), Line: f.Account, Via: address.Parse(f.Diverter).User,
	}
	if e.Number == "" && (strings.HasPrefix(f.Param, "sip:") || strings.HasPrefix(f.Param, "sips:") || strings.HasPrefix(f.Param, "tel:")) {
		e.Number = f.Param // the same address, present even if peeruri is omitted
	}
	switch f.Source {
	case "incoming":
		e.Direction = call.Incoming
	case "outgoing":
		e.Direction = call.Outgoing
	}
	return e
}

// maxFrame is the longest accepted frame in bytes. baresip's are below 1 KiB.
const maxFrame = 64 << 10

// errFrame ends the connection: after a bad frame the start of the next one is unknown.
var errFrame = errors.New("bytes are not a netstring")

// frameReader reads netstrings: a length in decimal digits, a colon, that
// many bytes, a comma.
type frameReader struct {
	r           *bufio.Reader
	setDeadline func(time.Time) error // sets the deadline for the rest of a started frame
}

// next returns the content of the next frame. The error is io.EOF only between frames.
func (f *frameReader) next() ([]byte, error) {
	if _, err := f.r.Peek(1); err != nil {
		return nil, err
	}
	_ = f.setDeadline(time.Now().Add(frameTime)) // failures surface on reading
	n, err := f.length()
	if err != nil {
		return nil, err
	}
	b := make([]byte, n+1)
	if _, err := io.ReadFull(f.r, b); err != nil {
		return nil, unexpectedEOF(err)
	}
	if b[n] != ',' {
		return nil, errFrame
	}
	return b[:n], f.setDeadline(time.Time{})
}

// length reads "123:". A netstring's length has no sign and no leading zero.
func (f *frameReader) length() (int, error) {
	n := 0
	for i := 0; ; i++ {
		c, err := f.r.ReadByte()
		switch {
		case err != nil:
			return 0, unexpectedEOF(err)
		case c == ':' && i > 0:
			return n, nil
		case c < '0' || c > '9', i == 1 && n == 0:
			return 0, errFrame
		}
		if n = n*10 + int(c-'0'); n > maxFrame {
			return 0, errFrame
		}
	}
}

func unexpectedEOF(err error) error {
	if err == io.EOF {
		return io.ErrUnexpectedEOF
	}
	return err
}
