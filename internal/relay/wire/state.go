package wire

import (
	"encoding/json"
	"time"

	"wiebelt/internal/core/call"
)

// StateEvery is how often a relay publishes its state, in addition to every change.
const StateEvery = 10 * time.Second

// MaxLinks is the maximum number of a relay's links to exchanges.
const MaxLinks = 32

// State is the state a relay publishes on Site.StateSubject. It names no person.
type State struct {
	V     int         `json:"v"`
	Relay string      `json:"relay"`
	At    time.Time   `json:"at"`              // by the relay's clock, like all times here
	Fault string      `json:"lacks,omitempty"` // what keeps it from working, "" if nothing: "start", "quorum", "disk", "storage"
	Hub   string      `json:"hub"`             // "off", "untried", "ok", or a contact.Failure of the newest lookup
	Links []LinkState `json:"links"`
}

// States of a link to an exchange in addition to those of link.Phase.
const (
	LinkOtherRelay = "elsewhere" // another relay holds it
	LinkSettings   = "settings"  // its settings are unusable
	LinkWebhook    = "reports"   // not a connection of ours: the exchange sends
)

// LinkState is the state of a link to an exchange.
type LinkState struct {
	Name       string    `json:"name"`
	Kind       string    `json:"kind"`
	State      string    `json:"state"` // "connected", "connecting", "waiting", "kicked", "refused", or one of those above
	Cause      string    `json:"cause,omitempty"`
	Since      time.Time `json:"since,omitzero"` // of State
	LastCallAt time.Time `json:"heard,omitzero"` // when it last reported a call
}

// Encode returns the message.
func (s State) Encode() []byte {
	s.V = 1
	b, _ := json.Marshal(s) // texts and times always encode
	return b
}

// ParseState reads a state and cleans what is shown of it.
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
