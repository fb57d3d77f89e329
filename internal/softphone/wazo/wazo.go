package wazo

import (
	"cmp"
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"net/http"
	"net/url"
	"time"

	"wiebelt/internal/softphone/exchangelink"
	"wiebelt/internal/softphone/link"
	"wiebelt/internal/softphone/registry"
)

type phone struct {
	*exchangelink.Phone
	events       []source      // where the socket may be
	greetTimeout time.Duration // limit of the greeting; tests shorten it

	// These live as long as the link and belong to the session's goroutine.
	token         exchangelink.LinkToken
	conversations map[string]string      // conversation_id by call_id
	endedCalls    exchangelink.RecentIDs // call_ids of ended calls
}

type source struct {
	server *exchangelink.Server
	path   string
}

// New returns a phone for link.Run. The error is for the administrator. The events are at
// the address itself or, on an older Wazo, at port 9502 of its host.
func New(a exchangelink.Account) (link.Phone, error) {
	p, err := a.Open(registry.Wazo)
	if err != nil {
		return nil, err
	}
	old, err := p.Server.Sibling("9502")
	if err != nil {
		return nil, fmt.Errorf("wazo: %w", err)
	}
	return &phone{Phone: p, greetTimeout: 15 * time.Second, conversations: map[string]string{},
		events: []source{{p.Server, "/api/websocketd/"}, {old, "/"}}}, nil
}

var eventNames = [...]string{"call_created", "call_updated", "call_answered", "call_ended"}

type session struct {
	*phone
	r               *link.Reporter
	sock            *exchangelink.Socket
	lines           map[int]bool // with the extension; nil: unknown
	eventsRequested bool         // events were requested
	ready           bool         // the server sends them
}

// Session processes events until the connection ends. It listens for events before it
// requests the current calls, so that nothing is missed in between.
func (p *phone) Session(ctx context.Context, r *link.Reporter) error {
	s := &session{phone: p, r: r}
	defer p.Server.CloseIdleConnections()
	if err := p.token.Begin(ctx, p.login); err != nil {
		return err
	}
	if err := s.ownLines(ctx); err != nil {
		return err
	}
	if err := s.dial(ctx); err != nil {
		return err
	}
	defer s.sock.Close()
	return s.run(ctx)
}

func (s *session) dial(ctx context.Context) (err error) {
	status := http.StatusNotFound
	for i := 0; i < len(s.events) && status == http.StatusNotFound; i++ {
		from := s.events[i]
		s.sock, status, err = from.server.Dial(ctx, from.path+"?version=2", s.header())
		if err != nil || s.sock != nil {
			return err
		}
	}
	return s.token.HandleRefusal(s.Server, status, "Wazo does not let this user listen to events")
}

// run processes a connection until it ends, with token renewal in parallel.
func (s *session) run(ctx context.Context) error {
	renewed, stop := s.Server.Renew(ctx, s.token.Token, s.login)
	defer stop()
	greeting := time.After(s.greetTimeout)
	for {
		select {
		case b, ok := <-s.sock.Messages():
			if !ok {
				return s.handleClose(s.sock.Err())
			}
			if err := s.message(ctx, b); err != nil {
				return err
			}
		case <-greeting:
			if !s.ready {
				return s.Server.Failure("the event server does not answer in time", link.NoCause)
			}
		case t := <-renewed:
			if t.User != s.token.User {
				return s.Server.Failure("the new token is another user's", link.NoCause)
			}
			s.token.Token = t
			if err := s.send("token", "token", t.ID); err != nil {
				return err
			}
		}
	}
}

// greet answers init with the subscriptions and the start.
func (s *session) greet() error {
	s.eventsRequested = true
	for _, name := range eventNames {
		if err := s.send("subscribe", "event_name", name); err != nil {
			return err
		}
	}
	return s.sock.Send([]byte(`{"op":"start"}`))
}

func (s *session) send(op, key, value string) error {
	return s.sock.Send(exchangelink.EncodeJSON(map[string]any{"op": op, "data": map[string]string{key: value}}))
}

// handleClose handles the code with which the server closed the connection.
func (s *session) handleClose(err error) error {
	c, ok := errors.AsType[*exchangelink.CloseError](err)
	if !ok || c.Code < 4001 || c.Code > 4003 {
		return err
	}
	s.token.Token = exchangelink.Token{} // there was none, it is refused, or it has expired
	if c.Code == 4002 && s.token.Fresh && !s.ready {
		return &link.Refusal{Why: "Wazo does not let this user listen to events (4002)", Cause: link.CauseRights}
	}
	return err
}

func (s *session) header() http.Header { return http.Header{"X-Auth-Token": {s.token.ID}} }

func (s *session) snapshot(ctx context.Context) error {
	var answer struct {
		Items []json.RawMessage `json:"items"`
	}
	status, err := s.Server.Get(ctx, "/api/calld/1.0/users/me/calls", s.header(), &answer)
	switch {
	case err != nil:
		return err
	case status != http.StatusOK:
		return s.token.HandleRefusal(s.Server, status, "Wazo does not let this user see its own calls")
	}
	there := map[string]bool{}
	exchangelink.DecodeEach(s.r, answer.Items, func(c wazoCall) {
		if s.isMine(c) {
			there[c.ID] = true
			s.reportCall(c)
		}
	})
	s.Legs.EndOthers(s.r, there)
	return nil
}

// ownLines determines which of the user's lines have the extension. Not every user may read
// that; without it, all of the user's own calls are reported.
func (s *session) ownLines(ctx context.Context) error {
	var answer struct {
		Lines []struct {
			ID         int `json:"id"`
			Extensions []struct {
				Exten string `json:"exten"`
			} `json:"extensions"`
		} `json:"lines"`
	}
	_, err := s.Server.Get(ctx, "/api/confd/1.1/users/"+url.PathEscape(s.token.User), s.header(), &answer)
	if err != nil || len(answer.Lines) == 0 {
		return nil
	}
	s.lines = map[int]bool{}
	for _, l := range answer.Lines {
		for _, e := range l.Extensions {
			if e.Exten == s.Account.Extension {
				s.lines[l.ID] = true
			}
		}
	}
	if len(s.lines) == 0 {
		return &link.Refusal{Why: "this user of Wazo has no line with the extension of the settings", Cause: link.CauseExtension}
	}
	return nil
}

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
		return exchangelink.Token{}, p.Server.StatusError(status)
	}
	d := answer.Data
	t, err := p.Server.NewToken(d.Token, cmp.Or(d.Metadata.User, d.User, d.Metadata.UUID), life(d.Issued, d.Expires))
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
