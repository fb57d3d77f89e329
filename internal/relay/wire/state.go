package wire

import (
	"encoding/json"
	"time"

	"wiebelt/internal/core/call"
)

// StateEvery is how often a relay says how it is doing, and at each change besides.
const StateEvery = 10 * time.Second

// MaxLinks is how many links to exchanges a relay has at most.
const MaxLinks = 32

// State is how a relay is doing, as it tells everybody on Site.Relays. It names nobody.
type State struct {
	V     int         `json:"v"`
	Relay string      `json:"relay"`
	At    time.Time   `json:"at"`              // of the relay's clock, as are all times in it
	Fault string      `json:"lacks,omitempty"` // what keeps it from working, "" for nothing: "start", "quorum", "disk", "storage"
	Hub   string      `json:"hub"`             // "off", "untried", "ok", or a contact.Failure of the newest look-up
	Links []LinkState `json:"links"`
}

// The states of a link to an exchange that are not those of link.Phase.
const (
	LinkElsewhere = "elsewhere" // another relay has it
	LinkSettings  = "settings"  // its settings cannot be used
	LinkReports   = "reports"   // it is not ours to make: the exchange sends by itself
)

// LinkState is how a link to an exchange is doing.
type LinkState struct {
	Name  string    `json:"name"`
	Kind  string    `json:"kind"`
	State string    `json:"state"` // "connected", "connecting", "waiting", "kicked", "refused", or one of those above
	Cause string    `json:"cause,omitempty"`
	Since time.Time `json:"since,omitzero"` // of State
	Heard time.Time `json:"heard,omitzero"` // when it last told of a call
}

// Encode gives the message.
func (s State) Encode() []byte {
	s.V = 1
	b, _ := json.Marshal(s) // of texts and times
	return b
}

// ParseState reads a state. What is shown of it is cleaned.
func ParseState(b []byte) (State, error) {
	var s State
	if len(b) > MaxBytes || json.Unmarshal(b, &s) != nil || s.V < 1 || s.At.IsZero() || len(s.Links) > MaxLinks || !Site(s.Relay).Valid() {
		return State{}, errMessage
	}
	for i := range s.Links {
		s.Links[i].Name = call.CleanText(s.Links[i].Name, call.MaxName)
	}
	return s, nil
}
