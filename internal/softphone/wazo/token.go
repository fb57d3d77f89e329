package wazo

import (
	"context"
	"errors"
	"fmt"
	"net/http"
	"time"

	"wiebelt/internal/softphone/link"
	"wiebelt/internal/softphone/wslink"
)

// token is a user's, of wazo-auth.
type token struct {
	id   string
	user string        // uuid, as it stands in calls
	life time.Duration // when it was made
	end  time.Time     // by this computer's clock, which stops for no sleep
}

// Life of a token: what we ask for, and what we believe of the answer.
const (
	askLife = 2 * time.Hour
	maxLife = 24 * time.Hour
)

// lives says whether the token may be used for a new connection.
func (t token) lives() bool { return t.id != "" && time.Now().Round(0).Before(t.end) }

// renewIn says when to renew, not before least has passed.
func (t token) renewIn(least time.Duration) time.Duration {
	return max(time.Until(t.end)-t.life/3, least)
}

// login makes a token of the user name and password. It is safe beside the
// session's goroutine.
func (p *phone) login(ctx context.Context) (token, error) {
	secret, err := p.account.Password(ctx, "password for Wazo")
	if err != nil {
		return token{}, err
	}
	var answer struct {
		Data struct {
			Token    string `json:"token"`
			Issued   string `json:"utc_issued_at"`
			Expires  string `json:"utc_expires_at"`
			User     string `json:"xivo_user_uuid"`
			Metadata struct {
				UUID string `json:"uuid"`
				User string `json:"pbx_user_uuid"`
			} `json:"metadata"`
		} `json:"data"`
	}
	body := fmt.Appendf(nil, `{"backend":"wazo_user","expiration":%d}`, int(askLife.Seconds()))
	status, err := p.server.Post(ctx, "/api/auth/0.1/token", wslink.Basic(p.account.User, secret), "application/json", body, &answer)
	switch {
	case err != nil:
		return token{}, err
	case status == http.StatusUnauthorized || status == http.StatusForbidden:
		return token{}, &link.Refusal{Why: fmt.Sprintf("Wazo does not accept the user name and password (%d)", status), Cause: link.CauseDenied}
	case status != http.StatusOK:
		return token{}, p.server.Status(status)
	}
	d := answer.Data
	t := token{id: d.Token, life: life(d.Issued, d.Expires)}
	for _, uuid := range []string{d.Metadata.User, d.User, d.Metadata.UUID} {
		if t.user == "" {
			t.user = uuid
		}
	}
	switch {
	case !wslink.Token(t.id):
		return token{}, errors.New(p.server.Host() + ": it gave no token that can be used")
	case t.user == "" || len(t.user) > 64:
		return token{}, &link.Refusal{Why: "this login of Wazo is not a telephone user's", Cause: link.CauseRights}
	}
	t.end = time.Now().Round(0).Add(t.life)
	return t, nil
}

// life is the time between two times of the server, or what we have asked for.
func life(issued, expires string) time.Duration {
	const layout = "2006-01-02T15:04:05" // a fraction of a second is read too
	from, err := time.Parse(layout, issued)
	to, err2 := time.Parse(layout, expires)
	d := to.Sub(from)
	if err != nil || err2 != nil || d <= 0 {
		d = askLife
	}
	return min(d, maxLife)
}
