package yeastar

import (
	"context"
	"crypto/sha256"
	"encoding/json"
	"errors"
	"net/http"
	"net/url"
	"time"

	"wiebelt/internal/core/call"
	"wiebelt/internal/softphone/exchangelink"
	"wiebelt/internal/softphone/link"
	"wiebelt/internal/softphone/registry"
	"wiebelt/internal/softphone/webhook"
)

type phone struct {
	*exchangelink.Phone
	heartbeatInterval time.Duration // interval between heartbeats; tests shorten it

	// These live as long as the link and belong to the session's goroutine, or to the one
	// that renews the token while it runs.
	token       exchangelink.LinkToken
	usedRenewal string // the renewal token that no longer works
	refused     refusals
	calls       map[string]map[string]bool // extensions that have a call, by its ID
}

// greetTime limits how long the answer to the subscription may take.
const greetTime = 10 * time.Second

// mostCalls limits the calls remembered, in case their end is never reported.
const mostCalls = 4096

// New returns a phone for link.Run. The account's user is the client ID of the exchange's
// API, its secret the client secret. The error is for the administrator.
func New(a exchangelink.Account) (link.Phone, error) {
	p, err := a.Open(registry.YeastarSocket)
	if err != nil {
		return nil, err
	}
	return &phone{Phone: p, heartbeatInterval: 20 * time.Second, calls: map[string]map[string]bool{}}, nil
}

// topics are the events about calls: changed, ended, transferred.
const topics = `{"topic_list":[30011,30012,30013]}`

type session struct {
	*phone
	r     *link.Reporter
	sock  *exchangelink.Socket
	ready bool // it is subscribed
}

// errTokenRejected reports a token that is no longer accepted. It may have been withdrawn.
var errTokenRejected = &link.Failure{Why: "the exchange accepts the token no more", Cause: link.CauseUnavailable}

// Session processes events until the connection ends. If the token is too old,
// it reconnects at once.
func (p *phone) Session(ctx context.Context, r *link.Reporter) error {
	defer p.Server.CloseIdleConnections()
	err := p.runConnection(ctx, r)
	if errors.Is(err, errTokenRejected) {
		err = p.runConnection(ctx, r)
	}
	return err
}

func (p *phone) runConnection(ctx context.Context, r *link.Reporter) error {
	s := &session{phone: p, r: r}
	if err := p.token.Begin(ctx, p.renew); err != nil {
		return err
	}
	sock, status, err := p.Server.Dial(ctx, p.path("subscribe"), agent)
	switch {
	case exchangelink.Unreadable(err) && !s.token.Fresh: // a code, with status 200
		return s.handleRefusal(http.StatusForbidden)
	case err != nil:
		return err
	case sock == nil:
		return s.handleRefusal(status)
	}
	defer func() {
		if ctx.Err() != nil { // the link is ending
			p.releaseToken(ctx)
		}
	}()
	defer sock.Close()
	s.sock = sock
	_ = sock.Send([]byte(topics)) // if it fails, no answer comes
	return s.run(ctx)
}

// run processes a connection until it ends, with token renewal in parallel.
func (s *session) run(ctx context.Context) error {
	renewed, stop := s.Server.Renew(ctx, s.token.Token, s.renew)
	defer stop()
	greeting, beat := time.After(greetTime), time.Tick(s.heartbeatInterval)
	for {
		select {
		case b, ok := <-s.sock.Messages():
			if !ok {
				if !s.ready && !s.token.Fresh {
					s.token.Expire() // it may be too old
				}
				return s.sock.Err()
			}
			if err := s.message(ctx, b); err != nil {
				return err
			}
		case <-beat:
			if err := s.sock.Send([]byte("heartbeat")); err != nil {
				return err
			}
		case <-greeting:
			if !s.ready {
				return s.Server.Failure("the subscription is not answered in time", link.NoCause)
			}
		case s.token.Token = <-renewed:
		}
	}
}

// handleRefusal returns the error for a refused token. One that is
// not fresh may just be too old or withdrawn.
func (s *session) handleRefusal(status int) error {
	s.token.Expire()
	switch {
	case status >= 500 || status == http.StatusTooManyRequests:
		return s.Server.StatusError(status)
	case !s.token.Fresh:
		return errTokenRejected
	}
	return &link.Refusal{Why: "the exchange does not let this client listen to its events", Cause: link.CauseRights}
}

// message processes an answer or an event.
func (s *session) message(ctx context.Context, b []byte) error {
	if string(b) == "heartbeat response" {
		return nil
	}
	var said struct {
		Code *int `json:"errcode"`
	}
	if !s.r.Decode(b, &said) {
		return nil
	}
	switch {
	case said.Code == nil:
		s.parseReports(b)
	case *said.Code != 0:
		return s.handleRefusal(http.StatusForbidden)
	case !s.ready:
		s.ready = true
		if err := s.snapshot(ctx); err != nil {
			return err
		}
		s.r.Up()
	}
	return nil
}

// noCalls is the code for an empty result.
const noCalls = 60001

// snapshot reports the current calls, and ends all others.
func (s *session) snapshot(ctx context.Context) error {
	var a struct {
		Code int               `json:"errcode"`
		Data []json.RawMessage `json:"data"`
	}
	status, err := s.Server.Get(ctx, s.path("call/query"), agent, &a)
	refused := status == http.StatusUnauthorized || status == http.StatusForbidden || a.Code != 0 && a.Code != noCalls
	switch {
	case err != nil:
		return err
	case refused && s.token.Fresh:
		return nil // it lacks the right
	case refused:
		return s.handleRefusal(http.StatusForbidden)
	case status != http.StatusOK:
		return s.Server.StatusError(status)
	}
	there := map[string]map[string]bool{}
	for _, one := range a.Data {
		for _, r := range s.parseReports(exchangelink.EncodeJSON(map[string]any{"type": 30011, "msg": one})) {
			if r.State == call.Ended {
				continue
			}
			if there[r.ID] == nil {
				there[r.ID] = map[string]bool{}
			}
			for _, at := range r.Extensions {
				there[r.ID][at] = true
			}
		}
	}
	for id, at := range s.calls {
		over := webhook.Report{Event: call.Event{ID: id, State: call.Ended}}
		if there[id] == nil {
			s.report(over)
			continue
		}
		for extension := range at {
			if !there[id][extension] {
				over.Extensions = []string{extension}
				s.report(over)
			}
		}
	}
	return nil
}

// parseReports reads an event and reports what concerns us.
func (s *session) parseReports(b []byte) []webhook.Report {
	read, _ := webhook.Of(registry.Yeastar)
	all, err := read(webhook.Message{Body: b})
	if err != nil {
		s.r.Unreadable(len(b))
	}
	for _, r := range all {
		s.report(r)
	}
	return all
}

// report reports the state of a call at an extension; an end without extensions is for all.
func (s *session) report(r webhook.Report) {
	if r.Empty() && r.State == call.Ended {
		if s.calls[r.ID] != nil {
			delete(s.calls, r.ID)
			s.r.Forward(r.Event)
		}
		return
	}
	for _, extension := range r.Extensions {
		named, ours := s.Account.Follows(extension)
		known := s.calls[r.ID][extension]
		switch {
		case !ours || r.State == call.Ended && !known:
			continue
		case r.State == call.Ended:
			if delete(s.calls[r.ID], extension); len(s.calls[r.ID]) == 0 && named == "" {
				delete(s.calls, r.ID)
			}
		case known:
		case s.calls[r.ID] != nil:
			s.calls[r.ID][extension] = true
		case len(s.calls) < mostCalls:
			s.calls[r.ID] = map[string]bool{extension: true}
		}
		r.Event.Extension = named
		s.r.Forward(r.Event)
	}
}

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

// loginError returns the error for a code that says nothing of the secret, nil for others.
func loginError(code int) error {
	switch code {
	case -2, 70082: // an internal error; overloaded
		return &link.Refusal{Why: "the exchange cannot let anybody in at the moment", Cause: link.CauseUnavailable}
	case 60002:
		return &link.Refusal{Why: "the exchange has given this client all the tokens it may have", Cause: link.CauseUnavailable}
	case 10001, 10002, 10003:
		return &link.Refusal{Why: "the exchange has another version of its API", Cause: link.CauseVersion}
	}
	return nil
}

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
	if err == nil {
		err = loginError(code)
	}
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
	status, err := p.Server.Post(ctx, api+path, agent, "application/json", exchangelink.EncodeJSON(with), &a)
	switch {
	case err != nil:
		return t, 0, err
	case status == http.StatusUnauthorized || status == http.StatusForbidden:
		return t, status, nil
	case status != http.StatusOK:
		return t, 0, p.Server.StatusError(status)
	case a.Code != 0:
		return t, a.Code, nil
	}
	if t, err = p.Server.NewToken(a.Token, "", exchangelink.Lifetime(a.Life)); exchangelink.Sendable(a.Refresh) {
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
	return api + of + "?access_token=" + url.QueryEscape(p.token.ID)
}
