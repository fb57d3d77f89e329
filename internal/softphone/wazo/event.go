package wazo

import (
	"context"
	"encoding/json"

	"wiebelt/internal/core/call"
	"wiebelt/internal/softphone/exchangelink"
	"wiebelt/internal/softphone/link"
)

// message is a message of the server, version 2 of its protocol.
type message struct {
	Op   string          `json:"op"`
	Code int             `json:"code"`
	Data json.RawMessage `json:"data"`
}

type event struct {
	Name string   `json:"name"`
	Call wazoCall `json:"data"`
}

// wazoCall is a call as described by wazo-calld. Any field may be missing or null.
type wazoCall struct {
	ID           string  `json:"call_id"`
	Conversation string  `json:"conversation_id"`
	Status       string  `json:"status"`
	Direction    string  `json:"direction"`
	Caller       bool    `json:"is_caller"`
	PeerName     string  `json:"peer_caller_id_name"`
	PeerNumber   *string `json:"peer_caller_id_number"`
	Dialed       string  `json:"dialed_extension"`
	User         string  `json:"user_uuid"`
	Line         *int    `json:"line_id"`
	Reason       int     `json:"reason_code"`
}

// message processes one message. An unreadable one is skipped; the connection stays.
func (s *session) message(ctx context.Context, b []byte) error {
	var m message
	if !s.r.Decode(b, &m) {
		return nil
	}
	switch m.Op {
	case "event":
		s.event(m.Data)
		return nil
	case "init", "subscribe", "start", "token":
		if m.Code != 0 {
			return s.Server.Failure("the event server refuses what it was asked", link.NoCause)
		}
	}
	switch {
	case m.Op == "init" && !s.eventsRequested:
		return s.greet()
	case m.Op == "start" && s.eventsRequested && !s.ready:
		s.ready = true
		if err := s.snapshot(ctx); err != nil {
			return err
		}
		s.r.Up()
	}
	return nil
}

// event processes one event about a call.
func (s *session) event(b []byte) {
	var e event
	if !s.r.Decode(b, &e) {
		return
	}
	switch e.Name {
	case "call_created", "call_updated", "call_answered":
		if s.isMine(e.Call) && !s.endedCalls.Has(e.Call.ID) {
			s.reportCall(e.Call)
		}
	case "call_ended":
		if _, known := s.Legs.Known(s.r, e.Call.ID); known || s.isMine(e.Call) {
			s.endedCalls.Add(e.Call.ID)
			s.Legs.End(s.r, e.Call.ID, exchangelink.HangupReason(e.Call.Reason))
		}
	}
}

const maxID = 512

// isMine reports whether a call is the user's, on a line with the extension.
func (s *session) isMine(c wazoCall) bool {
	if c.ID == "" || len(c.ID) > maxID || c.User != s.token.User {
		return false
	}
	return s.lines == nil || c.Line == nil || s.lines[*c.Line]
}

func (s *session) reportCall(c wazoCall) {
	known, isKnown := s.Legs.Known(s.r, c.ID)
	e := call.Event{Direction: direction(c), Name: c.PeerName, Line: s.Account.Extension}
	switch c.Status {
	case "Ringing", "Ring":
	case "Up":
		e.State = call.Answered
	default:
		return
	}
	calledOut := c.Direction == outbound // what was dialled is not ours, but the other party's
	switch {
	case exchangelink.IsPublicNumber(c.Dialed) && e.Direction == call.Incoming && !calledOut:
		e.Line = c.Dialed // the number that was called
	case isKnown:
		e.Line = "" // unchanged
	}
	e.Number = c.number(known, calledOut || e.Direction == call.Outgoing || isKnown && known.Direction == call.Outgoing)
	if e.Number == "" || e.Number != *c.PeerNumber {
		e.Name = ""
	}
	if c.Conversation != "" && len(c.Conversation) <= maxID {
		exchangelink.Remember(s.conversations, c.ID, c.Conversation)
	}
	s.Legs.Report(s.r, c.ID, c.ID, e, func(other string) bool {
		return c.Conversation != "" && s.conversations[other] == c.Conversation
	})
}

// number returns the other party's number, "" if withheld or unknown.
func (c wazoCall) number(known call.Event, outgoing bool) string {
	switch {
	case c.PeerNumber == nil:
		return ""
	case *c.PeerNumber != "" && (*c.PeerNumber != c.Dialed || outgoing):
		return *c.PeerNumber // the server fills in a withheld number
	case known.Number != "" && !outgoing:
		return exchangelink.Anonymous // unknown, but no longer the previous party
	}
	return ""
}

const outbound = "outbound"

// direction returns a call's direction as the user sees it. The server's is that of
// the conversation: a call out that a colleague passes on rings here.
func direction(c wazoCall) call.Direction {
	switch {
	case c.Status == "Ring", c.Caller:
		return call.Outgoing
	case c.Status == "Ringing", c.Direction == "inbound":
		return call.Incoming
	case c.Direction == outbound:
		return call.Outgoing
	}
	return call.DirectionUnknown
}
