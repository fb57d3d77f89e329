package exchangelink

import (
	"context"
	"crypto/sha256"
	"encoding/hex"
	"errors"
	"fmt"
	"os"
	"os/user"
	"strings"
	"time"

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
	// Keep keeps another secret in its place; nil where that cannot be.
	Keep func(context.Context, string) error
	// Extension is the one whose calls are reported, such as 101.
	Extension string
	// Hears, if set, says of each extension whether its calls are reported, in the
	// place of Extension. Events then name the extension. It is asked at each event,
	// on the session's goroutine.
	Hears func(extension string) bool
	// Client is the name of a program that hears the exchange for a whole office. An
	// exchange that serves one program for each name knows it by that; "" is a name for
	// each extension, user and computer.
	Client string
	Net    Options
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
	if a.Hears != nil && !registry.Of(kind).Everybody {
		return nil, fmt.Errorf("%s: a link tells of one extension", kind)
	}
	return a.phone(kind, server), nil
}

// Inbound is Open for an exchange that has connected by itself. It tells of many extensions.
func (a Account) Inbound(kind string, sock *Socket) *Phone { return a.phone(kind, sock.server) }

func (a Account) phone(kind string, server *Server) *Phone {
	p := &Phone{Account: a, Server: server, Legs: Legs{many: a.Hears != nil},
		traits: link.Traits{Source: registry.Of(kind).CallSource(server.Host() + "/" + a.Extension), ManyExtensions: a.Hears != nil}}
	if a.Client != "" {
		p.traits.MaxWait = maxOfficeWait // one for the whole office costs the exchange nothing
	}
	return p
}

// maxOfficeWait is how long it takes at most, before it is tried again, until an office
// hears its exchange.
const maxOfficeWait = time.Second

// Ours says whether the calls of an extension are reported, and as whose events name
// it.
func (a Account) Ours(extension string) (named string, ok bool) {
	if a.Hears != nil {
		return extension, Extension(extension) && a.Hears(extension)
	}
	return "", extension == a.Extension
}

func (a Account) open() (*Server, error) {
	switch {
	case a.Hears == nil && !Extension(a.Extension):
		return nil, errors.New("an extension is needed: without one the calls of the whole exchange would be reported")
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

// ClientName is the name under which an exchange knows a program, if it serves one for
// each name: that of Client, or else one for each extension, user and computer. It tells
// nothing of them.
func (a Account) ClientName() string {
	host, _ := os.Hostname()
	who := host + "\x00" + a.Extension
	if a.Client != "" {
		who = "\x00" + a.Client
	} else if u, err := user.Current(); err == nil {
		who += "\x00" + u.Uid + "\x00" + u.Username
	}
	sum := sha256.Sum256([]byte(who))
	return "wiebelt-" + hex.EncodeToString(sum[:6])
}
