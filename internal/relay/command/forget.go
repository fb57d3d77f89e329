package command

import (
	"context"

	"github.com/nats-io/nats.go/jetstream"

	"wiebelt/internal/config/fromsettings"
	"wiebelt/internal/config/settings"
	"wiebelt/internal/relay/journal"
	"wiebelt/internal/relay/wire"
	"wiebelt/internal/text"
)

type forgetCmd struct {
	Number string `arg:"" optional:""`
	All    bool
}

// Run forgets calls that rang while their users were away.
func (c *forgetCmd) Run(e *env) error {
	rules, err := fromsettings.NumberRules(settings.Defaults())
	if err != nil {
		return err
	}
	key := rules.Parse(c.Number, "").Key()
	if c.All == (c.Number != "") || !c.All && key == "" {
		return fail(exitUsage, text.RelayForgetNumber)
	}
	conn, f, err := e.connect()
	if err != nil {
		return err
	}
	defer conn.Close()
	ctx, cancel := context.WithTimeout(e.ctx, callTime)
	defer cancel()
	js, err := jetstream.New(conn)
	if err != nil {
		return err
	}
	j, err := journal.Open(ctx, js, f.Settings.Replicas(), f.Settings.Journal.Days, e.log)
	if err != nil {
		return err
	}
	n, err := j.Forget(ctx, func(m wire.Missed) bool { return c.All || rules.Parse(m.Number, "").Key() == key })
	if err != nil {
		return err
	}
	e.say(text.RelayForgotten, n)
	return nil
}
