package exchangelink

import (
	"context"
	"crypto/sha256"
	"encoding/hex"
	"errors"
	"fmt"
	"net/http"
	"os"
	"os/user"
	"strings"
	"sync"
	"time"

	"wiebelt/internal/core/wake"
	"wiebelt/internal/softphone/link"
	"wiebelt/internal/softphone/registry"
)

// Account is the exchange's address, the user to sign in as, and the extension to report.
type Account struct {
	// Address is the exchange's address, such as https://pbx.example:8089.
	Address string
	// User is the user name or client ID to sign in with.
	User string
	// Secret returns the password or key. It is called whenever one is needed;
	// the result is not kept.
	Secret func(context.Context) (string, error)
	// StoreSecret stores another secret in its place; nil if that is not possible.
	StoreSecret func(context.Context, string) error
	// Extension is the extension whose calls are reported, such as 101.
	Extension string
	// HasExtension, if set, reports whether an extension's calls are reported, and replaces
	// Extension. Events then name the extension. It is called for each event, on
	// the session's goroutine.
	HasExtension func(extension string) bool
	// Client is the name of a program that follows the exchange for a whole office. An
	// exchange that serves one program per name knows it by that; "" means a name for each
	// extension, user and computer.
	Client string
	Net    Options
}

// Phone is the common part of every link to an exchange.
type Phone struct {
	Account Account
	Server  *Server
	Legs    Legs // belongs to the session's goroutine
	traits  link.Traits
}

// Traits implements link.Phone.
func (p *Phone) Traits() link.Traits { return p.traits }

// Open prepares the connection to an account's exchange. The error is
// for the administrator.
func (a Account) Open(kind string) (*Phone, error) {
	server, err := New(a.Address, a.Net)
	switch {
	case a.HasExtension == nil && !ValidExtension(a.Extension):
		err = errors.New("an extension is needed: without one the calls of the whole exchange would be reported")
	case a.User == "" || strings.ContainsFunc(a.User, func(r rune) bool { return r == ':' || r < ' ' || r == 0x7f }):
		err = errors.New("a user name is needed, without a colon")
	case a.Secret == nil:
		err = errors.New("a secret is needed")
	case err == nil && a.HasExtension != nil && !registry.Of(kind).AllExtensions:
		err = errors.New("a link tells of one extension")
	}
	if err != nil {
		return nil, fmt.Errorf("%s: %w", kind, err)
	}
	return a.phone(kind, server), nil
}

// Inbound is like Open, for an exchange that has connected to us. It covers many extensions.
func (a Account) Inbound(kind string, sock *Socket) *Phone { return a.phone(kind, sock.server) }

func (a Account) phone(kind string, server *Server) *Phone {
	p := &Phone{Account: a, Server: server, Legs: Legs{many: a.HasExtension != nil},
		traits: link.Traits{Source: registry.Of(kind).CallSource(server.Host() + "/" + a.Extension), ManyExtensions: a.HasExtension != nil}}
	if a.Client != "" {
		p.traits.MaxWait = maxOfficeWait // one client per office costs the exchange nothing
	}
	return p
}

// maxOfficeWait is the longest pause between an office's attempts to
// connect to its exchange.
const maxOfficeWait = time.Second

// Follows reports whether an extension's calls are reported, and the extension
// that events name.
func (a Account) Follows(extension string) (named string, ok bool) {
	if a.HasExtension != nil {
		return extension, ValidExtension(extension) && a.HasExtension(extension)
	}
	return "", extension == a.Extension
}

// Password returns the secret. If there is none, what describes it in
// the error, in English.
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

// ClientName returns the name by which an exchange that serves one program per name
// knows this program: derived from Client, or else from extension, user and computer.
// It reveals none of them.
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

// Token gives temporary access to an exchange. The zero value gives none.
type Token struct {
	ID   string
	User string // its owner, if the exchange says
	// Renewal is used to request the next token, if it is not the token itself.
	Renewal string
	life    time.Duration // its lifetime when it was issued
	end     time.Time     // by this computer's clock, which continues during sleep
}

const maxLife = 24 * time.Hour // limit on a server's claim

// Lifetime returns a lifetime given by a server in seconds; half an hour if it gives none.
func Lifetime(n float64) time.Duration {
	if n <= 0 {
		return 30 * time.Minute
	}
	return time.Duration(min(n, maxLife.Seconds()) * float64(time.Second))
}

// NewToken returns a token issued now with the given lifetime. The server's data is checked.
func (s *Server) NewToken(id, user string, life time.Duration) (Token, error) {
	if !Sendable(id) {
		return Token{}, s.Failure("it gave no token that can be used", link.NoCause)
	}
	life = min(life, maxLife)
	return Token{ID: id, User: user, life: life, end: time.Now().Round(0).Add(life)}, nil
}

// Valid reports whether the token may be used for a new connection.
func (t Token) Valid() bool { return time.Now().Round(0).Before(t.end) }

// renewIn returns when to renew, after least at the earliest.
func (t Token) renewIn(least time.Duration) time.Duration {
	return max(time.Until(t.end)-t.life/3, least)
}

// TokenRenewer requests the token that follows old. On error it returns what is left of old.
type TokenRenewer func(ctx context.Context, old Token) (Token, error)

// LinkToken is a link's token. It lives as long as the link and belongs to the
// session's goroutine.
type LinkToken struct {
	Token
	Fresh bool // made in this session, and no request has succeeded with it yet
}

// Begin ensures that a session starts with a valid token.
func (h *LinkToken) Begin(ctx context.Context, next TokenRenewer) error {
	h.Fresh = false
	if h.Valid() {
		return nil
	}
	return h.make(ctx, next)
}

// Expire makes the token expired, for requests that still have to name it.
func (h *LinkToken) Expire() { h.end = time.Time{} }

func (h *LinkToken) make(ctx context.Context, next TokenRenewer) (err error) {
	h.Token, err = next(ctx, h.Token)
	h.Fresh = err == nil
	return err
}

// Ask sends a request, and repeats it with a new token if the old one was refused.
func (h *LinkToken) Ask(ctx context.Context, next TokenRenewer, request func() (status int, err error)) (int, error) {
	status, err := request()
	if err == nil && status == http.StatusUnauthorized && !h.Fresh {
		if err := h.make(ctx, next); err != nil {
			return 0, err
		}
		status, err = request()
	}
	if err == nil && status != http.StatusUnauthorized && status != http.StatusForbidden {
		h.Fresh = false // it worked, so a later refusal is due to its age
	}
	return status, err
}

// HandleRefusal returns the error for a status that rejects the
// token. A token that is not fresh may just be too old.
func (h *LinkToken) HandleRefusal(s *Server, status int, why string) error {
	if status == http.StatusUnauthorized || status == http.StatusForbidden {
		h.Token = Token{}
		if h.Fresh {
			return &link.Refusal{Why: fmt.Sprintf("%s (%d)", why, status), Cause: link.CauseRights}
		}
	}
	return s.StatusError(status)
}

// Renew delivers the tokens that follow t, each before the previous one ends, until stop is
// called. A failed renewal is retried after Options.Renewal: the old token is still valid,
// and its end closes the connection. If next fails with link.CauseEnded, renewed is closed:
// nothing more can be renewed.
func (s *Server) Renew(ctx context.Context, t Token, next TokenRenewer) (renewed <-chan Token, stop func()) {
	ctx, cancel := context.WithCancel(ctx)
	out := make(chan Token)
	var task sync.WaitGroup
	task.Go(func() {
		for wake.Pause(ctx, t.renewIn(s.opts.Renewal)) == nil {
			after, err := next(ctx, t)
			switch {
			case link.CauseOf(err) == link.CauseEnded:
				close(out)
				return
			case err != nil:
				continue
			}
			t = after
			select {
			case out <- t:
			case <-ctx.Done():
				return
			}
		}
	})
	return out, func() { cancel(); task.Wait() }
}
