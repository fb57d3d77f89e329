package xelion

import (
	"context"
	"crypto/rand"
	"encoding/json"
	"fmt"
	"net/http"
	"time"

	"wiebelt/internal/softphone/exchangelink"
	"wiebelt/internal/softphone/link"
	"wiebelt/internal/softphone/webhook"
)

// usualLife is the longest life of a session: the server gives its end without a time zone,
// and Dutch time looks an hour or two later.
const usualLife = 10 * time.Minute

func header(t exchangelink.Token) http.Header {
	return http.Header{"Authorization": {"xelion " + t.ID}}
}

func (p *phone) header() http.Header { return header(p.token.Token) }

const codeTaken = "10005" // the user is already in the user space

// loginCodes has what the server's other codes for a failed login mean.
var loginCodes = map[string]link.Refusal{
	"10006": {Why: "has disabled the user", Cause: link.CauseDenied},
	"10007": {Why: "says that the password has expired", Cause: link.CauseDenied},
	"10008": {Why: "has another version of its API", Cause: link.CauseVersion},
	"10009": {Why: "cannot log anybody in at the moment", Cause: link.CauseUnavailable},
	"10012": {Why: "asks this user for a second factor", Cause: link.CauseRights},
	"10013": {Why: "asks this user for a second factor", Cause: link.CauseRights},
	"10100": {Why: "has another version of its API", Cause: link.CauseVersion}, // no such resource
}

// login opens a session with user name and password. An old one ends.
func (p *phone) login(ctx context.Context, old exchangelink.Token) (exchangelink.Token, error) {
	defer func() { p.began = time.Now() }()
	secret, err := p.Account.Password(ctx, "password for Xelion")
	if err != nil {
		return exchangelink.Token{}, err
	}
	h := http.Header{}
	if old.ID != "" {
		h = header(old)
	}
	h.Set("Content-Type", "application/json")
	usual := p.Account.ClientName()
	for _, space := range []string{usual, usual + "-" + rand.Text()[:8]} {
		body := exchangelink.EncodeJSON(map[string]string{"userName": p.Account.User, "password": secret, "userSpace": space,
			"clientId": "wiebelt"})
		b, status, err := p.Server.Ask(ctx, http.MethodPost, "/me/login", h, body)
		if err != nil {
			return exchangelink.Token{}, err
		}
		var answer webhook.Document
		_ = json.Unmarshal(b, &answer) // an unreadable one has neither token nor code
		switch {
		case status == http.StatusOK:
			return p.parseToken(answer)
		case answer.First("errorCode") != codeTaken:
			return exchangelink.Token{}, p.loginError(status, answer.First("errorCode"))
		}
	}
	return exchangelink.Token{}, &link.Refusal{Why: "Xelion has this user logged in elsewhere", Cause: link.CauseReplaced}
}

// loginError returns the error for why there is no session.
func (p *phone) loginError(status int, code string) error {
	r, known := loginCodes[code]
	switch {
	case known:
	case status == http.StatusForbidden:
		r = link.Refusal{Why: "does not let this user use its API", Cause: link.CauseRights}
	case status == http.StatusBadRequest, status == http.StatusUnauthorized:
		r = link.Refusal{Why: "does not accept the user name and password", Cause: link.CauseDenied}
	default:
		return p.Server.StatusError(status)
	}
	return &link.Refusal{Why: fmt.Sprintf("Xelion %s (%d)", r.Why, status), Cause: r.Cause}
}

func (p *phone) parseToken(answer webhook.Document) (exchangelink.Token, error) {
	life := p.life
	if until, err := time.Parse(time.DateTime, answer.First("validUntil")); err == nil && time.Until(until) > time.Minute {
		life = min(life, time.Until(until))
	}
	t, err := p.Server.NewToken(answer.First("authentication"), "", life)
	if renewal := answer.First("renewalToken"); exchangelink.Sendable(renewal) {
		t.Renewal = renewal
	}
	return t, err
}

// renew returns the token that follows t in the same session.
// It may run concurrently with the session's goroutine.
func (p *phone) renew(ctx context.Context, t exchangelink.Token) (exchangelink.Token, error) {
	var answer webhook.Document
	status, err := p.Server.Post(ctx, "/me/renew", header(t), "application/json", exchangelink.EncodeJSON(t.Renewal), &answer)
	switch {
	case err != nil:
		return exchangelink.Token{}, err
	case status == http.StatusOK:
		return p.parseToken(answer)
	case status == http.StatusTooManyRequests, status >= http.StatusInternalServerError:
		return exchangelink.Token{}, p.Server.StatusError(status)
	}
	return exchangelink.Token{}, p.sessionEndedError()
}
