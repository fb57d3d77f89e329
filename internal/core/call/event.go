// Package call defines the vocabulary of telephone calls: what a softphone reports (Event),
// which source reported it (Source), and which reports belong to one call (Tracker). It
// does not know networks, windows or customers; everything in it is a plain value or, for
// Tracker, owned by one goroutine.
package call

import (
	"cmp"
	"slices"
	"strings"
	"time"
	"unicode"
	"unicode/utf8"

	"wiebelt/internal/core/address"
	"wiebelt/internal/core/displaytext"
)

// State is how far a call has come, according to the softphone.
type State uint8

// States of a call, in the order in which it passes through them.
const (
	Ringing State = iota
	Answered
	Ended
)

var stateNames = []string{"ringing", "answered", "ended"}

// String returns the state's name in the event protocol.
func (s State) String() string { return stateNames[s] }

// ParseState parses a state of the event protocol; an empty one is ringing.
func ParseState(s string) (State, bool) {
	i := slices.Index(stateNames, cmp.Or(strings.ToLower(s), "ringing"))
	return State(max(i, 0)), i >= 0
}

// Direction is who called whom.
type Direction uint8

// The directions. An unknown one never brings up a card.
const (
	Incoming Direction = iota
	Outgoing
	DirectionUnknown
)

// String returns the direction's name in the event protocol.
func (d Direction) String() string { return [...]string{"incoming", "outgoing", "unknown"}[d] }

// ParseDirection parses a direction of the event protocol; an empty one is incoming, an
// unfamiliar word is unknown.
func ParseDirection(s string) Direction {
	switch strings.ToLower(s) {
	case "", "incoming", "inbound":
		return Incoming
	case "outgoing", "outbound":
		return Outgoing
	}
	return DirectionUnknown
}

// Reason is how a call ended. Most softphones do not report it.
type Reason uint8

// The reasons. ReasonUnknown means that none was reported.
const (
	ReasonUnknown Reason = iota
	Completed
	Missed
	AnsweredElsewhere
	Rejected
)

var reasonNames = []string{"", "completed", "missed", "elsewhere", "rejected"}

// String returns the reason's name on the wire, "" for an unknown one.
func (r Reason) String() string { return reasonNames[r] }

// ParseReason parses a reason of the event protocol; anything but the four words is an
// unknown reason, never an error.
func ParseReason(s string) Reason {
	return Reason(max(slices.Index(reasonNames, strings.ToLower(s)), 0))
}

// ReportLevel is what a source can report about a call. Cards, history and
// tray never claim more.
type ReportLevel uint8

// What sources can report.
const (
	RingOnly   ReportLevel = iota // only that it rings
	RingAndEnd                    // that it rings and that it is over
	AllStates                     // ringing, answered and over
)

// Source identifies where a report came from. Two sources are the same connection if Kind and
// Conn are equal, whatever their ReportLevel. A call belongs to the source that reported it,
// so a Source is also the identity that may change the call.
type Source struct {
	Kind string // "websocket", "http", "url", "command", "baresip", …
	Conn string // which connection of that kind; "" if there is only one
	// ReportLevel is what this source can report.
	ReportLevel ReportLevel
}

// Kinds of sources that phones connect to; those of links are in package registry.
const (
	KindWebSocket = "websocket"
	KindHTTP      = "http"
	KindURL       = "url"
	KindCommand   = "command"
)

// Limits of an event's text, in bytes. Longer text is cut at a rune boundary.
const (
	MaxNumber = 128
	MaxName   = 256
	MaxID     = 128
)

// Event is one report from a softphone about one call.
type Event struct {
	Source     Source
	ID         string // the phone's own id of the call, "" if it has none
	State      State
	Direction  Direction
	Reason     Reason    // only with Ended
	Number     string    // the caller according to the phone; "" if withheld
	Name       string    // display name from the phone system, "" if none
	Line       string    // our own number that was called, "" if not reported
	Via        string    // who transferred the call, "" if nobody
	Queue      string    // or ring group it came through, "" if not reported
	Extension  string    // where it is, if the source reports several
	AnsweredBy string    // who answered, for AnsweredElsewhere; "" if not reported
	At         time.Time // when it happened; zero: on arrival. Older than StaleAfter makes it history
	// StateSince is when the call reached State, set by a source that reports ongoing calls.
	// Whether the report is history depends on At alone, however old the call is.
	StateSince time.Time
}

// stateTime returns when the call reached the state of a report received at now.
func (e Event) stateTime(now time.Time) time.Time {
	if !e.StateSince.IsZero() && e.StateSince.Before(now) {
		return e.StateSince
	}
	return now
}

// Clean returns the event with all text from outside cut to its limit and without control
// and bidirectional characters, which could make a card misleading. It does not change the
// meaning: digits and letters stay, and a leading space in Number that stands for a plus
// becomes one.
func (e Event) Clean() Event {
	e.ID = CleanText(e.ID, MaxID)
	e.Number = CleanText(address.RestorePlus(e.Number), MaxNumber)
	e.Name = CleanText(e.Name, MaxName)
	e.Line = CleanText(e.Line, MaxNumber)
	e.Via = CleanText(e.Via, MaxName)
	e.Queue = CleanText(e.Queue, MaxName)
	e.Extension = CleanText(e.Extension, MaxNumber)
	e.AnsweredBy = CleanText(e.AnsweredBy, MaxName)
	return e
}

// isClean reports quickly, for most texts, that CleanText would change nothing.
func isClean(s string) bool {
	for i := 0; i < len(s); i++ {
		if c := s[i]; c < ' ' || c > '~' || c == ' ' && (i == 0 || i == len(s)-1 || s[i+1] == ' ') {
			return false
		}
	}
	return true
}

// CleanText makes text from outside displayable: it removes invalid UTF-8, control,
// format and bidirectional characters, collapses white space to one space, and cuts
// the result to max bytes.
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
		case displaytext.IsHidden(r):
			continue
		}
		n := utf8.RuneLen(r)
		if space {
			n++
		}
		if b.Len()+n > max {
			break // a space is dropped with what follows it
		}
		if space {
			b.WriteByte(' ')
			space = false
		}
		b.WriteRune(r)
	}
	return b.String()
}
