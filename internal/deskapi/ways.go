package deskapi

import "time"

// KindTest is about test calls, of the first start's window and of the window of a
// test call; both ways.
const KindTest = "test" // Test

// WindowTest is the window of a test call.
const WindowTest = "test"

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
