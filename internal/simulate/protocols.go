package simulate

import (
	"context"
	"errors"
	"io"

	"wiebelt/internal/core/call"
	"wiebelt/internal/softphone/registry"
)

// Account holds the user, secret and extension at an exchange.
type Account struct{ User, Secret, Extension string }

// extensionNumber is the extension of every simulated phone.
const extensionNumber = "115"

// defaultAccount is the account of an exchange for which none was given. It protects nothing,
// and a constant secret only has to be stored once.
var defaultAccount = Account{User: "simulate", Secret: "simulate", Extension: extensionNumber}

// Options holds what the protocols need.
type Options struct {
	// Port and the tokens belong to the listener (the tokens of its WebSocket and its
	// addresses) or to a relay's web server (the secret in its addresses).
	Port             int
	Token, PathToken string
	// Exe is our own program, to be run; Profile is the value of --profile, "" for none.
	Exe, Profile string
	// Listen is where a server listens: a literal loopback address with its port or, for
	// "linphone", the path of a socket; "" picks a free one.
	Listen string
	// ProgramOutput receives the messages of a program; nil discards them.
	ProgramOutput io.Writer
}

// Address is where a server listens and the credentials it accepts, as needed
// in our link's settings.
type Address struct {
	Ready     bool   `json:"ready"`
	Protocol  string `json:"over"`
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

// ErrProtocol means that no kind has that name.
var ErrProtocol = errors.New("no such protocol")

type opener = func(context.Context, Options) (Softphone, error)

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
	registry.Twinkle: openProgram(twinkleCommand),

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

// Open makes the stand-in for a kind of phone. A client connects in Ready; a server listens
// from now on, until Close or the end of ctx.
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
			return nil, err // not a nil server in an interface
		}
		return s, nil
	}
}

func openExchange[S Server](start func(context.Context, string, Account) (S, error)) opener {
	return openServer(func(ctx context.Context, listen string) (S, error) { return start(ctx, listen, defaultAccount) })
}

type socketPhone struct {
	port  int
	token string
	phone *Phone
}

func (s *socketPhone) Ready(ctx context.Context) (err error) {
	s.phone, err = Dial(ctx, s.port, s.token)
	return err
}

func (s *socketPhone) SendUpdate(ctx context.Context, n Update) error {
	return s.phone.report(ctx, state(n), n.Reason.String(), n.Call)
}

func (s *socketPhone) Close() error {
	if s.phone == nil {
		return nil
	}
	return s.phone.Close()
}

// sender is a phone that neither connects nor listens, but only sends.
type sender func(context.Context, Update) error

func (sender) Ready(context.Context) error { return nil }

func (s sender) SendUpdate(ctx context.Context, n Update) error { return s(ctx, n) }

func (sender) Close() error { return nil }
