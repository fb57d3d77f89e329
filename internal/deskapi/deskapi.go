// Package deskapi is what the resident and the windows' process say to each other
// over the per-user socket: the kinds of messages and their contents. Plain
// values only. The resident owns every call and whatever is in memory; the windows'
// process reads and writes the profile's files itself and says what it changed.
package deskapi

import "time"

// Kinds of messages from the resident to the windows' process.
const (
	KindWelcome = "welcome" // Welcome, first message
	KindStatus  = "status"  // Status, whenever it changed
)

// Kinds of messages from the windows' process to the resident.
const KindPainted = "painted" // no content: the first window is on screen, or one that was asked for

// Kinds of messages that go both ways.
const (
	KindShow    = "show"    // Show: bring this window to the front; from the windows, first of all: they were started for it
	KindChanged = "changed" // Changed: whoever shows or follows what lies on disk reads it again
	KindCopy    = "copy"    // Copy: put a text on the clipboard; it comes back without content where that cannot be
	KindWays    = "ways"    // Ways, whenever they changed; from a window, without content, to be told now
	KindFacts   = "facts"   // DoctorFacts; from a command or the doctor's window, without content, to be told
	KindTest    = "test"    // Test: a test call, of the first start's window or that of a test call
	KindPlay    = "play"    // Play: play a demo call; Played comes back
	KindQuit    = "quit"    // no content: end, the resident is going; from a window, the user wants it to
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
	Demo     []DemoCall `json:"demo,omitempty"`
	Status   Status     `json:"status"`
	Room     Room       `json:"room"`
	HubURL   string     `json:"hub_url,omitempty"` // of the demo's hub, which stands in no settings
}

// Room is where windows open: the part of a monitor without task bars, in pixels
// of the desktop, and how many of them a unit has. Its scale is 0 where the
// resident sees no monitor.
type Room struct {
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
	Hotkey   string `json:"hotkey"`           // health.Hotkey: why card.hotkey does not work, "" if it does
	Fault    string `json:"fault,omitempty"`  // why calls are not kept now, as a sentence
	Notice   string `json:"notice,omitempty"` // what has happened to the history, as a sentence
}

// Show asks for a window; from a command without one, for the calls.
type Show struct {
	Window string `json:"window"`
	Place  string `json:"place,omitempty"` // in the window: of the settings, a set-up file by its absolute path
	Room   Room   `json:"room"`
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
	Text string `json:"text"`
}

// String gives nothing away.
func (Copy) String() string { return "copy" }

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
	Kind     string    `json:"kind"` // call.Way.Kind
	Name     string    `json:"name"` // of a link
	At       time.Time `json:"at"`
	Tells    string    `json:"tells"` // what this way can report: TellsRing and so on
	Answered bool      `json:"answered"`
	Ended    bool      `json:"ended"` // was seen too
}

// What a way in can report.
const (
	TellsRing = "ring"
	TellsEnd  = "end"
	TellsAll  = "all"
)

// Ways are all ways in that are set up.
type Ways struct {
	Ways []WayState `json:"ways"`
}

// Phases of a WayState beside those of DoctorLink.
const (
	WayListens = "listens" // no heartbeat: it waits for a phone to call
	WayTaken   = "taken"   // another program has the port
	WayKeyless = "keyless" // the listener's tokens cannot be read, so it does not run
)

// WayState is how one way in is doing. Only a link has a heartbeat and can be
// up; of any other way no more is known than when a call last came over it.
type WayState struct {
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
	Hotkey    string       `json:"hotkey"`  // health.Hotkey: why card.hotkey does not work, "" if it does
}

// DoctorLink is a link to a softphone.
type DoctorLink struct {
	Kind  string `json:"kind"`
	Name  string `json:"name"` // as in the settings
	Phase string `json:"phase"`
	Why   string `json:"why,omitempty"` // link.Cause: why it does not stand
}
