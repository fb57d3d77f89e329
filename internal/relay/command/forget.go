package command

import (
	"context"

	"github.com/nats-io/nats.go/jetstream"

	"wiebelt/internal/relay/journal"
	"wiebelt/internal/relay/wire"
	"wiebelt/internal/text"
)

type forgetCmd struct {
	Number string `arg:"" optional:""`
	All    bool
}

// Run deletes calls kept for users who were away when they rang.
func (c *forgetCmd) Run(e *env) error {
	rules, err := e.rules()
	if err != nil {
		return err
	}
	key := rules.Parse(c.Number, "").Key()
	if c.All == (c.Number != "") || !c.All && key == "" {
		return fail(exitUsage, text.RelayForgetNumber)
	}
	conn, _, err := e.connect()
	if err != nil {
		return err
	}
	defer conn.Close()
	ctx, cancel := context.WithTimeout(e.ctx, requestTimeout)
	defer cancel()
	js, err := jetstream.New(conn)
	if err != nil {
		return err
	}
	j, err := journal.OpenExisting(ctx, js)
	if err != nil {
		return err
	}
	n, err := j.Forget(ctx, func(m wire.MissedCall) bool { return c.All || rules.Parse(m.Number, "").Key() == key })
	if err != nil {
		return err
	}
	e.printText(text.RelayForgotten, n)
	return nil
}
