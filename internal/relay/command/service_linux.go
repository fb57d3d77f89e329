package command

import (
	"context"

	"wiebelt/internal/text"
)

func defaultData() string { return "/var/lib/wiebelt-relay" }

// asService runs what a service does; systemd needs nothing beside signals.
func asService(e *env, do func(context.Context, *env) error) error { return do(e.ctx, e) }

// Run says how it is done here.
func (serviceInstallCmd) Run(*env) error { return fail(exitUsage, text.RelayServiceWindows) }

// Run says how it is done here.
func (serviceRemoveCmd) Run(*env) error { return fail(exitUsage, text.RelayServiceWindows) }
