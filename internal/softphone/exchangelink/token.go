package exchangelink

import (
	"context"
	"sync"
	"time"
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

// NewToken is a token that was given out now and lives so long.
func NewToken(id, user string, life time.Duration) Token {
	life = min(life, maxLife)
	return Token{ID: id, User: user, life: life, end: time.Now().Round(0).Add(life)}
}

// Lives says whether the token may be used for a new connection.
func (t Token) Lives() bool { return t.ID != "" && time.Now().Round(0).Before(t.end) }

// renewIn says when to renew, not before least has passed.
func (t Token) renewIn(least time.Duration) time.Duration {
	return max(time.Until(t.end)-t.life/3, least)
}

// Renew gives the tokens that follow t, each before the one before it ends, until
// ctx does; wait waits for that. A login that fails is tried again after least: the
// old token lives still, and its end closes the connection.
func Renew(ctx context.Context, t Token, least time.Duration, login func(context.Context) (Token, error)) (renewed <-chan Token, wait func()) {
	out := make(chan Token)
	var task sync.WaitGroup
	task.Go(func() {
		for {
			timer := time.NewTimer(t.renewIn(least))
			select {
			case <-ctx.Done():
				timer.Stop()
				return
			case <-timer.C:
			}
			next, err := login(ctx)
			if err != nil {
				continue
			}
			t = next
			select {
			case out <- t:
			case <-ctx.Done():
				return
			}
		}
	})
	return out, task.Wait
}
