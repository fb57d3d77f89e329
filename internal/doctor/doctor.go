// Package doctor checks everything that Wiebelt depends on and reports in one line each its
// state and what to do: settings, secret, hub, sources of calls, desktop, disk. It changes
// nothing, works with or without a running resident, and reveals nothing about callers. Its
// bundle contains what a help desk needs, without names, numbers or secrets.
//
// Goroutines: one for every check, concurrently, each with its own deadline. One that
// hangs in the system beyond its deadline is left behind and ends when the system
// answers or with the process.
package doctor

import (
	"cmp"
	"context"
	"errors"
	"os"
	"path/filepath"
	"strings"
	"time"

	"wiebelt/internal/config/profile"
	"wiebelt/internal/config/registrations"
	"wiebelt/internal/config/settings"
	"wiebelt/internal/core/contact"
	"wiebelt/internal/native/register"
	"wiebelt/internal/text"
)

// State is the result of a check. The values are stable.
type State string

// The states.
const (
	OK   State = "ok"
	Warn State = "warn" // needs attention, but nothing has stopped
	Fail State = "fail" // something does not work
	Off  State = "off"  // absent, switched off, or not checked
)

// Check is one line. ID is one of text.DoctorChecks; it occurs more than once if a check
// reports on several things.
type Check struct {
	ID      string `json:"id"`
	State   State  `json:"state"`
	Message string `json:"message"`
	Hint    string `json:"hint"` // what to do, "" for nothing
}

// Report is the result; OK unless something needs attention.
type Report struct {
	OK     bool    `json:"ok"`
	Checks []Check `json:"checks"`
}

// Worst returns the most severe state: Fail, Warn or OK.
func (r Report) Worst() State {
	worst := OK
	for _, c := range r.Checks {
		if c.State == Fail || c.State == Warn && worst == OK {
			worst = c.State
		}
	}
	return worst
}

func (r Report) count(s State) (n int) {
	for _, c := range r.Checks {
		if c.State == s {
			n++
		}
	}
	return n
}

// Config is what the doctor checks; NewConfig creates it.
type Config struct {
	Dirs             profile.Dirs
	Version          string
	Commit           string
	Exe              string // this program's path
	Register         register.Options
	Number           string // to be looked up; "" for none
	Language         text.Language
	Settings         *settings.Settings
	SettingsTimedOut bool // the settings were not read in time and are the defaults
}

// NewConfig returns the Config for a profile and the running program,
// without a number and the language. It takes two seconds at most.
func NewConfig(ctx context.Context, d profile.Dirs, profileDir, version, commit string) (Config, error) {
	exe, err := os.Executable()
	if err != nil {
		return Config{}, err
	}
	if real, err := filepath.EvalSymlinks(exe); err == nil {
		exe = real
	}
	reg, err := registrations.Options(profileDir)
	if err != nil {
		return Config{}, err
	}
	cfg := Config{Dirs: d, Version: version, Commit: commit, Exe: exe, Register: reg}
	cfg.Settings, cfg.SettingsTimedOut = load(ctx, func() *settings.Settings { s, _ := settings.Load(d); return s })
	return cfg, nil
}

// Timeouts. The settings are read first, then all checks run at once: together
// less than ten seconds.
const (
	loadTimeout     = 2 * time.Second
	residentTimeout = 2500 * time.Millisecond
	secretTimeout   = 3 * time.Second // a store itself waits two seconds
	hubTimeout      = 7500 * time.Millisecond
	probeTimeout    = hubTimeout - time.Second/2 // leaves time to report how it ended
	defaultTimeout  = 4 * time.Second
	grace           = 250 * time.Millisecond // to report a check's own timeout
)

type checkRun struct {
	timeout time.Duration
	run     func(*exam, context.Context) []finding
}

// checks has every check of text.DoctorChecks; time 0 means defaultTimeout. Those answered
// by the computer, not the resident, are in check_desktop.go, including those
// of the group of phones.
var checks = map[string]checkRun{
	"settings": {0, (*exam).settings}, "policy": {0, ifRead((*exam).policy)}, "setup": {0, ifRead((*exam).setup)},
	"secret": {0, ifRead((*exam).secret)}, "expiry": {0, ifRead((*exam).expiry)},
	"hub.name":        {hubTimeout, atStep(stepName, (*exam).hubName)},
	"hub.connection":  {hubTimeout, atStep(stepConnection, (*exam).hubConnection)},
	"hub.certificate": {hubTimeout, atStep(stepCertificate, (*exam).hubCertificate)},
	"hub.clock":       {hubTimeout, atStep(stepClock, (*exam).hubClock)},
	"hub.token":       {hubTimeout, atStep(stepPassed, (*exam).hubToken)},
	"hub.lookup":      {hubTimeout, (*exam).hubLookup},
	"resident":        {0, (*exam).resident}, "version": {0, (*exam).version}, "listener": {0, (*exam).listener}, "link": {0, ifRead((*exam).link)},
	"scheme": {0, (*exam).scheme}, "autostart": {0, (*exam).autostart}, "microsip": {0, (*exam).microsip}, "screen": {0, (*exam).screen}, "tray": {0, (*exam).tray},
	"cards": {residentTimeout + time.Second, (*exam).cards}, "lock": {0, (*exam).lock}, "browser": {0, (*exam).browser},
	"disk": {0, (*exam).disk}, "folders": {0, (*exam).folders}, "program": {0, (*exam).program}, "log": {0, (*exam).log}, "crash": {0, (*exam).crash},
	"history": {0, (*exam).history}, "audit": {0, ifRead((*exam).audit)}, "delivery": {0, (*exam).delivery},
}

// ifRead is a check of what the settings say: of the defaults in their place it says nothing.
func ifRead(check func(*exam, context.Context) []finding) func(*exam, context.Context) []finding {
	return func(e *exam, ctx context.Context) []finding {
		if e.SettingsTimedOut {
			return oneFinding(Off, "settings.unread")
		}
		return check(e, ctx)
	}
}

type exam struct {
	Config
	sys          system
	now          time.Time
	fromResident *future[residentState]
	fromStore    *future[storedSecret]
	fromHub      *future[hubState]
}

// load reads the settings, or returns the defaults if that takes too long.
func load(ctx context.Context, load func() *settings.Settings) (s *settings.Settings, late bool) {
	if s, ok := start(ctx, loadTimeout, func(context.Context) *settings.Settings { return load() }).wait(ctx, loadTimeout); ok {
		return s, false
	}
	return settings.Defaults(), true
}

// Run runs all checks. It takes less than ten seconds, whatever hangs, and
// ends early with ctx.
func Run(ctx context.Context, cfg Config) Report { return Stream(ctx, cfg, func(string, []Check) {}) }

// Stream is Run that also reports every check as it ends, on the caller's goroutine.
func Stream(ctx context.Context, cfg Config, each func(id string, lines []Check)) Report {
	return run(ctx, cfg, realSystem(), each)
}

func run(ctx context.Context, cfg Config, sys system, each func(id string, lines []Check)) Report {
	e := &exam{Config: cfg, sys: sys, now: time.Now()}
	e.fromResident = start(ctx, residentTimeout, e.askResident)
	e.fromStore = start(ctx, secretTimeout, e.readSecret)
	e.fromHub = start(ctx, probeTimeout, e.probeHub)
	type ended struct {
		id    string
		lines []finding
	}
	ends := make(chan ended, len(checks))
	for id, c := range checks {
		c.timeout = cmp.Or(c.timeout, defaultTimeout)
		found := start(ctx, c.timeout, func(ctx context.Context) []finding { return c.run(e, ctx) })
		go func() { // ends by the check's timeout
			lines, in := found.wait(ctx, c.timeout+grace)
			if !in {
				lines = []finding{timedOut(c.timeout)}
			}
			ends <- ended{id, lines}
		}()
	}
	all := map[string][]Check{}
	r := Report{OK: true}
	for range checks {
		end := <-ends
		for _, l := range end.lines {
			all[end.id] = append(all[end.id], l.translate(end.id, e.Language))
			r.OK = r.OK && l.state != Fail && l.state != Warn
		}
		each(end.id, all[end.id])
	}
	for _, id := range text.DoctorChecks {
		r.Checks = append(r.Checks, all[id]...)
	}
	return r
}

// future is a value computed in a goroutine of its own.
type future[T any] struct {
	done  chan struct{}
	value T
}

// start begins to compute a value within a timeout.
func start[T any](ctx context.Context, in time.Duration, find func(context.Context) T) *future[T] {
	l := &future[T]{done: make(chan struct{})}
	go func() {
		defer close(l.done)
		ctx, cancel := context.WithTimeout(ctx, in)
		defer cancel()
		l.value = find(ctx)
	}()
	return l
}

// wait returns the value, or false if it does not arrive in time.
func (l *future[T]) wait(ctx context.Context, in time.Duration) (v T, ok bool) {
	select {
	case <-l.done:
	case <-time.After(in):
	case <-ctx.Done():
	}
	select {
	case <-l.done:
		return l.value, true
	default:
		return v, false
	}
}

// finding is what a check reports, not yet in any language.
type finding struct {
	state State
	msg   *text.Error
	hint  text.Key // what to do, if there is such a text
	extra text.Key // a second sentence, "" for none
}

// oneFinding returns a line with the texts doctor.found.<found> and, if there is one,
// doctor.found.<found>.do.
func oneFinding(s State, found string, args ...any) []finding {
	return []finding{{state: s, msg: text.Errorf(text.Doctor(found), args...), hint: text.DoctorDo(found)}}
}

// countFinding is oneFinding for n things.
func countFinding(s State, found string, n int, args ...any) []finding {
	return []finding{{state: s, msg: text.Countf(text.Doctor(found), n, args...), hint: text.DoctorDo(found)}}
}

// failureFinding is oneFinding for a failure on the way to the hub, with that failure's own advice.
func failureFinding(s State, found string, err error) []finding {
	f := contact.FailureOf(err)
	var l *contact.LookupError
	if !errors.As(err, &l) {
		err = &contact.LookupError{Failure: f}
	}
	return []finding{{state: s, msg: text.Errorf(text.Doctor(found), err), hint: text.FailureDo(string(f))}}
}

func timedOut(limit time.Duration) finding {
	return finding{state: Fail, msg: text.Errorf(text.Doctor("late"), int(limit.Seconds())), hint: text.DoctorDo("late")}
}

func (s finding) translate(id string, l text.Language) Check {
	c := Check{ID: id, State: s.state, Message: l.Error(s.msg)}
	if s.extra != "" {
		c.Message += " " + l.T(s.extra)
	}
	if h := l.T(s.hint); h != string(s.hint) {
		c.Hint = h
	}
	c.Message, c.Hint = oneLine(c.Message), oneLine(c.Hint)
	return c
}

func oneLine(s string) string { return strings.Join(strings.Fields(s), " ") }
