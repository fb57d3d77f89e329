package cli

import "wiebelt/assets"

// services has the service definition for a server, by what runs it.
var services = map[string]string{"systemd": "guide/service/wiebelt-deliver.service", "task": "guide/service/wiebelt-deliver.xml"}

type deliverServiceCmd struct {
	Kind string `arg:"" enum:"systemd,task"`
}

// Run implements the command.
func (c *deliverServiceCmd) Run(e *env) error {
	b, err := assets.Service.ReadFile(services[c.Kind])
	if err != nil {
		return err
	}
	_, err = e.out.Write(b)
	return err
}
