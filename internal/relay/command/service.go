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

// Run prints the unit of a service, for this data folder.
func (serviceSystemdCmd) Run(e *env) error {
	b, err := assets.Service.ReadFile("guide/service/wiebelt-relay.service")
	if err != nil {
		return err
	}
	_, err = fmt.Fprint(e.out, strings.ReplaceAll(string(b), "/var/lib/wiebelt-relay", e.data))
	return err
}

// Installing and removing are for Windows.
type (
	serviceInstallCmd struct{}
	serviceRemoveCmd  struct{}
)
