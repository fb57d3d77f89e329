// Package health determines the program's state and describes it in one plain sentence:
// for the tray's icon, the first line of its menu, and the line in the calls window. It
// evaluates observed facts – heartbeats, the last real call, the last real lookup – and
// never a socket that happens to be open. A source without a heartbeat is never called
// connected: the sentence gives the last evidence instead.
//
// Everything here is a pure function of its arguments.
package health

import (
	"slices"
	"strings"
	"time"

	"wiebelt/internal/core/contact"
	"wiebelt/internal/softphone/registry"
	"wiebelt/internal/text"
)

// State is the overall state, as shown by the tray's icon.
type State uint8

// The states, by increasing severity.
const (
	Ready State = iota
	Doubt       // no known fault, but no call came when some should have
	HubGone
	LinkLost
	CredentialsRefused
	NotSetUp
	Paused // by the user; takes precedence over everything else
)

// Phase is the state of a source. Only links to phones have a heartbeat.
type Phase uint8

// The phases.
const (
	Unwatched Phase = iota // unknown: the listener, wiebelt: links, commands
	Up
	Down       // not connected; retries
	Kicked     // another program has the phone's only place
	Refused    // the phone rejects us
	Incomplete // cannot connect: something is not set, such as the extension

	// The office's relay is connected, but something behind it does not work.
	NoStorage  // it cannot store its data
	NoExchange // it is not connected to the exchange
	NoHub      // the hub does not answer it
)

// IsConnected reports whether the source is connected, regardless of what is behind it.
func (p Phase) IsConnected() bool { return p == Up || p == NoStorage || p == NoExchange || p == NoHub }

// Source is a configured source of calls.
type Source struct {
	Kind       string // of call.Source
	Name       string // what people call it, "" for its kind's name
	Phase      Phase
	NeedsAdmin bool // not connected, and only an administrator can fix it
	// BackendFaultSince is the time since which something behind a relay has not worked.
	BackendFaultSince time.Time
}

// Registration is something outside our files that calls or the start at log-on depend on.
type Registration string

// The registrations that are checked every hour.
const (
	Scheme    Registration = "scheme"    // wiebelt: links open this program
	Autostart Registration = "autostart" // started at log-on
	MicroSIP  Registration = "microsip"  // MicroSIP's ini runs this program
)

// Call is a call that was really received.
type Call struct {
	At   time.Time
	Kind string // of call.Source
}

// Facts is the input of Assess.
type Facts struct {
	SetUp  bool // the address, the client and the rest are set
	Lookup struct {
		At      time.Time // of the last answer or failure; zero if there was none
		Failure contact.Failure
	}
	// SecretMissing means that the secret does not exist or cannot be read; known
	// before the first call.
	SecretMissing bool
	TakenPort     int  // the port that another program uses; 0 if ours listens
	NoTokens      bool // the listener is not running: its tokens cannot be read
	Sources       []Source
	LastCall      *Call
	// UsualCalls is the number of calls on the last working day; StartedAt is when this
	// program was started.
	UsualCalls        int
	StartedAt         time.Time
	LostRegistrations []Registration // existed and are no longer ours
	PausedUntil       time.Time      // until then; zero for not paused
	Delivery          Delivery
	Hiding            Hiding
	Cards             Cards
	Hotkeys           []HotkeyTrouble // in the order of their settings
}

// Hiding is why cards currently show less than usual, or nothing.
type Hiding string

// The reasons. The tray always shows them.
const (
	HidingNot        Hiding = ""
	HidingLocked     Hiding = "locked"            // the screen is locked
	HidingQuiet      Hiding = "quiet"             // the desktop is set to do not disturb: no cards
	HidingPresenting Hiding = "presenting"        // a full-screen window is open: no cards
	NumberQuiet      Hiding = "number.quiet"      // … the number only
	NumberPresenting Hiding = "number.presenting" // … the number only
)

// Report is the result.
type Report struct {
	State    State
	Sentence string // what is wrong and what to do, or the last evidence
	TooQuiet bool   // a call should have come by now, and nothing explains why none did
	// Repairable lists the registrations that can be repaired.
	Repairable []Registration
}

// Limits for doubt: a PC is in doubt after more than quietFor working hours without a call
// if it had more than usualCalls on its last working day.
const (
	usualCalls = 5
	quietFor   = 2 * time.Hour
	dayBegins  = 9  // o'clock; working hours begin here …
	dayEnds    = 17 // … and end here, Monday to Friday
)

// Assess determines the state. support is whom to contact; "" means "your administrator".
func Assess(f Facts, l text.Language, support string, now time.Time) Report {
	r := assess(f, l, support, now)
	r.addDeliveries(f.Delivery, l, support)
	f.addNotices(&r, l)
	return r
}

func assess(f Facts, l text.Language, support string, now time.Time) Report {
	j := assessment{f, l, l.Support(support), now}
	if f.PausedUntil.After(now) {
		return j.report(Paused, text.StatusPaused, l.InWeek(f.PausedUntil, now))
	}
	for _, look := range []func() (Report, bool){j.setup, j.sources, j.hub} {
		if r, wrong := look(); wrong {
			return r
		}
	}
	switch {
	case len(f.LostRegistrations) > 0:
		return j.report(Doubt, text.Lost(string(f.LostRegistrations[0])))
	case f.tooQuiet(now):
		r := j.report(Doubt, text.StatusQuiet, f.UsualCalls)
		r.TooQuiet = true
		return r
	case f.LastCall != nil && text.SameDay(f.LastCall.At, now):
		return j.report(Ready, text.StatusReadyLast, l.Clock(f.LastCall.At), l.T(text.Source(f.LastCall.Kind)))
	}
	var up []string
	for _, s := range f.Sources {
		if s.Phase == Up {
			up = append(up, sourceName(s, l))
		}
	}
	if len(up) > 0 { // these have a heartbeat
		return j.report(Ready, text.StatusReadyUp, strings.Join(up, ", "))
	}
	return j.report(Ready, text.StatusReadyNone)
}

// assessment holds what the parts of assess share.
type assessment struct {
	Facts
	l     text.Language
	admin string // whom to contact
	now   time.Time
}

func (j assessment) report(s State, key text.Key, args ...any) Report {
	return Report{State: s, Sentence: j.l.T(key, args...), Repairable: j.LostRegistrations}
}

// setup reports what prevents all calls or all lookups until somebody configures something.
func (j assessment) setup() (r Report, wrong bool) {
	switch {
	case !j.SetUp:
		return j.report(NotSetUp, text.StatusSetup, j.admin), true
	case j.SecretMissing:
		return j.report(NotSetUp, text.StatusSecret, j.admin), true
	case j.Lookup.Failure == contact.CredentialsRefused:
		return j.report(CredentialsRefused, text.StatusRefused, j.admin), true
	case j.Lookup.Failure == contact.ScopeRefused:
		return j.report(CredentialsRefused, text.StatusScope, j.admin), true
	case j.Lookup.Failure == contact.SecretNotForUser:
		r, _ = j.hub() // same words, but the hub itself works
		r.State = NotSetUp
		return r, true
	case j.TakenPort > 0:
		return j.report(LinkLost, text.StatusPort, j.TakenPort, j.admin), true
	case j.NoTokens:
		return j.report(LinkLost, text.StatusTokens, j.admin), true
	}
	return r, false
}

// relayStates has the phases in which the office's relay does not serve us.
var relayStates = map[Phase]text.Key{Down: text.StatusRelayDown, Refused: text.StatusRelayRefused, Incomplete: text.StatusRelayIncomplete,
	NoStorage: text.StatusRelayStorage, NoExchange: text.StatusRelayExchange, NoHub: text.StatusRelayHub}

// sources reports a source that is not connected.
func (j assessment) sources() (r Report, wrong bool) {
	for _, s := range j.Sources {
		if key, ok := relayStates[s.Phase]; ok && s.Kind == registry.Relay {
			switch s.Phase {
			case NoExchange:
				return j.report(LinkLost, key, j.l.InWeek(s.BackendFaultSince, j.now), j.admin), true
			case NoHub:
				return j.report(HubGone, key, j.admin), true
			}
			return j.report(LinkLost, key, j.admin), true
		}
		name := sourceName(s, j.l)
		switch s.Phase {
		case Down:
			if !s.NeedsAdmin {
				return j.report(LinkLost, text.StatusLink, name), true
			}
			return j.report(LinkLost, text.StatusLinkAdmin, name, j.admin), true
		case Kicked:
			return j.report(LinkLost, text.StatusKicked, name), true
		case Refused:
			return j.report(LinkLost, text.StatusLinkRefused, name, j.admin), true
		case Incomplete:
			return j.report(LinkLost, text.StatusIncomplete, name, j.admin), true
		}
	}
	return r, false
}

// hub reports when and why a lookup failed, and what happens next or whom to tell.
func (j assessment) hub() (r Report, wrong bool) {
	failure := j.Lookup.Failure
	if failure == "" || failure == contact.NeverRang {
		return r, false
	}
	tail := j.l.T(text.StatusOnlyNumber)
	if needsAdmin(failure) {
		tail = j.l.T(text.StatusTell, j.admin)
	}
	return j.report(HubGone, text.StatusHub, j.l.InWeek(j.Lookup.At, j.now), j.l.T(text.Failure(string(failure))), tail), true
}

// needsAdmin reports whether a failure lasts until an administrator acts.
func needsAdmin(f contact.Failure) bool {
	return !slices.Contains([]contact.Failure{contact.SecretUnreadable, contact.NoNetwork, contact.ConnectionRefused,
		contact.HubError, contact.HubSlow, contact.ClockWrong}, f)
}

func sourceName(s Source, l text.Language) string {
	if s.Name != "" {
		return s.Name
	}
	return l.T(text.Source(s.Kind))
}
