package bria

import (
	"context"
	"errors"
	"strconv"
	"time"

	"wiebelt/internal/softphone/exchangelink"
	"wiebelt/internal/softphone/link"
)

// times are the timeouts of a connection; tests shorten them.
type times struct {
	allow  time.Duration // for the first answer: the user may have to click
	answer time.Duration // for every other answer
	ping   time.Duration // between pings
	silent time.Duration // without a message from Bria, after which a request is sent
}

var usual = times{allow: 30 * time.Second, answer: 10 * time.Second, ping: 30 * time.Second, silent: 45 * time.Second}

const (
	askBurst = 10                    // requests allowed at once,
	askPause = 20 * time.Millisecond // and one per this interval after that
)

// session is one connection.
type session struct {
	sock  *exchangelink.Socket
	r     *link.Reporter
	times times

	up              bool
	id              int       // of the last request
	pending         bool      // it is not answered yet
	again           bool      // something has happened since that request
	deadline        time.Time // for its answer
	budgetUsedUntil time.Time // when the requests so far are used up, at one per askPause
}

// Session processes events until the connection ends.
func (p *phone) Session(ctx context.Context, r *link.Reporter) error {
	ws, err := p.dial(ctx)
	if err != nil {
		return err
	}
	// Not every program answers pings, but Bria answers a request: the silence that ends
	// the connection is longer than the one that triggers a request.
	o := exchangelink.Options{PingEvery: p.times.ping, Silence: 2 * (p.times.silent + p.times.answer)}
	s := &session{sock: exchangelink.NewSocket(ctx, ws, p.dialed, o, maxMessage), r: r, times: p.times}
	defer s.sock.Close()
	return s.run(ctx)
}

func (s *session) run(ctx context.Context) error {
	err := s.request(time.Now())
	for err == nil {
		select {
		case b, ok := <-s.sock.In():
			if !ok {
				return s.closed(ctx)
			}
			err = s.message(b)
		case <-time.After(time.Until(s.next())):
			err = s.actOnTimeout()
		}
	}
	return err
}

// next returns when the next action is due if nothing arrives.
func (s *session) next() time.Time {
	switch {
	case s.pending:
		return s.deadline
	case s.again:
		return s.nextRequestAt()
	}
	return s.sock.Heard().Add(s.times.silent)
}

// actOnTimeout performs the action that is due.
func (s *session) actOnTimeout() error {
	switch {
	case s.pending && !s.up:
		return silentError()
	case s.pending:
		return errors.New("the phone does not answer any more")
	case s.again, time.Since(s.sock.Heard()) >= s.times.silent:
		return s.request(time.Now())
	}
	return nil
}

// changed requests the calls. However many changes arrive during a request,
// only one more follows it.
func (s *session) changed() error {
	if s.pending {
		s.again = true
		return nil
	}
	return s.request(time.Now())
}

// nextRequestAt returns when the next request may be sent.
func (s *session) nextRequestAt() time.Time { return s.budgetUsedUntil.Add(-askBurst * askPause) }

// request requests the calls, or postpones that until it is allowed.
func (s *session) request(now time.Time) error {
	if now.Before(s.nextRequestAt()) {
		s.again = true
		return nil
	}
	if s.budgetUsedUntil.Before(now) {
		s.budgetUsedUntil = now
	}
	s.budgetUsedUntil = s.budgetUsedUntil.Add(askPause)
	s.id++
	s.pending, s.again = true, false
	s.deadline = now.Add(s.times.answer)
	if !s.up {
		s.deadline = now.Add(s.times.allow)
	}
	return s.sock.Send(statusRequest(s.id))
}

// message processes a message from Bria. An unreadable one is skipped,
// the connection stays.
func (s *session) message(b []byte) error {
	m, ok := read(b)
	switch {
	case !ok:
		s.r.Unreadable(len(b))
	case m.answer:
		return s.answer(m, len(b))
	case m.event == "call":
		return s.changed()
	}
	return nil
}

func (s *session) answer(m message, size int) error {
	if !s.pending || m.id != "" && m.id != strconv.Itoa(s.id) {
		return nil
	}
	if m.status != 200 {
		return refused(m.status)
	}
	s.pending = false
	if !s.up {
		s.up = true
		s.r.Up()
	}
	if calls, ok := readCalls(m.body); ok {
		reportChanges(s.r, calls)
	} else {
		s.r.Unreadable(size)
	}
	if s.again {
		return s.request(time.Now())
	}
	return nil
}

// closed returns the error for the end of the connection.
func (s *session) closed(ctx context.Context) error {
	err := s.sock.Err()
	switch {
	case ctx.Err() != nil || link.CauseOf(err) != link.NoCause: // too long, or no message
		return err
	case !s.up:
		return silentError()
	}
	return link.ErrClosed
}
