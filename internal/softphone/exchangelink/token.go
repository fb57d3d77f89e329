package exchangelink

import (
	"context"
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
func (t Token) Lives() bool { return t.ID != "" && time.Now().Round(0).Before(t.end) }

// Ended is the token for what has to name it still: it opens nothing any more.
func (t Token) Ended() Token {
	t.end = time.Time{}
	return t
}

// renewIn says when to renew, not before least has passed.
func (t Token) renewIn(least time.Duration) time.Duration {
	return max(time.Until(t.end)-t.life/3, least)
}

// Renew gives the tokens that follow t, each before the one before it ends, until stop
// is called. next gives the one after another. One that fails is
// tried again after least: the old token lives still, and its end closes the connection.
func Renew(ctx context.Context, t Token, least time.Duration, next func(context.Context, Token) (Token, error)) (renewed <-chan Token, stop func()) {
	ctx, cancel := context.WithCancel(ctx)
	out := make(chan Token)
	var task sync.WaitGroup
	task.Go(func() {
		for wake.Pause(ctx, t.renewIn(least)) == nil {
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
