package bria

import (
	"context"
	"errors"
	"strconv"
	"time"

	"wiebelt/internal/softphone/exchangelink"
	"wiebelt/internal/softphone/link"
)

// times are the limits of a connection; tests shorten them.
type times struct {
	allow  time.Duration // for the first answer: somebody may have to click
	answer time.Duration // for every other one
	ping   time.Duration // between pings
	silent time.Duration // without a word from Bria, after which it must answer a question
}

var usual = times{allow: 30 * time.Second, answer: 10 * time.Second, ping: 30 * time.Second, silent: 45 * time.Second}

const (
	askBurst = 10                    // so many questions are asked at once,
	askPause = 20 * time.Millisecond // and then one in this time
)

// session is the talk on one connection.
type session struct {
	sock  *exchangelink.Socket
	r     *link.Reporter
	times times

	up       bool
	id       int       // of the last question
	open     bool      // it is not answered yet
	again    bool      // something has happened since it was asked
	deadline time.Time // of its answer
	paid     time.Time // when the questions so far are used up, at one in askPause
}

// Session takes events until the connection ends.
func (p *phone) Session(ctx context.Context, r *link.Reporter) error {
	ws, err := p.dial(ctx)
	if err != nil {
		return err
	}
	// Not every program answers a ping, but Bria answers a question: the silence that ends
	// the connection is longer than that after which it is asked.
	o := exchangelink.Options{PingEvery: p.times.ping, Silence: 2 * (p.times.silent + p.times.answer)}
	s := &session{sock: exchangelink.Keep(ctx, ws, p.dialed, o, maxMessage), r: r, times: p.times}
	defer s.sock.Close()
	return s.run(ctx)
}

func (s *session) run(ctx context.Context) error {
	err := s.ask(time.Now())
	for err == nil {
		select {
		case b, ok := <-s.sock.In():
			if !ok {
				return s.closed(ctx)
			}
			err = s.message(b)
		case <-time.After(time.Until(s.next())):
			err = s.late()
		}
	}
	return err
}

// next is when something is due if nothing is heard.
func (s *session) next() time.Time {
	switch {
	case s.open:
		return s.deadline
	case s.again:
		return s.free()
	}
	return s.sock.Heard().Add(s.times.silent)
}

// late does what is due.
func (s *session) late() error {
	switch {
	case s.open && !s.up:
		return silent()
	case s.open:
		return errors.New("the phone does not answer any more")
	case s.again, time.Since(s.sock.Heard()) >= s.times.silent:
		return s.ask(time.Now())
	}
	return nil
}

// changed asks for the calls. However much changes while a question is open, only one
// more follows it.
func (s *session) changed() error {
	if s.open {
		s.again = true
		return nil
	}
	return s.ask(time.Now())
}

// free is when the next question may be asked.
func (s *session) free() time.Time { return s.paid.Add(-askBurst * askPause) }

// ask asks for the calls, or leaves it to the time when that is allowed.
func (s *session) ask(now time.Time) error {
	if now.Before(s.free()) {
		s.again = true
		return nil
	}
	if s.paid.Before(now) {
		s.paid = now
	}
	s.paid = s.paid.Add(askPause)
	s.id++
	s.open, s.again = true, false
	s.deadline = now.Add(s.times.answer)
	if !s.up {
		s.deadline = now.Add(s.times.allow)
	}
	return s.sock.Send(question(s.id))
}

// message takes what Bria says. What cannot be read costs this one message, not
// the link.
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
	if !s.open || m.id != "" && m.id != strconv.Itoa(s.id) {
		return nil
	}
	if m.status != 200 {
		return refused(m.status)
	}
	s.open = false
	if !s.up {
		s.up = true
		s.r.Up()
	}
	if calls, ok := readCalls(m.body); ok {
		compare(s.r, calls)
	} else {
		s.r.Unreadable(size)
	}
	if s.again {
		return s.ask(time.Now())
	}
	return nil
}

// closed says what the end of the connection means.
func (s *session) closed(ctx context.Context) error {
	err := s.sock.Err()
	switch {
	case ctx.Err() != nil || link.CauseOf(err) != link.NoCause: // it was too long, or no message
		return err
	case !s.up:
		return silent()
	}
	return link.ErrClosed
}
