package command

import (
	"context"

	"wiebelt/internal/text"
)

func defaultData() string { return "/var/lib/wiebelt-relay" }

// asService runs the service; systemd needs nothing but signals.
func asService(e *env, do func(context.Context, *env) error) error { return do(e.ctx, e) }

// Run fails with an error that says how to do it here.
func (serviceInstallCmd) Run(*env) error { return fail(exitUsage, text.RelayServiceWindows) }

// Run fails with an error that says how to do it here.
func (serviceRemoveCmd) Run(*env) error { return fail(exitUsage, text.RelayServiceWindows) }
