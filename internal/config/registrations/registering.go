package registrations

import (
	"errors"
	"fmt"
	"io/fs"
	"os"
	"path/filepath"

	"wiebelt/internal/config/fromsettings"
	"wiebelt/internal/config/profile"
	"wiebelt/internal/config/settings"
	"wiebelt/internal/guide"
	"wiebelt/internal/health"
	"wiebelt/internal/native/register"
	"wiebelt/internal/softphone/detect"
	"wiebelt/internal/softphone/phonefile"
	"wiebelt/internal/text"
)

// microSIPGroup and microSIPRing: the line of its ini that reports a call.
const (
	microSIPGroup = "Settings"
	microSIPRing  = "cmdCallRing"
)

// ErrPhoneRuns says that a phone has to be closed first: it would write its
// settings over ours.
var ErrPhoneRuns = errors.New("the phone is running; close it first")

// Options names the program that the desktop starts, for this profile.
func Options(profileDir string) (register.Options, error) {
	exe, err := os.Executable()
	if err != nil {
		return register.Options{}, err
	}
	o := register.Options{Exe: fromsettings.WithoutConsole(exe), Links: fromsettings.RingProgram(exe)}
	if profileDir != "" {
		if o.Profile, err = filepath.Abs(profileDir); err != nil {
			return register.Options{}, err
		}
	}
	return o, nil
}

// registered tells how a registration stands on this computer.
func registered(o register.Options, what health.Registration, was Registered) (standing, string) {
	if what == health.MicroSIP {
		return microSIPStands(was.MicroSIP, detect.This().MicroSIP)
	}
	s, err := register.State(o)
	switch {
	case err != nil:
		return unknown, ""
	case what == health.Scheme && s.Older:
		return older, ""
	case what == health.Scheme && s.Ours, what == health.Autostart && s.Autostart:
		return ours, ""
	case what == health.Autostart && s.SwitchedOff:
		return declined, ""
	}
	return notOurs, ""
}

// microSIPStands looks into MicroSIP's ini, the one that was remembered or else
// the usual one.
func microSIPStands(remembered, usual string) (standing, string) {
	path := remembered
	if path == "" {
		path = usual
	}
	if path == "" {
		return unknown, ""
	}
	f, err := phonefile.Read(path)
	switch {
	case errors.Is(err, fs.ErrNotExist):
		return declined, "" // the phone is gone, and with it what there was to report
	case err != nil:
		return unknown, ""
	}
	command := f.Get(microSIPGroup, microSIPRing)
	if !phonefile.Ours(command) {
		return notOurs, path
	}
	program, _ := phonefile.Program(command)
	if _, err := os.Stat(program); errors.Is(err, fs.ErrNotExist) {
		return notOurs, path // a Wiebelt that is no longer there
	}
	return ours, path
}

// reregister registers once more what was registered before.
func reregister(d profile.Dirs, s *settings.Settings, profileDir string, what health.Registration, was Registered) error {
	if what == health.MicroSIP {
		return ConnectFile(d, s, profileDir, detect.Phone{Kind: detect.MicroSIP, File: was.MicroSIP}, detect.This().Processes())
	}
	o, err := Options(profileDir)
	if err != nil {
		return err
	}
	o.Only = register.OnlyScheme
	if what == health.Autostart {
		o.Only = register.OnlyAutostart
	}
	return register.Register(o)
}

// ConnectFile has a phone run Wiebelt for its calls, as its recipe says. The
// phone must not run.
func ConnectFile(d profile.Dirs, s *settings.Settings, profileDir string, p detect.Phone, running []detect.Process) error {
	if detect.Runs(running, p.Kind) {
		return ErrPhoneRuns
	}
	exe, err := os.Executable()
	if err != nil {
		return err
	}
	v := guide.Values{Exe: exe, Ring: fromsettings.RingProgram(exe), Profile: profileDir, Settings: fromsettings.SettingsFile(d), Port: s.Listener.Port}
	recipe, ok := guide.Find(text.English, p.Kind)
	if !ok {
		return errors.New("there is no recipe for this phone")
	}
	group := ""
	if p.Kind == detect.MicroSIP {
		group = microSIPGroup
	}
	for _, b := range recipe.Blocks() {
		if b.Kind != guide.MicroSIP && b.Kind != guide.Twinkle {
			continue
		}
		lines, err := b.Fill(v)
		if err != nil {
			return err
		}
		f, err := phonefile.Read(p.File)
		if err != nil {
			return err
		}
		if err := f.Set(group, phonefile.Pairs(lines)...); err != nil {
			return err
		}
		return f.Write()
	}
	return errors.New("the recipe has nothing to write")
}

// RepairLost registers again, without a running resident, what was registered
// before and is lost, and tells what that was.
func RepairLost(d profile.Dirs, s *settings.Settings, profileDir string) (done []string, err error) {
	o, err := Options(profileDir)
	if err != nil {
		return nil, err
	}
	was := RegisteredIn(d)
	for _, what := range order {
		if !was.has(what) {
			continue
		}
		if now, _ := registered(o, what, was); now != notOurs && now != older {
			continue
		}
		if e := reregister(d, s, profileDir, what, was); e != nil {
			err = errors.Join(err, fmt.Errorf("%s: %w", what, e))
			continue
		}
		done = append(done, string(what))
	}
	return done, err
}
