package threecx

import (
	"context"
	"errors"
	"fmt"
	"net/http"
	"net/url"
	"time"

	"wiebelt/internal/softphone/link"
	"wiebelt/internal/softphone/wslink"
)

// token opens the exchange for a while.
type token struct {
	id   string
	life time.Duration // when it was made
	end  time.Time     // by this computer's clock, which stops for no sleep
}

// Life of a token: what is taken if the server does not tell, and what we believe
// of what it tells.
const (
	usualLife = 30 * time.Minute
	maxLife   = 24 * time.Hour
)

func (t token) lives() bool { return t.id != "" && time.Now().Round(0).Before(t.end) }

func (t token) header() http.Header { return http.Header{"Authorization": {"Bearer " + t.id}} }

// renewIn says when to renew, not before least has passed.
func (t token) renewIn(least time.Duration) time.Duration {
	return max(time.Until(t.end)-t.life/3, least)
}

// login gets a new token for the session.
func (s *session) login(ctx context.Context) error {
	s.token = token{}
	t, err := s.fetch(ctx)
	if err != nil {
		return err
	}
	s.token, s.fresh = t, true
	return nil
}

// fetch asks for a token. It is safe beside the session's goroutine.
func (p *phone) fetch(ctx context.Context) (token, error) {
	secret, err := p.account.Password(ctx, "API key for 3CX")
	if err != nil {
		return token{}, err
	}
	var answer struct {
		Token   string  `json:"access_token"`
		Expires float64 `json:"expires_in"` // seconds
	}
	form := url.Values{"client_id": {p.account.User}, "client_secret": {secret}, "grant_type": {"client_credentials"}}
	status, err := p.server.Post(ctx, "/connect/token", nil, "application/x-www-form-urlencoded", []byte(form.Encode()), &answer)
	switch {
	case err != nil:
		return token{}, err
	case status == http.StatusBadRequest || status == http.StatusUnauthorized || status == http.StatusForbidden:
		// 400 is what OAuth says of a wrong client (invalid_client).
		return token{}, &link.Refusal{Why: fmt.Sprintf("3CX does not accept the client id and API key (%d)", status), Cause: link.CauseDenied}
	case status != http.StatusOK:
		return token{}, p.server.Status(status)
	case !wslink.Token(answer.Token):
		return token{}, errors.New(p.server.Host() + ": it gave no token that can be used")
	}
	t := token{id: answer.Token, life: usualLife}
	if e := answer.Expires; e > 0 {
		t.life = time.Duration(min(e, maxLife.Seconds()) * float64(time.Second))
	}
	t.end = time.Now().Round(0).Add(t.life)
	return t, nil
}
