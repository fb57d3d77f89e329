// Package scheme parses the links that the URL scheme registration passes to Wiebelt:
// wiebelt:call?number=%2B31612345678.
//
// Any web page can launch such a link, so it may contain as little as possible: a number,
// and that it rings or was answered. It cannot end a call, identify one, or carry a person,
// an address or a setting. The package has no state and no goroutines.
package scheme

import (
	"errors"
	"net/url"
	"strings"

	"wiebelt/internal/core/address"
	"wiebelt/internal/core/call"
	"wiebelt/internal/softphone/registry"
)

// Name is the URL scheme, without the colon.
const Name = "wiebelt"

// MaxURI is the longest accepted link, in bytes.
const MaxURI = 2048

// Errors of Parse. It returns one of these, or address.ErrPlaceholder for a placeholder that
// the phone did not fill in; none of them contains any part of the link.
var (
	ErrNotOurs = errors.New("not a wiebelt: link")
	ErrForm    = errors.New("link is not of the form wiebelt:call?number=NUMBER")
	ErrNumber  = errors.New("link holds no telephone number of 3 to 20 digits")
	ErrState   = errors.New("state in a link is ringing or answered")
)

// Parse parses a link:
//
//	link   = "wiebelt:" [ "//" ] "call" [ "/" ] "?" field *( "&" field ) [ "/" ]
//	field  = "number=" [ "+" ] 3*20DIGIT / "state=" ( "ringing" / "answered" ) / other
//	other  = 1*( ALPHA / DIGIT / "_" / "-" ) "=" *text
//
// The scheme and "call" are not case-sensitive, values may contain percent escapes, and
// Windows may have decoded them or added a slash. number must occur once, state at most
// once. Other fields are ignored and leave no trace in the event.
//
// The event's Source is the URL scheme; the caller sets its time.
func Parse(uri string) (call.Event, error) {
	if len(uri) > MaxURI {
		return call.Event{}, ErrForm
	}
	scheme, rest, ok := strings.Cut(uri, ":")
	if !ok || !strings.EqualFold(scheme, Name) {
		return call.Event{}, ErrNotOurs
	}
	for i := 0; i < len(rest); i++ {
		// A quote would have closed the argument in a Windows registration. A space may be
		// a decoded one; readNumber decides where.
		if c := rest[i]; c >= 0x7f || c == '"' {
			return call.Event{}, ErrForm
		}
	}
	path, query, _ := strings.Cut(rest, "?")
	path = strings.TrimSuffix(strings.TrimPrefix(path, "//"), "/")
	if !strings.EqualFold(path, "call") {
		return call.Event{}, ErrForm
	}
	return readQuery(strings.TrimSuffix(query, "/"))
}

func readQuery(query string) (call.Event, error) {
	e := call.Event{
		Source: registry.Of(call.KindURL).CallSource(""),
		State:  call.Ringing,
	}
	var number, state bool
	for field := range strings.SplitSeq(query, "&") {
		name, raw, ok := strings.Cut(field, "=")
		if !ok || name == "" || strings.Trim(name, nameChars) != "" {
			return call.Event{}, ErrForm
		}
		value, ok := unescape(raw)
		switch name {
		case "number":
			switch {
			case number:
				return call.Event{}, ErrForm
			case errors.Is(address.Validate(raw), address.ErrPlaceholder):
				return call.Event{}, address.ErrPlaceholder
			case !ok:
				return call.Event{}, ErrForm
			}
			number = true
			if e.Number, ok = readNumber(value); !ok {
				return call.Event{}, ErrNumber
			}
		case "state":
			if state {
				return call.Event{}, ErrForm
			}
			state = true
			if e.State, ok = states[value]; !ok {
				return call.Event{}, ErrState
			}
		default:
			if !ok {
				return call.Event{}, ErrForm
			}
		}
	}
	if !number {
		return call.Event{}, ErrNumber
	}
	return e, nil
}

var states = map[string]call.State{"ringing": call.Ringing, "answered": call.Answered}

// readNumber accepts 3 to 20 digits, optionally after a plus.
func readNumber(s string) (string, bool) {
	s = address.RestorePlus(s)
	digits := strings.TrimPrefix(s, "+")
	return s, len(digits) >= 3 && len(digits) <= 20 && strings.Trim(digits, "0123456789") == ""
}

const nameChars = "abcdefghijklmnopqrstuvwxyzABCDEFGHIJKLMNOPQRSTUVWXYZ0123456789_-"

// unescape decodes percent escapes only: a plus stays a plus. The result has no control
// characters and no fragment.
func unescape(s string) (string, bool) {
	v, err := url.PathUnescape(s)
	control := strings.ContainsFunc(v, func(r rune) bool { return r < ' ' || r == 0x7f })
	return v, err == nil && !control && !strings.Contains(s, "#")
}
