package command

import (
	"fmt"
	"strings"

	"wiebelt/assets"
)

type serviceCmd struct {
	Systemd serviceSystemdCmd `cmd:""`
	Install serviceInstallCmd `cmd:""`
	Remove  serviceRemoveCmd  `cmd:""`
}

type serviceSystemdCmd struct{}

// Run prints a systemd unit for this data folder.
func (serviceSystemdCmd) Run(e *env) error {
	b, err := assets.Service.ReadFile("guide/service/wiebelt-relay.service")
	if err != nil {
		return err
	}
	_, err = fmt.Fprint(e.out, strings.ReplaceAll(string(b), "/var/lib/wiebelt-relay", e.data))
	return err
}

// Installing and removing work on Windows only.
type (
	serviceInstallCmd struct{}
	serviceRemoveCmd  struct{}
)
