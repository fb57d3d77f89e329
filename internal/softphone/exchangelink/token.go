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

// Token opens an exchange for a while. The zero value opens nothing.
type Token struct {
	ID   string
	User string // whose it is, where the exchange tells
	// Renewal is what the next one is asked for with, where that is another one.
	Renewal string
	life    time.Duration // that it had when it was made
	end     time.Time     // by this computer's clock, which stops for no sleep
}

const maxLife = 24 * time.Hour // what is believed of what a server says

// Seconds is a life that a server tells in seconds; where it does not, half an hour.
func Seconds(n float64) time.Duration {
	if n <= 0 {
		return 30 * time.Minute
	}
	return time.Duration(min(n, maxLife.Seconds()) * float64(time.Second))
}

// Grant is a token that was given out now and lives so long. What the server gave may be
// anything.
func (s *Server) Grant(id, user string, life time.Duration) (Token, error) {
	if !Sendable(id) {
		return Token{}, s.Failure("it gave no token that can be used", link.NoCause)
	}
	life = min(life, maxLife)
	return Token{ID: id, User: user, life: life, end: time.Now().Round(0).Add(life)}, nil
}

// Lives says whether the token may be used for a new connection.
func (t Token) Lives() bool { return time.Now().Round(0).Before(t.end) }

// Ended is the token for what has to name it still: it opens nothing any more.
func (t Token) Ended() Token {
	t.end = time.Time{}
	return t
}

// renewIn says when to renew, not before least has passed.
func (t Token) renewIn(least time.Duration) time.Duration {
	return max(time.Until(t.end)-t.life/3, least)
}

// Maker makes the token after an old one. With an error it gives what is left of that.
type Maker func(ctx context.Context, old Token) (Token, error)

// Held is the token of a link. It lives as long as the link and belongs to the session's
// goroutine.
type Held struct {
	Token
	Fresh bool // it was made since a request was last let in with it
}

// Begin sees to it that a session begins with a token that lives.
func (h *Held) Begin(ctx context.Context, next Maker) error {
	h.Fresh = false
	if h.Lives() {
		return nil
	}
	return h.make(ctx, next)
}

func (h *Held) make(ctx context.Context, next Maker) (err error) {
	h.Token, err = next(ctx, h.Token)
	h.Fresh = err == nil
	return err
}

// Ask makes a request, and once more with another token where it is too old.
func (h *Held) Ask(ctx context.Context, next Maker, request func() (status int, err error)) (int, error) {
	status, err := request()
	if err == nil && status == http.StatusUnauthorized && !h.Fresh {
		if err := h.make(ctx, next); err != nil {
			return 0, err
		}
		status, err = request()
	}
	if err == nil && status != http.StatusUnauthorized && status != http.StatusForbidden {
		h.Fresh = false // it was good, so a refusal later is of its age
	}
	return status, err
}

// Refused is the error for a status by which a server refuses a request with the token. One
// that was not made just now may simply be too old.
func (h *Held) Refused(s *Server, status int, why string) error {
	if status == http.StatusUnauthorized || status == http.StatusForbidden {
		h.Token = Token{}
		if h.Fresh {
			return &link.Refusal{Why: fmt.Sprintf("%s (%d)", why, status), Cause: link.CauseRights}
		}
	}
	return s.Status(status)
}

// Renew gives the tokens that follow t, each before the one before it ends, until stop
// is called. One that fails is tried again after Options.Renewal: the old token lives
// still, and its end closes the connection.
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
