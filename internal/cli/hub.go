package cli

import (
	"cmp"
	"errors"
	"fmt"
	"io"
	"os"
	"path/filepath"
	"time"

	"github.com/google/uuid"

	"wiebelt/internal/localhub"
	"wiebelt/internal/text"
)

type hubCmd struct {
	Serve    hubServeCmd    `cmd:"" default:"withargs"`
	Client   hubClientCmd   `cmd:""`
	User     hubUserCmd     `cmd:""`
	Import   hubImportCmd   `cmd:""`
	Messages hubMessagesCmd `cmd:""`
}

// hubData is the folder that every hub command works on, whether or not the hub runs.
type hubData struct {
	Data string `required:"" placeholder:"DIR"`
}

// withData calls do with an existing folder: a mistyped one is not created.
func (f hubData) withData(e *env, do func(*localhub.Data) error) error {
	if _, err := os.Stat(filepath.Join(f.Data, "hub.db")); err != nil {
		return text.Errorf(text.OutputHubNone, oneLine(f.Data))
	}
	return f.withCreated(e, do)
}

// withCreated is withData for a folder that is created if needed.
func (f hubData) withCreated(e *env, do func(*localhub.Data) error) (err error) {
	d, err := localhub.OpenData(e.ctx, f.Data)
	if err != nil {
		return err
	}
	defer func() { err = errors.Join(err, d.Close()) }()
	err = do(d)
	if errors.Is(err, localhub.ErrNoClient) || errors.Is(err, localhub.ErrNoUser) || errors.Is(err, localhub.ErrNoMessage) {
		return &failure{exitNotFound, err}
	}
	return err
}

type hubClientCmd struct {
	Add    hubClientAddCmd    `cmd:""`
	List   hubClientListCmd   `cmd:""`
	Rotate hubClientRotateCmd `cmd:""`
	Remove hubClientRemoveCmd `cmd:""`
}

type hubClientAddCmd struct {
	hubData
	Code string `name:"organisation-code" default:"0000"`
	ID   string `arg:""`
}

func (c *hubClientAddCmd) Run(e *env) error {
	// A new hub's first client may be added before the hub has ever run.
	return c.withCreated(e, func(d *localhub.Data) error {
		switch _, err := d.Client(e.ctx, c.ID); {
		case err == nil:
			return text.Errorf(text.OutputHubClientThere)
		case !errors.Is(err, localhub.ErrNoClient):
			return err
		}
		value, err := d.AddClient(e.ctx, c.ID, c.Code)
		if err != nil {
			return err
		}
		return e.showSecret(value)
	})
}

// showSecret writes a secret, and nothing else, to standard output, so that it can be piped
// into "provision --secret-stdin".
func (e *env) showSecret(value string) error {
	fmt.Fprintln(e.err, e.T(text.OutputHubSecret))
	_, err := fmt.Fprintln(e.out, value)
	return err
}

type hubList struct {
	hubData
	JSON bool
}

// show writes v as JSON, or else a table with a heading and rows.
func (c hubList) show(e *env, v any, heading text.Key, rows func(w io.Writer)) error {
	if c.JSON {
		return e.printJSON(v)
	}
	w := e.table()
	fmt.Fprintln(w, e.T(heading))
	rows(w)
	return w.Flush()
}

type hubClientListCmd struct{ hubList }

func (c *hubClientListCmd) Run(e *env) error {
	return c.withData(e, func(d *localhub.Data) error {
		all, err := d.Clients(e.ctx)
		if err != nil {
			return err
		}
		return c.show(e, all, text.OutputHubClients, func(w io.Writer) {
			for _, k := range all {
				made := "-"
				if k.Made != nil {
					made = formatTime(*k.Made)
				}
				fmt.Fprintf(w, "%s\t%s\t%s\n", oneLine(k.ID), oneLine(k.OrganisationCode), made)
			}
		})
	})
}

func formatTime(t time.Time) string { return t.Local().Format("2006-01-02 15:04:05") }

type hubClientRotateCmd struct {
	hubData
	ID string `arg:""`
}

func (c *hubClientRotateCmd) Run(e *env) error {
	return c.withData(e, func(d *localhub.Data) error {
		value, err := d.RotateClient(e.ctx, c.ID)
		if err != nil {
			return err
		}
		return e.showSecret(value)
	})
}

type hubClientRemoveCmd struct {
	hubData
	ID string `arg:""`
}

func (c *hubClientRemoveCmd) Run(e *env) error {
	return c.withData(e, func(d *localhub.Data) error {
		return d.RemoveClient(e.ctx, c.ID)
	})
}

type hubUserCmd struct {
	Add    hubUserAddCmd    `cmd:""`
	List   hubUserListCmd   `cmd:""`
	Remove hubUserRemoveCmd `cmd:""`
}

type hubUserAddCmd struct {
	hubData
	Admin bool
	Stdin bool   `name:"password-stdin" required:""`
	Name  string `arg:""`
}

func (c *hubUserAddCmd) Run(e *env) error {
	password, err := e.secret(text.SecretAskPassword)
	if err != nil {
		return err
	}
	return c.withCreated(e, func(d *localhub.Data) error {
		return d.AddUser(e.ctx, c.Name, password, c.Admin)
	})
}

type hubUserListCmd struct{ hubList }

func (c *hubUserListCmd) Run(e *env) error {
	return c.withData(e, func(d *localhub.Data) error {
		all, err := d.Users(e.ctx)
		if err != nil {
			return err
		}
		return c.show(e, all, text.OutputHubUsers, func(w io.Writer) {
			for _, u := range all {
				sees := e.T(text.OutputNo)
				if u.Admin {
					sees = e.T(text.OutputYes)
				}
				fmt.Fprintf(w, "%s\t%s\n", oneLine(u.Name), sees)
			}
		})
	})
}

type hubUserRemoveCmd struct {
	hubData
	Name string `arg:""`
}

func (c *hubUserRemoveCmd) Run(e *env) error {
	return c.withData(e, func(d *localhub.Data) error {
		return d.RemoveUser(e.ctx, c.Name)
	})
}

type hubMessagesCmd struct {
	List   hubMessagesListCmd   `cmd:""`
	Show   hubMessagesShowCmd   `cmd:""`
	Export hubMessagesExportCmd `cmd:""`
}

// pageSize is how many messages are read at once.
const pageSize = 500

// forEachMessage calls do for every message, newest first.
func forEachMessage(e *env, d *localhub.Data, do func(localhub.Message) error) error {
	for before := ""; ; {
		some, err := d.Messages(e.ctx, before, pageSize)
		if err != nil {
			return err
		}
		for _, m := range some {
			if err := cmp.Or(do(m), e.ctx.Err()); err != nil {
				return err
			}
			before = m.ID
		}
		if len(some) < pageSize {
			return nil
		}
	}
}

type hubMessagesListCmd struct{ hubList }

func (c *hubMessagesListCmd) Run(e *env) error {
	return c.withData(e, func(d *localhub.Data) error {
		if c.JSON {
			return forEachMessage(e, d, func(m localhub.Message) error { return e.printJSON(m) })
		}
		w := e.table()
		fmt.Fprintln(w, e.lang().T(text.OutputHubMessages))
		err := forEachMessage(e, d, func(m localhub.Message) error {
			_, err := fmt.Fprintf(w, "%s\t%s\t%s\t%s\t%d\t%d\n", m.ID, formatTime(m.Received), oneLine(m.Sender), oneLine(m.Intermediary), m.Files, m.Size)
			return err
		})
		return errors.Join(err, w.Flush())
	})
}

type hubMessagesShowCmd struct {
	hubList
	ID string `arg:""`
}

func (c *hubMessagesShowCmd) Run(e *env) error {
	return c.withData(e, func(d *localhub.Data) error {
		m, err := d.Message(e.ctx, c.ID)
		if err != nil {
			return err
		}
		if c.JSON {
			return e.printJSON(m)
		}
		w := e.table()
		fmt.Fprint(w, e.lang().T(text.OutputHubMessage, m.ID, formatTime(m.Received), oneLine(m.Sender), oneLine(m.OrganisationCode), oneLine(m.Intermediary), m.Files, m.Size, m.SHA256))
		return w.Flush()
	})
}

type hubMessagesExportCmd struct {
	hubData
	To  string `required:"" placeholder:"DIR"`
	All bool
	ID  string `arg:"" optional:""`
}

func (c *hubMessagesExportCmd) Run(e *env) error {
	if c.All == (c.ID != "") {
		return usageError(text.OutputHubOneOrAll)
	}
	return c.withData(e, func(d *localhub.Data) error {
		if err := os.MkdirAll(c.To, 0o700); err != nil {
			return err
		}
		if c.All {
			return forEachMessage(e, d, func(m localhub.Message) error { return c.write(e, d, m) })
		}
		m, err := d.Message(e.ctx, c.ID)
		if err != nil {
			return err
		}
		return c.write(e, d, m)
	})
}

// write exports one message, under a temporary name until complete.
func (c *hubMessagesExportCmd) write(e *env, d *localhub.Data, m localhub.Message) error {
	if uuid.Validate(m.ID) != nil {
		return text.Errorf(text.OutputHubBadID)
	}
	name := filepath.Join(c.To, m.ID+".zip")
	if _, err := os.Lstat(name); err == nil {
		return text.Errorf(text.OutputIsThere, oneLine(name))
	}
	f, err := os.CreateTemp(c.To, m.ID+"-*.part")
	if err != nil {
		return err
	}
	defer os.Remove(f.Name()) // no longer exists after the rename
	if err := errors.Join(d.CopyMessage(m, f), f.Sync(), f.Close()); err != nil {
		return err
	}
	if err := os.Rename(f.Name(), name); err != nil {
		return err
	}
	_, err = fmt.Fprintln(e.out, name)
	return err
}
