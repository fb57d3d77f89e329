// Package registrations knows what of this computer was registered for Wiebelt
// on purpose – addresses that open it, its start at log-on, the line in MicroSIP's
// settings – and notices when another program has taken that away, and while no program
// at all opens the addresses.
//
// It owns the file that says what was registered. Watch.Run is its one goroutine
// and alone writes that file while the resident runs; commands write it when they
// register. It reports what it sees to whoever made the Watch.
package registrations

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"io/fs"
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

// registeredFile is the name of the file in the state folder that says what was
// registered, so that what is gone can be told from what never was.
const registeredFile = "registered.json"

// maxRegistered is how much of that file is read.
const maxRegistered = 16 << 10

// readEvery is how often the registrations are read again: other programs take
// them when they are installed, and nobody tells us.
const readEvery = time.Hour

// Registered is what was registered on purpose, by set-up or by the user.
type Registered struct {
	Version   int    `json:"version"` // 1
	Scheme    bool   `json:"scheme"`
	Autostart bool   `json:"autostart"`
	MicroSIP  string `json:"microsip,omitempty"` // path of its ini
}

// RegisteredIn gives what was registered for a profile; nothing where nothing is
// known.
func RegisteredIn(d profile.Dirs) Registered {
	var was Registered
	b, _ := filetrust.ReadPlain(filepath.Join(d.State, registeredFile), maxRegistered)
	if json.Unmarshal(b, &was) != nil {
		return Registered{Version: 1}
	}
	return was
}

// Remember keeps what was registered for a profile.
func Remember(d profile.Dirs, r Registered) error {
	path := filepath.Join(d.State, registeredFile)
	r.Version = 1
	if r == (Registered{Version: 1}) {
		if err := os.Remove(path); !errors.Is(err, fs.ErrNotExist) {
			return err
		}
		return nil
	}
	b, _ := json.Marshal(r) // a number, flags and a text cannot fail
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

// standing is how a registration stands at the moment.
type standing uint8

const (
	unknown  standing = iota // cannot be told: what was known stays
	ours                     // as it should be
	older                    // ours, as an older version wrote it
	notOurs                  // gone, or another program's
	absent                   // notOurs: no program opens our links at all
	declined                 // somebody switched it off on purpose
)

func (s standing) lost() bool { return s == notOurs || s == absent }

// order is that of the sentences and of the menu.
var order = []health.Registration{health.Scheme, health.Autostart, health.MicroSIP}

// Watch reads again what other programs may take from us: at the start and every
// hour, on the goroutine of Run.
type Watch struct {
	dirs profile.Dirs
	// look tells how a registration stands; path is that of MicroSIP's ini.
	look func(what health.Registration, was Registered) (s standing, path string)
	// again registers it once more.
	again func(what health.Registration, was Registered) error
	told  func(lost []health.Registration, unopened bool) // on Run's goroutine, when that has changed
	log   *slog.Logger
	wake  chan struct{}
	fix   chan repair
}

// repair is a registration that somebody wants back.
type repair struct {
	what health.Registration
	done func(error) // on Run's goroutine
}

// New watches the registrations of a profile. current gives the settings that
// hold; told is called on Run's goroutine with what is lost, and whether no program
// opens our links, whenever that has changed. It fails where our own program's name is
// not known.
func New(d profile.Dirs, profileDir string, current func() *settings.Settings, told func(lost []health.Registration, unopened bool), log *slog.Logger) (*Watch, error) {
	o, err := Options(profileDir)
	if err != nil {
		return nil, err
	}
	w := newWatch(d, log)
	w.look = func(what health.Registration, was Registered) (standing, string) { return registered(o, what, was) }
	w.again = func(what health.Registration, was Registered) error {
		return reregister(d, current(), profileDir, what, was)
	}
	w.told = told
	return w, nil
}

func newWatch(d profile.Dirs, log *slog.Logger) *Watch {
	return &Watch{dirs: d, log: log, wake: make(chan struct{}, 1), fix: make(chan repair, 4)}
}

// Reread has it look now; nil has nothing to look at.
func (r *Watch) Reread() {
	if r != nil {
		wake.Up(r.wake)
	}
}

// Repair has it register something again, and calls done with what came of it. It
// never blocks: while four wait already, another is dropped and its done not called.
func (r *Watch) Repair(what health.Registration, done func(error)) {
	select {
	case r.fix <- repair{what, done}:
	default: // as many wait as anybody can click
	}
}

// Run reads until ctx ends.
func (r *Watch) Run(ctx context.Context) {
	var lost []health.Registration
	unopened := false
	for {
		now, none := r.read(lost)
		if none != unopened || !slices.Equal(now, lost) {
			lost, unopened = now, none
			r.told(lost, unopened)
		}
		select {
		case <-ctx.Done():
			return
		case <-time.After(readEvery):
		case <-r.wake:
		case f := <-r.fix:
			f.done(r.mend(f.what))
		}
	}
}

// read looks at everything once, remembers what is ours and gives what is lost, and
// whether no program opens our links.
func (r *Watch) read(before []health.Registration) (lost []health.Registration, unopened bool) {
	was := RegisteredIn(r.dirs)
	now := was
	for _, what := range order {
		s, path := r.look(what, was)
		unopened = unopened || s == absent
		switch {
		case s == ours:
			now = now.with(what, true, path)
		case s == older:
			now = now.with(what, true, path)
			if err := r.again(what, now); err != nil && !errors.Is(err, ErrPhoneRuns) { // it will not run for ever
				r.log.Warn("a registration of an older version stays", "what", string(what), "why", err)
			}
		case s == declined:
			now = now.with(what, false, "")
		case was.has(what) && (s.lost() || slices.Contains(before, what)):
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

// errNever is returned for what was never registered: nothing takes more than
// the user or set-up had given.
var errNever = errors.New("was not registered before")

// mend registers again what was registered before.
func (r *Watch) mend(what health.Registration) error {
	was := RegisteredIn(r.dirs)
	if !was.has(what) {
		return errNever
	}
	if err := r.again(what, was); err != nil {
		r.log.Warn("a registration was not repaired", "what", string(what), "why", err)
		return err
	}
	if s, _ := r.look(what, was); s.lost() {
		return fmt.Errorf("another registration comes first")
	}
	r.log.Info("a registration was repaired", "what", string(what))
	return nil
}
