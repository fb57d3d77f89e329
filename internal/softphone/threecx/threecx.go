package threecx

import (
	"context"
	"encoding/json"
	"fmt"
	"maps"
	"net/http"
	"net/url"
	"strconv"
	"time"

	"wiebelt/internal/core/call"
	"wiebelt/internal/softphone/exchangelink"
	"wiebelt/internal/softphone/link"
	"wiebelt/internal/softphone/registry"
)

type phone struct {
	*exchangelink.Phone
	minPollInterval time.Duration // interval between two snapshots after gaps; tests shorten it

	// These live as long as the link and belong to the session's goroutine.
	token exchangelink.LinkToken
	calls map[string]int64 // callid by participant (leg)
}

// New returns a phone for link.Run. The account's user is the client ID of the API client,
// its secret the API key. The error is for the administrator.
func New(a exchangelink.Account) (link.Phone, error) {
	p, err := a.Open(registry.ThreeCX)
	if err != nil {
		return nil, err
	}
	return &phone{Phone: p, minPollInterval: time.Second, calls: map[string]int64{}}, nil
}

type session struct {
	*phone
	r           *link.Reporter
	last        int64 // sequence number of the last event
	hasSequence bool  // there was one
	gaps        *exchangelink.PollScheduler
}

// Session processes events until the connection ends. It listens for events before it
// requests the extension, so that nothing is missed in between.
func (p *phone) Session(ctx context.Context, r *link.Reporter) error {
	s := &session{phone: p, r: r, gaps: exchangelink.NewPollScheduler(0, p.minPollInterval)}
	defer p.Server.CloseIdleConnections()
	if err := p.token.Begin(ctx, p.login); err != nil {
		return err
	}
	sock, status, err := p.Server.Dial(ctx, "/callcontrol/ws", p.header())
	switch {
	case err != nil:
		return err
	case sock == nil:
		return s.statusError(status)
	}
	defer sock.Close()
	if _, err := s.snapshot(ctx, true); err != nil {
		return err
	}
	r.Up()
	return s.run(ctx, sock)
}

// run processes a connection until it ends, with token renewal in parallel.
func (s *session) run(ctx context.Context, sock *exchangelink.Socket) error {
	renewed, stop := s.Server.Renew(ctx, s.token.Token, s.login)
	defer stop()
	for {
		select {
		case b, ok := <-sock.Messages():
			if !ok {
				return sock.Err()
			}
			if err := s.message(ctx, b); err != nil {
				return err
			}
		case <-s.gaps.C():
			changed, err := s.snapshot(ctx, false)
			if err != nil {
				return err
			}
			s.gaps.Polled(changed)
		case s.token.Token = <-renewed:
		}
	}
}

// statusError returns the error for an unexpected status.
func (s *session) statusError(status int) error {
	return s.token.HandleRefusal(s.Server, status, "3CX does not let this API client use call control for the extension")
}

func (s *session) get(ctx context.Context, path string, into any) (int, error) {
	return s.token.Ask(ctx, s.login, func() (int, error) { return s.Server.Get(ctx, path, s.header(), into) })
}

func path(extension string) string { return "/callcontrol/" + url.PathEscape(extension) }

// state is the exchange's data on one extension.
type state struct {
	Extension    string            `json:"dn"`
	Participants []json.RawMessage `json:"participants"`
}

// fetchCalls requests the calls of the extension, or of all that the client may see.
func (s *session) fetchCalls(ctx context.Context) (all []state, status int, err error) {
	if s.Account.HasExtension != nil {
		status, err = s.get(ctx, "/callcontrol", &all)
		return all, status, err
	}
	var one state
	status, err = s.get(ctx, path(s.Account.Extension), &one)
	one.Extension = s.Account.Extension // whatever the exchange says
	return []state{one}, status, err
}

// snapshot reports the current calls, and ends all others. anew means that nothing is known
// about the time before; changed is whether it reported anything new.
func (s *session) snapshot(ctx context.Context, anew bool) (changed bool, err error) {
	all, status, err := s.fetchCalls(ctx)
	switch {
	case err != nil:
		return false, err
	case status == http.StatusNotFound:
		return false, &link.Refusal{Why: "3CX does not know the extension, or not for this API client (404)", Cause: link.CauseExtension}
	case status != http.StatusOK:
		return false, s.statusError(status)
	}
	before := exchangelink.CallStates(s.r)
	there := map[string]bool{}
	for _, at := range all {
		if _, ours := s.Account.Follows(at.Extension); !ours {
			continue
		}
		exchangelink.DecodeEach(s.r, at.Participants, func(p participant) {
			if !p.belongsTo(at.Extension) {
				return
			}
			leg := s.leg(at.Extension, *p.ID)
			if anew && s.calls[leg] != p.Call {
				s.end(leg)
			}
			there[leg] = true
			s.reportParticipant(at.Extension, p)
		})
	}
	s.Legs.EndOthers(s.r, there)
	return !maps.Equal(exchangelink.CallStates(s.r), before), nil
}

// leg returns the key of a participant: numbers are per extension.
func (s *session) leg(extension string, id int64) string {
	leg := strconv.FormatInt(id, 10)
	if named, _ := s.Account.Follows(extension); named != "" {
		leg = named + "." + leg
	}
	return leg
}

func (s *session) end(leg string) {
	delete(s.calls, leg)
	s.Legs.End(s.r, leg, call.ReasonUnknown)
}

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
		Expires float64 `json:"expires_in"`
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
		return exchangelink.Token{}, p.Server.StatusError(status)
	}
	return p.Server.NewToken(answer.Token, "", lifetime(answer.Expires))
}

// lifetime returns a token's life as given by 3CX: in minutes, though OAuth counts seconds,
// unless it is too much for that.
func lifetime(n float64) time.Duration {
	if n >= 1 && n < 300 {
		n *= 60
	}
	return exchangelink.Lifetime(n)
}
