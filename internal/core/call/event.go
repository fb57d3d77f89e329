// Package call is the vocabulary of telephone calls: what a softphone reports
// (Event), which source reported it (Source), and which reports belong to one call
// (Tracker). It knows no network, no window and no customer; everything in it is
// a plain value or, for Tracker, owned by one goroutine.
package call

import (
	"strings"
	"time"
	"unicode"
	"unicode/utf8"

	"wiebelt/internal/core/address"
	"wiebelt/internal/core/displaytext"
)

// State is how far a call has come, as far as the softphone tells.
type State uint8

// The states of a call, in the order in which a call can go through them.
const (
	Ringing State = iota
	Answered
	Ended
)

// String gives the state's name on the wire of the event protocol.
func (s State) String() string {
	switch s {
	case Answered:
		return "answered"
	case Ended:
		return "ended"
	default:
		return "ringing"
	}
}

// ParseState reads a state of the event protocol; an empty one is ringing.
func ParseState(s string) (State, bool) {
	switch strings.ToLower(s) {
	case "", "ringing":
		return Ringing, true
	case "answered":
		return Answered, true
	case "ended":
		return Ended, true
	}
	return Ringing, false
}

// Direction tells who called whom.
type Direction uint8

// The directions. An unknown one never brings up a card.
const (
	Incoming Direction = iota
	Outgoing
	DirectionUnknown
)

// String gives the direction's name on the wire of the event protocol.
func (d Direction) String() string {
	switch d {
	case Incoming:
		return "incoming"
	case Outgoing:
		return "outgoing"
	default:
		return "unknown"
	}
}

// ParseDirection reads a direction of the event protocol; an empty one is
// incoming, an unfamiliar word is unknown.
func ParseDirection(s string) Direction {
	switch strings.ToLower(s) {
	case "", "incoming", "inbound":
		return Incoming
	case "outgoing", "outbound":
		return Outgoing
	}
	return DirectionUnknown
}

// Reason tells how a call ended. Most softphones cannot tell.
type Reason uint8

// The reasons. ReasonUnknown is what nearly every phone reports.
const (
	ReasonUnknown Reason = iota
	Completed
	Missed
	Elsewhere
	Rejected
)

// String gives the reason's name on the wire, "" for an unknown one.
func (r Reason) String() string {
	return [...]string{"", "completed", "missed", "elsewhere", "rejected"}[r]
}

// ParseReason reads a reason of the event protocol; what is not one of the four
// words is an unknown reason, never an error.
func ParseReason(s string) Reason {
	switch strings.ToLower(s) {
	case "completed":
		return Completed
	case "missed":
		return Missed
	case "elsewhere":
		return Elsewhere
	case "rejected":
		return Rejected
	}
	return ReasonUnknown
}

// Reports is what a source can report about a call. Cards, history and tray never
// claim more than this.
type Reports uint8

// What sources can report.
const (
	RingOnly   Reports = iota // only that it rings
	RingAndEnd                // that it rings and that it is over
	AllStates                 // ringing, answered and over
)

// Source is how a report reached us. Two sources are equal if and only if
// they are the same connection, so a Source is also the identity under which a
// call may be changed (a call belongs to the source that reported it).
type Source struct {
	Kind string // "websocket", "http", "url", "command", "baresip", …
	Conn string // which connection of that kind; "" where there is only one
	// Reports is what this source can report.
	Reports Reports
}

// The kinds of sources that phones come to by themselves; those of links are in
// package registry.
const (
	KindWebSocket = "websocket"
	KindHTTP      = "http"
	KindURL       = "url"
	KindCommand   = "command"
)

// Limits of an event's text, in bytes. Longer text is cut at a rune border.
const (
	MaxNumber = 128
	MaxName   = 256
	MaxID     = 128
)

// Event is one report of a softphone about one call.
type Event struct {
	Source    Source
	ID        string // the phone's own id of the call, "" if it has none
	State     State
	Direction Direction
	Reason    Reason // only with Ended
	Number    string // the caller as the phone gives it; "" is a withheld number
	Name      string // display name of the phone system, "" if none
	Line      string // our own number that was called, "" if not told
	Via       string // who passed the call on, "" if nobody
	Queue     string // or ring group that it came through, "" if not told
	Extension string // at which it is, from a source that tells of several
	By        string // who took it Elsewhere, "" if not told
	At        time.Time
	// Since is when the call came to State, from a source that tells of calls that
	// go on: the report is of At, and is no history however old the call is.
	Since time.Time
}

// began is when the call came to the state of a report that is taken at now.
func (e Event) began(now time.Time) time.Time {
	if !e.Since.IsZero() && e.Since.Before(now) {
		return e.Since
	}
	return now
}

// Clean returns the event with everything that came from outside cut to its
// limit and freed of control and bidirectional characters, which could make a
// card lie. It changes no meaning: digits and letters stay.
func (e Event) Clean() Event {
	e.ID = CleanText(e.ID, MaxID)
	e.Number = CleanText(address.PlusBack(e.Number), MaxNumber)
	e.Name = CleanText(e.Name, MaxName)
	e.Line = CleanText(e.Line, MaxNumber)
	e.Via = CleanText(e.Via, MaxName)
	e.Queue = CleanText(e.Queue, MaxName)
	e.Extension = CleanText(e.Extension, MaxNumber)
	e.By = CleanText(e.By, MaxName)
	return e
}

// isClean tells quickly of most texts that CleanText would change nothing.
func isClean(s string) bool {
	for i := 0; i < len(s); i++ {
		if c := s[i]; c < ' ' || c > '~' || c == ' ' && (i == 0 || i == len(s)-1 || s[i+1] == ' ') {
			return false
		}
	}
	return true
}

// CleanText makes text from outside fit to be shown: invalid UTF-8, control,
// format and bidirectional characters go, runs of white space become one space,
// and the result is at most max bytes long.
func CleanText(s string, max int) string {
	if len(s) <= max && isClean(s) {
		return s
	}
	var b strings.Builder
	space := false
	for _, r := range s {
		switch {
		case unicode.IsSpace(r):
			space = b.Len() > 0
			continue
		case displaytext.Hidden(r):
			continue
		}
		n := utf8.RuneLen(r)
		if space {
			n++
		}
		if b.Len()+n > max {
			break // a space goes with what it stands before
		}
		if space {
			b.WriteByte(' ')
			space = false
		}
		b.WriteRune(r)
	}
	return b.String()
}
