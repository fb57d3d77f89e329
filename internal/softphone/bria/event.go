package bria

import (
	"wiebelt/internal/core/call"
	"wiebelt/internal/softphone/link"
)

// reportChanges reports what is new in a list of calls.
//
// Bria gives no direction: a call first seen ringing is incoming, one first seen connecting
// is outgoing, one first seen connected may be either. An ended call may be listed
// as ended or not at all.
func reportChanges(r *link.Reporter, list []briaCall) {
	var ids []string
	parties := map[string][]party{}
	there := map[string]bool{}
	for _, c := range list {
		if c.id == "" {
			continue // "no call" may be an empty one
		}
		id := link.CallID(c.id)
		there[id], ids = true, append(ids, id)
		parties[id] = append(parties[id], c.parties...) // the same id may occur twice
	}
	r.EndOthers(there)
	for _, id := range ids {
		known, ok := r.Known(id)
		state, who := overallState(parties[id], known.Number)
		e := call.Event{ID: id, Direction: call.DirectionUnknown, Number: who.number, Name: who.name}
		switch state {
		case progressEnded:
			r.End(id, call.ReasonUnknown)
			continue
		case progressRinging:
			e.Direction = call.Incoming
		case progressConnecting:
			e.Direction = call.Outgoing
		case progressConnected:
			e.State = call.Answered
		default:
			continue
		}
		if ok {
			e = e.Clean()
			e.State = max(e.State, known.State)
			if e.State == known.State && (e.Number == "" || e.Number == known.Number) && (e.Name == "" || e.Name == known.Name) {
				continue
			}
		}
		r.Report(e)
	}
}

// progress is the state of a call, the most informative last.
type progress uint8

const (
	progressUnknown progress = iota // no participants, or one in an unknown state
	progressEnded
	progressConnecting
	progressRinging
	progressConnected
)

var progressOf = map[string]progress{"ringing": progressRinging, "connecting": progressConnecting,
	"connected": progressConnected, "failed": progressEnded, "ended": progressEnded}

// overallState returns the state of a call and its party: in a conference, the
// party whose number is known as long as they take part, otherwise the first one.
func overallState(all []party, known string) (progress, party) {
	best, who, open := progressUnknown, party{}, false
	for _, p := range all {
		state := progressOf[p.state]
		open = open || state == progressUnknown
		number := call.CleanText(p.number, call.MaxNumber)
		if state > best || state == best && number != "" && number == known {
			best, who = state, p
		}
	}
	if best == progressEnded && open {
		return progressUnknown, party{}
	}
	return best, who
}
