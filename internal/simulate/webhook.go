package simulate

import (
	"cmp"
	"context"
	"fmt"
	"net/http"
	"net/url"
	"strings"
	"time"

	"wiebelt/internal/core/call"
)

// openWebhook makes a provider's exchange, which sends a message to an address of the relay
// at each change of an extension's call. The token is the secret in that address.
func openWebhook(path string, message func(Update) (method, query string, body []byte)) opener {
	return func(_ context.Context, o Options) (Softphone, error) {
		return sender(func(ctx context.Context, n Update) error {
			method, query, body := message(n)
			return deliver(ctx, method, "https://"+loopbackAddress(o.Port)+"/in/"+url.PathEscape(o.PathToken)+path+query, body)
		}), nil
	}
}

// fromColleague reports whether an extension is calling; those are shorter than any number.
func fromColleague(c Call) bool {
	return c.Direction == "" && c.Number != "" && len(c.Number) <= len(extensionNumber)
}

func plainMessage(n Update) (method, query string, body []byte) {
	return http.MethodPost, "", toJSON(map[string]any{"id": n.Call.ID, "state": state(n), "reason": n.Reason.String(), "number": n.Call.Number, "name": n.Call.Name,
		"line": n.Call.Line, "via": n.Call.Via, "direction": n.Call.Direction, "extension": extensionNumber})
}

// voipgridMessage returns a call notification of version 2.
func voipgridMessage(n Update) (method, query string, body []byte) {
	c := n.Call
	ours := map[string]any{"account_number": 234, "name": "Simulatie", "number": "+31201234501", "user_numbers": []string{extensionNumber}, "user_emails": []string{}}
	caller := map[string]any{"number": c.Number, "name": c.Name, "account_number": nil, "user_numbers": []string{}, "user_emails": []string{}}
	said := map[string]any{"call_id": c.ID, "version": "v2", "timestamp": time.Now().Format("2006-01-02T15:04:05.000000-07:00"), "direction": "inbound", "reason": "", "caller": caller,
		"destination": map[string]any{"number": c.Line, "targets": []any{ours}}}
	switch {
	case c.Direction == "outgoing":
		said["direction"], said["caller"], said["destination"] = "outbound", ours, map[string]any{"number": c.Number, "targets": []any{}}
	case fromColleague(c):
		said["direction"], caller["user_numbers"] = "internal", []string{c.Number}
	case c.Number == "":
		caller["number"], caller["name"] = nil, nil
	}
	switch n.Verb {
	case End:
		reason := map[call.Reason]string{call.Missed: "no-answer", call.AnsweredElsewhere: "answered-elsewhere",
			call.Rejected: "rejected"}[n.Reason]
		said["status"], said["reason"] = "ended", cmp.Or(reason, "completed")
	case Answer:
		said["status"] = "in-progress"
	default:
		said["status"] = "ringing"
	}
	if name, rest, ok := strings.Cut(c.Via, " ("); ok && n.Verb == Ring {
		said["status"], said["redirector"] = "cold-transfer", map[string]any{"name": name, "user_numbers": []string{strings.TrimSuffix(rest, ")")}}
	}
	return http.MethodPost, "", toJSON(said)
}

func yeastarMessage(n Update) (method, query string, body []byte) {
	kind, call := yeastarCall(n)
	return http.MethodPost, "", yeastarEvent(kind, call)
}

// yeastarEvent returns an event: JSON within JSON.
func yeastarEvent(kind int, call any) []byte {
	return toJSON(map[string]any{"type": kind, "sn": "simulate", "msg": string(toJSON(call))})
}

// yeastarCall returns a call after an update, and the kind of event that reports it.
func yeastarCall(n Update) (kind int, call map[string]any) {
	c := n.Call
	theirs, ours := "ALERT", "RING"
	switch {
	case n.Verb == End:
		theirs, ours = "BYE", "BYE"
	case n.Answered:
		theirs, ours = "ANSWERED", "ANSWER"
	}
	us := map[string]any{"number": extensionNumber, "channel_id": "2", "member_status": ours, "call_path": ""}
	members := []any{map[string]any{"inbound": map[string]any{"from": c.Number, "to": c.Line, "trunk_name": "simulatie", "channel_id": "1", "member_status": theirs, "call_path": ""}}, map[string]any{"extension": us}}
	switch {
	case c.Direction == "outgoing":
		us["member_status"] = theirs
		members = []any{map[string]any{"extension": us}, map[string]any{"outbound": map[string]any{"from": extensionNumber, "to": c.Number, "trunk_name": "simulatie", "channel_id": "1", "member_status": ours, "call_path": ""}}}
	case fromColleague(c):
		members[0] = map[string]any{"extension": map[string]any{"number": c.Number, "channel_id": "1", "member_status": theirs, "call_path": ""}}
	}
	if kind = yeastarChanged; n.Verb == ChangeCaller {
		kind = yeastarTransferred
	}
	return kind, map[string]any{"call_id": c.ID, "members": members}
}

func voipzekerMessage(n Update) (method, query string, body []byte) {
	c := n.Call
	q := url.Values{"calluniqueid": {c.ID}, "callfrom": {c.Number}, "callto": {extensionNumber}, "direction": {"in"}, "status_desc": {"INCOMING_RINGING"}}
	if c.Number == "" {
		q.Set("callfrom", "anonymous")
	}
	if c.Direction == "outgoing" {
		q = url.Values{"calluniqueid": {c.ID}, "callfrom": {extensionNumber}, "callto": {c.Number}, "direction": {"out"}, "status_desc": {"OUTGOING_RINGING"}}
	}
	q.Set("timestamp", fmt.Sprint(time.Now().Unix()))
	switch n.Verb {
	case Answer:
		q.Set("status_desc", "CONNECTED")
	case End:
		q.Set("status_desc", "DISCONNECTED")
	}
	return http.MethodGet, "?" + q.Encode(), nil
}
