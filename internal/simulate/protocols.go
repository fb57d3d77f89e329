package simulate

import (
	"context"
	"errors"
	"io"

	"wiebelt/internal/core/call"
	"wiebelt/internal/softphone/registry"
)

// Account is the user, secret and extension that an exchange knows.
type Account struct{ User, Secret, Extension string }

// extensionNumber is that of every simulated phone.
const extensionNumber = "115"

// simulated is the account of an exchange that nobody else described. There is
// nothing behind it to be protected, and a constant secret has to be stored once.
var simulated = Account{User: "simulate", Secret: "simulate", Extension: extensionNumber}

// Options is what a protocol needs.
type Options struct {
	// Port and the tokens are of the listener: the token of its WebSocket, and the
	// one for addresses; or of a relay's web server, with the secret of its addresses.
	Port             int
	Token, PathToken string
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

// ErrProtocol is a name of no kind.
var ErrProtocol = errors.New("no such protocol")

// opener makes a stand-in.
type opener = func(context.Context, Options) (Softphone, error)

// phones make the stand-in of each kind.
var phones = map[string]opener{
	call.KindWebSocket: func(_ context.Context, o Options) (Softphone, error) {
		return &socketPhone{port: o.Port, token: o.Token}, nil
	},
	call.KindHTTP: func(_ context.Context, o Options) (Softphone, error) {
		return sender(func(ctx context.Context, n Update) error {
			return ReportHTTP(ctx, o.Port, o.PathToken, state(n), n.Reason.String(), n.Call)
		}), nil
	},
	call.KindCommand: openProgram(commandLine),
	call.KindURL:     openProgram(urlLine),
	registry.Twinkle: openProgram(twinkleLine),

	registry.Bria:     openServer(StartBria),
	registry.Baresip:  openServer(StartBaresip),
	registry.Linphone: openServer(StartLinphone),
	registry.Relay:    openServer(StartRelay),

	registry.ARI:           openExchange(StartARI),
	registry.Wazo:          openExchange(StartWazo),
	registry.ThreeCX:       openExchange(Start3CX),
	registry.Xelion:        openExchange(StartXelion),
	registry.YeastarSocket: openExchange(StartYeastar),
	registry.BroadWorks:    openExchange(StartBroadWorks),

	registry.ARIOutbound: openOutboundARI,

	registry.VoIPGRID:  openWebhook("/"+registry.VoIPGRID, voipgridMessage),
	registry.Yeastar:   openWebhook("/"+registry.Yeastar, yeastarMessage),
	registry.VOIPZeker: openWebhook("/"+registry.VOIPZeker, voipzekerMessage),
	registry.Webhook:   openWebhook("", plainMessage),
}

// Open makes the stand-in of a kind of phone. A client connects with Ready; a
// server listens from here on, until Close or the end of ctx.
func Open(ctx context.Context, kind string, o Options) (Softphone, error) {
	if open, ok := phones[kind]; ok {
		return open(ctx, o)
	}
	return nil, ErrProtocol
}

func openServer[S Server](start func(context.Context, string) (S, error)) opener {
	return func(ctx context.Context, o Options) (Softphone, error) {
		s, err := start(ctx, o.Listen)
		if err != nil {
			return nil, err // not a server that is nil
		}
		return s, nil
	}
}

func openExchange[S Server](start func(context.Context, string, Account) (S, error)) opener {
	return openServer(func(ctx context.Context, listen string) (S, error) { return start(ctx, listen, simulated) })
}

// socketPhone is a Phone that plays.
type socketPhone struct {
	port  int
	token string
	phone *Phone
}

func (s *socketPhone) Ready(ctx context.Context) (err error) {
	s.phone, err = Dial(ctx, s.port, s.token)
	return err
}

func (s *socketPhone) Tell(ctx context.Context, n Update) error {
	return s.phone.report(ctx, state(n), n.Reason.String(), n.Call)
}

func (s *socketPhone) Close() error {
	if s.phone == nil {
		return nil
	}
	return s.phone.Close()
}

// sender is a phone that neither connects nor listens: it tells, and that is all.
type sender func(context.Context, Update) error

func (sender) Ready(context.Context) error { return nil }

func (s sender) Tell(ctx context.Context, n Update) error { return s(ctx, n) }

func (sender) Close() error { return nil }
