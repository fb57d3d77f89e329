package ari

import (
	"context"
	"encoding/json"
	"net/http"
	"net/url"
	"strings"
	"time"

	"wiebelt/internal/softphone/exchangelink"
	"wiebelt/internal/softphone/link"
	"wiebelt/internal/softphone/registry"
)

type phone struct {
	*exchangelink.Phone
	app             string
	callerPrivacy   map[string]privacy // by our channel's ID: whether its number is withheld
	withheldNumbers map[string]string  // by another channel's ID: a number that is withheld
}

type privacy struct {
	number   string
	withheld bool
}

// New returns a phone for link.Run. The address may include Asterisk's prefix; a
// trailing "/ari" is optional. The extension is the name of an endpoint. The error
// is for the administrator.
func New(a exchangelink.Account) (link.Phone, error) {
	a.Address = strings.TrimSuffix(strings.TrimRight(strings.TrimSpace(a.Address), "/"), "/ari")
	p, err := a.Open(registry.ARI)
	if err != nil {
		return nil, err
	}
	return &phone{Phone: p, app: a.ClientName(), callerPrivacy: map[string]privacy{}, withheldNumbers: map[string]string{}}, nil
}

// Session processes events until the connection ends. It listens for events before it
// requests the current channels, so that nothing is missed in between.
func (p *phone) Session(ctx context.Context, r *link.Reporter) error {
	secret, err := p.Account.Password(ctx, "password of ARI")
	if err != nil {
		return err
	}
	h := exchangelink.Basic(p.Account.User, secret)
	defer p.Server.CloseIdleConnections()
	sock, status, err := p.Server.Dial(ctx, "/ari/events?"+url.Values{"app": {p.app}, "subscribeAll": {"true"}}.Encode(), h, "ari")
	switch {
	case err != nil:
		return err
	case sock == nil:
		return p.statusError(status)
	}
	defer sock.Close()
	s := &session{phone: p, r: r, get: func(ctx context.Context, path string, into any) (int, error) {
		return p.Server.Get(ctx, "/ari/"+path, h, into)
	}}
	if err := s.snapshot(ctx); err != nil {
		return err
	}
	r.Up()
	for b := range sock.Messages() {
		if err := s.message(ctx, b); err != nil {
			return err
		}
	}
	return sock.Err()
}

func (p *phone) statusError(status int) error {
	return p.Server.AccessError(status, "Asterisk does not accept the user name and password of ARI",
		"Asterisk does not let this user of ARI in from this computer")
}

type session struct {
	*phone
	r *link.Reporter
	// get sends a request. Its path omits the leading "/ari/".
	get func(ctx context.Context, path string, into any) (status int, err error)
}

func (s *session) snapshot(ctx context.Context) error {
	all, err := s.channels(ctx)
	if err == nil {
		s.report(ctx, all)
	}
	return err
}

func (s *session) channels(ctx context.Context) (all []json.RawMessage, err error) {
	status, err := s.get(ctx, "channels", &all)
	if err == nil && status != http.StatusOK {
		err = s.statusError(status)
	}
	return all, err
}

func (s *session) report(ctx context.Context, all []json.RawMessage) {
	clear(s.withheldNumbers)
	there := map[string]bool{}
	exchangelink.DecodeEach(s.r, all, func(c channel) {
		there[c.ID] = true
		s.reportChannel(ctx, c, false)
	})
	s.Legs.EndOthers(s.r, there)
}

// askTime limits how long a ring waits for an answer about its caller.
const askTime = time.Second

// variable queries a dialplan function on a channel. A function that cannot be read is "";
// if there is no answer at all, or the channel is gone, ok is false.
func (s *session) variable(ctx context.Context, id, name string) (value string, ok bool) {
	ctx, cancel := context.WithTimeout(ctx, askTime)
	defer cancel()
	var answer struct {
		Value string `json:"value"`
	}
	status, err := s.get(ctx, "channels/"+url.PathEscape(id)+"/variable?"+url.Values{"variable": {name}}.Encode(), &answer)
	if err != nil {
		return "", false
	}
	if status == http.StatusNotFound { // the function or the channel
		there, _ := s.get(ctx, "channels/"+url.PathEscape(id), &struct{}{})
		return "", there == http.StatusOK
	}
	return answer.Value, true
}
