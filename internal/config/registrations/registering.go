package registrations

import (
	"cmp"
	"errors"
	"io/fs"
	"os"
	"path/filepath"
	"slices"

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

// The group and key in MicroSIP's ini for the program that reports a call.
const (
	microSIPGroup = "Settings"
	microSIPRing  = "cmdCallRing"
)

// ErrPhoneRuns reports that a phone has to be closed first: it would
// overwrite our settings.
var ErrPhoneRuns = text.Errorf(text.RegisterRuns)

// Options returns the program that the desktop starts for this profile.
func Options(profileDir string) (register.Options, error) {
	exe, err := os.Executable()
	if err != nil {
		return register.Options{}, err
	}
	o := register.Options{Exe: exe, LinkExe: fromsettings.RingProgram(exe)}
	if profileDir != "" {
		if o.Profile, err = filepath.Abs(profileDir); err != nil {
			return register.Options{}, err
		}
	}
	return o, nil
}

// inspectRegistration returns the state of a registration on this computer.
func inspectRegistration(o register.Options, what health.Registration, was Registered) (standing, string) {
	if what == health.MicroSIP {
		return inspectMicroSIP(was.MicroSIP, detect.ThisSystem().MicroSIP, o.Profile)
	}
	s, err := register.State(o)
	switch {
	case err != nil:
		return standingUnknown, ""
	case what == health.Scheme && s.Older, what == health.Autostart && s.OlderAutostart:
		return standingOutdated, ""
	case what == health.Scheme && s.Ours, what == health.Autostart && s.Autostart:
		return standingCurrent, ""
	case what == health.Autostart && s.SwitchedOff:
		return standingDeclined, ""
	}
	return standingLost, ""
}

// inspectMicroSIP checks MicroSIP's ini, at the remembered path or else the usual one. Its
// lines count as an older version's only if all match exactly: others belong to another
// profile, or are the user's own.
func inspectMicroSIP(remembered, usual, profileDir string) (standing, string) {
	path := cmp.Or(remembered, usual)
	if path == "" {
		return standingUnknown, ""
	}
	f, err := phonefile.Read(path)
	switch {
	case errors.Is(err, fs.ErrNotExist):
		return standingDeclined, "" // the phone is gone, and its registration with it
	case err != nil:
		return standingUnknown, ""
	}
	command := f.Get(microSIPGroup, microSIPRing)
	if !phonefile.RunsWiebelt(command) {
		return standingLost, path
	}
	program, _ := phonefile.SplitProgram(command)
	if _, err := os.Stat(program); errors.Is(err, fs.ErrNotExist) {
		return standingLost, path // that Wiebelt no longer exists
	}
	if was, err := recipeLines(detect.MicroSIP, guide.Values{Ring: program, Profile: profileDir}); err == nil && program != fromsettings.RingProgram(program) &&
		!slices.ContainsFunc(was, func(p phonefile.Pair) bool { return f.Get(microSIPGroup, p.Key) != p.Value }) {
		return standingOutdated, path
	}
	return standingCurrent, path
}

// recipeLines returns what a phone's recipe for running a program puts into its file.
func recipeLines(kind string, v guide.Values) ([]phonefile.Pair, error) {
	recipe, ok := guide.Find(text.English, kind)
	if !ok {
		return nil, errors.New("there is no recipe for this phone")
	}
	for _, b := range recipe.Blocks() {
		if b.Kind == guide.MicroSIP || b.Kind == guide.Twinkle {
			lines, err := b.Fill(v)
			return phonefile.Pairs(lines), err
		}
	}
	return nil, errors.New("the recipe has nothing to write")
}

func reregister(d profile.Dirs, s *settings.Settings, profileDir string, what health.Registration, was Registered) error {
	if what == health.MicroSIP {
		return ConnectFile(d, s, profileDir, detect.Phone{Kind: detect.MicroSIP, File: was.MicroSIP}, detect.ThisSystem().Processes())
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

// ConnectFile configures a phone to run Wiebelt for its calls, as its recipe says. The
// phone must not be running.
func ConnectFile(d profile.Dirs, s *settings.Settings, profileDir string, p detect.Phone, running []detect.Process) error {
	if detect.IsRunning(running, p.Kind) {
		return ErrPhoneRuns
	}
	exe, err := os.Executable()
	if err != nil {
		return err
	}
	v := guide.Values{Exe: exe, Ring: fromsettings.RingProgram(exe), Profile: profileDir, Settings: settings.Path(d), Port: s.Listener.Port}
	lines, err := recipeLines(p.Kind, v)
	if err != nil {
		return err
	}
	f, err := phonefile.Read(p.File)
	if err != nil {
		return err
	}
	group := ""
	if p.Kind == detect.MicroSIP {
		group = microSIPGroup
	}
	if err := f.Set(group, lines...); err != nil {
		return err
	}
	return f.Write()
}

// RepairLost restores lost registrations without a running resident, and returns which.
func RepairLost(d profile.Dirs, s *settings.Settings, profileDir string) (done []string, err error) {
	o, err := Options(profileDir)
	if err != nil {
		return nil, err
	}
	was := RegisteredIn(d)
	for _, what := range displayOrder {
		if !was.has(what) {
			continue
		}
		now, _ := inspectRegistration(o, what, was)
		if now != standingLost && now != standingOutdated {
			continue
		}
		e := reregister(d, s, profileDir, what, was)
		if now == standingOutdated && errors.Is(e, ErrPhoneRuns) {
			continue // it works, and the next start of Wiebelt updates it
		}
		if e != nil {
			err = errors.Join(err, text.Errorf(text.ErrorAt, text.DoctorName(string(what)), e))
			continue
		}
		done = append(done, string(what))
	}
	return done, err
}
