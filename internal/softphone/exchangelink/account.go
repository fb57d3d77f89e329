package exchangelink

import (
	"context"
	"errors"
	"fmt"
	"strings"

	"wiebelt/internal/softphone/link"
	"wiebelt/internal/softphone/registry"
)

// Account is where an exchange is found, who asks, and whose calls are reported.
type Account struct {
	// Address is that of the exchange, such as https://pbx.example:8089.
	Address string
	// User is the user, or the client id, that asks.
	User string
	// Secret gives the password, or key, anew each time that it is needed. It is
	// kept no longer than that.
	Secret func(context.Context) (string, error)
	// Extension is the one whose calls are reported, such as 101.
	Extension string
	Net       Options
}

// Phone is what every link to an exchange has.
type Phone struct {
	Account Account
	Server  *Server
	Legs    Legs // of the session's goroutine
	traits  link.Traits
}

// Traits is as link.Phone has it.
func (p *Phone) Traits() link.Traits { return p.traits }

// Open makes the way to the exchange of an account. The error is for the
// administrator.
func (a Account) Open(kind string) (*Phone, error) {
	server, err := a.open()
	if err != nil {
		return nil, fmt.Errorf("%s: %w", kind, err)
	}
	return &Phone{Account: a, Server: server, traits: link.Traits{Source: registry.Of(kind).CallSource(server.Host() + "/" + a.Extension)}}, nil
}

func (a Account) open() (*Server, error) {
	switch {
	case a.Extension == "":
		return nil, errors.New("an extension is needed: without one the calls of the whole exchange would be reported")
	case !Extension(a.Extension):
		return nil, errors.New("the extension is not one")
	case a.User == "" || strings.ContainsFunc(a.User, func(r rune) bool { return r == ':' || r < ' ' || r == 0x7f }):
		return nil, errors.New("a user name is needed, without a colon")
	case a.Secret == nil:
		return nil, errors.New("a secret is needed")
	}
	return New(a.Address, a.Net)
}

// Password gives the secret. what says in English what is missing if there is
// none.
func (a Account) Password(ctx context.Context, what string) (string, error) {
	secret, err := a.Secret(ctx)
	switch {
	case err != nil:
		return "", fmt.Errorf("the secret cannot be read: %w", err)
	case secret == "":
		return "", &link.Refusal{Why: "no " + what + " is stored", Cause: link.CauseNoSecret}
	}
	return secret, nil
}
