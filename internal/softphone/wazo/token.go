package wazo

import (
	"cmp"
	"context"
	"fmt"
	"net/http"
	"time"

	"wiebelt/internal/softphone/exchangelink"
	"wiebelt/internal/softphone/link"
)

// askLife is the requested lifetime of a token.
const askLife = 2 * time.Hour

// login requests a token with user name and password. It may run concurrently with
// the session's goroutine.
func (p *phone) login(ctx context.Context, _ exchangelink.Token) (exchangelink.Token, error) {
	secret, err := p.Account.Password(ctx, "password for Wazo")
	if err != nil {
		return exchangelink.Token{}, err
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
	status, err := p.Server.Post(ctx, "/api/auth/0.1/token", exchangelink.Basic(p.Account.User, secret), "application/json", body, &answer)
	switch {
	case err != nil:
		return exchangelink.Token{}, err
	case status == http.StatusUnauthorized || status == http.StatusForbidden:
		return exchangelink.Token{}, &link.Refusal{Why: fmt.Sprintf("Wazo does not accept the user name and password (%d)", status), Cause: link.CauseDenied}
	case status != http.StatusOK:
		return exchangelink.Token{}, p.Server.Status(status)
	}
	d := answer.Data
	t, err := p.Server.Grant(d.Token, cmp.Or(d.Metadata.User, d.User, d.Metadata.UUID), life(d.Issued, d.Expires))
	if err == nil && (t.User == "" || len(t.User) > 64) {
		return exchangelink.Token{}, &link.Refusal{Why: "this login of Wazo is not a telephone user's", Cause: link.CauseRights}
	}
	return t, err
}

// life returns the time between two of the server's times, or else the requested lifetime.
func life(issued, expires string) time.Duration {
	const layout = "2006-01-02T15:04:05" // fractions of a second are accepted too
	from, err := time.Parse(layout, issued)
	to, err2 := time.Parse(layout, expires)
	d := to.Sub(from)
	if err != nil || err2 != nil || d <= 0 {
		return askLife
	}
	return d
}
