package cli

import (
	"errors"
	"os"

	"wiebelt/internal/config/profile"
	"wiebelt/internal/instance"
	"wiebelt/internal/instance/installed"
	"wiebelt/internal/resident"
)

type runCmd struct {
	Background bool `hidden:""`
}

func (c *runCmd) Run(e *env, d profile.Dirs) error {
	err := c.run(e, d)
	if c.Background { // else every call would print it again
		return err
	}
	return e.showToDesktop(err)
}

func (c *runCmd) run(e *env, d profile.Dirs) error {
	self, err := os.Executable() // not what was typed, which may lack .exe
	if err != nil {
		return err
	}
	if e.build.Console && !c.Background {
		return startResident(e.profileDir, false)
	}
	s := e.load(d)
	log, file, closed := e.residentLog(d, s.Log.Level)
	defer closed()
	o := resident.Options{Dirs: d, ProfileDir: e.profileDir, Exe: self, Settings: s,
		Version: e.build.Version, Commit: e.build.Commit, Log: log, ShowCalls: !c.Background}
	if file != nil {
		o.LogLevel = file.SetLevel
	}
	err = resident.Run(e.ctx, o)
	if errors.Is(err, resident.ErrReplaced) {
		closed()
		return startResident(e.profileDir, true)
	}
	if errors.Is(err, instance.ErrRunning) {
		if c.Background {
			return nil
		}
		cfg := e.instanceConfig(d, log)
		return resident.ShowCalls(e.ctx, cfg)
	}
	if err != nil {
		log.Error("Wiebelt does not run", "why", err)
	}
	return err
}

func newestProgram() (string, error) {
	exe, err := os.Executable()
	return installed.NewestOf(exe), err
}

// startResident starts the resident of the newest installed version, so that it
// outlives this program.
func startResident(profileDir string, background bool) error {
	exe, err := newestProgram()
	if err != nil {
		return err
	}
	var args []string
	if profileDir != "" {
		args = append(args, "--profile", profileDir)
	}
	args = append(args, "run")
	if background {
		args = append(args, "--background")
	}
	return instance.StartDetached(nil, exe, args...)
}
