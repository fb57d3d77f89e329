package linphone

import (
	"strconv"
	"strings"

	"wiebelt/internal/core/address"
	"wiebelt/internal/core/call"
	"wiebelt/internal/softphone/link"
)

const (
	maxLook   = 1024 // call IDs checked on connecting
	lookAhead = 16   // number of IDs checked beyond the last one found
)

type session struct {
	d daemon
	r *link.Reporter
}

// pop processes one event; more reports that others are waiting.
func (s *session) pop() (more bool, err error) {
	a, err := s.d.ask("pop-event")
	if a.event != "" {
		err = s.reportEvent(a)
	}
	return a.queued, err
}

func (s *session) reportEvent(a answer) error {
	id, err := strconv.ParseUint(a.id, 10, 31)
	if err != nil || a.from == "" {
		s.r.Unreadable(len(a.from))
		return nil
	}
	name := strconv.FormatUint(id, 10)
	known, ok := s.r.Known(name)
	switch state := stateOf(a.event); state {
	case "IncomingReceived", "IncomingEarlyMedia":
		s.begin(name, call.Ringing, call.Incoming, a.from)
	case "Error", "End", "Released":
		// Missed, refused here and answered elsewhere look the same.
		s.r.End(name, call.ReasonUnknown)
	case "Connected", "StreamsRunning":
		if ok && known.State == call.Ringing {
			s.r.Report(call.Event{ID: name, State: call.Answered, Direction: call.DirectionUnknown})
		}
		fallthrough
	default:
		if !ok {
			return s.queryCall(name) // From is our own address in an outgoing call
		}
	}
	return nil
}

func (s *session) queryCall(id string) error {
	a, err := s.d.ask("call-status " + id)
	if err != nil {
		return err
	}
	if !a.ok {
		s.r.End(id, call.ReasonUnknown)
		return nil
	}
	state := stateOf(a.state)
	switch {
	case state == "Error", state == "End", state == "Released":
		s.r.End(id, call.ReasonUnknown)
	case a.from == "":
		// From is set in a few states only; in the others, only the existence of a call is known.
	case strings.Contains(state, "Incoming"):
		s.begin(id, call.Ringing, call.Incoming, a.from)
	case strings.HasPrefix(state, "Outgoing"):
		s.begin(id, call.Ringing, call.Outgoing, a.from)
	default:
		direction := call.DirectionUnknown
		switch a.direction {
		case "in":
			direction = call.Incoming
		case "out":
			direction = call.Outgoing
		}
		s.begin(id, call.Answered, direction, a.from)
	}
	return nil
}

// begin reports a call with its caller. IDs restart with the daemon, so another caller
// under a known ID is another call.
func (s *session) begin(id string, state call.State, direction call.Direction, from string) {
	e := call.Event{ID: id, State: state, Direction: direction}
	e.Name, e.Number = address.SplitNameAddr(from)
	if known, ok := s.r.Known(id); ok {
		switch {
		case known.Number != e.Clean().Number:
			s.r.End(id, call.ReasonUnknown)
		case known.State >= state:
			return
		}
	}
	s.r.Report(e)
}

// snapshot reports what has changed since the last connection: ended calls and current
// ones. The daemon has no list, so IDs are tried in turn.
func (s *session) snapshot() error {
	current, err := s.d.ask("call-status")
	if err != nil {
		return err
	}
	s.r.Up()
	for _, id := range s.r.Calls() {
		if err := s.queryCall(id); err != nil {
			return err
		}
	}
	s.r.Continue()
	if !current.ok {
		return nil // no call
	}
	last := maxLook
	for id := 1; id <= last; id++ {
		name := strconv.Itoa(id)
		if err := s.queryCall(name); err != nil {
			return err
		}
		if _, ok := s.r.Known(name); ok {
			last = min(id+lookAhead, maxLook)
		}
	}
	return nil
}

// stateOf returns a call's state without the common prefix.
func stateOf(s string) string {
	return strings.TrimPrefix(strings.TrimPrefix(s, "LinphoneCall"), "State")
}
