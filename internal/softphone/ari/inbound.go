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
	pace pollIntervals
}

// pollIntervals holds the intervals between polls of the channels; tests shorten them.
type pollIntervals struct {
	normal time.Duration // while events arrive
	unsure time.Duration // before the first event, or if another program may have the application
	missed time.Duration // if a channel has had no event
}

// Inbound returns the phone of an Asterisk that has connected by an outbound WebSocket. It
// uses that connection for requests too, and reports all extensions that the account follows.
func Inbound(a exchangelink.Account, sock *exchangelink.Socket) link.Phone {
	return &inbound{phone: &phone{Phone: a.Inbound(registry.ARIOutbound, sock), callerPrivacy: map[string]privacy{},
		withheldNumbers: map[string]string{}},
		sock: sock, pace: pollIntervals{normal: 30 * time.Second, unsure: 5 * time.Second, missed: 2 * time.Second}}
}

// Session processes events until the connection ends. Asterisk sends those queued from
// before the connection first; the current channels decide which of them still count.
func (g *inbound) Session(ctx context.Context, r *link.Reporter) error {
	w := &socketTransport{sock: g.sock}
	s := &inboundSession{session: &session{phone: g.phone, r: r, get: w.get}, pollIntervals: g.pace, socketTransport: w, doubt: true}
	all, err := s.channels(ctx)
	if err != nil {
		return err
	}
	began := w.clock.Add(-overlap)
	s.report(ctx, all)
	r.Up()
	for n := len(w.queue); n > 0 && len(w.queue) > 0; n-- {
		s.handle(ctx, w.dequeue(), began)
	}
	w.up = true
	return s.run(ctx)
}

// overlap is how much older than the answer about the channels an event
// may be and still count: it may contain what the answer does not.
const overlap = time.Second

type inboundSession struct {
	*session
	*socketTransport
	pollIntervals
	doubt     bool            // unknown whether events arrive
	noEvents  bool            // they do not arrive
	differing map[string]bool // channels that differed from the events at the last poll
}

func (s *inboundSession) run(ctx context.Context) error {
	look := time.NewTimer(s.next())
	for {
		for len(s.queue) > 0 {
			s.handle(ctx, s.dequeue(), time.Time{})
		}
		select {
		case b, ok := <-s.sock.Messages():
			if !ok {
				return s.sock.Err()
			}
			s.handle(ctx, b, time.Time{})
		case <-look.C:
			if err := s.poll(ctx); err != nil {
				return err
			}
			look.Reset(s.next())
		}
		if s.full {
			return s.Server.StatusError(500) // the next connection recovers everything
		}
	}
}

func (s *inboundSession) next() time.Duration {
	switch {
	case s.noEvents, len(s.differing) > 0:
		return s.missed
	case s.doubt:
		return s.unsure
	}
	return s.normal
}

// handle processes a message unless it is an event dated before began.
func (s *inboundSession) handle(ctx context.Context, b []byte, began time.Time) {
	var m message
	if !s.r.Decode(b, &m) {
		return
	}
	if at, _ := time.Parse(stampLayout, m.Timestamp); at.Before(began) {
		return
	}
	switch m.Type {
	case "RESTResponse": // no longer awaited
	case "ApplicationRegistered":
		s.noteEvents()
		s.doubt = true
	case "ApplicationReplaced": // by another program, or the settings were reloaded
		s.doubt = true
	case "ApplicationUnregistered":
		s.noteNoEvents()
	default:
		s.noteEvents()
		s.event(ctx, m)
	}
}

func (s *inboundSession) noteEvents() {
	s.doubt, s.noEvents = false, false
	s.r.SetBackendFault(link.NoCause, time.Time{})
}

// noteNoEvents notes that events do not arrive.
func (s *inboundSession) noteNoEvents() {
	if !s.noEvents {
		s.noEvents = true
		s.r.SetBackendFault(link.CauseReplaced, time.Now())
	}
}

// poll polls the channels. One that differs from the events in two polls shows that events
// do not arrive: calls are then taken from polling.
func (s *inboundSession) poll(ctx context.Context) error {
	all, err := s.channels(ctx)
	if err != nil {
		return err
	}
	for len(s.queue) > 0 { // they arrived before the answer
		s.handle(ctx, s.dequeue(), time.Time{})
	}
	before, gone := s.differing, map[string]bool{}
	for _, leg := range s.Legs.All() {
		gone[leg] = true
	}
	s.differing = map[string]bool{}
	exchangelink.DecodeEach(s.r, all, func(c channel) {
		if !gone[c.ID] && s.extensionOf(c.Name) != "" && (c.State == "Ringing" || c.State == "Ring" || c.State == "Up") {
			s.differing[c.ID] = true
		}
		delete(gone, c.ID)
	})
	for leg := range gone {
		s.differing[leg] = true
	}
	for leg := range s.differing {
		if before[leg] {
			s.noteNoEvents()
		}
	}
	if s.noEvents {
		s.report(ctx, all)
	}
	return nil
}

// socketTransport sends requests over the connection that delivers the events.
type socketTransport struct {
	sock          *exchangelink.Socket
	lastRequestID int
	queue         [][]byte // events that arrived before an answer
	bytes         int      // in queue
	up            bool     // the first answer has been processed
	full          bool     // there were too many events
	clock         time.Time
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

func (w *socketTransport) get(ctx context.Context, path string, into any) (status int, err error) {
	ctx, cancel := context.WithTimeout(ctx, answerTime)
	defer cancel()
	w.lastRequestID++
	id := strconv.Itoa(w.lastRequestID)
	err = w.sock.Send(exchangelink.EncodeJSON(request{"RESTRequest", id, "GET", path}))
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
func (w *socketTransport) answer(ctx context.Context) (a response, err error) {
	for {
		select {
		case <-ctx.Done():
			return a, w.sock.Server().Failure("it does not answer in time", link.CauseSilent)
		case b, ok := <-w.sock.Messages():
			if !ok {
				return a, w.sock.Err()
			}
			if json.Unmarshal(b, &a) == nil && a.Type == "RESTResponse" {
				return a, nil
			}
			w.enqueue(b)
		}
	}
}

// enqueue queues an event; if there are too many, the oldest are dropped.
func (w *socketTransport) enqueue(b []byte) {
	w.queue, w.bytes = append(w.queue, b), w.bytes+len(b)
	for len(w.queue) > mostQueued || w.bytes > mostBytes {
		w.full = w.up // before up, they are from the time without a connection
		w.dequeue()
	}
}

func (w *socketTransport) dequeue() []byte {
	b := w.queue[0]
	w.queue, w.bytes = w.queue[1:], w.bytes-len(b)
	return b
}
