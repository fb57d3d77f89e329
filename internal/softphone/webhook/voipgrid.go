package webhook

import (
	"slices"
	"strings"

	"wiebelt/internal/core/call"
	"wiebelt/internal/softphone/exchangelink"
)

// readVoIPGRID reads version 2 of the call notifications of VoIPGRID, whose providers are
// Voys and others. A client has one address for all calls.
//
// A call is "created", rings (again whenever more phones start to ring), is
// answered, is passed on, and ends. The providers' own pages document the words
// "created" and "ringing" and whom a ringing message names; the other words come
// from the underlying program. The party who passed a call on is looked up under
// each likely name. Two calls merged by a transfer are joined by merged_id.
func readVoIPGRID(m Message) ([]Report, error) {
	d, err := m.document()
	if err != nil {
		return nil, err
	}
	id, status := d.text("call_id"), strings.ToLower(d.text("status"))
	switch {
	case id == "" || status == "":
		return nil, ErrMessage
	case status == "created":
		return nil, nil // nobody's phone is ringing
	}
	passed := strings.Contains(status, "transfer")
	over := slices.Contains([]string{"ended", "hangup", "hang-up"}, status)
	e, targets := voipgridCall(d)
	var all []Report
	if over {
		e.State, e.Reason = call.Ended, voipgridReasons[strings.ToLower(d.text("reason"))]
		all = append(all, Report{Event: e})
	} else {
		if status == "in-progress" || status == "answered" || passed && !strings.Contains(status, "cold") {
			e.State = call.Answered
		}
		var by Document
		for _, name := range []string{"redirector", "transferer", "transferrer", "transferor"} {
			if by = d.At(name); by.Exists() {
				break
			}
		}
		e.Via = exchangelink.ColleagueName(by.text("name"), by.First("user_numbers.0", "account_number", "number"))
		all = reportsAt(e, targets...)
		if passed {
			all = append(all, reportsAt(call.Event{ID: id, State: call.Ended, Reason: call.Completed}, by)...)
		}
	}
	if other := d.text("merged_id"); other != "" && other != id && (passed || over) {
		all = append(all, Report{Event: call.Event{ID: other, State: call.Ended, Reason: call.Completed}})
	}
	for i := range all {
		all[i].Sent = d.timeAt("timestamp")
	}
	return cleanReports(all...)
}

// voipgridCall returns who calls whom, and the parties on our side.
func voipgridCall(d Document) (e call.Event, ours []Document) {
	caller, destination := d.At("caller"), d.At("destination")
	e = call.Event{ID: d.text("call_id"), Number: caller.text("number"), Name: caller.text("name"), Line: destination.text("number")}
	for _, all := range [][]Document{destination.At("targets").All(), d.At("targets").All(), {destination}} {
		if ours = all; len(ours) > 0 {
			break
		}
	}
	switch strings.ToLower(d.text("direction")) {
	case "outbound", "outgoing":
		e.Direction, e.Number, e.Name, e.Line = call.Outgoing, destination.First("number", "targets.0.number"), destination.First("name", "targets.0.name"), ""
		ours = []Document{caller}
	case "internal":
		e.Number = caller.First("user_numbers.0", "number", "account_number")
	}
	return e, ours
}

// reportsAt returns the reports of an event at each of the given parties.
func reportsAt(e call.Event, who ...Document) (all []Report) {
	for _, d := range who {
		place := Place{Extensions: d.texts("user_numbers", "account_number", "number"), Emails: d.texts("user_emails")}
		if !place.Empty() {
			all = append(all, Report{Event: e, Place: place})
		}
	}
	return all
}

var voipgridReasons = map[string]call.Reason{
	"completed": call.Completed, "answered-elsewhere": call.AnsweredElsewhere, "rejected": call.Rejected, "busy": call.Rejected,
	"no-answer": call.Missed, "cancelled": call.Missed, "canceled": call.Missed, "failed": call.Missed, "abandon": call.Missed,
}
