package exchangelink

import (
	"context"
	"fmt"
	"net/http"
	"sync"
	"time"

	"wiebelt/internal/core/wake"
	"wiebelt/internal/softphone/link"
)

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

// Seconds returns a lifetime given by a server in seconds; half an hour if it gives none.
func Seconds(n float64) time.Duration {
	if n <= 0 {
		return 30 * time.Minute
	}
	return time.Duration(min(n, maxLife.Seconds()) * float64(time.Second))
}

// Grant returns a token issued now with the given lifetime. The server's data is checked.
func (s *Server) Grant(id, user string, life time.Duration) (Token, error) {
	if !Sendable(id) {
		return Token{}, s.Failure("it gave no token that can be used", link.NoCause)
	}
	life = min(life, maxLife)
	return Token{ID: id, User: user, life: life, end: time.Now().Round(0).Add(life)}, nil
}

// Valid reports whether the token may be used for a new connection.
func (t Token) Valid() bool { return time.Now().Round(0).Before(t.end) }

// Expired returns the token as expired, for requests that still have to name it.
func (t Token) Expired() Token {
	t.end = time.Time{}
	return t
}

// renewIn returns when to renew, after least at the earliest.
func (t Token) renewIn(least time.Duration) time.Duration {
	return max(time.Until(t.end)-t.life/3, least)
}

// Maker requests the token that follows old. On error it returns what is left of old.
type Maker func(ctx context.Context, old Token) (Token, error)

// HeldToken is a link's token. It lives as long as the link and belongs to the
// session's goroutine.
type HeldToken struct {
	Token
	Fresh bool // made in this session, and no request has succeeded with it yet
}

// Begin ensures that a session starts with a valid token.
func (h *HeldToken) Begin(ctx context.Context, next Maker) error {
	h.Fresh = false
	if h.Valid() {
		return nil
	}
	return h.make(ctx, next)
}

func (h *HeldToken) make(ctx context.Context, next Maker) (err error) {
	h.Token, err = next(ctx, h.Token)
	h.Fresh = err == nil
	return err
}

// Ask sends a request, and repeats it with a new token if the old one was refused.
func (h *HeldToken) Ask(ctx context.Context, next Maker, request func() (status int, err error)) (int, error) {
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

// Refused returns the error for a status that rejects the
// token. A token that is not fresh may just be too old.
func (h *HeldToken) Refused(s *Server, status int, why string) error {
	if status == http.StatusUnauthorized || status == http.StatusForbidden {
		h.Token = Token{}
		if h.Fresh {
			return &link.Refusal{Why: fmt.Sprintf("%s (%d)", why, status), Cause: link.CauseRights}
		}
	}
	return s.Status(status)
}

// Renew delivers the tokens that follow t, each before the previous one ends, until stop is
// called. A failed renewal is retried after Options.Renewal: the old token is still valid,
// and its end closes the connection.
func (s *Server) Renew(ctx context.Context, t Token, next Maker) (renewed <-chan Token, stop func()) {
	ctx, cancel := context.WithCancel(ctx)
	out := make(chan Token)
	var task sync.WaitGroup
	task.Go(func() {
		for wake.Pause(ctx, t.renewIn(s.opts.Renewal)) == nil {
			after, err := next(ctx, t)
			if err != nil {
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
