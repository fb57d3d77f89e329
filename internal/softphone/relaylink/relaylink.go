// Package relaylink hears of calls from a relay of the office, which listens to the
// exchange for everybody. It is a client of NATS, as one user: the server lets it
// hear that user's calls alone.
//
// Each message holds all that goes on for the user, so that whoever was away has
// missed nothing once the newest has come; see package wire.
package relaylink

import (
	"context"
	"encoding/json"
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

// How long a relay may be silent.
const (
	dialTime = 3 * time.Second
	nextTime = 250 * time.Millisecond // before the next relay is dialled beside one that does not answer
	askTime  = 3 * time.Second
	asks     = 3 // for the first snapshot, each of which may be lost with who had it
	// recoveryTime is what relays that have lost their memory need to know again what
	// goes on at the exchange. What they do not tell before is not over.
	recoveryTime = 4 * time.Second
	// lookupTime is longer than the relay waits for the hub.
	lookupTime       = 6 * time.Second
	lookupRetryPause = 150 * time.Millisecond // the same for look-ups: the servers deliver questions to each relay in turn
	retryPause       = time.Second            // after which a question is asked again: who had it may have ended
	switchPause      = 150 * time.Millisecond // before another relay is tried than the one that ended
	maxRetryWait     = time.Second            // before another try: telephones ring
	pingEvery        = 30 * time.Second       // and two that are not answered end the connection
	silenceTime      = 3 * wire.StateEvery    // after which a relay that has said how it does has stopped
)

// Phone is the link to a relay. Lookup may be called from any goroutine.
type Phone struct {
	account    exchangelink.Account
	traits     link.Traits
	newest     wire.Snapshot // so far, over all connections
	saveMissed MissedSaver
	joined     atomic.Pointer[session]
	turn       int      // the relay to begin with
	last       string   // the address of the relay that there was a session with
	over       []string // calls that have ended, the newest last: one relay tells of them for longer than another
	recovering bool     // the relays have lost what they knew, and are learning it from the exchange
	silence    time.Duration
}

// MissedSaver saves calls that rang while Wiebelt was not there. It may take long, and be
// given calls that it has already. An error means that they are given again later.
type MissedSaver func(context.Context, []wire.MissedCall) error

// SaveMissed has calls saved that rang while Wiebelt was not there; it is called before
// the first session, or not at all.
func (p *Phone) SaveMissed(save MissedSaver) { p.saveMissed = save }

// session is a connection that stands.
type session struct {
	*nats.Conn
	membership
	inbox  string         // where the snapshot comes that was asked for
	heard  chan *nats.Msg // snapshots
	asked  int            // how often that was asked again
	knows  bool           // has taken one
	said   chan *nats.Msg // how the relays are doing
	relays states
	behind time.Time     // since when something does not work behind them
	stale  chan struct{} // what is known may not hold: messages were dropped, as there were too many
	closed chan error
	trying sync.WaitGroup // other relays, until another one is reached
}

// New makes the phone for link.Run. The account's secret is what Join has given; the
// address is where that was. The error is for the administrator.
func New(a exchangelink.Account) (link.Phone, error) {
	if a.Secret == nil {
		return nil, errors.New("this computer has not joined a relay")
	}
	server, err := exchangelink.New(a.Address, a.Net)
	if err != nil {
		return nil, err
	}
	return &Phone{account: a, turn: rand.IntN(1 << 20), silence: silenceTime, traits: link.Traits{Source: registry.Of(registry.Relay).CallSource(server.Host()), MaxWait: maxRetryWait, RetryAfter: switchPause}}, nil
}

// Traits: the relay is the office's.
func (p *Phone) Traits() link.Traits { return p.traits }

// Session hears snapshots until the connection ends. It asks for the one that holds
// once it hears the others, so that nothing falls in between.
func (p *Phone) Session(ctx context.Context, r *link.Reporter) error {
	stored, err := p.account.Password(ctx, "membership of a relay")
	if err != nil {
		return err
	}
	m, err := parseMembership(stored)
	if err != nil {
		return &link.Refusal{Why: "the stored membership of the relay is damaged", Cause: link.CauseNoSecret}
	}
	s := &session{membership: m, heard: make(chan *nats.Msg, 64), said: make(chan *nats.Msg, 16), relays: states{}, stale: make(chan struct{}, 1), closed: make(chan error, 1)}
	defer s.trying.Wait()
	s.URLs = p.inTurn(s.URLs)
	if err := s.connect(ctx, p.account.Address); err != nil {
		return failed(ctx, err)
	}
	defer s.Close()
	p.last = s.ConnectedUrl()
	p.joined.Store(s) // look-ups are answered also where a relay has yet to learn what goes on
	defer p.joined.CompareAndSwap(s, nil)
	up := false
	late := time.NewTimer(retryPause) // until the first answer, then to renew the token
	var recovered, silent <-chan time.Time
	var work sync.WaitGroup // no call waits for it
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
		case m := <-s.heard:
			if nobodyAnswers(m) {
				return failed(ctx, nats.ErrNoResponders)
			}
			if !up {
				up = true
				r.Up()
				late.Reset(0)
			}
			p.take(r, s, m)
		case m := <-s.said:
			s.applyState(r, m.Data)
			silent = time.After(p.silence)
		case <-silent: // its computer answers for it, or it would be known by now
			return failed(ctx, nats.ErrStaleConnection)
		case <-s.stale:
			if err := s.askNow(); err != nil {
				return failed(ctx, err)
			}
		case <-late.C:
			if !up {
				if err := s.retryAsk(); err != nil {
					return failed(ctx, err)
				}
				late.Reset(retryPause)
				continue
			}
			p.renew(ctx, s)
			work.Go(func() { p.catchUp(ctx, s) })
			late.Reset(renewEvery)
		case err := <-s.closed:
			p.drain(r, s)
			return failed(ctx, err)
		case <-ctx.Done():
			return ctx.Err()
		}
	}
}

// inTurn gives the relays in the order in which they are tried: each time another one is
// the first, for one that answers may be cut off from the others. The one that there was
// a session with is the last: it may be gone without a word.
func (p *Phone) inTurn(urls []string) []string {
	i := p.turn % len(urls)
	p.turn++
	urls = slices.Concat(urls[i:], urls[:i])
	if i := slices.Index(urls, p.last); i >= 0 {
		urls = append(slices.Delete(urls, i, i+1), p.last)
	}
	return urls
}

// catchUp has the calls saved that rang while Wiebelt was not there, and then has the
// relay forget them.
func (p *Phone) catchUp(ctx context.Context, s *session) {
	for seen := uint64(0); p.saveMissed != nil; {
		b, err := s.ask(ctx, wire.Journal, wire.JournalRequest{Seen: seen}, lookupTime)
		if err != nil {
			return // an older relay, or one that is going
		}
		a, err := wire.ParseJournalAnswer(b)
		if err != nil || len(a.Calls) == 0 || p.saveMissed(ctx, a.LocalTimes(time.Now())) != nil {
			return
		}
		seen = a.Seen
	}
}

// applyState tells what does not work behind the relays, by what one of them says of
// itself. Their clocks and the way to here make the same moment look a little
// different each time.
func (s *session) applyState(r *link.Reporter, b []byte) {
	now := time.Now()
	s.relays.take(b, now)
	cause, since := s.relays.trouble(now)
	if since.Sub(s.behind).Abs() > time.Minute {
		s.behind = since
	}
	r.Behind(cause, s.behind)
}

// nobodyAnswers tells the server's answer where no relay listens.
func nobodyAnswers(m *nats.Msg) bool { return len(m.Data) == 0 && m.Header.Get("Status") == "503" }

// Lookup asks the relay whose number it is. Every error is a *contact.LookupError.
func (p *Phone) Lookup(ctx context.Context, number string) ([]contact.Contact, error) {
	s := p.joined.Load()
	if s == nil {
		return nil, &contact.LookupError{Failure: contact.ConnectionRefused, Detail: "no relay can be reached"}
	}
	answer, err := s.ask(ctx, wire.Lookup, wire.LookupRequest{Number: number}, lookupTime)
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

// askNow asks for the snapshot that holds.
func (s *session) askNow() error {
	return s.PublishRequest(s.Site.Of(wire.Now, s.User), s.inbox, nil)
}

// retryAsk asks once more, for the question may be lost with the relay that had it; it
// fails after a few times.
func (s *session) retryAsk() error {
	if s.asked++; s.asked == asks {
		return context.DeadlineExceeded
	}
	return s.askNow()
}

// drain takes what came before the end.
func (p *Phone) drain(r *link.Reporter, s *session) {
	for len(s.heard) > 0 {
		p.take(r, s, <-s.heard)
	}
}

// failed says why there is no connection, in our words.
func failed(ctx context.Context, err error) error {
	switch {
	case ctx.Err() != nil:
		return ctx.Err()
	case err == nil:
		return link.ErrClosed
	case errors.Is(err, nats.ErrAuthorization), errors.Is(err, nats.ErrAuthExpired), errors.Is(err, nats.ErrAuthRevoked), errors.Is(err, nats.ErrAccountAuthExpired):
		return &link.Refusal{Why: "the relay does not let this user in any more", Cause: link.CauseDenied}
	case errors.Is(err, nats.ErrNoServers), link.Nobody(err): // which does not mean that nobody telephones
		return &link.Failure{Why: "no relay can be reached", Cause: link.CauseNobody}
	case errors.Is(err, nats.ErrNoResponders), errors.Is(err, context.DeadlineExceeded):
		return &link.Failure{Why: "NATS answers, but no relay does", Cause: link.CauseFault}
	}
	return err
}

// take takes a snapshot that is newer than all before. Of the first one of a session
// every call is reported that goes on, known or not: while there was none, nobody
// could say that it does.
func (p *Phone) take(r *link.Reporter, on *session, m *nats.Msg) {
	s, err := wire.ParseSnapshot(m.Data)
	if err != nil {
		r.Unreadable(len(m.Data))
		return
	}
	p.resetEpoch(on, m.Subject, s.Epoch)
	if newer := s.Compare(p.newest); newer < 0 || newer == 0 && on.knows && !p.recovering {
		return
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
			if on.knows && !p.recovering {
				p.reportBegin(r, before, s, c)
			}
			p.reportEnd(r, e)
			continue
		}
		going[e.ID] = true
		known, ok := r.Known(e.ID)
		if e.State == call.Answered && (!ok || !on.knows) { // since when it rang is news too
			r.Report(s.Rang(c, now))
		}
		if !ok || !on.knows || !same(known, e) {
			r.Report(e)
		}
	}
	on.knows = true
	if !p.recovering { // what is not told may go on nevertheless
		r.EndOthers(going)
	}
}

// resetEpoch forgets an epoch that is later than the one of which the relays tell who has
// just connected and asked them: one whose clock is behind may have begun anew.
func (p *Phone) resetEpoch(on *session, subject string, epoch int64) {
	if !on.knows && subject == on.inbox && epoch < p.newest.Epoch {
		p.newest = wire.Snapshot{Epoch: epoch - 1}
	}
}

// reportBegin reports how a call began that was not in the snapshot before and has ended
// since.
func (p *Phone) reportBegin(r *link.Reporter, before, s wire.Snapshot, c wire.Call) {
	now := time.Now()
	rang := s.Rang(c, now)
	if _, known := r.Known(rang.ID); known || !before.Excludes(c.ID) || slices.Contains(p.over, rang.ID) {
		return
	}
	r.Report(rang)
	if c.Answered != nil {
		c.State = call.Answered.String()
		r.Report(s.Event(c, now))
	}
}

// reportEnd reports the end of a call, if it is known.
func (p *Phone) reportEnd(r *link.Reporter, e call.Event) {
	if _, known := r.Known(e.ID); known {
		p.over = append(p.over, e.ID)
		p.over = p.over[max(0, len(p.over)-2*wire.MaxCalls):]
		e.Since = time.Time{} // it is over now
		r.Report(e)
	}
}

// same tells whether a report says nothing that is not known.
func same(known, e call.Event) bool {
	e.Source, e.At, e.Since = known.Source, known.At, known.Since
	return known == e
}

// ask asks the relays something of the user's own, and again where that had no answer.
func (s *session) ask(ctx context.Context, about wire.Topic, question any, limit time.Duration) ([]byte, error) {
	ctx, cancel := context.WithTimeout(ctx, limit)
	defer cancel()
	b, err := json.Marshal(question)
	if err != nil {
		return nil, err
	}
	inbox := s.NewInbox()
	answers, err := s.SubscribeSync(inbox)
	if err != nil {
		return nil, err
	}
	defer func() { _ = answers.Unsubscribe() }()
	pause, factor := retryPause, time.Duration(2)
	if about == wire.Lookup { // a relay answers it once, however often it is asked
		pause, factor = lookupRetryPause, 1
	}
	for ; ; pause *= factor {
		if err := s.PublishRequest(s.Site.Of(about, s.User), inbox, b); err != nil {
			return nil, err
		}
		wait, stop := context.WithTimeout(ctx, pause)
		m, err := answers.NextMsgWithContext(wait)
		stop()
		switch {
		case err == nil && nobodyAnswers(m):
			return nil, nats.ErrNoResponders
		case err == nil:
			return m.Data, nil
		case !errors.Is(err, context.DeadlineExceeded) || ctx.Err() != nil:
			return nil, err
		}
	}
}
