package cli

import (
	"errors"

	"wiebelt/internal/config/profile"
	"wiebelt/internal/config/registrations"
	"wiebelt/internal/native/register"
	"wiebelt/internal/text"
)

type registerCmd struct {
	AllUsers bool `name:"all-users"`
	Repair   bool `xor:"what"`
	Check    bool `xor:"what"`
}

func (c *registerCmd) Run(e *env) error {
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
	if !c.AllUsers { // each user's Wiebelt records that when it starts
		if err := e.remember(true, true); err != nil {
			return err
		}
	}
	e.printText(text.RegisterDone)
	if e.hasNoHome() {
		return nil // what opens the link depends on the user
	}
	s, err := register.State(o)
	if err == nil && !s.Ours {
		return exitError(exitFailed, text.RegisterOther, s.Scheme)
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
		e.printText(text.RegisterNothing)
	case s.Ours:
		e.printText(text.RegisterOurs)
	default:
		e.printText(text.RegisterTheirs, s.Scheme)
	}
	if s.Autostart {
		e.printText(text.RegisterStarts)
	} else {
		e.printText(text.RegisterNoStart)
	}
	if !s.Ours || !s.Autostart {
		return &failure{code: exitFailed}
	}
	return nil
}

type unregisterCmd struct {
	AllUsers bool `name:"all-users"`
}

func (c *unregisterCmd) Run(e *env) error {
	o, err := e.registration(c.AllUsers)
	if err != nil {
		return err
	}
	if err := register.Unregister(o); err != nil {
		return err
	}
	if !c.AllUsers || !e.hasNoHome() {
		if err := e.remember(false, false); err != nil {
			return err
		}
	}
	if c.AllUsers {
		e.printText(text.RegisterGoneAll)
	} else {
		e.printText(text.RegisterGone)
	}
	return nil
}

// hasNoHome reports whether whoever runs this has no home folder, such as what sets up a computer.
func (e *env) hasNoHome() bool {
	_, err := e.dirs()
	return errors.Is(err, profile.ErrNoHome)
}

// remember records for this profile what is registered on purpose.
func (e *env) remember(scheme, autostart bool) error {
	d, err := e.dirs()
	if err != nil {
		return err
	}
	was := registrations.RegisteredIn(d)
	was.Scheme, was.Autostart = scheme, autostart
	return registrations.Remember(d, was)
}

// repair restores lost registrations and reports which.
func (c *registerCmd) repair(e *env) error {
	if c.AllUsers {
		return usageError(text.RegisterAlone)
	}
	d, err := e.dirs()
	if err != nil {
		return err
	}
	lost, err := registrations.RepairLost(d, e.load(d), e.profileDir)
	for _, what := range lost {
		e.printText(text.RegisterAgain, text.DoctorName(what))
	}
	if err == nil && len(lost) == 0 {
		e.printText(text.RegisterWhole)
	}
	return err
}

func (e *env) registration(allUsers bool) (register.Options, error) {
	o, err := registrations.Options(e.profileDir)
	o.AllUsers = allUsers
	return o, err
}
