// Package twinkle reads what the softphone Twinkle passes to a program it runs: environment
// variables. Twinkle waits for that program before it rings, so nothing here may take time.
// The package has no state and no goroutines.
package twinkle

import (
	"cmp"
	"errors"
	"strings"

	"wiebelt/internal/core/address"
	"wiebelt/internal/core/call"
)

// ErrNotTwinkle means that the program was not run by Twinkle.
var ErrNotTwinkle = errors.New("TWINKLE_TRIGGER is not set: this command is for Twinkle's scripts")

// Answer is what the program prints on standard output, so that Twinkle rings as usual.
const Answer = "action=continue\n"

// Read converts Twinkle's environment into an event; get is os.Getenv. ok is false
// for a trigger other than a call's beginning, answer or end. The caller sets the
// event's Source and time.
func Read(get func(string) string) (e call.Event, ok bool, err error) {
	trigger := get("TWINKLE_TRIGGER")
	if trigger == "" {
		return call.Event{}, false, ErrNotTwinkle
	}
	e.ID = get("SIP_CALL_ID")
	switch trigger {
	case "in_call", "in_call_answered", "in_call_failed":
		e.Direction = call.Incoming
		e.Name, e.Number = address.SplitNameAddr(get("SIP_FROM"))
		e.Number = cmp.Or(e.Number, get("SIP_FROM_USER"))
		e.Line = get("SIP_TO_USER")
	case "out_call", "out_call_answered", "out_call_failed":
		e.Direction = call.Outgoing
		e.Name, e.Number = address.SplitNameAddr(get("SIP_TO"))
		e.Line = get("SIP_FROM_USER")
	case "local_release", "remote_release":
		// Which party is From depends on who ends the call; the ID identifies it.
		e.Direction = call.DirectionUnknown
	default:
		return call.Event{}, false, nil
	}
	switch {
	case strings.HasSuffix(trigger, "_release"):
		e.State, e.Reason = call.Ended, call.Completed
	case strings.HasSuffix(trigger, "_answered"):
		e.State = call.Answered
	case strings.HasSuffix(trigger, "_failed"):
		e.State = call.Ended
		switch get("SIPSTATUS_CODE") {
		case "486", "600", "603": // rejected here; a cancelled one is not known to be missed
			e.Reason = call.Rejected
		}
	}
	return e.Clean(), true, nil
}
