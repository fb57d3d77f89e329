package command

import (
	"context"
	"encoding/csv"
	"fmt"
	"os"
	"slices"
	"strings"
	"time"

	"wiebelt/internal/relay/setup"
	"wiebelt/internal/relay/users"
	"wiebelt/internal/relay/wire"
	"wiebelt/internal/text"
)

type userCmd struct {
	Add    userAddCmd    `cmd:""`
	Import userImportCmd `cmd:""`
	Code   userCodeCmd   `cmd:""`
	List   userListCmd   `cmd:""`
	Remove userRemoveCmd `cmd:""`
}

// withUsers runs do with the users.
func (e *env) withUsers(do func(context.Context, *users.Directory, *setup.Folder) error) error {
	d, f, stop, err := e.directory()
	if err != nil {
		return err
	}
	defer stop()
	return e.inTime(func(ctx context.Context) error { return do(ctx, d, f) })
}

// inTime runs do with a time limit for talking to the relay.
func (e *env) inTime(do func(context.Context) error) error {
	ctx, cancel := context.WithTimeout(e.ctx, requestTimeout)
	defer cancel()
	return do(ctx)
}

type userAddCmd struct {
	User      string   `arg:""`
	Label     *string  `placeholder:"NAME"`
	Extension []string `placeholder:"N"`
	Number    []string `placeholder:"NUMBER"`
	Email     *string  `placeholder:"ADDRESS"`
	Queue     []string `placeholder:"NAME"`
}

// entry returns the user described by the flags, and the columns without a flag.
func (c *userAddCmd) entry(u wire.User) (e users.Entry, kept []string) {
	for column, given := range map[string]bool{"name": c.Label != nil, "extensions": c.Extension != nil, "numbers": c.Number != nil, "email": c.Email != nil, "queues": c.Queue != nil} {
		if !given {
			kept = append(kept, column)
		}
	}
	one := func(s *string) string {
		if s == nil {
			return ""
		}
		return *s
	}
	some := func(all []string) []string { return slices.DeleteFunc(all, func(s string) bool { return s == "" }) }
	return users.Entry{User: u, Name: one(c.Label), Extensions: some(c.Extension), Numbers: some(c.Number), Email: one(c.Email), Queues: some(c.Queue)}, kept
}

// Run adds or changes a user and prints a code. Columns without a flag keep their
// values; an empty value clears one.
func (c *userAddCmd) Run(e *env) error {
	u, err := wire.ParseUser(c.User)
	if err != nil {
		return &failure{exitUsage, err}
	}
	return e.withUsers(func(ctx context.Context, d *users.Directory, f *setup.Folder) error {
		one, kept := c.entry(u)
		if err := d.Put(ctx, one, kept...); err != nil {
			return err
		}
		return e.invite(ctx, d, f, u)
	})
}

// invite prints a code and how to join with it.
func (e *env) invite(ctx context.Context, d *users.Directory, f *setup.Folder, u wire.User) error {
	code, err := d.Invite(ctx, u)
	if err != nil {
		return err
	}
	trust := ""
	if print := f.Fingerprint(); print != "" {
		trust = " --fingerprint " + print
	}
	e.printText(text.RelayCode, u, code, time.Now().Add(users.CodeLife).Format(time.DateOnly), address(f.Settings), trust)
	return nil
}

type userCodeCmd struct {
	User string `arg:""`
}

// Run prints a code for another of the user's computers.
func (c *userCodeCmd) Run(e *env) error {
	return e.withUser(c.User, false, func(ctx context.Context, d *users.Directory, f *setup.Folder, u wire.User) error {
		return e.invite(ctx, d, f, u)
	})
}

// withUser runs do with an existing user or publisher.
func (e *env) withUser(name string, publisher bool, do func(context.Context, *users.Directory, *setup.Folder, wire.User) error) error {
	u, err := wire.ParseUser(name)
	if err != nil {
		return &failure{exitUsage, err}
	}
	return e.withUsers(func(ctx context.Context, d *users.Directory, f *setup.Folder) error {
		one, _, err := d.Find(ctx, u)
		if err == nil && one.Publisher != publisher {
			err = users.ErrUnknown
		}
		if err == nil {
			err = do(ctx, d, f, u)
		}
		if err == users.ErrUnknown {
			return fail(exitNotFound, text.RelayNoUser, u)
		}
		return err
	})
}

type userRemoveCmd struct {
	User string `arg:""`
}

// Run removes a user from the site.
func (c *userRemoveCmd) Run(e *env) error { return e.remove(c.User, false) }

// remove removes a user or publisher.
func (e *env) remove(name string, publisher bool) error {
	return e.withUser(name, publisher, func(ctx context.Context, d *users.Directory, f *setup.Folder, u wire.User) error {
		revoked, err := d.Remove(ctx, u)
		switch {
		case err != nil:
			return err
		case len(revoked) > 0 && f.Settings.NATS.External():
			e.printText(text.RelayRevoke, u, publicKeys(revoked))
		default:
			e.printText(text.RelayRemoved, u)
		}
		return nil
	})
}

// publicKeys lists keys for the administrator of NATS servers on which the relay cannot
// revoke them.
func publicKeys(keys []users.Key) string {
	var all []string
	for _, k := range keys {
		all = append(all, k.Public)
	}
	return strings.Join(all, " ")
}

type userImportCmd struct {
	File string `arg:""`
}

// Run adds and changes the users in a table. It prints codes for those who have not joined
// yet, again as a table, for whoever hands them out.
func (c *userImportCmd) Run(e *env) error {
	file, err := os.Open(c.File)
	if err != nil {
		return err
	}
	defer file.Close()
	all, missing, err := users.ReadCSV(file)
	if err != nil {
		return err
	}
	d, f, stop, err := e.directory()
	if err != nil {
		return err
	}
	defer stop()
	joined := map[wire.User]bool{}
	err = e.inTime(func(ctx context.Context) error {
		before, err := d.List(ctx)
		for _, known := range before {
			joined[known.User] = known.Computers() > 0
		}
		return err
	})
	if err != nil {
		return err
	}
	for _, one := range all {
		if err := e.inTime(func(ctx context.Context) error { return d.Put(ctx, one, missing...) }); err != nil {
			return text.Errorf(text.RelayFile, one.User, err)
		}
	}
	w := csv.NewWriter(e.out)
	row := func(fields ...string) error { // flushed at once: no code is lost if a later one fails
		_ = w.Write(fields)
		w.Flush()
		return w.Error()
	}
	if err := row("user", "address", "code", "fingerprint"); err != nil {
		return err
	}
	for _, one := range all {
		if joined[one.User] {
			continue
		}
		err := e.inTime(func(ctx context.Context) error {
			code, err := d.Invite(ctx, one.User)
			if err != nil {
				return err
			}
			return row(string(one.User), address(f.Settings), code, f.Fingerprint())
		})
		if err != nil {
			return err
		}
	}
	return nil
}

type userListCmd struct {
	JSON bool `name:"json"`
}

func (c *userListCmd) Run(e *env) error {
	type row struct {
		users.Entry
		Computers int `json:"computers"`
	}
	return e.withUsers(func(ctx context.Context, d *users.Directory, _ *setup.Folder) error {
		all, err := d.List(ctx)
		if err != nil {
			return err
		}
		rows := []row{}
		for _, one := range all {
			if one.IsUser() {
				computers := one.Computers()
				one.Keys, one.Added = nil, time.Time{}
				rows = append(rows, row{one, computers})
			}
		}
		if c.JSON {
			return e.print(rows)
		}
		for _, r := range rows {
			at := strings.Join(slices.Concat(r.Extensions, r.Numbers, []string{r.Email}, r.Queues), " ")
			fmt.Fprintf(e.out, "%-20s %-24s %-30s %s\n", r.User, r.Name, strings.TrimSpace(at), e.lang().N(text.RelayComputers, r.Computers))
		}
		e.printText(text.RelayUsers, len(rows))
		return nil
	})
}

type publisherCmd struct {
	Add    publisherAddCmd    `cmd:""`
	List   publisherListCmd   `cmd:""`
	Remove publisherRemoveCmd `cmd:""`
}

type publisherAddCmd struct {
	Name string `arg:""`
}

// Run prints the credentials of a program that reports calls over NATS. They replace those
// of an earlier publisher of that name. What is left to do goes to standard error: the
// credentials are usually written to a file.
func (c *publisherAddCmd) Run(e *env) error {
	name, err := wire.ParseUser(c.Name)
	if err != nil {
		return &failure{exitUsage, err}
	}
	return e.withUsers(func(ctx context.Context, d *users.Directory, f *setup.Folder) error {
		creds, public, err := f.Keys.PublisherCreds(string(name))
		if err != nil {
			return err
		}
		replaced, err := d.AddPublisher(ctx, name, public)
		if err != nil {
			return err
		}
		if len(replaced) > 0 && f.Settings.NATS.External() {
			e.printNotice(text.RelayRevokeReplaced, name, publicKeys(replaced))
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
func (c *publisherRemoveCmd) Run(e *env) error { return e.remove(c.Name, true) }
