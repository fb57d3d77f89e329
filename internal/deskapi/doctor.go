package deskapi

import "time"

// Kinds of messages of "wiebelt doctor", a command or a window that asks how the
// running resident is.
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

// Kinds of messages of the doctor's window, to the resident.
const (
	KindDoctorRun    = "doctor.run"    // DoctorRun: look at everything
	KindDoctorBundle = "doctor.bundle" // no content: gather what would go into a bundle; DoctorHolds answers
	KindDoctorPeek   = "doctor.peek"   // DoctorPeek: show a piece of it; DoctorPiece answers
	KindDoctorWrite  = "doctor.write"  // DoctorWrite: write what was gathered; DoctorWritten answers
	KindDoctorDrop   = "doctor.drop"   // no content: forget what was gathered
)

// Kinds of messages to the doctor's window.
const (
	KindDoctorFound   = "doctor.found"   // DoctorFound, for each check as it ends
	KindDoctorDone    = "doctor.done"    // DoctorDone, after the last
	KindDoctorHolds   = "doctor.holds"   // DoctorHolds
	KindDoctorPiece   = "doctor.piece"   // DoctorPiece
	KindDoctorWritten = "doctor.written" // DoctorWritten
)

// DoctorRun asks for a look at everything. Answers carry the same Seq.
type DoctorRun struct {
	Seq int `json:"seq"`
}

// DoctorFound is what a check came to, often one line.
type DoctorFound struct {
	Seq   int          `json:"seq"`
	ID    string       `json:"id"`
	Lines []DoctorLine `json:"lines"`
}

// DoctorLine is one thing that a check has to say.
type DoctorLine struct {
	State   string `json:"state"` // ok, warn, fail, off
	Message string `json:"message"`
	Hint    string `json:"hint"` // what to do, "" for nothing
	Whom    string `json:"whom"` // who can do it, "" for whoever sits here
}

// DoctorDone sums up.
type DoctorDone struct {
	Seq      int    `json:"seq"`
	OK       bool   `json:"ok"`
	Sentence string `json:"sentence"`
}

// DoctorHolds lists what would be written, and a place for it.
type DoctorHolds struct {
	Files []DoctorFile `json:"files"`
	Path  string       `json:"path"`
	Error string       `json:"error"` // a sentence, "" if it was gathered
}

// DoctorFile is a file of the bundle.
type DoctorFile struct {
	Name string `json:"name"`
	Size int    `json:"size"` // bytes
}

// DoctorPeek asks for the contents of a file from a byte on.
type DoctorPeek struct {
	File int `json:"file"`
	From int `json:"from"`
}

// DoctorPiece is a piece of a file, whole characters of UTF-8.
type DoctorPiece struct {
	File int    `json:"file"`
	From int    `json:"from"`
	Text string `json:"text"`
	Next int    `json:"next"` // where the rest begins, 0 at the end
}

// DoctorWrite says where to write.
type DoctorWrite struct {
	Path string `json:"path"`
}

// DoctorWritten tells how that went.
type DoctorWritten struct {
	Path  string `json:"path"`
	Error string `json:"error"` // a sentence, "" if it is written
}
