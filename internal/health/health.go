// Package health decides how things are and says it in one plain sentence: the
// tray's icon, the first line of its menu, and the line in the calls window.
// It judges facts that were seen – heartbeats, the last real call, the last real lookup –
// and never a socket that happens to be open. A source without a heartbeat is
// never called connected: the sentence gives the last proof instead.
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

// State is how things are, in the words of the tray's icon.
type State uint8

// The states, the one that matters least first.
const (
	Ready State = iota
	Doubt       // nothing is known to be wrong, but no call came where some should
	HubGone
	LinkLost
	CredentialsRefused
	NotSetUp
	Paused // by the user; stands before everything else
)

// Phase is what is known of a source. Only links to phones have a heartbeat.
type Phase uint8

// The phases.
const (
	Unwatched Phase = iota // nothing is known: the listener, wiebelt: links, commands
	Up
	Down       // not connected; tries again
	Kicked     // another program has the phone's only place
	Refused    // the phone does not let us in
	Incomplete // cannot be tried: something is not set, such as the extension

	// The office's relay is connected, and something behind it does not work.
	NoStorage  // it cannot keep what it has to
	NoExchange // it does not hear the exchange
	NoHub      // the hub does not answer it
)

// Stands reports whether the source is connected, whatever is behind it.
func (p Phase) Stands() bool { return p == Up || p == NoStorage || p == NoExchange || p == NoHub }

// Source is a source of calls that is set up.
type Source struct {
	Kind  string // of call.Source
	Name  string // what people call it, "" for its kind's name
	Phase Phase
	Admin bool // not connected, and staff can do nothing about it
	// Behind is since when something behind a relay does not work.
	Behind time.Time
}

// Registration is something outside our files that calls or log-ons depend on.
type Registration string

// The registrations that are read again every hour.
const (
	Scheme    Registration = "scheme"    // wiebelt: links open this program
	Autostart Registration = "autostart" // started at log-on
	MicroSIP  Registration = "microsip"  // MicroSIP's ini runs this program
)

// Call is a call that really came.
type Call struct {
	At   time.Time
	Kind string // of call.Source
}

// Facts is what is known.
type Facts struct {
	SetUp  bool // address, client and the rest are there
	Lookup struct {
		At      time.Time // of the last answer or failure, zero if there was none
		Failure contact.Failure
	}
	// SecretMissing says that the secret is not there or cannot be read; known
	// before the first call.
	SecretMissing bool
	PortTaken     int  // a port that another program has, 0 if ours listens
	NoTokens      bool // the listener does not run: its tokens cannot be read
	Sources       []Source
	Last          *Call
	// Usual is how many calls the last working day had; Opened is when this
	// program was started.
	Usual    int
	Opened   time.Time
	Lost     []Registration // were there and are not ours any more
	Paused   time.Time      // until then; zero for not paused
	Delivery Delivery
	Hiding   Hiding
	Cards    Cards
	Hotkeys  []HotkeyTrouble // in the order of their settings
}

// Hiding is why cards show less than usual, or nothing, at this moment.
type Hiding string

// The reasons. The tray always says them.
const (
	HidingNot        Hiding = ""
	HidingLocked     Hiding = "locked"            // the screen is locked
	HidingQuiet      Hiding = "quiet"             // the desktop is asked for quiet: no cards
	HidingPresenting Hiding = "presenting"        // something fills the screen: no cards
	NumberQuiet      Hiding = "number.quiet"      // … the number only
	NumberPresenting Hiding = "number.presenting" // … the number only
)

// Report is the outcome.
type Report struct {
	State    State
	Sentence string // what is wrong and what to do, or the last proof
	// Repair are the registrations that can be offered for repair.
	Repair []Registration
}

// Times of doubt: a PC with more than quietFor working hours without a call,
// that had more than usualCalls on its last working day.
const (
	usualCalls = 5
	quietFor   = 2 * time.Hour
	dayBegins  = 9  // o'clock; working hours are counted from here …
	dayEnds    = 17 // … to here, Monday to Friday
)

// Assess judges. support is who helps, "" for "your administrator".
func Assess(f Facts, l text.Language, support string, now time.Time) Report {
	r := assess(f, l, support, now)
	r.deliveries(f.Delivery, l, support)
	f.aside(&r, l)
	return r
}

func assess(f Facts, l text.Language, support string, now time.Time) Report {
	j := judge{f, l, l.Support(support), now}
	if f.Paused.After(now) {
		return j.say(Paused, text.StatusPaused, l.InWeek(f.Paused, now))
	}
	for _, look := range []func() (Report, bool){j.setup, j.sources, j.hub} {
		if r, wrong := look(); wrong {
			return r
		}
	}
	switch {
	case len(f.Lost) > 0:
		return j.say(Doubt, text.Lost(string(f.Lost[0])))
	case f.quiet(now):
		return j.say(Doubt, text.StatusQuiet, f.Usual)
	case f.Last != nil && text.SameDay(f.Last.At, now):
		return j.say(Ready, text.StatusReadyLast, l.Clock(f.Last.At), l.T(text.Source(f.Last.Kind)))
	}
	var up []string
	for _, w := range f.Sources {
		if w.Phase == Up {
			up = append(up, name(w, l))
		}
	}
	if len(up) > 0 { // these have a heartbeat
		return j.say(Ready, text.StatusReadyUp, strings.Join(up, ", "))
	}
	return j.say(Ready, text.StatusReadyNone)
}

// judge is what the parts of assess share.
type judge struct {
	Facts
	l     text.Language
	admin string // who helps
	now   time.Time
}

func (j judge) say(s State, key text.Key, args ...any) Report {
	return Report{s, j.l.T(key, args...), j.Lost}
}

// setup is what keeps all calls or all lookups from working until somebody sets
// something.
func (j judge) setup() (r Report, wrong bool) {
	switch {
	case !j.SetUp:
		return j.say(NotSetUp, text.StatusSetup, j.admin), true
	case j.SecretMissing:
		return j.say(NotSetUp, text.StatusSecret, j.admin), true
	case j.Lookup.Failure == contact.CredentialsRefused:
		return j.say(CredentialsRefused, text.StatusRefused, j.admin), true
	case j.Lookup.Failure == contact.ScopeRefused:
		return j.say(CredentialsRefused, text.StatusScope, j.admin), true
	case j.Lookup.Failure == contact.SecretNoRight:
		r, _ = j.hub() // the same words; nothing is wrong with the hub
		r.State = NotSetUp
		return r, true
	case j.PortTaken > 0:
		return j.say(LinkLost, text.StatusPort, j.PortTaken, j.admin), true
	case j.NoTokens:
		return j.say(LinkLost, text.StatusTokens, j.admin), true
	}
	return r, false
}

// relayStates are the phases in which the office's relay does not serve us.
var relayStates = map[Phase]text.Key{Down: text.StatusRelayDown, Refused: text.StatusRelayRefused, Incomplete: text.StatusRelayIncomplete,
	NoStorage: text.StatusRelayStorage, NoExchange: text.StatusRelayExchange, NoHub: text.StatusRelayHub}

// sources says which source is not connected.
func (j judge) sources() (r Report, wrong bool) {
	for _, w := range j.Sources {
		key, args := text.Key(""), []any{name(w, j.l), j.admin}
		if k, ok := relayStates[w.Phase]; ok && w.Kind == registry.Relay {
			switch w.Phase {
			case NoExchange:
				return j.say(LinkLost, k, j.l.InWeek(w.Behind, j.now), j.admin), true
			case NoHub:
				return j.say(HubGone, k, j.admin), true
			}
			return j.say(LinkLost, k, j.admin), true
		}
		switch w.Phase {
		case Down:
			if key = text.StatusLinkAdmin; !w.Admin {
				key, args = text.StatusLink, args[:1]
			}
		case Kicked:
			key, args = text.StatusKicked, args[:1]
		case Refused:
			key = text.StatusLinkRefused
		case Incomplete:
			key = text.StatusIncomplete
		default:
			continue
		}
		return j.say(LinkLost, key, args...), true
	}
	return r, false
}

// hub says when a lookup failed, why, and what happens or whom to tell.
func (j judge) hub() (r Report, wrong bool) {
	failure := j.Lookup.Failure
	if failure == "" || failure == contact.NeverRang {
		return r, false
	}
	tail := j.l.T(text.StatusOnlyNumber)
	if forAdmin(failure) {
		tail = j.l.T(text.StatusTell, j.admin)
	}
	return j.say(HubGone, text.StatusHub, j.l.InWeek(j.Lookup.At, j.now), j.l.T(text.Failure(string(failure))), tail), true
}

// forAdmin reports whether a failure stays until somebody does something about
// it that staff cannot do.
func forAdmin(f contact.Failure) bool {
	return !slices.Contains([]contact.Failure{contact.NoNetwork, contact.ConnectionRefused, contact.HubError, contact.HubSlow, contact.ClockWrong}, f)
}

func midnight(t time.Time) time.Time {
	y, m, d := t.Date()
	return time.Date(y, m, d, 0, 0, 0, 0, time.Local)
}

func name(w Source, l text.Language) string {
	if w.Name != "" {
		return w.Name
	}
	return l.T(text.Source(w.Kind))
}
