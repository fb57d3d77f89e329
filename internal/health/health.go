// Package health decides how things are and says it in one plain sentence: the
// tray's icon, the first line of its menu, and the line in the calls window.
// It judges facts that were seen – heartbeats, the last real call, the last real lookup –
// and never a socket that happens to be open. A way in without a heartbeat is
// never called connected: the sentence gives the last proof instead.
//
// Everything here is a pure function of its arguments.
package health

import (
	"cmp"
	"slices"
	"strings"
	"time"

	"wiebelt/internal/core/contact"
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

// Phase is what is known of a way in that has a heartbeat.
type Phase uint8

// The phases. Unwatched ways in have none.
const (
	Unwatched Phase = iota // no heartbeat: the listener, links, commands
	Up
	Down       // not connected; tries again
	Kicked     // another program has the phone's only place
	Refused    // the phone does not let us in
	Incomplete // cannot be tried: something is not set, such as the extension
)

// Way is a way in that is set up.
type Source struct {
	Kind  string // of call.Way
	Name  string // what people call it, "" for its kind's name
	Phase Phase
	Admin bool // not connected, and staff can do nothing about it
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
	Kind string // of call.Way
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
	Hotkey   Hotkey
	// HotkeyKeys are the keys as the settings name them.
	HotkeyKeys string
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
	admin := cmp.Or(support, l.T(text.CardAdmin))
	say := func(s State, key text.Key, args ...any) Report { return Report{s, l.T(key, args...), f.Lost} }
	if f.Paused.After(now) {
		return say(Paused, text.StatusPaused, clock(l, f.Paused, now))
	}
	switch {
	case !f.SetUp:
		return say(NotSetUp, text.StatusSetup, admin)
	case f.SecretMissing:
		return say(NotSetUp, text.StatusSecret, admin)
	case f.Lookup.Failure == contact.CredentialsRefused:
		return say(CredentialsRefused, text.StatusRefused, admin)
	case f.Lookup.Failure == contact.ScopeRefused:
		return say(CredentialsRefused, text.StatusScope, admin)
	case f.Lookup.Failure == contact.SecretNoRight:
		r := hubGone(f, l, admin, now) // the same words; nothing is wrong with the hub
		r.State = NotSetUp
		return r
	case f.PortTaken > 0:
		return say(LinkLost, text.StatusPort, f.PortTaken, admin)
	case f.NoTokens:
		return say(LinkLost, text.StatusTokens, admin)
	}
	for _, w := range f.Sources {
		switch w.Phase {
		case Down:
			if w.Admin {
				return say(LinkLost, text.StatusLinkAdmin, name(w, l), admin)
			}
			return say(LinkLost, text.StatusLink, name(w, l))
		case Kicked:
			return say(LinkLost, text.StatusKicked, name(w, l))
		case Refused:
			return say(LinkLost, text.StatusLinkRefused, name(w, l), admin)
		case Incomplete:
			return say(LinkLost, text.StatusIncomplete, name(w, l), admin)
		}
	}
	if f.Lookup.Failure != "" {
		return hubGone(f, l, admin, now)
	}
	if len(f.Lost) > 0 {
		return say(Doubt, text.Lost(string(f.Lost[0])))
	}
	if f.quiet(now) {
		return say(Doubt, text.StatusQuiet, f.Usual)
	}
	if f.Last != nil && sameDay(f.Last.At, now) {
		return say(Ready, text.StatusReadyLast, f.Last.At.Local().Format("15:04"), l.T(text.Source(f.Last.Kind)))
	}
	var up []string
	for _, w := range f.Sources {
		if w.Phase == Up {
			up = append(up, name(w, l))
		}
	}
	if len(up) > 0 { // these have a heartbeat
		return say(Ready, text.StatusReadyUp, strings.Join(up, ", "))
	}
	return say(Ready, text.StatusReadyNone)
}

// hubGone says when a lookup failed, why, and what happens or whom to tell.
func hubGone(f Facts, l text.Language, admin string, now time.Time) Report {
	why := l.T(text.Failure(string(f.Lookup.Failure)))
	tail := l.T(text.StatusOnlyNumber)
	if forAdmin(f.Lookup.Failure) {
		tail = l.T(text.StatusTell, admin)
	}
	return Report{HubGone, l.T(text.StatusHub, clock(l, f.Lookup.At, now), why, tail), f.Lost}
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

func sameDay(a, b time.Time) bool { return midnight(a.Local()).Equal(midnight(b.Local())) }

func name(w Source, l text.Language) string {
	if w.Name != "" {
		return w.Name
	}
	return l.T(text.Source(w.Kind))
}

// clock writes a moment as people say it: the time alone today, with the day
// otherwise.
func clock(l text.Language, t, now time.Time) string {
	t = t.Local()
	if sameDay(t, now) {
		return t.Format("15:04")
	}
	return l.T(text.StatusWeekday(int(t.Weekday()))) + " " + t.Format("15:04")
}
