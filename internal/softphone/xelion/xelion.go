package xelion

import (
	"cmp"
	"context"
	"errors"
	"fmt"
	"net/http"
	"net/url"
	"strings"
	"time"

	"wiebelt/internal/softphone/exchangelink"
	"wiebelt/internal/softphone/link"
	"wiebelt/internal/softphone/registry"
	"wiebelt/internal/softphone/webhook"
)

type phone struct {
	*exchangelink.Phone
	life            time.Duration // limit of a session, whatever the server says
	minPollInterval time.Duration // interval between two requests of the list after gaps
	minSession      time.Duration // a session ended sooner than this was not too old
	poll            time.Duration // interval of polling without a socket; tests shorten these four

	// These live as long as the link and belong to the session's goroutine.
	token          exchangelink.LinkToken
	began          time.Time // start of the token's session
	earlyEnds      int       // consecutive sessions that were ended early
	userEventsOnly bool      // the server rejects requests for an administrator's events
	channels       map[string]*channel
	callInfos      map[string]*callInfo // by callId
}

// New returns a phone for link.Run. The address is the server's with its tenant ("master"
// by default), or the full base of its API. The error is for the administrator.
func New(a exchangelink.Account) (link.Phone, error) {
	a.Address = base(a.Address)
	p, err := a.Open(registry.Xelion)
	if err != nil {
		return nil, err
	}
	return &phone{Phone: p, life: usualLife, minPollInterval: time.Second, minSession: 30 * time.Second,
		poll: 5 * time.Second, channels: map[string]*channel{}, callInfos: map[string]*callInfo{}}, nil
}

// base returns the base of the API for an address.
func base(address string) string {
	u, err := url.Parse(strings.TrimRight(strings.TrimSpace(address), "/"))
	if err != nil || u.Host == "" || strings.Contains(u.Path, "/api/") {
		return address
	}
	if u.Path == "" {
		u.Path = "/master"
	}
	u.Path = "/api/v1" + u.Path
	return u.String()
}

// Events to request: for a user, and for an administrator.
var (
	userEvents  = []string{"activeChannelEvent", "missedCallEvent", "callTransferredEvent", "twinTransferredEvent"}
	adminEvents = []string{"newCallEvent", "callConnectedEvent", "channelHungUpEvent", "callHungUpEvent"}
)

type session struct {
	*phone
	r           *link.Reporter
	sock        *exchangelink.Socket // nil: not available
	dialled     time.Time            // start of the session that the socket belongs to
	gaps        *exchangelink.PollScheduler
	reportTimer <-chan time.Time // what waits is reported then; nil: nothing waits
	polls       int
	busy        int   // consecutive times that the server was unavailable
	version     int64 // of the last event
	hasVersion  bool  // there was one
}

// Session processes events until the connection ends. It listens for events before it
// requests the channels, so that nothing is missed in between.
func (p *phone) Session(ctx context.Context, r *link.Reporter) error {
	s := p.session(r)
	defer p.Server.CloseIdleConnections()
	if err := p.token.Begin(ctx, p.login); err != nil {
		return err
	}
	defer s.closeSocket()
	if err := s.dial(ctx); err != nil {
		return err
	}
	if _, err := s.fetchChannels(ctx, true); err != nil {
		return err
	}
	r.Up()
	return s.run(ctx)
}

func (p *phone) session(r *link.Reporter) *session {
	clear(p.callInfos)
	return &session{phone: p, r: r, gaps: exchangelink.NewPollScheduler(0, p.minPollInterval)}
}

func (s *session) closeSocket() {
	if s.sock != nil {
		s.sock.Close()
	}
}

// dial opens the socket, if the server has one, and requests the events.
func (s *session) dial(ctx context.Context) error {
	var answer webhook.Document
	status, err := s.token.Ask(ctx, s.loginAgain, func() (int, error) {
		status, err := s.Server.Post(ctx, "/me/websocket", s.header(), "application/json", nil, &answer)
		if err == nil && (status == http.StatusMethodNotAllowed || status == http.StatusNotFound) {
			status, err = s.Server.Get(ctx, "/me/websocket", s.header(), &answer)
		}
		return status, err
	})
	s.dialled = s.began
	if err == nil && status == http.StatusOK {
		status, err = s.open(ctx, answer.First("object", "object.url", "url"))
	}
	switch {
	case err != nil:
		return err
	case s.sock != nil:
		return s.subscribe(ctx)
	case status == http.StatusForbidden, status == http.StatusNotFound, status == http.StatusMethodNotAllowed, status == http.StatusNotImplemented:
		return nil // the list is polled
	}
	return s.statusError(status)
}

// open opens the socket at an address that contains a key. The token is not sent there.
func (s *session) open(ctx context.Context, address string) (status int, err error) {
	odd := s.Server.Failure("it gave no address for its events that can be used", link.CauseVersion)
	u, err := url.Parse(address)
	if err != nil || u.User != nil || u.Scheme != "wss" && !(u.Scheme == "ws" && strings.HasPrefix(s.Account.Address, "http:")) {
		return 0, odd
	}
	at, err := exchangelink.New(u.Scheme+"://"+u.Host, s.Account.Net)
	if err != nil {
		return 0, odd
	}
	s.sock, status, err = at.Dial(ctx, u.RequestURI(), nil)
	return status, err
}

// subscribe requests the events and waits until the server has processed that. A server
// that closes the connection rejects an administrator's events, or a user's alone: the next
// attempt uses the other set.
func (s *session) subscribe(ctx context.Context) error {
	all := userEvents
	if !s.userEventsOnly {
		all = append(userEvents[:len(userEvents):len(userEvents)], adminEvents...)
	}
	for _, name := range all {
		wish := map[string]any{"messageType": "notificationRequest", "notificationType": name, "oid": nil, "toggle": true}
		if err := s.sock.Send(exchangelink.EncodeJSON(wish)); err != nil {
			return err
		}
	}
	s.wait()
	for {
		select {
		case b, ok := <-s.sock.Messages():
			if !ok {
				s.userEventsOnly = !s.userEventsOnly
				return s.sock.Err()
			}
			if s.message(b) {
				return s.reportWaiting(ctx)
			}
		case <-s.reportTimer:
			return s.reportWaiting(ctx)
		}
	}
}

// looksPerDial is how many times the list is polled before a socket is tried again.
const looksPerDial = 12

// run processes a connection until it ends, with token renewal in parallel.
func (s *session) run(ctx context.Context) error {
	renewed, stop := s.Server.Renew(ctx, s.token.Token, s.renew)
	defer stop()
	poll := time.NewTicker(s.poll)
	for {
		if !s.dialled.Equal(s.began) {
			return s.sessionEndedError()
		}
		var in <-chan []byte
		if s.sock != nil {
			in = s.sock.Messages()
			poll.Stop()
		}
		var err error
		select {
		case b, ok := <-in:
			if !ok {
				return s.sock.Err()
			}
			if s.message(b) {
				err = s.reportWaiting(ctx)
			}
		case <-s.reportTimer:
			err = s.reportWaiting(ctx)
		case <-poll.C:
			if s.polls++; s.polls%looksPerDial == 0 {
				err = s.dial(ctx)
			}
			if err == nil {
				err = s.fetchAgain(ctx)
			}
			poll.Reset(s.poll << min(s.busy, 4))
		case <-s.gaps.C():
			err = s.fetchAgain(ctx)
		case t, ok := <-renewed:
			if !ok {
				s.token.Expire()
				return s.sessionEndedError()
			}
			s.token.Token = t
		}
		if err != nil {
			return err
		}
	}
}

// maxEarlyEnds is how many early-ended sessions are replaced at once: another program may end
// ours each time it opens its own.
const maxEarlyEnds = 3

// loginAgain is like login, after the server has ended a session.
func (p *phone) loginAgain(ctx context.Context, old exchangelink.Token) (exchangelink.Token, error) {
	if p.earlyEnds++; time.Since(p.began) >= p.minSession {
		p.earlyEnds = 0
	} else if p.earlyEnds > maxEarlyEnds {
		p.earlyEnds = 0
		return exchangelink.Token{}, link.ErrReplaced
	}
	return p.login(ctx, old)
}

func (s *session) list(ctx context.Context, path string, each func(webhook.Document)) (int, error) {
	var answer webhook.Document
	status, err := s.token.Ask(ctx, s.loginAgain, func() (int, error) { return s.Server.Get(ctx, path, s.header(), &answer) })
	if err != nil || status != http.StatusOK {
		return status, err
	}
	if !answer.At("data").Exists() && !answer.At("meta").Exists() {
		return 0, s.Server.Failure("its list cannot be read", link.CauseVersion)
	}
	for _, d := range answer.At("data").All() {
		if inner := d.At("object"); inner.Exists() {
			d = inner
		}
		each(d)
	}
	return status, nil
}

// sessionEndedError returns the error for a session that the server no
// longer knows. Its socket may stay open without events.
func (p *phone) sessionEndedError() error {
	return p.Server.Failure("its session has ended", link.CauseEnded)
}

func (s *session) statusError(status int) error {
	switch status {
	case http.StatusUnauthorized, http.StatusForbidden:
		return &link.Refusal{Why: fmt.Sprintf("Xelion does not let this user see calls (%d)", status), Cause: link.CauseRights}
	case http.StatusNotFound:
		return &link.Refusal{Why: "Xelion has another version of its API (404)", Cause: link.CauseVersion}
	}
	return s.Server.StatusError(status)
}

// fetchChannels requests the current channels, reports them, and ends calls without any;
// changed is whether it reported anything new.
func (s *session) fetchChannels(ctx context.Context, anew bool) (changed bool, err error) {
	var there []*channel
	status, err := s.list(ctx, "/communications/active_channels", func(d webhook.Document) {
		if c := s.read(d); c != nil && !c.gone && len(there) < maxChannels {
			there = append(there, c)
		}
	})
	switch {
	case err != nil:
		return false, err
	case status != http.StatusOK:
		return false, s.statusError(status)
	}
	return s.replace(there, anew), nil
}

// fetchAgain is fetchChannels while events arrive: a server that is unavailable is retried later.
func (s *session) fetchAgain(ctx context.Context) error {
	changed, err := s.fetchChannels(ctx, false)
	late := link.CauseOf(err) == link.CauseUnavailable
	if err != nil && !late {
		return err
	}
	s.gaps.Polled(changed)
	if s.busy++; !late {
		s.busy = 0
	} else if s.sock != nil {
		s.gaps.NoteGap()
	}
	return nil
}

// test is a message that the server echoes: everything it sent before has then arrived.
const test = "test"

// maxWait is how long an end waits at most, and a ring whose number is unknown.
const maxWait = 500 * time.Millisecond

// wait postpones what cannot be reported yet for a moment.
func (s *session) wait() {
	if s.reportTimer != nil {
		return
	}
	s.reportTimer = time.After(maxWait)
	if s.sock != nil { // failures surface on reading
		_ = s.sock.Send([]byte(`{"messageType":"` + test + `"}`))
	}
}

// reportWaiting reports what has waited. If the other party is still unknown,
// it is requested once.
func (s *session) reportWaiting(ctx context.Context) (err error) {
	s.reportTimer = nil
	waiting, ask := s.waiting()
	if ask {
		err = s.numbers(ctx)
	}
	s.finish(waiting) // even if the connection ends now
	return err
}

// askTime limits how long a ring waits for an answer about its caller.
const askTime = time.Second

// numbers requests the numbers of all channels. Without an answer calls continue.
func (s *session) numbers(ctx context.Context) error {
	limited, cancel := context.WithTimeout(ctx, askTime)
	defer cancel()
	_, err := s.list(limited, "/channels", func(d webhook.Document) {
		for _, id := range []string{d.First("channelName"), d.First("channelId")} {
			if c := s.channels[id]; c != nil {
				c.number = cmp.Or(c.number, d.First("phoneNumber", "number"))
			}
		}
	})
	var refusal *link.Refusal
	if ctx.Err() != nil || errors.As(err, &refusal) || errors.Is(err, link.ErrReplaced) {
		return err
	}
	return nil
}
