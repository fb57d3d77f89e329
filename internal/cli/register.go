package cli

import (
	"errors"
	"fmt"
	"io"
	"os"
	"path/filepath"
	"runtime"

	"wiebelt/internal/native/register"
	"wiebelt/internal/resident/registrations"
)

type registerCmd struct {
	AllUsers   bool `name:"all-users" help:"For everybody on this computer; takes an administrator."`
	Repair     bool `help:"Register again only what was registered before and has been lost."`
	PrintPlist bool `name:"print-plist" help:"Change nothing; print what a macOS package needs in its Info.plist for wiebelt: links."`
	Check      bool `help:"Change nothing; say what wiebelt: links are opened with, and whether Wiebelt starts at log-on (exit code 1 if not with this program)."`
}

func (c *registerCmd) Run(e *env) error {
	if c.PrintPlist {
		_, err := io.WriteString(e.out, register.InfoPlist())
		return err
	}
	if c.Repair {
		return c.repair(e)
	}
	o, err := e.registration(c.AllUsers)
	if err != nil {
		return err
	}
	if c.Check {
		return checkRegistration(e, o)
	}
	if err := register.Register(o); err != nil {
		return err
	}
	if !c.AllUsers { // each user's Wiebelt notes that when it starts
		if err := e.remember(true, true); err != nil {
			return err
		}
	}
	fmt.Fprintln(e.out, "wiebelt: links open with this program, and it starts at log-on. \"wiebelt unregister\" takes that back.")
	s, err := register.State(o)
	if err == nil && !s.Ours {
		return errors.New("another registration comes first: " + s.Scheme)
	}
	return err
}

func checkRegistration(e *env, o register.Options) error {
	s, err := register.State(o)
	if err != nil {
		return err
	}
	switch {
	case s.Scheme == "":
		fmt.Fprintln(e.out, "wiebelt: links are opened by nothing")
	case s.Ours:
		fmt.Fprintln(e.out, "wiebelt: links are opened by this program")
	default:
		fmt.Fprintln(e.out, "wiebelt: links are opened by another program:", oneLine(s.Scheme))
	}
	start := "Wiebelt does not start at log-on"
	if s.Autostart {
		start = "Wiebelt starts at log-on"
	}
	fmt.Fprintln(e.out, start)
	if !s.Ours || !s.Autostart {
		return &exitError{exitFailed, ""}
	}
	return nil
}

type unregisterCmd struct {
	AllUsers bool `name:"all-users" help:"What was registered for everybody; takes an administrator."`
}

func (c *unregisterCmd) Run(e *env) error {
	o, err := e.registration(c.AllUsers)
	if err != nil {
		return err
	}
	return errors.Join(register.Unregister(o), e.remember(false, false))
}

// remember notes for this profile what is registered now on purpose.
func (e *env) remember(scheme, autostart bool) error {
	d, err := e.dirs()
	if err != nil {
		return err
	}
	was := registrations.RegisteredIn(d)
	was.Scheme, was.Autostart = scheme, autostart
	return registrations.Remember(d, was)
}

// repair registers again what was lost, and says what that was.
func (c *registerCmd) repair(e *env) error {
	if c.AllUsers {
		return &exitError{exitUsage, "--repair is for one user; register --all-users registers everything again"}
	}
	d, err := e.dirs()
	if err != nil {
		return err
	}
	lost, err := registrations.RepairLost(d, e.load(d), e.profileDir)
	for _, what := range lost {
		fmt.Fprintln(e.out, "registered again:", what)
	}
	if err == nil && len(lost) == 0 {
		fmt.Fprintln(e.out, "nothing that was registered before is lost")
	}
	return err
}

// registration names the program that the desktop starts: on Windows the one
// without a console window.
func (e *env) registration(allUsers bool) (register.Options, error) {
	exe, err := os.Executable()
	if err != nil {
		return register.Options{}, err
	}
	if runtime.GOOS == "windows" {
		if w := filepath.Join(filepath.Dir(exe), "wiebeltw.exe"); w != exe {
			if _, err := os.Stat(w); err == nil {
				exe = w
			}
		}
	}
	o := register.Options{Exe: exe, AllUsers: allUsers}
	if e.profileDir != "" {
		if o.Profile, err = filepath.Abs(e.profileDir); err != nil {
			return register.Options{}, err
		}
	}
	return o, nil
}
