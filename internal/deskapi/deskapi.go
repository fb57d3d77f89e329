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
	KindShow    = "show"    // Show: bring this window to the front; from the windows, first of all: they were started for it
	KindPlayed  = "played"  // Played: how a demo call went
	KindQuit    = "quit"    // no content: end, the resident is going; from a window, the user wants it to
)

// KindChanged goes both ways: what lies on disk has changed, and whoever shows or
// follows it reads it again.
const KindChanged = "changed" // Changed

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

// Kinds of messages from the windows' process to the resident.
const (
	KindPainted = "painted" // no content: the first window is on screen, or one that was asked for
	KindPlay    = "play"    // Play: play a demo call
	KindCopy    = "copy"    // Copy: put a text on the clipboard; it comes back without content where that cannot be
)

// Windows that can be shown.
const (
	WindowCalls   = "calls"
	WindowDemo    = "demo"
	WindowRecipes = "recipes"
	// Those below have an area of messages of their own, by the same name.
	WindowLookup   = "lookup"
	WindowSettings = "settings"
	WindowDelivery = "delivery"
	WindowDoctor   = "doctor"
	WindowHelp     = "help"
	WindowStart    = "start"
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
