package cli

import (
	"errors"

	"wiebelt/internal/config/hubtrial"
	"wiebelt/internal/config/profile"
	"wiebelt/internal/config/settings"
	"wiebelt/internal/text"
)

type joinCmd struct {
	Address     string `arg:""`
	Code        string `arg:"" optional:""`
	Fingerprint string `placeholder:"HEX"`
}

// Run makes this computer join a relay and configures the link to it.
func (c *joinCmd) Run(e *env, d profile.Dirs) error {
	r := hubtrial.Relay{Address: c.Address, Code: c.Code, Fingerprint: c.Fingerprint}
	if r.Code == "" { // the settings name it
		r.Address, r.Code = "", c.Address
	}
	err := hubtrial.Join(e.ctx, d, e.load(d), r)
	var bad settings.Problem
	switch {
	case errors.As(err, &bad) && bad.Kind == settings.NotAllowed:
		return &failure{exitUsage, err}
	case err != nil:
		return err
	}
	e.notifyResident(d)
	e.printText(text.RelayJoinDone)
	return nil
}
