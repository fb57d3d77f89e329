// Package relaylink receives calls from a relay of the office, which follows the exchange
// for everybody. It is a NATS client that signs in as one user: the server delivers
// only that user's calls.
//
// Each message holds all current calls of the user, so the newest one makes up for
// everything missed; see package wire.
package relaylink

import (
	"context"
	"errors"
	"math/rand/v2"
	"slices"
	"sync"
	"sync/atomic"
	"time"

	"github.com/nats-io/nats.go"

	"wiebelt/internal/core/call"
	"wiebelt/internal/core/contact"
	"wiebelt/internal/core/wake"
	"wiebelt/internal/relay/wire"
	"wiebelt/internal/softphone/exchangelink"
	"wiebelt/internal/softphone/link"
	"wiebelt/internal/softphone/registry"
)

const (
	dialTime            = 3 * time.Second
	nextTime            = 250 * time.Millisecond // before another relay is dialled in parallel to a silent one
	askTime             = 3 * time.Second
	maxSnapshotRequests = 3 // attempts at the first snapshot, each of which may be lost with its relay
	// recoveryTime is how long relays that lost their memory need to relearn the calls from
	// the exchange. Until then, calls they do not report may be going on.
	recoveryTime = 4 * time.Second
	// lookupTime is longer than the relay's timeout for the hub.
	lookupTime       = 6 * time.Second
	lookupRetryPause = 150 * time.Millisecond // retryPause of lookups, which go to relays in turn
	retryPause       = time.Second            // after which a request is repeated: its relay may have exited
	switchPause      = 150 * time.Millisecond // before dialling another relay after one has ended
	maxRetryWait     = time.Second            // between retries: phones are ringing
	pingEvery        = 30 * time.Second       // two unanswered ones end the connection
	silenceTime      = 3 * wire.StateEvery    // after which a relay counts as stopped
)

// Phone is the link to a relay. Lookup is safe for concurrent use.
type Phone struct {
	account        exchangelink.Account
	traits         link.Traits
	newest         wire.Snapshot // across all connections
	saveMissed     MissedSaver
	currentSession atomic.Pointer[session]
	nextRelay      int                    // index of the relay to start with
	last           string                 // address of the relay of the last session
	endedCalls     exchangelink.RecentIDs // relays report them for different lengths of time
	recovering     bool                   // the relays have lost their state and are recovering it from the exchange
	silence        time.Duration
}

// MissedSaver saves calls that rang while this user was not connected to a relay. It may
// block for long and get calls it already has. If it returns an error, it gets them again
// later.
type MissedSaver func(context.Context, []wire.MissedCall) error

// SaveMissed sets the function that saves calls that rang while this user was not connected
// to a relay. It must be called before the first session, if at all.
func (p *Phone) SaveMissed(save MissedSaver) { p.saveMissed = save }

// session is an established connection.
type session struct {
	*nats.Conn
	membership
	inbox             string         // where the requested snapshot arrives
	snapshots         chan *nats.Msg // snapshots
	retries           int            // how often the snapshot was requested again
	synced            bool           // has processed a snapshot
	stateMessages     chan *nats.Msg // states of the relays
	relays            states
	backendFaultSince time.Time     // since when something behind them has not worked
	stale             chan struct{} // messages were dropped, as there were too many: the state may be stale
	closed            chan error
	dials             sync.WaitGroup // dials to other relays, until one is reached
}

// New returns a phone for link.Run. The account's secret is the result of Join, and the
// address the one that was joined. The error is for the administrator.
func New(a exchangelink.Account) (link.Phone, error) {
	if a.Secret == nil {
		return nil, errors.New("this computer has not joined a relay")
	}
	server, err := exchangelink.New(a.Address, a.Net)
	if err != nil {
		return nil, err
	}
	return &Phone{account: a, nextRelay: rand.IntN(1 << 20), silence: silenceTime, traits: link.Traits{Source: registry.Of(registry.Relay).CallSource(server.Host()), MaxWait: maxRetryWait, RetryAfter: switchPause}}, nil
}

// Traits returns those of the office's relay.
func (p *Phone) Traits() link.Traits { return p.traits }

// Session processes snapshots until the connection ends. It requests the current one after
// subscribing to the others, so that nothing is missed in between.
func (p *Phone) Session(ctx context.Context, r *link.Reporter) error {
	stored, err := p.account.Password(ctx, "membership of a relay")
	if err != nil {
		return err
	}
	m, err := parseMembership(stored)
	if err != nil {
		return &link.Refusal{Why: "the stored membership of the relay is damaged", Cause: link.CauseNoSecret}
	}
	s := &session{membership: m, snapshots: make(chan *nats.Msg, 64), stateMessages: make(chan *nats.Msg, 16), relays: states{}, stale: make(chan struct{}, 1), closed: make(chan error, 1)}
	defer s.dials.Wait()
	s.URLs = p.relayOrder(s.URLs)
	if err := s.connect(ctx, p.account.Address); err != nil {
		return connectError(ctx, err)
	}
	defer s.Close()
	p.last = s.ConnectedUrl()
	p.currentSession.Store(s) // lookups work even before a relay has learned the current calls
	defer p.currentSession.CompareAndSwap(s, nil)
	up := false
	late := time.NewTicker(retryPause) // until the first answer
	var recovered, silent <-chan time.Time
	var work sync.WaitGroup // for maintain: calls do not wait for it
	defer work.Wait()
	ctx, end := context.WithCancel(ctx)
	defer end()
	for {
		if p.recovering && recovered == nil {
			recovered = time.After(recoveryTime)
		}
		select {
		case <-recovered:
			recovered = nil
			wake.Up(s.stale)
		case m := <-s.snapshots:
			if isNoResponders(m) {
				return connectError(ctx, nats.ErrNoResponders)
			}
			if !up {
				up = true
				r.Up()
				late.Stop()
				work.Go(func() { p.maintain(ctx, s) })
			}
			if p.applySnapshot(r, s, m) {
				_ = m.Respond(nil) // where asked for, or the relay keeps the ended call as missed
			}
		case m := <-s.stateMessages:
			s.applyState(r, m.Data)
			silent = time.After(p.silence)
		case <-silent: // its computer still acknowledges, or the loss would be known by now
			return connectError(ctx, nats.ErrStaleConnection)
		case <-s.stale:
			if err := s.requestSnapshot(); err != nil {
				return connectError(ctx, err)
			}
		case <-late.C:
			if err := s.retrySnapshot(); err != nil {
				return connectError(ctx, err)
			}
		case err := <-s.closed:
			p.drain(r, s)
			return connectError(ctx, err)
		case <-ctx.Done():
			return ctx.Err()
		}
	}
}

// relayOrder returns the relays in dialling order: each time another one comes first, since
// one that answers may be cut off from the others. The relay of the last session comes
// last: it may have vanished.
func (p *Phone) relayOrder(urls []string) []string {
	i := p.nextRelay % len(urls)
	p.nextRelay++
	urls = slices.Concat(urls[i:], urls[:i])
	if i := slices.Index(urls, p.last); i >= 0 {
		urls = append(slices.Delete(urls, i, i+1), p.last)
	}
	return urls
}

// maintain renews the token and saves missed calls, now and every renewEvery until ctx ends.
func (p *Phone) maintain(ctx context.Context, s *session) {
	for ok := true; ok; ok = wake.Pause(ctx, renewEvery) == nil {
		p.renew(ctx, s)
		p.catchUp(ctx, s)
	}
}

// catchUp saves the calls that rang while this user was not connected, and then makes the
// relay forget them.
func (p *Phone) catchUp(ctx context.Context, s *session) {
	for seen := uint64(0); p.saveMissed != nil; {
		b, err := s.ask(ctx, wire.TopicJournal, wire.JournalRequest{LastSeq: seen}, lookupTime)
		if err != nil {
			return // an older relay, or one that is stopping
		}
		a, err := wire.ParseJournalAnswer(b)
		if err != nil || len(a.Calls) == 0 || p.saveMissed(ctx, a.LocalTimes(time.Now())) != nil {
			return
		}
		seen = a.LastSeq
	}
}

// applyState reports what does not work behind the relays, based on one relay's
// state message. Clock differences and transit times make the same moment look
// slightly different each time.
func (s *session) applyState(r *link.Reporter, b []byte) {
	now := time.Now()
	s.relays.store(b, now)
	cause, since := s.relays.worstFault(now)
	if since.Sub(s.backendFaultSince).Abs() > time.Minute {
		s.backendFaultSince = since
	}
	r.SetBackendFault(cause, s.backendFaultSince)
}

// isNoResponders recognises the server's answer when no relay is listening.
func isNoResponders(m *nats.Msg) bool { return len(m.Data) == 0 && m.Header.Get("Status") == "503" }

// Lookup looks up a number at the relay. Every error is a *contact.LookupError.
func (p *Phone) Lookup(ctx context.Context, number string) ([]contact.Contact, error) {
	s := p.currentSession.Load()
	if s == nil {
		return nil, &contact.LookupError{Failure: contact.ConnectionRefused, Detail: "no relay can be reached"}
	}
	answer, err := s.ask(ctx, wire.TopicLookup, wire.LookupRequest{Number: number}, lookupTime)
	if err != nil {
		return nil, &contact.LookupError{Failure: contact.HubSlow, Detail: "the relay does not answer"}
	}
	a, err := wire.ParseLookupAnswer(answer)
	switch {
	case err != nil:
		return nil, &contact.LookupError{Failure: contact.NotUnderstood, Detail: "the relay's answer"}
	case a.Failure != "":
		return nil, &contact.LookupError{Failure: a.Failure, Detail: "said by the relay"}
	}
	return a.Contacts, nil
}

func (s *session) requestSnapshot() error {
	return s.PublishRequest(s.Site.UserSubject(wire.TopicCurrentCalls, s.User), s.inbox, nil)
}

// retrySnapshot repeats the request, which may have been lost with its relay; it
// fails after a few times.
func (s *session) retrySnapshot() error {
	if s.retries++; s.retries == maxSnapshotRequests {
		return context.DeadlineExceeded
	}
	return s.requestSnapshot()
}

// drain processes what arrived before the end.
func (p *Phone) drain(r *link.Reporter, s *session) {
	for len(s.snapshots) > 0 {
		p.applySnapshot(r, s, <-s.snapshots)
	}
}

// connectError describes in our own words why there is no connection.
func connectError(ctx context.Context, err error) error {
	switch {
	case ctx.Err() != nil:
		return ctx.Err()
	case err == nil:
		return link.ErrClosed
	case errors.Is(err, nats.ErrAuthorization), errors.Is(err, nats.ErrAuthExpired), errors.Is(err, nats.ErrAuthRevoked), errors.Is(err, nats.ErrAccountAuthExpired):
		return &link.Refusal{Why: "the relay does not let this user in any more", Cause: link.CauseDenied}
	case errors.Is(err, nats.ErrNoServers), link.NobodyListens(err): // that does not mean that nobody is calling
		return &link.Failure{Why: "no relay can be reached", Cause: link.CauseNotListening}
	case errors.Is(err, nats.ErrNoResponders), errors.Is(err, context.DeadlineExceeded):
		return &link.Failure{Why: "NATS answers, but no relay does", Cause: link.CauseUnavailable}
	}
	return err
}

// applySnapshot processes a snapshot if it is newer than all before. The first one of a session
// reports every current call, known or not, since none could be confirmed while disconnected.
// complete means that each call that has ended in it is reported, now or before; the first one
// says nothing of those that came and went while this computer was not connected.
func (p *Phone) applySnapshot(r *link.Reporter, on *session, m *nats.Msg) (complete bool) {
	s, err := wire.ParseSnapshot(m.Data)
	if err != nil {
		r.Unreadable(len(m.Data))
		return false
	}
	complete = on.synced
	p.resetEpoch(on, m.Subject, s.Epoch)
	if newer := s.Compare(p.newest); newer < 0 || newer == 0 && on.synced && !p.recovering {
		return complete
	}
	forgot := p.newest.Epoch > 0 && s.Epoch > p.newest.Epoch
	age := s.At.Sub(time.UnixMilli(s.Epoch)) // by the clocks of two relays
	p.recovering = (p.recovering || forgot) && age.Abs() < recoveryTime
	before := p.newest
	p.newest = s
	going, now := map[string]bool{}, time.Now()
	for _, c := range s.Calls {
		e := s.Event(c, now)
		if e.State == call.Ended {
			if on.synced && !p.recovering {
				p.reportBegin(r, before, s, c)
			}
			p.reportEnd(r, e)
			continue
		}
		going[e.ID] = true
		if known, ok := r.Known(e.ID); ok && on.synced {
			if !sameReport(known, e) {
				r.Report(e)
			}
			continue
		}
		if e.State == call.Answered { // the time it rang is news too
			r.Report(s.RingEvent(c, now))
		}
		r.Report(e)
	}
	on.synced = true
	if !p.recovering { // calls that are not reported may be going on nevertheless
		r.EndOthers(going)
	}
	return complete && !p.recovering
}

// resetEpoch drops the known epoch if the relays answer a new connection's
// request with an earlier one: a relay whose clock is behind may have restarted.
func (p *Phone) resetEpoch(on *session, subject string, epoch int64) {
	if !on.synced && subject == on.inbox && epoch < p.newest.Epoch {
		p.newest = wire.Snapshot{Epoch: epoch - 1}
	}
}

// reportBegin reports the beginning of a call that was not in the previous snapshot
// and has ended since.
func (p *Phone) reportBegin(r *link.Reporter, before, s wire.Snapshot, c wire.Call) {
	now := time.Now()
	rang := s.RingEvent(c, now)
	if _, known := r.Known(rang.ID); known || !before.Excludes(c.ID) || p.endedCalls.Has(rang.ID) {
		return
	}
	r.Report(rang)
	if c.Answered != nil {
		c.State = call.Answered.String()
		r.Report(s.Event(c, now))
	}
}

func (p *Phone) reportEnd(r *link.Reporter, e call.Event) {
	if _, known := r.Known(e.ID); known {
		p.endedCalls.Add(e.ID)
		e.StateSince = time.Time{} // it ends now
		r.Report(e)
	}
}

// sameReport reports whether a report contains nothing new.
func sameReport(known, e call.Event) bool {
	e.Source, e.At, e.StateSince = known.Source, known.At, known.StateSince
	return known == e
}

// ask sends the relays a request of this user, and repeats it if unanswered.
func (s *session) ask(ctx context.Context, about wire.Topic, question any, limit time.Duration) ([]byte, error) {
	ctx, cancel := context.WithTimeout(ctx, limit)
	defer cancel()
	b := exchangelink.EncodeJSON(question)
	inbox := s.NewInbox()
	answers, err := s.SubscribeSync(inbox)
	if err != nil {
		return nil, err
	}
	defer func() { _ = answers.Unsubscribe() }()
	pause, factor := retryPause, time.Duration(2)
	if about == wire.TopicLookup { // a relay answers it once, however often it is sent
		pause, factor = lookupRetryPause, 1
	}
	for ; ; pause *= factor {
		if err := s.PublishRequest(s.Site.UserSubject(about, s.User), inbox, b); err != nil {
			return nil, err
		}
		wait, stop := context.WithTimeout(ctx, pause)
		m, err := answers.NextMsgWithContext(wait)
		stop()
		switch {
		case err == nil && isNoResponders(m):
			return nil, nats.ErrNoResponders
		case err == nil:
			return m.Data, nil
		case !errors.Is(err, context.DeadlineExceeded) || ctx.Err() != nil:
			return nil, err
		}
	}
}
