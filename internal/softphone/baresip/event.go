package baresip

import (
	"strings"

	"wiebelt/internal/core/address"
	"wiebelt/internal/core/call"
	"wiebelt/internal/softphone/link"
)

// frame holds the fields used of an event. Version 4.9 adds more fields and types and may
// omit peeruri; everything else is ignored.
type frame struct {
	Event    bool   `json:"event"`
	Type     string `json:"type"`
	Account  string `json:"accountaor"`
	Source   string `json:"direction"`
	Peer     string `json:"peeruri"`
	Name     string `json:"peerdisplayname"`
	Diverter string `json:"diverteruri"`
	ID       string `json:"id"`
	Param    string `json:"param"`
}

// frame processes the content of one netstring. It ignores anything but call events; an
// unreadable event is skipped, the connection stays.
func (p *softphone) frame(r *link.Reporter, b []byte) {
	var f frame
	if !r.Read(b, &f) || !f.Event { // not an event: the answer to another program's command
		return
	}
	e := event(f)
	_, known := r.Known(e.ID)
	switch f.Type {
	case "CALL_INCOMING":
		e.Direction = call.Incoming
	case "CALL_OUTGOING", "CALL_RINGING", "CALL_PROGRESS":
		// The last two are the caller's events; version 1.0.0 has no CALL_OUTGOING. The
		// first of them reports the call.
		if f.Source == "incoming" || known {
			return
		}
		e.Direction = call.Outgoing
	case "CALL_ESTABLISHED":
		e.State = call.Answered
	case "CALL_CLOSED":
		// An unanswered call does not show whether it was missed, rejected or answered
		// elsewhere: param is a system error text, the same for all three.
		e.State = call.Ended
	default:
		return
	}
	r.Report(e)
}

// event converts f into an event of its call.
func event(f frame) call.Event {
	e := call.Event{
		ID: link.CallID(f.ID), State: call.Ringing, Direction: call.DirectionUnknown,
		Number: f.Peer, Name: address.Unescape(f.Name), Line: f.Account, Via: address.Split(f.Diverter).User,
	}
	if e.Number == "" && (strings.HasPrefix(f.Param, "sip:") || strings.HasPrefix(f.Param, "sips:") || strings.HasPrefix(f.Param, "tel:")) {
		e.Number = f.Param // the same address, present even if peeruri is omitted
	}
	switch f.Source {
	case "incoming":
		e.Direction = call.Incoming
	case "outgoing":
		e.Direction = call.Outgoing
	}
	return e
}
