// Package history keeps the calls of this PC in one SQLite file. The resident and
// the windows' process both write it, through a Store each; Reader reads it and
// never changes it. What is kept follows Keep and a number of days. The package
// starts no goroutine: every call does its work on the caller's, and may wait for
// the disk, so it never belongs on the way from a ringing phone to its card.
package history

import (
	"errors"
	"strings"
	"time"

	"wiebelt/internal/core/call"
	"wiebelt/internal/softphone/registry"
	"wiebelt/internal/store/sqlitefile"
)

// Keep is how much of a call is kept. Its values are those of the setting
// history.keep.
type Keep string

// What can be kept.
const (
	KeepOff     Keep = "off"     // nothing, and what is there goes
	KeepNumbers Keep = "numbers" // calls and numbers, no names and no contacts
	KeepFull    Keep = "full"
)

// Entry is one call. Times that never came are zero.
type Entry struct {
	ID                    int64
	Rang, Answered, Ended time.Time
	Outgoing              bool
	Kind                  string // which source reported it, see call.Source.Kind
	Number                string // E.164 or digits as received; "" for a withheld one
	Shown                 string // the number the Dutch way
	Line, LineNumber      string // name and number of our line, "" if not told
	Via                   string // who passed the call on, "" if nobody did
	By                    string // who took it, with ResultElsewhere
	Name                  string // of the contact, or as the phone system told it
	ContactID             string
	RelationNumber        string
	Link                  string // deep link, "" if there is nothing to open
	Matches               int    // contacts with this number
	Outcome               string // what the lookup said, see the Outcome constants
	Result                string // how the call went, see the Result constants
	// Handled is when a missed call was ticked off: by a later call in which its caller
	// was spoken to, by opening the file, or by hand. Put does not change it.
	Handled time.Time
	// TakenOff says that the user has said "not this contact". Name is then who it
	// is not, and nothing else of a person is kept with the call. Put keeps what
	// RemovePerson set of the same number, but may undo what an earlier Put set.
	TakenOff bool
	off      int // who said so
}

// Missed tells whether the call is one that somebody should return: it rang here and
// nobody took it.
func (e Entry) Missed() bool { return e.Result == ResultMissed && !e.Outgoing }

// Open tells whether the call was missed and not ticked off.
func (e Entry) Open() bool { return e.Missed() && e.Handled.IsZero() }

// KindWhileOff is the Kind of a call that Wiebelt heard of later, from the office's relay,
// since it was not running.
const KindWhileOff = registry.Relay + ".away"

// WhileOff tells whether the call rang while Wiebelt was not running.
func (e Entry) WhileOff() bool { return e.Kind == KindWhileOff }

// OneCaller tells whether calls with this number are of one caller: those withheld
// are not, nor are those of which no phone told a number.
func (e Entry) OneCaller() bool { return e.Number != "" && e.Number != nameMark }

// How a call went. Only a phone that tells why a call ended makes it missed; of one
// that nobody answered here it is otherwise not known whether a colleague took it.
const (
	ResultLive      = ""          // not over yet
	ResultAnswered  = "answered"  // here, and over
	ResultMissed    = "missed"    // the phone says that nobody took it
	ResultElsewhere = "elsewhere" // the phone says that a colleague took it
	ResultRejected  = "rejected"  // refused here
	ResultNotHere   = "not_here"  // over without being answered here; why is not known
	ResultUnknown   = "unknown"   // the phone cannot tell how calls end
)

// What the lookup of a call said.
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

// ResultOf gives the result of a call from what its source reported, and never
// claims more than that source can tell.
func ResultOf(reports call.Reports, answered, ended bool, reason call.Reason) string {
	switch {
	case !ended && !answered && reports == call.RingOnly:
		return ResultUnknown
	case !ended:
		return ResultLive
	case answered || reason == call.Completed:
		return ResultAnswered
	case reason == call.Missed:
		return ResultMissed
	case reason == call.Elsewhere:
		return ResultElsewhere
	case reason == call.Rejected:
		return ResultRejected
	case reports == call.AllStates:
		return ResultNotHere
	}
	return ResultUnknown
}

var (
	// ErrNewer says that the file was written by a newer Wiebelt. It is left
	// as it is.
	ErrNewer = sqlitefile.ErrNewer
	// ErrGone says that an entry is not, or no longer, in the history: it was
	// purged or deleted, and writing it again would bring a forgotten person
	// back.
	ErrGone = errors.New("no such call in the history")
	// ErrOff says that no history is kept.
	ErrOff = errors.New("no history is kept")
)

// Fault is what keeps calls from being written at this moment.
type Fault string

// The faults. The history tries again with every call.
const (
	FaultNone     Fault = ""
	FaultFull     Fault = "full"      // the disk is full
	FaultReadOnly Fault = "read_only" // the file or its folder cannot be written to
	FaultNewer    Fault = "newer"     // a newer version wrote the file
	FaultOther    Fault = "other"
)

// Notice is something that happened to the history, for the user to know.
type Notice string

// The notices.
const (
	NoticeNone    Notice = ""
	NoticeDamaged Notice = "damaged" // the file was damaged and put aside, a new one begun
	NoticeGone    Notice = "gone"    // the file was taken away while it was in use
)

// State is how the history is doing.
type State struct {
	Fault  Fault
	Notice Notice
	Missed int // callers of missed calls that are not ticked off
}

// nameMark stands before what a phone gave in place of a number (phone.Number.Key):
// mostly a name.
const nameMark = "text:"

// onlyNumber takes away every name, one in place of the number included.
func (e Entry) onlyNumber() Entry {
	if strings.HasPrefix(e.Number, nameMark) {
		e.Number, e.Shown = nameMark, ""
	}
	return e.withoutPerson()
}

// withoutFile takes away what leads to the file of a person, and leaves the name.
func (e Entry) withoutFile() Entry {
	e.ContactID, e.RelationNumber, e.Link = "", "", ""
	return e
}

// withoutPerson takes away everything that tells who called, except the number.
func (e Entry) withoutPerson() Entry {
	e = e.withoutFile()
	e.Name = ""
	return e
}
