package bria

import (
	"wiebelt/internal/core/call"
	"wiebelt/internal/softphone/link"
)

// compare reports what a list of calls tells that was not known.
//
// Bria tells no direction: a call that is first seen ringing comes in, one first
// seen connecting goes out, and one that is first seen when people talk may be
// either. A call that is over may stand there as ended, or not at all.
func compare(r *link.Reporter, list []entry) {
	var ids []string
	parties := map[string][]party{}
	there := map[string]bool{}
	for _, c := range list {
		if c.id == "" {
			continue // "no call" may be an empty one
		}
		id := link.CallID(c.id)
		there[id], ids = true, append(ids, id)
		parties[id] = append(parties[id], c.parties...) // one id may stand there twice
	}
	r.EndOthers(there)
	for _, id := range ids {
		known, ok := r.Known(id)
		state, who := sum(parties[id], known.Number)
		e := call.Event{ID: id, Direction: call.DirectionUnknown, Number: who.number, Name: who.name}
		switch state {
		case over:
			r.End(id, call.ReasonUnknown)
			continue
		case ringing:
			e.Direction = call.Incoming
		case connecting:
			e.Direction = call.Outgoing
		case connected:
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

// progress is how far a call is, the one that says most last.
type progress uint8

const (
	unclear progress = iota // nobody takes part, or in a state that we do not know
	over
	connecting
	ringing
	connected
)

func progressOf(state string) progress {
	switch state {
	case "ringing":
		return ringing
	case "connecting":
		return connecting
	case "connected":
		return connected
	case "failed", "ended":
		return over
	}
	return unclear
}

// sum gives how far a call is, and with whom: in a conference with the one whose
// number is known, as long as that one takes part, else with the first.
func sum(all []party, known string) (progress, party) {
	best, who, open := unclear, party{}, false
	for _, p := range all {
		state := progressOf(p.state)
		open = open || state == unclear
		number := call.CleanText(p.number, call.MaxNumber)
		if state > best || state == best && number != "" && number == known {
			best, who = state, p
		}
	}
	if best == over && open {
		return unclear, party{}
	}
	return best, who
}
