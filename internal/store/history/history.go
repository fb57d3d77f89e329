// Package history keeps this PC's calls in one SQLite file. The resident and the windows'
// process both write it, each through a Store; Reader reads it and never changes it. What
// is kept depends on Keep and a number of days. The package starts no goroutines: every
// call works on the caller's and may wait for the disk, so it never belongs on the path
// from a ringing phone to its card.
package history

import (
	"errors"
	"strings"
	"time"

	"wiebelt/internal/core/call"
	"wiebelt/internal/softphone/registry"
	"wiebelt/internal/store/sqlitefile"
)

// Keep is how much of a call is kept; its values are those of the setting history.keep, and
// KeepPaused.
type Keep string

// What can be kept.
const (
	KeepOff     Keep = "off"     // nothing; existing calls are deleted
	KeepNumbers Keep = "numbers" // calls and numbers, without anybody's name or contact
	KeepFull    Keep = "full"
	// KeepPaused is for a setting that cannot be read: nothing is written or shown, and of
	// existing calls only those go that are too old or that a person deletes.
	KeepPaused Keep = "paused"
)

// AllDays is for a number of days that cannot be read: no call is too old.
const AllDays = 0

// Entry is one call. Missing times are zero.
type Entry struct {
	ID                    int64
	Rang, Answered, Ended time.Time
	Outgoing              bool
	Kind                  string // source that reported it, see call.Source.Kind
	Number                string // phone.Number.Key; "" if withheld
	NumberDisplay         string // the number as shown, phone.Number.Display
	Line, LineNumber      string // name and number of our line, "" if not reported
	Via                   string // who transferred the call, "" if nobody
	AnsweredBy            string // who answered, for ResultAnsweredElsewhere
	Name                  string // of the contact, or from the phone system
	ContactID             string
	RelationNumber        string
	Link                  string // deep link, "" if there is nothing to open
	Matches               int    // contacts with this number
	Outcome               string // of the lookup, see the Outcome constants
	Result                string // of the call, see the Result constants
	// HandledAt is when a missed call was ticked off: by a later call in which its caller
	// was spoken to, by opening the file, or by hand. Put keeps what is stored, and sets it
	// if a later call has already dealt with the caller.
	HandledAt time.Time
	// PersonRejected means that the user said "not this contact". Name then says who it
	// is not, and nothing else about a person is kept. Put keeps what
	// RemovePerson set for the same number, but may undo what an earlier Put set.
	PersonRejected bool
	rejectedBy     int // who set PersonRejected
}

// Missed reports whether somebody should return the call: it rang here and nobody answered.
func (e Entry) Missed() bool { return e.Result == ResultMissed && !e.Outgoing }

// Open reports whether the call was missed and is not ticked off.
func (e Entry) Open() bool { return e.Missed() && e.HandledAt.IsZero() }

// KindWhileOff is the Kind of a call that rang while Wiebelt was not running, reported
// later by the office's relay.
const KindWhileOff = registry.Relay + ".away"

// WhileOff reports whether the call rang while Wiebelt was not running.
func (e Entry) WhileOff() bool { return e.Kind == KindWhileOff }

// OneCaller reports whether calls with this number are from one
// caller, unlike withheld calls and those without a number.
func (e Entry) OneCaller() bool { return e.Number != "" && e.Number != nameMark }

// Results of a call. Only a phone that reports why a call ended makes it missed; otherwise
// it is unknown whether a colleague answered a call that nobody answered here.
const (
	ResultLive              = ""          // not over yet
	ResultAnswered          = "answered"  // here, and over
	ResultMissed            = "missed"    // nobody answered, according to the phone
	ResultAnsweredElsewhere = "elsewhere" // a colleague answered, according to the phone
	ResultRejected          = "rejected"  // refused here
	ResultNotHere           = "not_here"  // over and not answered here; the reason is unknown
	ResultUnknown           = "unknown"   // the phone does not report how a call ends
)

// Outcomes of a call's lookup.
const (
	OutcomeFound    = "found"
	OutcomeSeveral  = "several"
	OutcomeNobody   = "nobody"
	OutcomeFailed   = "failed"
	OutcomeWithheld = "withheld"
	OutcomeInternal = "internal"
	OutcomeShort    = "short"
	OutcomeOwn      = "own"
)

// ResultOf returns a call's result from what its source
// reported. It never claims more than that source can report.
func ResultOf(reports call.ReportLevel, answered, ended bool, reason call.Reason) string {
	switch {
	case !ended && !answered && reports == call.RingOnly:
		return ResultUnknown
	case !ended:
		return ResultLive
	case answered || reason == call.Completed:
		return ResultAnswered
	case reason == call.Missed:
		return ResultMissed
	case reason == call.AnsweredElsewhere:
		return ResultAnsweredElsewhere
	case reason == call.Rejected:
		return ResultRejected
	case reports == call.AllStates:
		return ResultNotHere
	}
	return ResultUnknown
}

var (
	// ErrNewer means that a newer Wiebelt wrote the file, which is left as it is.
	ErrNewer = sqlitefile.ErrNewer
	// ErrGone means that an entry is not, or no longer, in the history: it was purged or
	// deleted, and writing it again would bring back a forgotten person.
	ErrGone = errors.New("no such call in the history")
	// ErrOff means that no history is kept.
	ErrOff = errors.New("no history is kept")
)

// Fault is what currently keeps calls from being written.
type Fault string

// Faults. The history retries with every call.
const (
	FaultNone     Fault = ""
	FaultFull     Fault = "full"      // the disk is full
	FaultReadOnly Fault = "read_only" // the file or its folder is not writable
	FaultNewer    Fault = "newer"     // a newer version wrote the file
	FaultOther    Fault = "other"
)

// Notice is an event in the history that the user should know about.
type Notice string

// Notices.
const (
	NoticeNone    Notice = ""
	NoticeDamaged Notice = "damaged" // a damaged file was put aside and a new one started
	NoticeGone    Notice = "gone"    // the file was removed while in use
)

// State is the state of the history.
type State struct {
	Fault  Fault
	Notice Notice
	Missed int // callers of missed calls that are not ticked off
}

// nameMark precedes what a phone sent instead of a number (phone.Number.Key),
// usually a name.
const nameMark = "text:"

// onlyNumber removes the names of the caller, also one sent instead of the number, and of
// colleagues.
func (e Entry) onlyNumber() Entry {
	if strings.HasPrefix(e.Number, nameMark) {
		e.Number, e.NumberDisplay = nameMark, ""
	}
	e.Via, e.AnsweredBy = numberOf(e.Via), numberOf(e.AnsweredBy)
	return e.withoutPerson()
}

// numberOf returns the number of a colleague as reported, such as "Receptie (101)" or "101";
// "" if there is only a name.
func numberOf(colleague string) string {
	if i := strings.LastIndex(colleague, " ("); i >= 0 {
		colleague = strings.TrimSuffix(colleague[i+2:], ")")
	}
	if strings.Trim(colleague, "+*#0123456789 -") != "" {
		return ""
	}
	return colleague
}

// withoutFile removes what leads to a person's file, but keeps the name.
func (e Entry) withoutFile() Entry {
	e.ContactID, e.RelationNumber, e.Link = "", "", ""
	return e
}

// withoutPerson removes everything that identifies the caller, except the number.
func (e Entry) withoutPerson() Entry {
	e = e.withoutFile()
	e.Name = ""
	return e
}
