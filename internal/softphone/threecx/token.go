package threecx

import (
	"context"
	"fmt"
	"net/http"
	"net/url"

	"wiebelt/internal/softphone/exchangelink"
	"wiebelt/internal/softphone/link"
)

func (p *phone) header() http.Header {
	return http.Header{"Authorization": {"Bearer " + p.token.ID}}
}

// login requests a token. It may run concurrently with the session's goroutine.
func (p *phone) login(ctx context.Context, _ exchangelink.Token) (exchangelink.Token, error) {
	secret, err := p.Account.Password(ctx, "API key for 3CX")
	if err != nil {
		return exchangelink.Token{}, err
	}
	var answer struct {
		Token   string  `json:"access_token"`
		Expires float64 `json:"expires_in"` // seconds
	}
	form := url.Values{"client_id": {p.Account.User}, "client_secret": {secret}, "grant_type": {"client_credentials"}}
	status, err := p.Server.Post(ctx, "/connect/token", nil, "application/x-www-form-urlencoded", []byte(form.Encode()), &answer)
	switch {
	case err != nil:
		return exchangelink.Token{}, err
	case status == http.StatusBadRequest || status == http.StatusUnauthorized || status == http.StatusForbidden:
		// 400 is the OAuth answer for a wrong client (invalid_client).
		return exchangelink.Token{}, &link.Refusal{Why: fmt.Sprintf("3CX does not accept the client id and API key (%d)", status), Cause: link.CauseDenied}
	case status != http.StatusOK:
		return exchangelink.Token{}, p.Server.Status(status)
	}
	return p.Server.Grant(answer.Token, "", exchangelink.Seconds(answer.Expires))
}
