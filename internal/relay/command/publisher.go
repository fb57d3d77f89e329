package command

import (
	"context"
	"fmt"

	"wiebelt/internal/relay/setup"
	"wiebelt/internal/relay/users"
	"wiebelt/internal/relay/wire"
	"wiebelt/internal/text"
)

type publisherCmd struct {
	Add    publisherAddCmd    `cmd:""`
	List   publisherListCmd   `cmd:""`
	Remove publisherRemoveCmd `cmd:""`
}

type publisherAddCmd struct {
	Name string `arg:""`
}

// Run prints the credentials of a program that reports calls over NATS. They replace those
// of an earlier publisher of that name.
func (c *publisherAddCmd) Run(e *env) error {
	name, err := wire.ParseUser(c.Name)
	if err != nil {
		return &failure{exitUsage, err}
	}
	return e.withUsers(func(ctx context.Context, d *users.Directory, f *setup.Folder) error {
		creds, public, err := f.Keys.Publisher(string(name))
		if err != nil {
			return err
		}
		if err := d.Publish(ctx, name, public); err != nil {
			return err
		}
		_, err = e.out.Write(creds)
		return err
	})
}

type publisherListCmd struct{}

// Run lists the publishers.
func (*publisherListCmd) Run(e *env) error {
	return e.withUsers(func(ctx context.Context, d *users.Directory, f *setup.Folder) error {
		all, err := d.List(ctx)
		if err != nil {
			return err
		}
		for _, one := range all {
			if one.Publisher && one.Removed.IsZero() {
				fmt.Fprintln(e.out, one.User)
			}
		}
		return nil
	})
}

type publisherRemoveCmd struct {
	Name string `arg:""`
}

// Run removes a publisher.
func (c *publisherRemoveCmd) Run(e *env) error {
	return e.withUser(c.Name, true, func(ctx context.Context, d *users.Directory, _ *setup.Folder, name wire.User) error {
		if err := d.Remove(ctx, name); err != nil {
			return err
		}
		e.say(text.RelayRemoved, name)
		return nil
	})
}
