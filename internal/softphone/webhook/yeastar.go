package webhook

import (
	"cmp"
	"slices"
	"strings"

	"wiebelt/internal/core/call"
)

// The events of a Yeastar exchange of the P series of which a call is told. Their
// message is JSON within JSON, or an object.
const (
	yeastarCall     = "30011" // a call has changed
	yeastarOver     = "30012" // a call has ended: its record
	yeastarTransfer = "30013" // a call was passed on
)

// readYeastar reads the events of Yeastar's P series, as its webhook and its socket
// send them. A call is a list of members: the trunk by which it came or goes, and the
// extensions that ring, speak, or have rung off.
func readYeastar(m Message) ([]Report, error) {
	d, err := m.document()
	if err != nil {
		return nil, err
	}
	kind, said := d.text("type"), d.at("msg")
	if s, ok := said.any.(string); ok {
		if said.any, err = parse([]byte(s)); err != nil {
			return nil, ErrMessage
		}
	}
	id := said.first("call_id", "callid")
	switch {
	case kind == "":
		return nil, ErrMessage
	case id == "" && kind != yeastarCall && kind != yeastarOver && kind != yeastarTransfer:
		return nil, nil // of something else
	case kind == yeastarOver:
		return checked(Report{Event: call.Event{ID: id, State: call.Ended, Reason: yeastarReason(said.text("status"))}})
	}
	return checked(yeastarMembers(id, said.at("members").list())...)
}

// yeastarMember is one member of a call.
type yeastarMember struct {
	document
	kind, status, number string
}

func (m yeastarMember) is(kind string, status ...string) bool {
	return m.kind == kind && slices.Contains(status, m.status)
}

// yeastarMembers tells what becomes of each extension.
func yeastarMembers(id string, list []document) (all []Report) {
	var trunk, from yeastarMember // from is the extension that calls
	var extensions []yeastarMember
	e := call.Event{ID: id}
	over := true
	for _, d := range list {
		for _, kind := range []string{"inbound", "outbound", "extension"} {
			m := yeastarMember{d.at(kind), kind, strings.ToUpper(d.text(kind + ".member_status")), d.text(kind + ".number")}
			switch {
			case m.any == nil:
				continue
			case kind != "extension":
				trunk = m
			default:
				extensions = append(extensions, m)
				over = over && m.status == "BYE"
			}
			e.Queue = cmp.Or(e.Queue, m.text("call_path"))
			if from.any == nil && m.is("extension", "ALERT", "EARLYMEDIA", "ANSWERED") {
				from = m
			}
		}
	}
	if over || trunk.status == "BYE" {
		return []Report{{Event: call.Event{ID: id, State: call.Ended}}}
	}
	e.Number, e.Line = trunk.text("from"), trunk.text("to")
	if trunk.kind != "inbound" {
		e.Number, e.Line = from.number, ""
	}
	for _, m := range extensions {
		own, calls := e, trunk.kind != "inbound" && m.number == from.number
		switch {
		case m.status == "BYE":
			own = call.Event{ID: id, State: call.Ended}
		case calls && trunk.kind == "":
			continue // who calls a colleague knows whom
		case calls:
			own.Direction, own.Number = call.Outgoing, trunk.text("to")
		}
		if m.is("extension", "ANSWER", "ANSWERED", "HOLD") {
			own.State = call.Answered
		}
		if m.number != "" {
			all = append(all, Report{Event: own, Place: Place{Extensions: []string{m.number}}})
		}
	}
	return all
}

func yeastarReason(status string) call.Reason {
	switch strings.ToUpper(status) {
	case "ANSWERED":
		return call.Completed
	case "NO ANSWER", "FAILED", "VOICEMAIL":
		return call.Missed
	case "BUSY":
		return call.Rejected
	}
	return call.ReasonUnknown
}
