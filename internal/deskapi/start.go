package deskapi

import "time"

// Messages of the first start's window (area "start") and of the window of a
// test call (area "test"). Both can have a test call; what the resident says of
// it goes to the area that asked.
const (
	KindStartAsk      = "start.ask"      // no content: tell StartState
	KindStartCorner   = "start.corner"   // StartCorner: cards come there; a test card shows it
	KindStartLanguage = "start.language" // StartLanguage: windows and cards speak it
	KindStartConnect  = "start.connect"  // StartConnect: connect a phone that was found
	KindStartState    = "start.state"    // StartState, when asked and after each of the above

	VerbBegin   = "begin"   // TestBegin: wait for a call
	VerbStop    = "stop"    // no content: wait no longer
	VerbSeen    = "seen"    // TestSeen, with every new thing that is seen of the call
	VerbNothing = "nothing" // TestNothing: no call came
)

// WindowTest is the window of a test call.
const WindowTest = "test"

// TestWait is how long a test call is waited for.
const TestWait = 60 * time.Second

// StartState is what the first start's window shows.
type StartState struct {
	Corner         string       `json:"corner"` // setting card.corner
	CornerLocked   bool         `json:"corner_locked"`
	Language       string       `json:"language"` // that holds now
	LanguageLocked bool         `json:"language_locked"`
	Phones         []StartPhone `json:"phones"`
	SetUp          bool         `json:"set_up"` // the hub can be asked
	Support        string       `json:"support"`
	Failed         string       `json:"failed,omitempty"` // what was asked for last and did not work, as a sentence
}

// StartPhone is a softphone of this computer.
type StartPhone struct {
	ID       string `json:"id"`
	Name     string `json:"name"`
	Sentence string `json:"sentence"`
	Can      bool   `json:"can"` // it can be connected now
	OK       bool   `json:"ok"`  // it is connected, or runs Wiebelt
	Recipe   string `json:"recipe"`
}

// StartCorner chooses where cards come.
type StartCorner struct {
	Corner string `json:"corner"`
}

// StartLanguage chooses a language.
type StartLanguage struct {
	Language string `json:"language"`
}

// StartConnect names a phone of StartState.
type StartConnect struct {
	ID string `json:"id"`
}

// TestBegin begins a test call; the one before it is over.
type TestBegin struct {
	Seq int `json:"seq"` // comes back with what is said of it
}

// TestSeen tells of the call that came.
type TestSeen struct {
	Seq      int       `json:"seq"`
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

// TestNothing tells what to check, for every phone that is set up or possible.
type TestNothing struct {
	Seq    int         `json:"seq"`
	Checks []TestCheck `json:"checks"`
}

// TestCheck is one phone and what to check.
type TestCheck struct {
	Name     string `json:"name"`
	Sentence string `json:"sentence"`
}

// How the ways in are doing.
const (
	KindWaysAsk = "ways.ask" // no content: tell Ways, now and whenever they change
	KindWays    = "ways"     // Ways
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
