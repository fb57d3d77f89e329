package deskapi

import "time"

// Kinds of messages of the doctor, which asks how the running resident is, from a
// command as from a window.
const (
	KindDoctorAsk   = "doctor.ask"   // no content: how are you?
	KindDoctorFacts = "doctor.facts" // DoctorFacts, the answer
)

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
