// Package registrations tracks what was registered for Wiebelt on this computer
// on purpose (addresses that open it, its start at log-on, the line in MicroSIP's
// settings). It notices when another program has taken a registration, or when no
// program opens the addresses.
//
// It owns the file that records what was registered. Watch.Run is its only goroutine
// and the only writer of that file while the resident runs; commands write it when they
// register. It reports changes to the Watch's creator.
package registrations

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"log/slog"
	"os"
	"path/filepath"
	"slices"
	"time"

	"wiebelt/internal/config/profile"
	"wiebelt/internal/config/settings"
	"wiebelt/internal/core/wake"
	"wiebelt/internal/filetrust"
	"wiebelt/internal/health"
)

// registeredFile is the file in the state folder that records what was registered, so that
// lost registrations can be distinguished from those that never existed.
const registeredFile = "registered.json"

const maxRegistered = 16 << 10

// readEvery is how often the registrations are checked: other programs take them over on
// installation, without notice.
const readEvery = time.Hour

// Registered records what was registered on purpose, by set-up or by the user.
type Registered struct {
	Version   int    `json:"version"` // 1
	Scheme    bool   `json:"scheme"`
	Autostart bool   `json:"autostart"`
	MicroSIP  string `json:"microsip,omitempty"` // path of its ini
}

// RegisteredIn returns what was registered for a profile; nothing if unknown.
func RegisteredIn(d profile.Dirs) Registered {
	var was Registered
	b, _ := filetrust.ReadPlain(filepath.Join(d.State, registeredFile), maxRegistered)
	if json.Unmarshal(b, &was) != nil {
		return Registered{Version: 1}
	}
	return was
}

// Remember stores what was registered for a profile.
func Remember(d profile.Dirs, r Registered) error {
	path := filepath.Join(d.State, registeredFile)
	r.Version = 1
	if r == (Registered{Version: 1}) {
		return profile.RemoveFile(path)
	}
	b, _ := json.Marshal(r) // cannot fail: a number, flags and a text
	if err := os.MkdirAll(d.State, 0o700); err != nil {
		return err
	}
	return profile.WriteFile(path, append(b, '\n'), 0o600)
}

func (r Registered) has(what health.Registration) bool {
	switch what {
	case health.Scheme:
		return r.Scheme
	case health.Autostart:
		return r.Autostart
	}
	return r.MicroSIP != ""
}

func (r Registered) with(what health.Registration, on bool, path string) Registered {
	switch what {
	case health.Scheme:
		r.Scheme = on
	case health.Autostart:
		r.Autostart = on
	default:
		r.MicroSIP = path // "" where it is not on
	}
	return r
}

type standing uint8

const (
	standingUnknown  standing = iota // unknown: the previous state stays
	standingCurrent                  // as it should be
	standingOutdated                 // ours, written by an older version
	standingLost                     // missing, or another program's
	standingDeclined                 // turned off on purpose
)

// displayOrder is the order of the sentences and of the menu.
var displayOrder = []health.Registration{health.Scheme, health.Autostart, health.MicroSIP}

// Watch checks registrations that other programs may take: at the start and every
// hour, on Run's goroutine.
type Watch struct {
	dirs profile.Dirs
	// inspect returns the state of a registration; path is that of MicroSIP's ini.
	inspect func(what health.Registration, was Registered) (s standing, path string)
	// restore restores it.
	restore  func(what health.Registration, was Registered) error
	onChange func(lost []health.Registration, unopened bool) // on Run's goroutine, on changes
	log      *slog.Logger
	wake     chan struct{}
	repairs  chan repair
}

type repair struct {
	what health.Registration
	done func(error) // on Run's goroutine
}

// New returns a Watch on a profile's registrations. current returns the current settings;
// changed is called on Run's goroutine with what is lost, and whether our links do not open this
// program, on every change. It fails if our own program's path is unknown.
func New(d profile.Dirs, profileDir string, current func() *settings.Settings, changed func(lost []health.Registration, unopened bool), log *slog.Logger) (*Watch, error) {
	o, err := Options(profileDir)
	if err != nil {
		return nil, err
	}
	w := newWatch(d, log)
	w.inspect = func(what health.Registration, was Registered) (standing, string) {
		return inspectRegistration(o, what, was)
	}
	w.restore = func(what health.Registration, was Registered) error {
		return reregister(d, current(), profileDir, what, was)
	}
	w.onChange = changed
	return w, nil
}

func newWatch(d profile.Dirs, log *slog.Logger) *Watch {
	return &Watch{dirs: d, log: log, wake: make(chan struct{}, 1), repairs: make(chan repair, 4)}
}

// Reread triggers a check now; it is a no-op on nil.
func (r *Watch) Reread() {
	if r != nil {
		wake.Up(r.wake)
	}
}

// Repair restores a registration and calls done with the result. It never blocks: if four
// requests are already waiting, the new one is dropped and its done is not called.
func (r *Watch) Repair(what health.Registration, done func(error)) {
	select {
	case r.repairs <- repair{what, done}:
	default: // enough are waiting
	}
}

// Run checks until ctx ends.
func (r *Watch) Run(ctx context.Context) {
	var lost []health.Registration
	unopened := false
	for {
		now, elsewhere := r.check(lost)
		if elsewhere != unopened || !slices.Equal(now, lost) {
			lost, unopened = now, elsewhere
			r.onChange(lost, unopened)
		}
		select {
		case <-ctx.Done():
			return
		case <-time.After(readEvery):
		case <-r.wake:
		case f := <-r.repairs:
			f.done(r.repair(f.what))
		}
	}
}

// check checks everything once, records what is ours and returns what is lost, and whether
// our links do not open this program.
func (r *Watch) check(before []health.Registration) (lost []health.Registration, unopened bool) {
	was := RegisteredIn(r.dirs)
	now := was
	for _, what := range displayOrder {
		s, path := r.inspect(what, was)
		unopened = unopened || what == health.Scheme && s == standingLost
		switch {
		case s == standingCurrent:
			now = now.with(what, true, path)
		case s == standingOutdated:
			now = now.with(what, true, path)
			if err := r.restore(what, now); err != nil && !errors.Is(err, ErrPhoneRuns) { // it will not run for ever
				r.log.Warn("a registration of an older version stays", "what", string(what), "why", err)
			}
		case s == standingDeclined:
			now = now.with(what, false, "")
		case was.has(what) && (s == standingLost || slices.Contains(before, what)):
			lost = append(lost, what)
		}
	}
	if now != was {
		if err := Remember(r.dirs, now); err != nil {
			r.log.Warn("what is registered was not noted", "why", err)
		}
	}
	for _, what := range lost {
		if !slices.Contains(before, what) {
			r.log.Warn("a registration is no longer ours", "what", string(what))
		}
	}
	return lost, unopened
}

// errNotRegistered is returned for what was never registered: nothing beyond the user's or set-up's
// registrations is taken.
var errNotRegistered = errors.New("was not registered before")

// repair restores what was registered before.
func (r *Watch) repair(what health.Registration) error {
	was := RegisteredIn(r.dirs)
	if !was.has(what) {
		return errNotRegistered
	}
	if err := r.restore(what, was); err != nil {
		r.log.Warn("a registration was not repaired", "what", string(what), "why", err)
		return err
	}
	if s, _ := r.inspect(what, was); s == standingLost {
		return fmt.Errorf("another registration comes first")
	}
	r.log.Info("a registration was repaired", "what", string(what))
	return nil
}
