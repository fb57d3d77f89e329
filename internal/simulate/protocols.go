package simulate

import (
	"context"
	"errors"
	"io"
	"slices"

	"wiebelt/internal/call"
)

// Protocols are the names of all protocols, in the order in which they are
// listed.
var Protocols = []string{"websocket", "http", "command", "url", "twinkle", "bria", "baresip", "linphone", "ari", "wazo", "3cx"}

// The user, secret and extension that a simulated exchange knows. There is
// nothing behind it to be protected, and a constant secret has to be stored
// once.
const (
	User      = "simulate"
	Secret    = "simulate"
	Extension = "115"
)

// Options is what a protocol needs.
type Options struct {
	// Port and Token are of the listener: the token of its WebSocket, or with
	// "http" the one for addresses.
	Port  int
	Token string
	// Exe and Args begin the command that runs our own program; Profile is the
	// value of --profile, "" for none.
	Exe     string
	Args    []string
	Profile string
	// Listen is where a server listens: a literal loopback address with its port,
	// or, with "linphone", the path of a socket; "" is a free place.
	Listen string
	// Stray is where a program's own messages go; nil is nowhere.
	Stray io.Writer
}

// Address is where a server listens and who may come in, as the settings of our
// link need it.
type Address struct {
	Ready     bool   `json:"ready"`
	Over      string `json:"over"`
	Address   string `json:"address"`
	Extension string `json:"extension,omitempty"`
	User      string `json:"user,omitempty"`
	Secret    string `json:"secret,omitempty"`
}

// Server is a Softphone to which our link connects.
type Server interface {
	Softphone
	Address() Address
}

// ErrProtocol is a name that is not among Protocols.
var ErrProtocol = errors.New("no such protocol")

// IsServer says whether our link connects to the phones of a protocol.
func IsServer(over string) bool { return slices.Index(Protocols, over) >= 5 }

// Open makes the softphone of a protocol. A client connects with Ready; a server
// listens from here on, until Close or the end of ctx.
func Open(ctx context.Context, over string, o Options) (Softphone, error) {
	switch over {
	case "websocket":
		return &socketPhone{port: o.Port, token: o.Token}, nil
	case "http":
		return &httpPhone{port: o.Port, token: o.Token}, nil
	case "command", "url", "twinkle":
		if o.Exe == "" {
			return nil, errors.New("no program to run")
		}
		return &childPhone{over: over, o: o}, nil
	case "bria":
		return startBria(ctx, o.Listen)
	case "baresip":
		return startBaresip(ctx, o.Listen)
	case "linphone":
		return startLinphone(ctx, o.Listen)
	case "ari":
		return startARI(ctx, o.Listen)
	case "wazo":
		return startWazo(ctx, o.Listen)
	case "3cx":
		return start3CX(ctx, o.Listen)
	}
	return nil, ErrProtocol
}

// What protocols can say of how a call ended. Of one that was answered it needs no
// saying.
var (
	allReasons    = []call.Reason{call.Completed, call.Missed, call.Elsewhere, call.Rejected}
	onlyCompleted = []call.Reason{call.Completed}
)

// socketPhone is a Phone that plays.
type socketPhone struct {
	port  int
	token string
	phone *Phone
}

func (s *socketPhone) Can() Can {
	return Can{Answer: true, End: true, Withheld: true, Outgoing: true, Again: true, Moved: SameCall, Name: true, Line: true, Via: true, Reasons: allReasons}
}

func (s *socketPhone) Ready(ctx context.Context) (err error) {
	s.phone, err = Dial(ctx, s.port, s.token)
	return err
}

func (s *socketPhone) Tell(ctx context.Context, n News) error {
	switch {
	case n.Do == End:
		return s.phone.End(ctx, n.Call, n.Reason.String())
	case n.Answered:
		return s.phone.Answer(ctx, n.Call)
	}
	return s.phone.Ring(ctx, n.Call)
}

func (s *socketPhone) Close() error {
	if s.phone == nil {
		return nil
	}
	return s.phone.Close()
}

// httpPhone opens addresses of the listener.
type httpPhone struct {
	port  int
	token string
}

func (h *httpPhone) Can() Can { return (*socketPhone)(nil).Can() }

func (h *httpPhone) Ready(context.Context) error { return nil }

func (h *httpPhone) Tell(ctx context.Context, n News) error {
	switch {
	case n.Do == End:
		return reportHTTP(ctx, h.port, h.token, "ended", n.Reason.String(), n.Call)
	case n.Answered:
		return ReportHTTP(ctx, h.port, h.token, "answered", n.Call)
	}
	return ReportHTTP(ctx, h.port, h.token, "ringing", n.Call)
}

func (h *httpPhone) Close() error { return nil }
