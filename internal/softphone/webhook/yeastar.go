package webhook

import (
	"cmp"
	"slices"
	"strings"

	"wiebelt/internal/core/call"
)

// yeastarCallEnded is the event that a call has ended, with its record.
const yeastarCallEnded = "30012"

// readYeastar reads the events of Yeastar's P series, as its webhook and its
// socket send them. Their message is JSON within JSON, or an object; if it is not
// about a call, it has no members. A call is a list of members: the trunk through
// which it came or goes, and the extensions that ring, speak, or have hung up.
func readYeastar(m Message) ([]Report, error) {
	d, err := m.document()
	if err != nil {
		return nil, err
	}
	kind, said := d.text("type"), d.At("msg")
	if s, ok := said.any.(string); ok {
		if said.any, err = parse([]byte(s)); err != nil {
			return nil, ErrMessage
		}
	}
	id := said.First("call_id", "callid")
	switch {
	case kind == "":
		return nil, ErrMessage
	case kind == yeastarCallEnded:
		return cleanReports(Report{Event: call.Event{ID: id, State: call.Ended, Reason: yeastarReasons[strings.ToUpper(said.text("status"))]}})
	}
	return cleanReports(yeastarMembers(id, said.At("members").All())...)
}

type yeastarMember struct {
	Document
	kind, status, number string
}

// yeastarMembers reports the state of each extension. The call has ended when the
// trunk has hung up or, if one extension calls another, when all of them have.
func yeastarMembers(id string, list []Document) (all []Report) {
	trunk, extensions := yeastarSides(list)
	over := len(extensions) > 0 && !slices.ContainsFunc(extensions, func(m yeastarMember) bool { return m.status != "BYE" })
	if trunk.status == "BYE" || trunk.kind == "" && over {
		return []Report{{Event: call.Event{ID: id, State: call.Ended}}}
	}
	from := yeastarCaller(trunk, extensions)
	for i, m := range extensions {
		same := func(later yeastarMember) bool { return later.number == m.number }
		e := call.Event{ID: id, Queue: cmp.Or(m.text("call_path"), trunk.text("call_path"))}
		switch calls := m.number == from.number; {
		case m.number == "", slices.ContainsFunc(extensions[i+1:], same): // an outdated entry
			continue
		case calls && trunk.kind == "":
			continue // callers of a colleague know whom they call
		case m.status == "BYE":
			e = call.Event{ID: id, State: call.Ended}
		case trunk.kind == "inbound":
			e.Number, e.Line = trunk.text("from"), trunk.text("to")
		case trunk.kind == "":
			e.Number = from.number
		case calls:
			e.Direction, e.Number = call.Outgoing, trunk.text("to")
		default: // the extension to which it was passed on
			e.Number, e.Via = trunk.text("to"), from.number
		}
		if slices.Contains([]string{"ANSWER", "ANSWERED", "HOLD"}, m.status) {
			e.State = call.Answered
		}
		all = append(all, Report{Event: e, Place: Place{Extensions: []string{m.number}}})
	}
	return all
}

// yeastarSides returns a call's trunk (the one it came through rather than the one it
// continues on) and its extensions.
func yeastarSides(list []Document) (trunk yeastarMember, extensions []yeastarMember) {
	for _, d := range list {
		for _, kind := range []string{"inbound", "outbound", "extension"} {
			m := yeastarMember{d.At(kind), kind, strings.ToUpper(d.text(kind + ".member_status")), d.text(kind + ".number")}
			switch {
			case m.any == nil:
			case kind == "extension":
				extensions = append(extensions, m)
			case trunk.kind != "inbound":
				trunk = m
			}
		}
	}
	return trunk, extensions
}

// yeastarCaller returns the calling extension, if any: the one named by the trunk, else the
// one on the caller's side, else the first.
func yeastarCaller(trunk yeastarMember, extensions []yeastarMember) (from yeastarMember) {
	if trunk.kind == "inbound" || len(extensions) == 0 {
		return from
	}
	by := func(is func(yeastarMember) bool) int { return slices.IndexFunc(extensions, is) }
	i := by(func(m yeastarMember) bool { return trunk.kind != "" && m.number == trunk.text("from") })
	if i < 0 {
		i = by(func(m yeastarMember) bool {
			return slices.Contains([]string{"ALERT", "EARLYMEDIA", "ANSWERED"}, m.status)
		})
	}
	if i < 0 && len(extensions) == 1 {
		return from // it rings there
	}
	return extensions[max(i, 0)]
}

var yeastarReasons = map[string]call.Reason{
	"ANSWERED": call.Completed, "NO ANSWER": call.Missed, "FAILED": call.Missed, "VOICEMAIL": call.Missed, "BUSY": call.Rejected,
}
