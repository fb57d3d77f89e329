package cli

import (
	"os"

	"wiebelt/internal/instance/installed"
)

// sweepCmd is run by the Windows installer, as the system, in the version that it has
// installed or is about to remove: the versions beside it that nobody runs go.
type sweepCmd struct {
	End bool // what runs of any version first
}

// Run sweeps.
func (c *sweepCmd) Run(*env) error {
	exe, err := os.Executable()
	if err != nil {
		return err
	}
	if programs, ok := installed.Beside(exe); ok && c.End {
		endPrograms(programs)
	}
	return installed.Sweep(exe)
}
