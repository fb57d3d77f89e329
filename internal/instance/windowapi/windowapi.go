// Package windowapi is what the resident and the windows' process say to each other
// over the per-user socket: the kinds of messages and their contents. Plain
// values only. The resident owns every call and whatever is in memory; the windows'
// process reads and writes the profile's files itself and says what it changed.
package windowapi

import (
	"time"

	"wiebelt/internal/core/private"
	"wiebelt/internal/delivery/message"
)

// Kinds of messages. A question and its answer are of one kind.
const (
	KindWelcome  = "welcome"  // Welcome, from the resident: its first message
	KindStatus   = "status"   // Status, from the resident, whenever it changed
	KindPainted  = "painted"  // from a window, no content: a window that was asked for is on screen
	KindLookup   = "lookup"   // Lookup, from a window; Found comes back
	KindChoice   = "choice"   // Choice, from a window
	KindForget   = "forget"   // Forget, from a command or a window; Forgotten comes back
	KindDelivery = "delivery" // DeliveryDo, from a window; Delivery comes back, then and whenever it changed
	KindShow     = "show"     // Show: bring this window to the front; from the windows, first of all: they were started for it
	KindChanged  = "changed"  // Changed: whoever shows or follows what lies on disk reads it again
	KindCopy     = "copy"     // Copy: put a text on the clipboard; it comes back without content where that cannot be
	KindSources  = "sources"  // Sources, whenever they changed; from a window, without content, to be told now
	KindFacts    = "facts"    // DoctorFacts; from a command or the doctor's window, without content, to be told
	KindTest     = "test"     // Test: a test call, of the first start's window or that of a test call
	KindPlay     = "play"     // Play: play a demo call; Played comes back
	KindQuit     = "quit"     // no content: end, the resident is going; from a window, the user wants it to
)

// What can have changed.
const (
	ChangedHistory  = "history"  // the calls
	ChangedForgot   = "forgot"   // calls were deleted for good, none of them may be put back; from the resident
	ChangedRead     = "read"     // the notice about the history, which was read; from a window
	ChangedSettings = "settings" // the settings' files
	ChangedSecret   = "secret"   // a secret, and maybe the settings
)

// Changed says what has changed on disk.
type Changed struct {
	What    string      `json:"what"`
	Removed []time.Time `json:"removed,omitempty"` // with ChangedHistory: when the calls rang that were removed by hand
}

// Windows that can be shown.
const (
	WindowCalls    = "calls"
	WindowDemo     = "demo"
	WindowRecipes  = "recipes"
	WindowLookup   = "lookup"
	WindowSettings = "settings"
	WindowDelivery = "delivery"
	WindowDoctor   = "doctor"
	WindowHelp     = "help"
	WindowStart    = "start"
	WindowTest     = "test" // of a test call
)

// Welcome tells the windows' process how to look and where things are.
type Welcome struct {
	Language string     `json:"language"` // "nl" or "en"
	Theme    string     `json:"theme"`    // "light", "dark" or "system"
	FileWord string     `json:"file_word"`
	History  string     `json:"history"` // path of the history, to be opened read-only; "" if none is kept
	Window   string     `json:"window"`  // which window to open first
	Alone    bool       `json:"-"`       // no resident runs
	Demo     []DemoCall `json:"demo,omitempty"`
	Status   Status     `json:"status"`
	WorkArea WorkArea   `json:"work_area"`
	HubURL   string     `json:"hub_url,omitempty"` // of the demo's hub, which stands in no settings
}

// WorkArea is where windows open: the part of a monitor without task bars, in pixels
// of the desktop, and how many of them a unit has. Its scale is 0 where the
// resident sees no monitor.
type WorkArea struct {
	Monitors []string `json:"monitors,omitempty"` // the names of all that there are
	X        int      `json:"x"`
	Y        int      `json:"y"`
	Width    int      `json:"width"`
	Height   int      `json:"height"`
	Scale    float32  `json:"scale"`
}

// DemoCall is one button of the demo window, its texts in the language asked for.
type DemoCall struct {
	ID    string `json:"id"`
	Title string `json:"title"`
	Hint  string `json:"hint"` // one sentence on what to look at
}

// Status is the resident's state in words, no names and no numbers.
type Status struct {
	OK       bool   `json:"ok"`
	Sentence string `json:"sentence"`
	Fault    string `json:"fault,omitempty"`  // why calls are not kept now, as a sentence
	Notice   string `json:"notice,omitempty"` // what has happened to the history, as a sentence
	// Hotkeys are those that do not work: health.Hotkey by the key of the setting.
	Hotkeys map[string]string `json:"hotkeys,omitempty"`
}

// Show asks for a window; from a command without one, for the calls.
type Show struct {
	Window   string   `json:"window"`
	Place    string   `json:"place,omitempty"` // in the window: of the settings, a set-up file by its absolute path
	WorkArea WorkArea `json:"work_area"`
}

// Play asks for a demo call.
type Play struct {
	ID string `json:"id"`
}

// Played tells how a demo call went, in the language asked for.
type Played struct {
	ID      string        `json:"id"`
	Line    string        `json:"line"`
	Painted time.Duration `json:"painted"` // from the event to the number on screen
	Contact time.Duration `json:"contact"` // from the event to the contact on screen, 0 if none came
}

// Copy asks for text on the clipboard. It can hold a token.
type Copy struct {
	private.Data
	Text string `json:"text"`
}

// TestWait is how long a test call is waited for.
const TestWait = 60 * time.Second

// What a window asks for.
const (
	TestBegin = "begin" // wait for a call; the one before it is over
	TestStop  = "stop"  // wait no longer
	TestCard  = "card"  // show a test card where cards come now
)

// Test asks for something, or tells what came of TestBegin: with every new thing
// that is seen of the call, or that none came.
type Test struct {
	Do     string    `json:"do,omitempty"`     // from a window
	Window string    `json:"window,omitempty"` // that waits; comes back, as does the number
	Seq    int       `json:"seq,omitempty"`
	Seen   *TestSeen `json:"seen,omitempty"` // nil: no call came
}

// TestSeen tells of the call that came.
type TestSeen struct {
	Kind     string    `json:"kind"` // call.Source.Kind
	Name     string    `json:"name"` // of a link
	At       time.Time `json:"at"`
	Reports  string    `json:"reports"` // what this source can report: RingOnly and so on; "" while that cannot be told
	Answered bool      `json:"answered"`
	Ended    bool      `json:"ended"` // was seen too
}

// What a source can report.
const (
	RingOnly   = "ring"
	RingAndEnd = "end"
	AllStates  = "all"
)

// Sources are all sources of calls that are set up.
type Sources struct {
	Sources []SourceState `json:"sources"`
}

// Of is how a link is doing, LinkUnknown if nobody has said so, and why. s can be nil.
func (s *Sources) Of(kind, name string) (phase, why string) {
	if s == nil {
		return LinkUnknown, ""
	}
	for _, w := range s.Sources {
		if w.Kind == kind && w.Name == name {
			return w.Phase, w.Why
		}
	}
	return LinkUnknown, ""
}

// Phases of a SourceState beside those of DoctorLink.
const (
	SourceListens  = "listens"  // no heartbeat: it waits for a phone to call
	SourceTaken    = "taken"    // another program has the port
	SourceKeyless  = "keyless"  // the listener's tokens cannot be read, so it does not run
	SourceUnopened = "unopened" // no program opens its links
)

// SourceState is how one source of calls is doing. Only a link has a heartbeat and can be
// up; of any other no more is known than when a call last came over it.
type SourceState struct {
	Kind  string    `json:"kind"`
	Name  string    `json:"name"`          // of a link, as in the settings; "" for its kind's
	Phase string    `json:"phase"`         // LinkUp and so on
	Why   string    `json:"why,omitempty"` // as in DoctorLink
	Since time.Time `json:"since"`         // of the phase of a link
	Last  time.Time `json:"last"`          // a call came, zero for never
	Port  int       `json:"port,omitempty"`
}

// Phases of a DoctorLink.
const (
	LinkUnknown    = "" // tried, and nothing seen yet
	LinkUp         = "up"
	LinkDown       = "down"
	LinkKicked     = "kicked"
	LinkRefused    = "refused"
	LinkIncomplete = "incomplete"
	LinkBehind     = "behind" // connected, and Why says what does not work behind it
)

// DoctorFacts is what the resident knows of itself: states and times, nothing of
// any call or person but the names that the settings give to links.
type DoctorFacts struct {
	Opened    time.Time    `json:"opened"`
	SetUp     bool         `json:"set_up"`  // a lookup is possible
	Paused    bool         `json:"paused"`  // by the user
	Doubt     bool         `json:"doubt"`   // calls are missing
	Failure   string       `json:"failure"` // contact.Failure of the last contact with the hub, "" for none
	Port      int          `json:"port"`    // of the listener, 0 if it does not run
	PortTaken bool         `json:"taken"`   // because another program has the port
	Links     []DoctorLink `json:"links"`   // in the order of the resident's settings
	Cards     string       `json:"cards"`   // health.Cards: what calls are shown with, "" for cards
	// Hotkeys are those that do not work: health.Hotkey by the key of the setting.
	Hotkeys map[string]string `json:"hotkeys,omitempty"`
}

// DoctorLink is a link to a softphone.
type DoctorLink struct {
	Kind  string `json:"kind"`
	Name  string `json:"name"` // as in the settings
	Phase string `json:"phase"`
	Why   string `json:"why,omitempty"` // link.Cause: why it does not stand, or what is wrong behind it
}

// Lookup asks who has a number.
type Lookup struct {
	private.Data
	Seq   int    `json:"seq"`             // comes back with the answer
	Entry int64  `json:"entry,omitempty"` // the kept call of which Text is the number, comes back too; 0 for a number that somebody typed
	Text  string `json:"text"`
}

// What a lookup by hand can give, beside the outcomes of package history.
const (
	LookupOff      = "off"      // setting lookup.manual
	LookupNever    = "never"    // phone.never_lookup
	LookupNoNumber = "nonumber" // a text, no number
	LookupAlone    = "alone"    // no resident runs
	LookupNumbers  = "numbers"  // several numbers: somebody has to choose
)

// Found answers a Lookup.
type Found struct {
	private.Data
	Seq      int       `json:"seq"`
	Entry    int64     `json:"entry,omitempty"`
	Outcome  string    `json:"outcome"`
	Numbers  []string  `json:"numbers,omitempty"` // with the outcome LookupNumbers, as they are shown
	Number   string    `json:"number"`            // as the history has it
	Shown    string    `json:"shown"`
	Copy     string    `json:"copy"` // digits only
	LineName string    `json:"line_name,omitempty"`
	Possible bool      `json:"possible"` // foreign: the match is only possible
	Failure  string    `json:"failure"`  // code of package contact, with the outcome failed
	Support  string    `json:"support"`  // who to tell
	Contacts []Contact `json:"contacts,omitempty"`
	More     int       `json:"more,omitempty"` // contacts beyond those listed
}

// Contact is one contact with the number.
type Contact struct {
	private.Data
	ID       string `json:"id"`
	Earlier  bool   `json:"earlier"` // the one whose file the user opened before
	Name     string `json:"name"`
	Relation string `json:"relation"` // digits
	Address  string `json:"address"`
	Producer string `json:"producer"`
	Modified string `json:"modified"`       // by whom
	Link     string `json:"link,omitempty"` // "" if its file cannot be opened
}

// What can be said of a contact as the caller behind a number.
const (
	ChoiceMade = "made" // the user chose him among several
	ChoiceNot  = "not"  // he is not the caller
	ChoiceBack = "back" // that was taken back: he is, unless another one was chosen since
)

// Choice is what the user said of who calls with a number.
type Choice struct {
	private.Data
	Number  string `json:"number"` // as the history has it
	Contact string `json:"contact"`
	What    string `json:"what"`
}

// Forget says what to delete of what is stored about callers. Exactly one of the
// three is set.
type Forget struct {
	All    bool   `json:"all,omitempty"`
	Number string `json:"number,omitempty"` // in any notation
	Days   *int   `json:"days,omitempty"`   // what is older
}

// Forgotten tells how that went.
type Forgotten struct {
	Error string `json:"error,omitempty"` // something may be left
}

// States of a DeliveryFile beside those of package outbox.
const (
	DeliveryAdding   = "adding"    // it is copied and checked
	DeliveryQuestion = "question"  // it was delivered before: send it all the same?
	DeliveryNotTaken = "not_taken" // the disk does not take it now
)

// DeliveryDo asks for something to be done. Without content it only asks for Delivery.
type DeliveryDo struct {
	private.Data
	Paths   []string `json:"paths,omitempty"`   // deliver these files, or the ZIP files in these folders
	ID      string   `json:"id,omitempty"`      // check this file of Delivery, and take it if it can be now,
	Again   bool     `json:"again,omitempty"`   // although it was delivered before;
	Drop    bool     `json:"drop,omitempty"`    // or take it off the list
	Release bool     `json:"release,omitempty"` // send what waits as soon as possible
	Changed bool     `json:"changed,omitempty"` // the window changed the outbox
	Read    bool     `json:"read,omitempty"`    // the notice was read
}

// Delivery is how deliveries are, and a part of the files that are not in the outbox:
// not yet, or not at all. As many follow each other as the files need. While
// something is sent, one with Progress alone comes a few times a second.
type Delivery struct {
	private.Data
	Progress *Progress      `json:"progress,omitempty"`
	Trouble  string         `json:"trouble,omitempty"` // kind of trouble with the disk
	Notice   string         `json:"notice,omitempty"`  // what has happened to the outbox, as a sentence
	Failed   bool           `json:"failed,omitempty"`  // what was asked for could not be done any more
	First    int            `json:"first"`             // of Files, from 0
	Total    int            `json:"total"`             // files in all
	Files    []DeliveryFile `json:"files,omitempty"`   // newest first
}

// DeliveryFile is a file that somebody gave to the window.
type DeliveryFile struct {
	ID       string            `json:"id"`
	Item     string            `json:"item,omitempty"` // it is in the outbox now, under this id
	Name     string            `json:"name"`
	Size     int64             `json:"size"`
	State    string            `json:"state"`  // one of the above, or refused
	Reason   string            `json:"reason"` // of package outbox, or a code of package message
	Added    time.Time         `json:"added"`
	Before   time.Time         `json:"before,omitzero"` // of DeliveryQuestion: when it was delivered before, or taken
	Was      string            `json:"was,omitempty"`   // of DeliveryQuestion: the state of the earlier one
	Findings []message.Finding `json:"findings,omitempty"`
}

// Progress tells how much of an item was handed over.
type Progress struct {
	ID   string `json:"id"`
	Sent int64  `json:"sent"`
	Size int64  `json:"size"`
}
