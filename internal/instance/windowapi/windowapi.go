// Package windowapi defines what the resident and the windows' process exchange over
// the per-user socket: the kinds of messages and their contents, plain values only. The
// resident owns every call and everything in memory; the windows' process reads and writes
// the profile's files itself and reports what it changed.
package windowapi

import (
	"time"

	"wiebelt/internal/core/private"
	"wiebelt/internal/delivery/message"
)

// Kinds of messages. A request and its answer are of the same kind.
const (
	KindWelcome  = "welcome"  // Welcome, from the resident: its first message
	KindStatus   = "status"   // Status, from the resident, whenever it changes
	KindPainted  = "painted"  // from a window, no content: a requested window is on screen
	KindLookup   = "lookup"   // Lookup, from a window; answered with LookupResult
	KindChoice   = "choice"   // Choice, from a window
	KindForget   = "forget"   // Forget, from a command or a window; answered with ForgetResult
	KindDelivery = "delivery" // DeliveryRequest, from a window; Delivery comes back, then and whenever it changed
	KindShow     = "show"     // Show: bring a window to the front; also the windows' first message
	KindChanged  = "changed"  // Changed: reread what is shown or followed on disk
	KindCopy     = "copy"     // Copy: put a text on the clipboard; returned without content if that fails
	KindSources  = "sources"  // Sources, whenever they change; without content, from a window, a request
	KindFacts    = "facts"    // DoctorFacts; without content, from a command or the doctor's window, a request
	KindTest     = "test"     // Test: a test call, from the first start's window or the test call's
	KindPlay     = "play"     // Play: play a demo call; answered with PlayResult
	KindQuit     = "quit"     // no content: the resident is ending; from a window, the user wants it to
)

// What can change.
const (
	ChangedHistory    = "history"  // the calls
	ChangedErased     = "forgot"   // calls were deleted permanently, none may be restored; from the resident
	ChangedNoticeRead = "read"     // the notice about the history was read; from a window
	ChangedSettings   = "settings" // the settings' files
	ChangedSecret     = "secret"   // a secret, and perhaps the settings
)

// Changed reports what changed on disk.
type Changed struct {
	What    string      `json:"what"`
	Removed []time.Time `json:"removed,omitempty"` // for ChangedHistory: when the calls rang that were removed by hand
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

// Welcome defines the appearance of the windows and where things are.
type Welcome struct {
	Language   string     `json:"language"` // "nl" or "en"
	Theme      string     `json:"theme"`    // "light", "dark" or "system"
	FileWord   string     `json:"file_word"`
	History    string     `json:"history"` // path of the history, opened read-only; "" if none is kept
	Window     string     `json:"window"`  // which window to open first
	NoResident bool       `json:"-"`       // no resident is running
	Demo       []DemoCall `json:"demo,omitempty"`
	Status     Status     `json:"status"`
	WorkArea   WorkArea   `json:"work_area"`
	HubURL     string     `json:"hub_url,omitempty"` // the demo hub's, which is not in the settings
}

// WorkArea is where windows open: the part of a monitor without task bars, in desktop
// pixels, and the number of pixels per unit. Scale is 0 if the resident sees no monitor.
type WorkArea struct {
	Monitors []string `json:"monitors,omitempty"` // names of all monitors
	X        int      `json:"x"`
	Y        int      `json:"y"`
	Width    int      `json:"width"`
	Height   int      `json:"height"`
	Scale    float32  `json:"scale"`
}

// DemoCall is one button of the demo window, with texts in the requested language.
type DemoCall struct {
	ID    string `json:"id"`
	Title string `json:"title"`
	Hint  string `json:"hint"` // one sentence on what to watch
}

// Status is the resident's state in words, without names or numbers.
type Status struct {
	OK       bool   `json:"ok"`
	Sentence string `json:"sentence"`
	Fault    string `json:"fault,omitempty"`  // why calls are not stored now, as a sentence
	Notice   string `json:"notice,omitempty"` // what happened to the history, as a sentence
	// Hotkeys are those that do not work: health.Hotkey by the key of the setting.
	Hotkeys map[string]string `json:"hotkeys,omitempty"`
}

// Show asks for a window; without one, from a command, for the calls.
type Show struct {
	Window   string   `json:"window"`
	Place    string   `json:"place,omitempty"` // in the window: for the settings, a set-up file's absolute path
	WorkArea WorkArea `json:"work_area"`
}

// Play asks for a demo call.
type Play struct {
	ID string `json:"id"`
}

// PlayResult reports how a demo call went, in the requested language.
type PlayResult struct {
	ID   string `json:"id"`
	Line string `json:"line"`
}

// Copy asks to put text on the clipboard. It may contain a token.
type Copy struct {
	private.Data
	Text string `json:"text"`
}

// TestWait is how long to wait for a test call.
const TestWait = 60 * time.Second

// Requests of a window.
const (
	TestBegin = "begin" // wait for a call; the previous one is over
	TestStop  = "stop"  // stop waiting
	TestCard  = "card"  // show a test card where cards currently appear
)

// Test is a request of a window, or a report after TestBegin: one for
// everything new that is seen of the call, or one saying that no call came.
type Test struct {
	Action string    `json:"do,omitempty"`     // from a window
	Window string    `json:"window,omitempty"` // that waits; returned, like Seq
	Seq    int       `json:"seq,omitempty"`
	Seen   *TestSeen `json:"seen,omitempty"` // nil: no call came
}

// TestSeen describes the call that came.
type TestSeen struct {
	Kind        string    `json:"kind"` // call.Source.Kind
	Name        string    `json:"name"` // of a link
	At          time.Time `json:"at"`
	ReportLevel string    `json:"reports"` // what this source can report: RingOnly etc.; "" while unknown
	Answered    bool      `json:"answered"`
	Ended       bool      `json:"ended"` // the end was seen too
}

// What a source can report.
const (
	RingOnly   = "ring"
	RingAndEnd = "end"
	AllStates  = "all"
)

// Sources are all configured sources of calls.
type Sources struct {
	Sources []SourceState `json:"sources"`
}

// PhaseOf returns a link's phase, LinkUnknown if not reported, and the reason. s may be nil.
func (s *Sources) PhaseOf(kind, name string) (phase, why string) {
	if s == nil {
		return LinkUnknown, ""
	}
	for _, one := range s.Sources {
		if one.Kind == kind && one.Name == name {
			return one.Phase, one.Why
		}
	}
	return LinkUnknown, ""
}

// Phases of a SourceState besides those of DoctorLink.
const (
	SourceListens    = "listens"  // waits for a phone to call, without heartbeat
	SourcePortTaken  = "taken"    // another program has the port
	SourceNoTokens   = "keyless"  // not running, since the listener's tokens cannot be read
	SourceNotDefault = "unopened" // its links do not open this program
)

// SourceState is the state of one source of calls. Only a link has a heartbeat and can be
// up; of any other, only the time of its last call is known.
type SourceState struct {
	Kind       string    `json:"kind"`
	Name       string    `json:"name"`          // of a link, as in the settings; "" for its kind's
	Phase      string    `json:"phase"`         // LinkUp etc.
	Why        string    `json:"why,omitempty"` // as in DoctorLink
	Since      time.Time `json:"since"`         // for links: of the phase
	LastCallAt time.Time `json:"last"`          // when a call came, zero for never
	Port       int       `json:"port,omitempty"`
}

// Phases of a DoctorLink.
const (
	LinkUnknown      = "" // trying, nothing known yet
	LinkUp           = "up"
	LinkDown         = "down"
	LinkKicked       = "kicked"
	LinkRefused      = "refused"
	LinkIncomplete   = "incomplete"
	LinkBackendFault = "behind" // connected; Why is what does not work behind it
)

// DoctorFacts is what the resident knows about itself: states and times, nothing about
// calls or people except the names of links in the settings.
type DoctorFacts struct {
	SetUp     bool         `json:"set_up"`  // lookups are possible
	Paused    bool         `json:"paused"`  // by the user
	TooQuiet  bool         `json:"doubt"`   // calls are missing
	Failure   string       `json:"failure"` // contact.Failure of the last contact with the hub, "" for none
	Port      int          `json:"port"`    // of the listener, 0 if it does not run
	PortTaken bool         `json:"taken"`   // another program has the port
	Links     []DoctorLink `json:"links"`   // in the order of the settings
	Cards     string       `json:"cards"`   // health.Cards: what calls are shown with, "" for cards
	// Hotkeys are those that do not work: health.Hotkey by the key of the setting.
	Hotkeys map[string]string `json:"hotkeys,omitempty"`
}

// DoctorLink is a link to a softphone.
type DoctorLink struct {
	Kind  string `json:"kind"`
	Name  string `json:"name"` // as in the settings
	Phase string `json:"phase"`
	Why   string `json:"why,omitempty"` // link.Cause: why it is not up, or what is wrong behind it
}

// Lookup asks whose number it is.
type Lookup struct {
	private.Data
	Seq   int    `json:"seq"`             // returned with the answer
	Entry int64  `json:"entry,omitempty"` // the stored call whose number Text is, returned too; 0 for a typed number
	Text  string `json:"text"`
}

// Outcomes of a manual lookup besides those of package history.
const (
	LookupOff        = "off"      // setting lookup.manual
	LookupNever      = "never"    // phone.never_lookup
	LookupNoNumber   = "nonumber" // a text, not a number
	LookupNoResident = "alone"    // no resident is running
	LookupNumbers    = "numbers"  // several numbers to choose from
)

// LookupResult answers a Lookup.
type LookupResult struct {
	private.Data
	Seq           int       `json:"seq"`
	Entry         int64     `json:"entry,omitempty"`
	Outcome       string    `json:"outcome"`
	Numbers       []string  `json:"numbers,omitempty"` // for LookupNumbers, as shown
	Number        string    `json:"number"`            // as in the history
	NumberDisplay string    `json:"shown"`
	ClipboardText string    `json:"copy"` // digits only
	LineName      string    `json:"line_name,omitempty"`
	Possible      bool      `json:"possible"` // foreign: the match is only possible
	Failure       string    `json:"failure"`  // code of package contact, if failed
	Support       string    `json:"support"`  // who to tell
	Contacts      []Contact `json:"contacts,omitempty"`
	MoreContacts  int       `json:"more,omitempty"` // contacts beyond those listed
}

// Contact is one contact with the number.
type Contact struct {
	private.Data
	ID            string `json:"id"`
	ChosenEarlier bool   `json:"earlier"` // the user opened this one's file before
	Name          string `json:"name"`
	Relation      string `json:"relation"` // digits
	Address       string `json:"address"`
	Producer      string `json:"producer"`
	Modified      string `json:"modified"`       // by whom
	Link          string `json:"link,omitempty"` // "" if its file cannot be opened
}

// What the user can say about a contact as a number's caller.
const (
	ChoiceMade     = "made" // chosen among several
	ChoiceRejected = "not"  // not the caller
	ChoiceRestored = "back" // ChoiceRejected undone: the caller again, unless another was chosen since
)

// Choice is what the user said about a number's caller.
type Choice struct {
	private.Data
	Number  string `json:"number"` // as in the history
	Contact string `json:"contact"`
	What    string `json:"what"`
}

// Forget says which of the data stored about callers to delete. Exactly one field is set.
type Forget struct {
	All    bool   `json:"all,omitempty"`
	Number string `json:"number,omitempty"` // in any notation
	Days   *int   `json:"days,omitempty"`   // older calls
}

// ForgetResult reports the result.
type ForgetResult struct {
	Error string `json:"error,omitempty"` // something may be left
}

// States of a DeliveryFile besides those of package outbox.
const (
	DeliveryAdding   = "adding"    // being copied and checked
	DeliveryQuestion = "question"  // delivered before: send it anyway?
	DeliveryNotTaken = "not_taken" // the disk cannot take it now
)

// DeliveryRequest requests an action. Without content it only requests Delivery.
type DeliveryRequest struct {
	private.Data
	Paths   []string `json:"paths,omitempty"`   // deliver these files, or the ZIP files in these folders
	ID      string   `json:"id,omitempty"`      // recheck this file of Delivery and take it if possible,
	Again   bool     `json:"again,omitempty"`   // although it was delivered before;
	Drop    bool     `json:"drop,omitempty"`    // or remove it from the list
	Release bool     `json:"release,omitempty"` // send waiting files as soon as possible
	Changed bool     `json:"changed,omitempty"` // the window changed the outbox
	Read    bool     `json:"read,omitempty"`    // the notice was read
}

// Delivery is the state of deliveries, with part of the files that are not, or not yet, in
// the outbox; there are as many messages as the files need. While sending, messages with
// only Progress come a few times a second.
type Delivery struct {
	private.Data
	Progress *Progress      `json:"progress,omitempty"`
	Trouble  string         `json:"trouble,omitempty"` // kind of disk trouble
	Notice   string         `json:"notice,omitempty"`  // what happened to the outbox, as a sentence
	Failed   bool           `json:"failed,omitempty"`  // the request was no longer possible
	First    int            `json:"first"`             // index of Files[0] among all files
	Total    int            `json:"total"`             // files in all
	Files    []DeliveryFile `json:"files,omitempty"`   // newest first
}

// DeliveryFile is a file given to the window.
type DeliveryFile struct {
	ID           string            `json:"id"`
	Item         string            `json:"item,omitempty"` // its id in the outbox, once it is there
	Name         string            `json:"name"`
	Size         int64             `json:"size"`
	State        string            `json:"state"`  // one of the above, or refused
	Reason       string            `json:"reason"` // from package outbox, or a code of package message
	Added        time.Time         `json:"added"`
	EarlierTime  time.Time         `json:"before,omitzero"` // for DeliveryQuestion: when it was delivered or taken before
	EarlierState string            `json:"was,omitempty"`   // for DeliveryQuestion: the earlier one's state
	Findings     []message.Finding `json:"findings,omitempty"`
}

// Progress reports how much of an item was sent.
type Progress struct {
	ID   string `json:"id"`
	Sent int64  `json:"sent"`
	Size int64  `json:"size"`
}
