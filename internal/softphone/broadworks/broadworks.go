package broadworks

import (
	"cmp"
	"context"
	"crypto/rand"
	"encoding/xml"
	"errors"
	"fmt"
	"net/http"
	"net/url"
	"strconv"
	"strings"
	"time"

	"golang.org/x/sync/errgroup"

	"wiebelt/internal/core/lazyregexp"
	"wiebelt/internal/softphone/exchangelink"
	"wiebelt/internal/softphone/link"
	"wiebelt/internal/softphone/registry"
)

// Paths of the interfaces, below the address.
const (
	events  = "/com.broadsoft.xsi-events/v2.0"
	comet   = "/com.broadsoft.async" + events
	actions = "/com.broadsoft.xsi-actions/v2.0"
)

type phone struct {
	*exchangelink.Phone
	scope           string        // path of the calls to request; "" means the user's or their group's
	app             string        // our name at the exchange
	minPollInterval time.Duration // interval between two snapshots after gaps; tests shorten it

	// These live as long as the link and belong to the session's goroutine.
	people     map[string]person // by user ID, in lower case
	halves     map[string]known  // halves of calls, by leg
	endedCalls exchangelink.RecentIDs
}

type known struct{ user, tracking string }

// New returns a phone for link.Run. The address may end in the enterprise
// and group whose calls to follow, as the interface writes them:
// https://xsp.example/enterprise/kantoor/group/zuid. The error is for the administrator.
func New(a exchangelink.Account) (link.Phone, error) {
	parts := addressPattern().FindStringSubmatch(strings.TrimSpace(a.Address))
	scope, err := url.Parse(parts[2])
	if err != nil {
		return nil, errors.New("broadworks: the enterprise or group in the address cannot be read")
	}
	a.Address = parts[1]
	p, err := a.Open(registry.BroadWorks)
	if err != nil {
		return nil, err
	}
	return &phone{Phone: p, scope: scope.EscapedPath(), app: a.ClientName(), minPollInterval: time.Second, people: map[string]person{}, halves: map[string]known{}}, nil
}

// addressPattern matches an address as providers give it and the interface writes it: the part
// before the paths, and whose calls to follow.
var addressPattern = lazyregexp.New(`(?s)^(.*?)(/(?:enterprise|serviceprovider)/[^/]+(?:/group/[^/]+)?)?(?:/com\.broadsoft\..*)?/?$`)

type session struct {
	*phone
	r             *link.Reporter
	header        http.Header
	channelServer *exchangelink.Server // the channel's server
	set, channel  string               // the channel's IDs
	target        string               // the user whose calls are requested; "" when following many
	subscriptions map[string]bool      // by id
	expiresIn     time.Duration        // until something expires
	last          map[string]int64     // number of the last event, by subscription
	missingEvents map[string]bool      // earlier events that have not arrived
	gaps          *exchangelink.PollScheduler
	acks          chan string // events that are to be acknowledged
}

// Session processes events until the channel ends. It listens for events before it requests
// the current calls, so that nothing is missed in between.
func (p *phone) Session(ctx context.Context, r *link.Reporter) error {
	secret, err := p.Account.Password(ctx, "password of BroadWorks")
	if err != nil {
		return err
	}
	s := &session{phone: p, r: r, header: exchangelink.Basic(p.Account.User, secret), set: rand.Text(), expiresIn: maxLife,
		subscriptions: map[string]bool{}, last: map[string]int64{}, missingEvents: map[string]bool{}, gaps: exchangelink.NewPollScheduler(gapTime, p.minPollInterval), acks: make(chan string, 1<<10)}
	s.header.Set("Accept", "application/xml")
	s.header.Set("Content-Type", "application/xml; charset=UTF-8")
	defer p.Server.CloseIdleConnections()
	group, err := s.readUsers(ctx)
	if err != nil {
		return err
	}
	stream, status, err := p.Server.Stream(ctx, http.MethodPost, comet+"/channel", s.header, body("Channel",
		"channelSetId", s.set, "priority", "1", "weight", "50", "expires", expires, "applicationId", p.app), documents)
	switch {
	case err != nil:
		return err
	case stream == nil:
		return s.statusError(status)
	}
	defer stream.Close()
	s.channelServer = stream.Server
	if stream.Cookies != "" {
		s.header.Set("Cookie", stream.Cookies)
	}
	if err := s.awaitChannel(stream); err != nil {
		return err
	}
	return s.run(ctx, stream, group)
}

const (
	expires = "3600"                 // the exchange's minimum, in seconds
	maxLife = time.Hour              // renewal is due by then, whatever the exchange says
	gapTime = 500 * time.Millisecond // for events of different users to overtake each other
)

// awaitChannel waits for the channel's first document, which describes it.
func (s *session) awaitChannel(stream *exchangelink.Stream) error {
	b, open := <-stream.Parts()
	if !open {
		return stream.Err()
	}
	d, _ := parse(b)
	if d.Channel == "" {
		return s.Server.Failure("what it answers is no channel", link.CauseUnexpected)
	}
	s.channel = string(d.Channel)
	s.expire(d.Expires)
	return nil
}

// expire notes the lifetime of a channel or subscription.
func (s *session) expire(seconds text) {
	if n, _ := strconv.ParseInt(string(seconds), 10, 32); n > 0 {
		s.expiresIn = min(s.expiresIn, time.Duration(n)*time.Second)
	}
}

// run processes a channel until it ends, with its heartbeat in parallel.
func (s *session) run(ctx context.Context, stream *exchangelink.Stream, group string) error {
	ctx, cancel := context.WithCancel(ctx)
	failed, done := make(chan error, 1), make(chan struct{})
	go func() { defer close(done); failed <- s.beat(ctx) }()
	defer func() { cancel(); <-done }()
	if err := s.subscribe(ctx, group); err != nil {
		return err
	}
	for len(stream.Parts()) > 0 { // events received meanwhile report most of it sooner
		if err := s.message(ctx, <-stream.Parts()); err != nil {
			return err
		}
	}
	if _, err := s.snapshot(ctx); err != nil {
		return err
	}
	s.r.Up()
	renew := time.Tick(s.expiresIn / 2)
	for {
		select {
		case b, ok := <-stream.Parts():
			if !ok {
				return stream.Err()
			}
			if err := s.message(ctx, b); err != nil {
				return err
			}
		case <-s.gaps.C():
			if err := s.refetchAfterGap(ctx); err != nil {
				return err
			}
		case <-renew:
			if err := s.renew(ctx); err != nil {
				return err
			}
		case err := <-failed:
			if stream.Silent() { // the exchange may notice first and drop the channel
				for range stream.Parts() {
				}
				return stream.Err()
			}
			return err
		}
	}
}

// refetchAfterGap requests the calls again if events are still missing.
func (s *session) refetchAfterGap(ctx context.Context) error {
	changed := true
	if len(s.missingEvents) > 0 {
		clear(s.missingEvents)
		var err error
		if changed, err = s.snapshot(ctx); err != nil {
			return err
		}
	}
	s.gaps.Polled(changed)
	return nil
}

// beat sends the channel's heartbeats and acknowledges events. A failing
// connection shows as silence.
func (s *session) beat(ctx context.Context) error {
	every := time.Tick(s.channelServer.PingEvery())
	for {
		var status int
		var err error
		beats := false
		select {
		case <-ctx.Done():
			return ctx.Err()
		case id := <-s.acks:
			_, status, err = s.channelServer.Ask(ctx, http.MethodPost, events+"/channel/eventresponse", s.header, body("EventResponse", "eventID", id, "statusCode", "200", "reason", "OK"))
		case <-every:
			beats = true
			_, status, err = s.channelServer.Ask(ctx, http.MethodPut, events+"/channel/"+url.PathEscape(s.channel)+"/heartbeat", s.header, nil)
		}
		if err == nil && (status == http.StatusUnauthorized || beats && status/100 == 4) {
			return s.goneError(status)
		}
	}
}

// goneError returns the error for a channel or subscription that the exchange no longer has.
func (s *session) goneError(status int) error {
	switch {
	case status == http.StatusUnauthorized:
		return s.statusError(status)
	case status >= 500 || status == http.StatusTooManyRequests:
		return s.Server.StatusError(status)
	}
	return s.Server.Failure(fmt.Sprintf("it does not know the channel or subscription any more (%d)", status), link.CauseEnded)
}

func (s *session) statusError(status int) error {
	switch status {
	case http.StatusNotFound, http.StatusMethodNotAllowed, http.StatusGone, http.StatusNotImplemented:
		return s.Server.Failure(fmt.Sprintf("it does not offer version 2.0 of Xsi-Events there (%d)", status), link.CauseVersion)
	}
	return s.Server.AccessError(status, "BroadWorks does not accept the user and password",
		"BroadWorks does not let this user follow the calls")
}

// subscribe requests the calls of the user, or of the group if there are many. A user who
// may not follow their group may follow each colleague.
func (s *session) subscribe(ctx context.Context, group string) error {
	if s.target != "" {
		return s.subscribed(s.ask(ctx, userPath(s.target)))
	}
	if scope := cmp.Or(s.scope, group); scope != "" {
		d, status, err := s.ask(ctx, scope)
		if err != nil || status/100 == 2 || s.scope != "" || status != http.StatusForbidden && status != http.StatusNotFound {
			return s.subscribed(d, status, err)
		}
	}
	for _, p := range s.people {
		d, status, err := s.ask(ctx, userPath(string(p.User)))
		if err != nil || status == http.StatusUnauthorized {
			return s.subscribed(d, status, err)
		} else if status/100 == 2 {
			_ = s.subscribed(d, status, nil)
		}
	}
	if len(s.subscriptions) == 0 {
		return s.statusError(http.StatusForbidden)
	}
	return nil
}

func (s *session) ask(ctx context.Context, scope string) (document, int, error) {
	return s.do(ctx, http.MethodPost, events+scope, body("Subscription", "event", "Advanced Call", "expires", expires, "channelSetId", s.set, "applicationId", s.app))
}

func (s *session) subscribed(d document, status int, err error) error {
	switch {
	case err != nil:
		return err
	case status/100 != 2:
		return s.statusError(status)
	case d.Subscription == "":
		return s.Server.Failure("what it answers is no subscription", link.CauseUnexpected)
	}
	s.subscriptions[string(d.Subscription)] = true
	s.expire(d.Expires)
	return nil
}

// renew extends the channel and all subscriptions, several at once: events wait for it.
func (s *session) renew(ctx context.Context) error {
	paths := map[string]string{"/channel/" + url.PathEscape(s.channel): "Channel"}
	for id := range s.subscriptions {
		paths["/subscription/"+url.PathEscape(id)] = "Subscription"
	}
	group, ctx := errgroup.WithContext(ctx)
	group.SetLimit(maxProfileRequests)
	for path, name := range paths {
		group.Go(func() error {
			_, status, err := s.channelServer.Ask(ctx, http.MethodPut, events+path, s.header, body(name, "expires", expires))
			if err == nil && status/100 != 2 {
				err = s.goneError(status)
			}
			return err
		})
	}
	return group.Wait()
}

// do sends a request and parses a successful answer. An exchange in trouble is an error.
func (s *session) do(ctx context.Context, method, path string, content []byte) (d document, status int, err error) {
	b, status, err := s.Server.Ask(ctx, method, path, s.header, content)
	switch {
	case err != nil:
	case status >= 500 && status != http.StatusNotImplemented, status == http.StatusTooManyRequests:
		err = s.Server.StatusError(status)
	case status/100 == 2:
		if d, err = parse(b); err != nil {
			err = s.Server.Failure("its answer cannot be read", link.CauseUnexpected)
		}
	}
	return d, status, err
}

func userPath(id string) string { return "/user/" + url.PathEscape(id) }

// body builds a document from alternating names and values of elements.
func body(name string, elements ...string) []byte {
	var b strings.Builder
	b.WriteString(xml.Header + "<" + name + ` xmlns="http://schema.broadsoft.com/xsi">`)
	for i := 0; i+1 < len(elements); i += 2 {
		b.WriteString("<" + elements[i] + ">")
		_ = xml.EscapeText(&b, []byte(elements[i+1])) // cannot fail in memory
		b.WriteString("</" + elements[i] + ">")
	}
	b.WriteString("</" + name + ">")
	return []byte(b.String())
}
