package bria

import (
	"context"
	"errors"
	"fmt"
	"io"
	"net"
	"strconv"
	"time"

	"github.com/gorilla/websocket"

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
	writeTime = 2 * time.Second
	askBurst  = 10                    // so many questions are asked at once,
	askPause  = 20 * time.Millisecond // and then one in this time
)

// heard is what the reading goroutine hands on: a message, or nil for a pong.
type heard []byte

// session is the talk on one connection.
type session struct {
	ws    *websocket.Conn
	r     *link.Reporter
	times times

	up       bool
	id       int       // of the last question
	open     bool      // it is not answered yet
	again    bool      // something has happened since it was asked
	deadline time.Time // of its answer
	last     time.Time // when Bria was heard last
	paid     time.Time // when the questions so far are used up, at one in askPause
}

// Session takes events until the connection ends.
func (p *phone) Session(ctx context.Context, r *link.Reporter) error {
	ws, err := p.dial(ctx)
	if err != nil {
		return err
	}
	in := make(chan heard)
	var readErr error // valid once in is closed
	ended := make(chan struct{})
	go func() { // ends with the connection
		defer close(in)
		hand := func(m heard) error {
			select {
			case in <- m:
				return nil
			case <-ended:
				return net.ErrClosed
			}
		}
		ws.SetPongHandler(func(string) error { return hand(nil) })
		for readErr == nil {
			var b []byte
			if _, b, readErr = ws.ReadMessage(); readErr == nil {
				if b == nil {
					b = []byte{}
				}
				readErr = hand(b)
			}
		}
	}()
	defer func() {
		ws.WriteControl(websocket.CloseMessage, websocket.FormatCloseMessage(websocket.CloseNormalClosure, ""), time.Now().Add(time.Second))
		ws.Close()
		close(ended)
		for range in { // until the goroutine has closed it
		}
	}()
	s := &session{ws: ws, r: r, times: p.times, last: time.Now()}
	return s.run(ctx, in, &readErr)
}

func (s *session) run(ctx context.Context, in <-chan heard, readErr *error) error {
	if err := s.ask(time.Now()); err != nil {
		return err
	}
	ping := time.Tick(s.times.ping)
	for {
		var err error
		select {
		case <-ctx.Done():
			err = ctx.Err()
		case m, ok := <-in:
			switch s.last = time.Now(); {
			case !ok:
				err = s.closed(*readErr)
			case m != nil:
				err = s.message(m)
			}
		case now := <-ping:
			err = s.ws.WriteControl(websocket.PingMessage, nil, now.Add(writeTime))
			// Not every program answers a ping, but Bria answers a question.
			if err == nil && now.Sub(s.last) > s.times.silent {
				err = s.changed()
			}
		case <-time.After(time.Until(s.next())):
			err = s.late()
		}
		if err != nil {
			return err
		}
	}
}

// next is when something is due if nothing is heard.
func (s *session) next() time.Time {
	switch {
	case s.open:
		return s.deadline
	case s.again:
		return s.free()
	}
	return time.Now().Add(time.Hour)
}

// late does what is due.
func (s *session) late() error {
	switch {
	case s.open && !s.up:
		return silent()
	case s.open:
		return errors.New("the phone does not answer any more")
	case s.again:
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
	s.ws.SetWriteDeadline(now.Add(writeTime))
	if err := s.ws.WriteMessage(websocket.TextMessage, question(s.id)); err != nil {
		return fmt.Errorf("write to Bria: %w", err)
	}
	return nil
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

// closed says what the end of the connection means. Its text is left out: the
// other side chooses it.
func (s *session) closed(err error) error {
	var said *websocket.CloseError
	var network *net.OpError
	switch {
	case !errors.As(err, &said) && !errors.As(err, &network) && !errors.Is(err, io.EOF):
		return fmt.Errorf("read from Bria: %w", err)
	case !s.up:
		return silent()
	}
	return link.ErrClosed
}
