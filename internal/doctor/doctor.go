// Package doctor looks at everything that Wiebelt depends on and says in one
// line each how it is and what to do: settings, secret, hub, sources of calls, desktop,
// disk. It changes nothing, works with a running resident and without one, and
// says nothing of any caller. Its bundle is what a help desk needs, without
// names, numbers or secrets.
//
// Goroutines: one for every check, side by side, each with a deadline of its
// own. One that hangs in the system beyond its deadline is left behind and ends
// with the process or when the system answers.
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

// State is what a check came to. The values are stable.
type State string

// The states.
const (
	OK   State = "ok"
	Warn State = "warn" // somebody has to do something, nothing has stopped
	Fail State = "fail" // something does not work
	Off  State = "off"  // not there, switched off, or not to be checked
)

// Check is one line. ID is one of text.DoctorChecks; an id comes more than once
// where a check speaks of several things.
type Check struct {
	ID      string `json:"id"`
	State   State  `json:"state"`
	Message string `json:"message"`
	Hint    string `json:"hint"` // what to do, "" for nothing
}

// Report is the outcome; OK unless somebody has to do something.
type Report struct {
	OK     bool    `json:"ok"`
	Checks []Check `json:"checks"`
}

// Worst is the gravest state that somebody has to do something about: Fail, Warn
// or OK.
func (r Report) Worst() State {
	worst := OK
	for _, c := range r.Checks {
		if c.State == Fail || c.State == Warn && worst == OK {
			worst = c.State
		}
	}
	return worst
}

// count counts the lines of a state.
func (r Report) count(s State) (n int) {
	for _, c := range r.Checks {
		if c.State == s {
			n++
		}
	}
	return n
}

// Config is what the doctor looks at; For makes it.
type Config struct {
	Dirs     profile.Dirs
	Version  string
	Commit   string
	Exe      string // this program's file
	Register register.Options
	Number   string // to be looked up; "" for none
	Language text.Language
	Settings *settings.Settings
	Late     bool // they came too late and are the defaults
}

// For is what there is to look at for a profile, by the program that runs:
// everything but a number and the language. It takes two seconds at most.
func For(ctx context.Context, d profile.Dirs, profileDir, version, commit string) (Config, error) {
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
	cfg.Settings, cfg.Late = load(ctx, func() *settings.Settings { s, _ := settings.Load(d); return s })
	return cfg, nil
}

// Times. The settings come before everything else, then all checks run at once:
// together less than ten seconds.
const (
	loadTime   = 2 * time.Second
	residentIn = 2500 * time.Millisecond
	secretIn   = 3 * time.Second // a store waits two seconds by itself
	hubIn      = 7500 * time.Millisecond
	probeIn    = hubIn - time.Second/2 // so that what ended it can be told
	usualTime  = 4 * time.Second
	grace      = 250 * time.Millisecond // to put the end of a deadline into words
)

// check looks at one thing.
type check struct {
	time time.Duration
	run  func(*exam, context.Context) []finding
}

// checks are those of text.DoctorChecks; time 0 is usualTime. What the computer itself tells,
// and not the resident, is in check_desktop.go, of the group of phones too.
var checks = map[string]check{
	"settings": {0, (*exam).settings}, "policy": {0, (*exam).policy}, "setup": {0, (*exam).setup}, "secret": {0, (*exam).secret}, "expiry": {0, (*exam).expiry},
	"hub.name":        {hubIn, atStep(atName, (*exam).hubName)},
	"hub.connection":  {hubIn, atStep(atConnection, (*exam).hubConnection)},
	"hub.certificate": {hubIn, atStep(atCertificate, (*exam).hubCertificate)},
	"hub.clock":       {hubIn, atStep(atClock, (*exam).hubClock)},
	"hub.token":       {hubIn, atStep(beyond, (*exam).hubToken)},
	"hub.lookup":      {hubIn, (*exam).hubLookup},
	"resident":        {0, (*exam).resident}, "version": {0, (*exam).version}, "listener": {0, (*exam).listener}, "link": {0, (*exam).link},
	"scheme": {0, (*exam).scheme}, "autostart": {0, (*exam).autostart}, "microsip": {0, (*exam).microsip}, "screen": {0, (*exam).screen}, "tray": {0, (*exam).tray},
	"cards": {residentIn + time.Second, (*exam).cards}, "lock": {0, (*exam).lock}, "browser": {0, (*exam).browser},
	"disk": {0, (*exam).disk}, "folders": {0, (*exam).folders}, "program": {0, (*exam).program}, "log": {0, (*exam).log}, "crash": {0, (*exam).crash},
	"history": {0, (*exam).history}, "audit": {0, (*exam).audit}, "delivery": {0, (*exam).delivery},
}

// exam is one run.
type exam struct {
	Config
	sys          system
	now          time.Time
	fromResident *future[residentState]
	fromStore    *future[storedSecret]
	fromHub      *future[hubState]
}

// load reads the settings, and gives the defaults where they come too late.
func load(ctx context.Context, load func() *settings.Settings) (s *settings.Settings, late bool) {
	if s, ok := start(ctx, loadTime, func(context.Context) *settings.Settings { return load() }).wait(ctx, loadTime); ok {
		return s, false
	}
	return settings.Defaults(), true
}

// Run looks at everything. It takes less than ten seconds whatever hangs, and
// ends earlier with ctx.
func Run(ctx context.Context, cfg Config) Report { return Stream(ctx, cfg, func(string, []Check) {}) }

// Stream is Run that tells of every check as it ends, on the caller's goroutine.
func Stream(ctx context.Context, cfg Config, each func(id string, lines []Check)) Report {
	return run(ctx, cfg, theSystem(), each)
}

func run(ctx context.Context, cfg Config, sys system, each func(id string, lines []Check)) Report {
	e := &exam{Config: cfg, sys: sys, now: time.Now()}
	e.fromResident = start(ctx, residentIn, e.askResident)
	e.fromStore = start(ctx, secretIn, e.readSecret)
	e.fromHub = start(ctx, probeIn, e.probeHub)
	type ended struct {
		id    string
		lines []finding
	}
	ends := make(chan ended, len(checks))
	for id, c := range checks {
		c.time = cmp.Or(c.time, usualTime)
		found := start(ctx, c.time, func(ctx context.Context) []finding { return c.run(e, ctx) })
		go func() { // ends with the check's time
			lines, in := found.wait(ctx, c.time+grace)
			if !in {
				lines = []finding{late(c.time)}
			}
			ends <- ended{id, lines}
		}()
	}
	all := map[string][]Check{}
	r := Report{OK: true}
	for range checks {
		end := <-ends
		for _, l := range end.lines {
			all[end.id] = append(all[end.id], l.in(end.id, e.Language))
			r.OK = r.OK && l.state != Fail && l.state != Warn
		}
		each(end.id, all[end.id])
	}
	for _, id := range text.DoctorChecks {
		r.Checks = append(r.Checks, all[id]...)
	}
	return r
}

// future is a value that a goroutine of its own finds out.
type future[T any] struct {
	done  chan struct{}
	value T
}

// start finds a value out within a time.
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

// wait gives the value, or false if it does not come in time.
func (l *future[T]) wait(ctx context.Context, in time.Duration) (v T, ok bool) {
	late := time.After(in)
	select {
	case <-l.done:
		return l.value, true
	default:
	}
	select {
	case <-l.done:
		return l.value, true
	case <-late:
	case <-ctx.Done():
	}
	return v, false
}

// finding is what a check has to say, in no language yet.
type finding struct {
	state State
	msg   *text.Error
	hint  text.Key // what to do, where there is such a text
	also  text.Key // a second sentence, "" for none
}

// say makes a line from the texts doctor.<found> and, if there is one,
// doctor.<found>.do.
func say(s State, found string, args ...any) []finding {
	return []finding{{state: s, msg: text.Errorf(text.Doctor(found), args...), hint: text.DoctorDo(found)}}
}

// sayN is say for a number of things.
func sayN(s State, found string, n int, args ...any) []finding {
	return []finding{{state: s, msg: text.Countf(text.Doctor(found), n, args...), hint: text.DoctorDo(found)}}
}

// sayWhy is say for a failure on the way to the hub, whose own advice it gives.
func sayWhy(s State, found string, err error) []finding {
	f := contact.FailureOf(err)
	var l *contact.LookupError
	if !errors.As(err, &l) {
		err = &contact.LookupError{Failure: f}
	}
	return []finding{{state: s, msg: text.Errorf(text.Doctor(found), err), hint: text.FailureDo(string(f))}}
}

func late(limit time.Duration) finding {
	return finding{state: Fail, msg: text.Errorf(text.DoctorLate, int(limit.Seconds())), hint: text.DoctorLateDo}
}

// in puts a line into words.
func (s finding) in(id string, l text.Language) Check {
	c := Check{ID: id, State: s.state, Message: l.Error(s.msg)}
	if s.also != "" {
		c.Message += " " + l.T(s.also)
	}
	if h := l.T(s.hint); h != string(s.hint) {
		c.Hint = h
	}
	c.Message, c.Hint = plain(c.Message), plain(c.Hint)
	return c
}

// plain keeps a text on its line.
func plain(s string) string { return strings.Join(strings.Fields(s), " ") }
