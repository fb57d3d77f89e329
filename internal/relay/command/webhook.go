package command

import (
	"bytes"
	"context"
	"fmt"
	"io"
	"net/url"
	"os"
	"path/filepath"
	"strings"

	"wiebelt/internal/core/call"
	"wiebelt/internal/filetrust"
	"wiebelt/internal/relay/setup"
	"wiebelt/internal/relay/users"
	"wiebelt/internal/relay/wire"
	"wiebelt/internal/softphone/webhook"
	"wiebelt/internal/text"
)

// mappingsDir holds the administrator's webhook mappings, one per file: NAME.toml applies
// to what is sent to an address that ends in NAME.
const mappingsDir = "webhooks"

const (
	maxMapping  = 64 << 10 // bytes of one file
	maxMappings = 32
)

// mappings returns the mappings' readers, and the errors of unusable files.
func mappings(data string) (all map[string]webhook.Reader, wrong map[string]error) {
	all, wrong = map[string]webhook.Reader{}, map[string]error{}
	for _, file := range mappingFiles(data) {
		name := strings.TrimSuffix(filepath.Base(file), ".toml")
		b, err := filetrust.ReadFile(file, maxMapping, filetrust.UserOwned)
		if err == nil {
			var m webhook.Mapping
			if m, err = webhook.ParseMapping(b); err == nil {
				all[name] = m.Reader()
			}
		}
		if err != nil {
			wrong[mappingsDir+"/"+name+".toml"] = err
		}
	}
	return all, wrong
}

func mappingFiles(data string) []string {
	files, _ := filepath.Glob(filepath.Join(data, mappingsDir, "*.toml")) // only fails for a bad pattern
	return files[:min(len(files), maxMappings)]
}

// fileStamp returns a value that changes whenever the file does; "" if there is none.
func fileStamp(file string) string {
	info, err := os.Stat(file)
	if err != nil {
		return ""
	}
	return fmt.Sprint(file, info.ModTime().UnixNano(), info.Size())
}

type exchangeTryCmd struct {
	Name string `arg:""`
	File string `arg:""`
}

// tryResult is one report resulting from a message.
type tryResult struct {
	ID         string      `json:"id"`
	State      string      `json:"state"`
	Direction  string      `json:"direction"`
	Number     string      `json:"number"`
	Name       string      `json:"name,omitempty"`
	Line       string      `json:"line,omitempty"`
	Via        string      `json:"via,omitempty"`
	Queue      string      `json:"queue,omitempty"`
	Reason     string      `json:"reason,omitempty"`
	Extensions []string    `json:"extensions,omitempty"`
	Emails     []string    `json:"emails,omitempty"`
	Users      []wire.User `json:"users,omitempty"`
}

// Run prints the reports a captured message would become, without sending them. Which users
// they reach is only known while the relay runs.
func (c *exchangeTryCmd) Run(e *env) error {
	if _, err := e.folder(); err != nil {
		return err
	}
	read, ok := webhook.Of(c.Name)
	own, wrong := mappings(e.data)
	if own[c.Name] != nil {
		read, ok = own[c.Name], true
	}
	if err := wrong[mappingsDir+"/"+c.Name+".toml"]; err != nil {
		return &failure{exitUsage, text.Errorf(text.RelayFile, c.Name+".toml", err)}
	}
	if !ok {
		return fail(exitNotFound, text.RelayExchangeNone, c.Name)
	}
	f, err := os.Open(c.File)
	if err != nil {
		return err
	}
	defer f.Close()
	b, err := io.ReadAll(io.LimitReader(f, webhook.MaxBody+1)) // anything longer is not a message
	if err != nil {
		return err
	}
	all, err := read(parseCaptured(b))
	if err != nil {
		return fail(exitFailed, text.RelayTryWrong)
	}
	table := e.table()
	for _, r := range all {
		t := tryResult{ID: r.ID, State: r.State.String(), Direction: r.Direction.String(), Number: r.Number, Name: r.Event.Name, Line: r.Line,
			Via: r.Via, Queue: r.Queue, Extensions: r.Extensions, Emails: r.Emails}
		if r.State == call.Ended {
			t.Reason = r.Reason.String()
		}
		if table != nil {
			t.Users = table.UsersCalled(r.Place, r.Queue)
		}
		if err := e.print(t); err != nil {
			return err
		}
	}
	if len(all) == 0 {
		e.printText(text.RelayTryNothing)
	}
	return nil
}

// parseCaptured turns a saved body, form or whole URL into a message.
func parseCaptured(b []byte) webhook.Message {
	b = bytes.TrimSpace(b)
	if u, err := url.Parse(string(b)); err == nil && u.RawQuery != "" {
		return webhook.Message{Query: u.Query()}
	}
	return webhook.Message{Type: "application/x-www-form-urlencoded", Body: b} // readers tell JSON apart
}

// table returns the relay's users, or nil if it does not answer.
func (e *env) table() (t *users.Table) {
	rules, err := e.rules()
	if err != nil {
		return nil
	}
	_ = e.withUsers(func(ctx context.Context, d *users.Directory, _ *setup.Folder) error {
		all, err := d.List(ctx)
		if err == nil {
			t = users.NewTable(all, rules)
		}
		return err
	})
	return t
}
