package ari

import (
	"context"
	"strings"

	"wiebelt/internal/core/call"
	"wiebelt/internal/core/lazyregexp"
	"wiebelt/internal/softphone/exchangelink"
	"wiebelt/internal/softphone/link"
)

// message holds the fields used of an event. There are some fifty event types, and each
// version adds more; everything else is ignored.
type message struct {
	Type         string  `json:"type"`
	Timestamp    string  `json:"timestamp"`
	Application  string  `json:"application"`
	Channel      channel `json:"channel"`
	Cause        int     `json:"cause"`
	Presentation string  `json:"caller_presentation_txt"`
}

type channel struct {
	ID        string `json:"id"`
	Name      string `json:"name"`
	State     string `json:"state"`
	Caller    party  `json:"caller"`
	Connected party  `json:"connected"`
	Dialplan  struct {
		Exten string `json:"exten"`
	} `json:"dialplan"`
	Redirected string `json:"caller_rdnis"`
}

// isInvalid reports whether a channel has no ID or is too long to be remembered.
func (c channel) isInvalid() bool {
	return c.ID == "" || len(c.ID)+len(c.Caller.Number)+len(c.Connected.Number) > 1<<10
}

type party struct {
	Name   string `json:"name"`
	Number string `json:"number"`
}

// message processes one event. An unreadable event is skipped; the connection stays.
func (s *session) message(ctx context.Context, b []byte) error {
	var m message
	if !s.r.Decode(b, &m) {
		return nil
	}
	if m.Type == "ApplicationReplaced" && m.Application == s.app {
		return link.ErrReplaced
	}
	s.event(ctx, m)
	return nil
}

func (s *session) event(ctx context.Context, m message) {
	switch m.Type {
	case "ChannelCreated", "ChannelStateChange":
		s.reportChannel(ctx, m.Channel, false)
	case "ChannelConnectedLine":
		s.reportChannel(ctx, m.Channel, true)
	case "ChannelCallerId":
		if strings.Contains(m.Presentation, "Prohibited") {
			s.noteWithheld(m.Channel)
		}
		s.reportChannel(ctx, m.Channel, false)
	case "ChannelDestroyed":
		s.Legs.End(s.r, m.Channel.ID, exchangelink.HangupReason(m.Cause))
		delete(s.withheldNumbers, m.Channel.ID)
	}
}

// channelName matches the name of a phone's channel, with its endpoint; "…<ZOMBIE>" is none.
var channelName = lazyregexp.New(`(?s)^(?:PJSIP|SIP)/(.*)-[0-9A-Fa-f]+$`)

// extensionOf returns the extension whose phone a channel belongs to, "" for other channels.
func (s *session) extensionOf(name string) (extension string) {
	if m := channelName().FindStringSubmatch(name); m != nil {
		if _, ours := s.Account.Follows(m[1]); ours {
			return m[1]
		}
	}
	return ""
}

// reportChannel reports the state of a channel if it is part of our calls. moved is true if the
// event says that the other party has changed.
func (s *session) reportChannel(ctx context.Context, c channel, moved bool) {
	if c.isInvalid() {
		return
	}
	extension := s.extensionOf(c.Name)
	if extension == "" {
		s.Legs.End(s.r, c.ID, call.ReasonUnknown) // no effect unless it was ours
		return
	}
	known, isKnown := s.Legs.Known(s.r, c.ID)
	e := call.Event{Direction: call.DirectionUnknown, Number: c.Connected.Number, Name: c.Connected.Name, Line: extension, Via: c.Redirected}
	e.Extension, _ = s.Account.Follows(extension)
	if exchangelink.IsPublicNumber(c.Dialplan.Exten) {
		e.Line = c.Dialplan.Exten // the number that was called
	}
	switch c.State {
	case "Ringing":
		e.Direction = call.Incoming
	case "Ring":
		e.Direction, e.Line = call.Outgoing, extension
		if e.Number == "" && !isKnown {
			e.Number = c.Dialplan.Exten // later it is the call's position in the dialplan
		}
	case "Up":
		e.State = call.Answered
		if isKnown {
			e.Line = "" // unchanged
		}
	default:
		return
	}
	switch outgoing := e.Direction == call.Outgoing || isKnown && known.Direction == call.Outgoing; {
	case e.Number == "" && moved && known.Number != "":
		e.Number, e.Name = exchangelink.Anonymous, "" // unknown, but no longer the previous party
	case e.Number == "":
		e.Name = ""
	case !outgoing && s.isWithheld(ctx, c):
		e.Number, e.Name = exchangelink.Anonymous, ""
	}
	s.Legs.Report(s.r, c.ID, c.ID, e, func(other string) bool { return s.linked(ctx, c.ID, other) })
}

// isWithheld reports whether the number on our channel is withheld. Without an answer
// from the exchange, it counts as withheld until the channel's next event.
func (s *session) isWithheld(ctx context.Context, c channel) bool {
	for _, number := range s.withheldNumbers {
		if number == c.Connected.Number {
			return true
		}
	}
	a := s.callerPrivacy[c.ID]
	if a.number != c.Connected.Number {
		presentation, answered := s.variable(ctx, c.ID, "CONNECTEDLINE(num-pres)")
		if !answered {
			return true
		}
		a = privacy{c.Connected.Number, strings.HasPrefix(presentation, "prohib")}
		exchangelink.Remember(s.callerPrivacy, c.ID, a)
	}
	return a.withheld
}

// noteWithheld notes that the caller on a channel, ours or the trunk's, withholds their number.
// On our own channel, the caller is usually our own extension.
func (s *session) noteWithheld(c channel) {
	switch ours := s.extensionOf(c.Name); {
	case c.isInvalid(), c.Caller.Number == ours: // or the trunk's channel has no number
		return
	case ours != "":
		exchangelink.Remember(s.callerPrivacy, c.ID, privacy{c.Connected.Number, true})
		return
	}
	exchangelink.Remember(s.withheldNumbers, c.ID, c.Caller.Number)
	for _, id := range s.r.Calls() {
		if e, _ := s.r.Known(id); e.Number == c.Caller.Number && e.Direction == call.Incoming {
			e.Number, e.Name = exchangelink.Anonymous, ""
			s.r.Report(e)
		}
	}
}

func (s *session) linked(ctx context.Context, a, b string) bool {
	id, _ := s.variable(ctx, a, "CHANNEL(linkedid)")
	other, _ := s.variable(ctx, b, "CHANNEL(linkedid)")
	return id != "" && id == other
}
