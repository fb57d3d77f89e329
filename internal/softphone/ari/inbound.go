package ari

import (
	"context"
	"encoding/json"
	"strconv"
	"time"

	"wiebelt/internal/softphone/exchangelink"
	"wiebelt/internal/softphone/link"
	"wiebelt/internal/softphone/registry"
)

// inbound is an Asterisk that has connected to us, for one connection.
type inbound struct {
	*phone
	sock *exchangelink.Socket
	pace pace
}

// pace holds the intervals between polls of the channels; tests shorten them.
type pace struct {
	calm  time.Duration // while events arrive
	doubt time.Duration // before the first event, or if another program may have the application
	sure  time.Duration // if a channel has had no event
}

// Inbound returns the phone of an Asterisk that has connected by an outbound WebSocket. It
// uses that connection for requests too, and reports all extensions that the account hears.
func Inbound(a exchangelink.Account, sock *exchangelink.Socket) link.Phone {
	return &inbound{phone: &phone{Phone: a.Inbound(registry.ARIOutbound, sock), asked: map[string]asked{}, hidden: map[string]string{}},
		sock: sock, pace: pace{calm: 30 * time.Second, doubt: 5 * time.Second, sure: 2 * time.Second}}
}

// Session processes events until the connection ends. Asterisk sends those queued from
// before the connection first; the current channels decide which of them still count.
func (g *inbound) Session(ctx context.Context, r *link.Reporter) error {
	w := &overSocket{sock: g.sock}
	s := &visit{session: &session{phone: g.phone, r: r, way: w}, pace: g.pace, overSocket: w, doubt: true}
	all, err := s.channels(ctx)
	if err != nil {
		return err
	}
	began := w.clock.Add(-overlap)
	s.report(ctx, all)
	r.Up()
	for n := len(w.queue); n > 0 && len(w.queue) > 0; n-- {
		s.hears(ctx, w.queued(), began)
	}
	w.up = true
	return s.run(ctx)
}

// overlap is how long before the answer about the channels events still count: they may
// contain what the answer does not.
const overlap = time.Second

// visit is a session of an inbound connection.
type visit struct {
	*session
	*overSocket
	pace
	doubt bool            // unknown whether events arrive
	deaf  bool            // they do not arrive
	odd   map[string]bool // channels that differed from the events at the last poll
}

func (s *visit) run(ctx context.Context) error {
	look := time.NewTimer(s.next())
	for {
		for len(s.queue) > 0 {
			s.hears(ctx, s.queued(), time.Time{})
		}
		select {
		case b, ok := <-s.sock.In():
			if !ok {
				return s.sock.Err()
			}
			s.hears(ctx, b, time.Time{})
		case <-look.C:
			if err := s.look(ctx); err != nil {
				return err
			}
			look.Reset(s.next())
		}
		if s.full {
			return s.Server.Status(500) // the next connection recovers everything
		}
	}
}

func (s *visit) next() time.Duration {
	switch {
	case s.deaf, len(s.odd) > 0:
		return s.sure
	case s.pace.doubt < s.calm && s.doubt:
		return s.pace.doubt
	}
	return s.calm
}

// hears processes a message unless it is an event dated before began.
func (s *visit) hears(ctx context.Context, b []byte, began time.Time) {
	var m message
	if !s.r.Read(b, &m) {
		return
	}
	if at, _ := time.Parse(stampLayout, m.Timestamp); at.Before(began) {
		return
	}
	switch m.Type {
	case "RESTResponse": // no longer awaited
	case "ApplicationRegistered":
		s.hear()
		s.doubt = true
	case "ApplicationReplaced": // by another program, or the settings were reloaded
		s.doubt = true
	case "ApplicationUnregistered":
		s.lose()
	default:
		s.hear()
		s.event(ctx, m)
	}
}

// hear notes that events arrive.
func (s *visit) hear() {
	s.doubt, s.deaf = false, false
	s.r.Behind(link.NoCause, time.Time{})
}

// lose notes that events do not arrive.
func (s *visit) lose() {
	if !s.deaf {
		s.deaf = true
		s.r.Behind(link.CauseReplaced, time.Now())
	}
}

// look polls the channels. One that differs from the events in two polls shows that events
// do not arrive: calls are then taken from polling.
func (s *visit) look(ctx context.Context) error {
	all, err := s.channels(ctx)
	if err != nil {
		return err
	}
	for len(s.queue) > 0 { // they arrived before the answer
		s.hears(ctx, s.queued(), time.Time{})
	}
	before, gone := s.odd, map[string]bool{}
	for _, leg := range s.Legs.All() {
		gone[leg] = true
	}
	s.odd = map[string]bool{}
	exchangelink.EachOf(s.r, all, func(c channel) {
		if !gone[c.ID] && s.mine(c.Name) != "" && (c.State == "Ringing" || c.State == "Ring" || c.State == "Up") {
			s.odd[c.ID] = true
		}
		delete(gone, c.ID)
	})
	for leg := range gone {
		s.odd[leg] = true
	}
	for leg := range s.odd {
		if before[leg] {
			s.lose()
		}
	}
	if s.deaf {
		s.report(ctx, all)
	}
	return nil
}

// overSocket sends requests over the connection that delivers the events.
type overSocket struct {
	sock  *exchangelink.Socket
	asked int
	queue [][]byte // events that arrived before an answer
	bytes int      // in queue
	up    bool     // the first answer has been processed
	full  bool     // there were too many events
	clock time.Time
}

const (
	mostQueued  = 4096
	mostBytes   = 16 << 20
	answerTime  = 10 * time.Second
	stampLayout = "2006-01-02T15:04:05.000-0700"
)

// request and response are Asterisk's messages.
type request struct {
	Type      string `json:"type"`
	RequestID string `json:"request_id"`
	Method    string `json:"method"`
	URI       string `json:"uri"`
}

type response struct {
	Type      string `json:"type"`
	Timestamp string `json:"timestamp"`
	RequestID string `json:"request_id"`
	Status    int    `json:"status_code"`
	Body      string `json:"message_body"`
}

func (w *overSocket) get(ctx context.Context, path string, into any) (status int, err error) {
	ctx, cancel := context.WithTimeout(ctx, answerTime)
	defer cancel()
	w.asked++
	id := strconv.Itoa(w.asked)
	err = w.sock.Send(exchangelink.JSON(request{"RESTRequest", id, "GET", path}))
	for err == nil {
		var a response
		if a, err = w.answer(ctx); err == nil && a.RequestID == id {
			if w.clock, _ = time.Parse(stampLayout, a.Timestamp); a.Status == 200 && json.Unmarshal([]byte(a.Body), into) != nil {
				err = w.sock.Server().Failure("its answer cannot be read", link.CauseUnexpected)
			}
			return a.Status, err
		}
	}
	return 0, err
}

// answer waits for an answer and queues events that arrive before it.
func (w *overSocket) answer(ctx context.Context) (a response, err error) {
	for {
		select {
		case <-ctx.Done():
			return a, w.sock.Server().Failure("it does not answer in time", link.CauseSilent)
		case b, ok := <-w.sock.In():
			if !ok {
				return a, w.sock.Err()
			}
			if json.Unmarshal(b, &a) == nil && a.Type == "RESTResponse" {
				return a, nil
			}
			w.keep(b)
		}
	}
}

// keep keeps an event, and of too many the newest.
func (w *overSocket) keep(b []byte) {
	w.queue, w.bytes = append(w.queue, b), w.bytes+len(b)
	for len(w.queue) > mostQueued || w.bytes > mostBytes {
		w.full = w.up // before, they were kept for us while there was no connection
		w.queued()
	}
}

func (w *overSocket) queued() []byte {
	b := w.queue[0]
	w.queue, w.bytes = w.queue[1:], w.bytes-len(b)
	return b
}
