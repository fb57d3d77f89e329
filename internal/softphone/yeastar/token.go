package yeastar

import (
	"context"
	"crypto/sha256"
	"net/http"
	"time"

	"wiebelt/internal/softphone/exchangelink"
	"wiebelt/internal/softphone/link"
)

const api = "/openapi/v1.0/"

// agent is the header required by every request.
var agent = http.Header{"User-Agent": {"OpenAPI"}}

// answer is the exchange's answer to a token request.
type answer struct {
	Code    int     `json:"errcode"`
	Token   string  `json:"access_token"`
	Life    float64 `json:"access_token_expire_time"` // in seconds
	Refresh string  `json:"refresh_token"`
}

// refusals counts consecutive refusals of one secret.
type refusals struct {
	secret [sha256.Size]byte
	n      int
	last   time.Time
}

// How often a refused secret is tried.
const (
	mostRefusals = 3
	refusedFor   = 30 * time.Minute
)

var errRefused = &link.Refusal{Why: "the exchange does not accept the client id and secret", Cause: link.CauseDenied}

// login requests a token with client ID and secret. Like renew, it may run
// concurrently with the session's goroutine; only one of the two runs at a time.
func (p *phone) login(ctx context.Context) (exchangelink.Token, error) {
	secret, err := p.Account.Password(ctx, "client secret for Yeastar")
	if err != nil {
		return exchangelink.Token{}, err
	}
	is := sha256.Sum256([]byte(secret))
	if p.refused.secret == is && p.refused.n >= mostRefusals && time.Since(p.refused.last) < refusedFor {
		return exchangelink.Token{}, errRefused
	}
	t, code, err := p.ask(ctx, "get_token", map[string]string{"username": p.Account.User, "password": secret})
	switch {
	case err != nil:
		return t, err
	case code == 0:
		p.refused = refusals{}
		return t, nil
	case p.refused.secret != is:
		p.refused = refusals{secret: is}
	}
	p.refused.n++
	p.refused.last = time.Now()
	return t, errRefused
}

// renew exchanges a token for another, or requests a new one.
func (p *phone) renew(ctx context.Context, t exchangelink.Token) (exchangelink.Token, error) {
	if t.Renewal != p.usedRenewal {
		next, code, err := p.ask(ctx, "refresh_token", map[string]string{"refresh_token": t.Renewal})
		switch {
		case err != nil:
			return t, err
		case code == 0:
			return next, nil
		}
		p.usedRenewal = t.Renewal
	}
	next, err := p.login(ctx)
	if err != nil {
		return t, err
	}
	return next, nil
}

// ask requests a token. A code other than 0 is a refusal.
func (p *phone) ask(ctx context.Context, path string, with map[string]string) (t exchangelink.Token, code int, err error) {
	var a answer
	status, err := p.Server.Post(ctx, api+path, agent, "application/json", exchangelink.JSON(with), &a)
	switch {
	case err != nil:
		return t, 0, err
	case status == http.StatusUnauthorized || status == http.StatusForbidden:
		return t, status, nil
	case status != http.StatusOK:
		return t, 0, p.Server.Status(status)
	case a.Code != 0:
		return t, a.Code, nil
	}
	if t, err = p.Server.Grant(a.Token, "", exchangelink.Seconds(a.Life)); exchangelink.Sendable(a.Refresh) {
		t.Renewal = a.Refresh
	}
	return t, 0, err
}

// releaseToken returns the token to the exchange.
func (p *phone) releaseToken(ctx context.Context) {
	ctx, cancel := context.WithTimeout(context.WithoutCancel(ctx), time.Second)
	defer cancel()
	_, _ = p.Server.Get(ctx, p.path("del_token"), agent, &answer{})
	p.token.Token = exchangelink.Token{}
}

func (p *phone) path(of string) string {
	return api + of + exchangelink.Query("access_token", p.token.ID)
}
