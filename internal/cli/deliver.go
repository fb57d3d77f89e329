package cli

import (
	"cmp"
	"encoding/json"
	"errors"
	"fmt"
	"log/slog"
	"strings"
	"time"

	"wiebelt/internal/contact"
	"wiebelt/internal/outbox"
	"wiebelt/internal/text"
)

// Exit codes of deliver (product.md "Commands").
const (
	exitRefused   = 5
	exitUncertain = 6
	exitHold      = 7
)

type deliverCmd struct {
	Send    deliverSendCmd    `cmd:"" default:"withargs" help:"Deliver files (this is what \"wiebelt deliver\" does)."`
	List    deliverListCmd    `cmd:"" help:"Show what is in the outbox."`
	Retry   deliverRetryCmd   `cmd:"" help:"Send what waits or was refused again, now; also lifts a hold."`
	Forget  deliverForgetCmd  `cmd:"" help:"Delete items with their copies and receipts, delivered or not."`
	Receipt deliverReceiptCmd `cmd:"" help:"Show what the hub said about an item."`
	Resolve deliverResolveCmd `cmd:"" help:"Decide an item that is maybe delivered."`
	Service deliverServiceCmd `cmd:"" help:"Print what a server needs to deliver a folder by itself: a systemd unit, or a task for the Windows Task Scheduler."`
}

// Help is what "wiebelt deliver --help" says below the commands.
func (*deliverCmd) Help() string {
	return `    wiebelt deliver FILE... [--no-wait] [--json] [--dry-run] [--strict] [--max-age 4h] [--intermediary NAME]
    wiebelt deliver --build MESSAGE.xml ATTACHMENT...
    wiebelt deliver --watch DIR
    wiebelt deliver service systemd|task

"wiebelt deliver send --help" lists every flag.

` + aboutDeliver
}

type deliverSendCmd struct {
	Wait         bool          `default:"true" negatable:"" help:"Wait until every file is decided (default); --no-wait only puts the files into the outbox and prints their ids."`
	JSON         bool          `name:"json" help:"Print one JSON object at the end, see below."`
	Intermediary string        `help:"Message box to deliver to, instead of hub.intermediary." placeholder:"NAME"`
	Build        bool          `help:"Make one message of the first file (XML) and the others (attachments), and deliver that."`
	DryRun       bool          `name:"dry-run" help:"Only check the files; nothing is kept or sent."`
	Strict       bool          `help:"Refuse files with warnings, too."`
	Uncertain    string        `help:"What happens to a message that is maybe delivered: hold (a person resolves it) or retry (it may arrive twice)." enum:"hold,retry," default:""`
	Duplicate    string        `help:"What happens to a file that was delivered before: skip, send or refuse." enum:"skip,send,refuse," default:""`
	MaxAge       time.Duration `name:"max-age" help:"Give a file up that is not delivered after this long, instead of after three days." placeholder:"4h"`
	Report       string        `help:"Folder for the report; otherwise in the profile." placeholder:"DIR" type:"path"`
	Watch        string        `help:"Deliver what is put into DIR, until stopped. A file counts when it has stopped growing; it is moved to DIR/sent or DIR/refused." placeholder:"DIR" type:"path"`
	Files        []string      `arg:"" optional:"" sep:"none" help:"Files, folders (their .zip files), patterns such as out/*.zip, and @list.txt with one of these a line."`
}

// Help is what "wiebelt deliver --help" says below the flags.
func (*deliverSendCmd) Help() string {
	return aboutDeliver
}

const aboutDeliver = `Every file is copied into the outbox before it counts. The outbox outlives restarts, sleep and a network that is gone; what is in it goes out as long as one "wiebelt deliver" waits, or Wiebelt runs.

Exit codes: 0 every file was delivered, 5 some were refused, 6 some are maybe delivered or still waiting, 7 the queue is on hold until an administrator acts; 1 a file could not be put into the outbox, or there was none. The highest that applies counts, but 1 before all.

When the waiting ends, one line counts the files, and report-TIME.json and report-TIME.csv say what became of each.

--json prints what the report holds: started, ended, exit, hold (why the queue is on hold, "" if it is not), summary (delivered, refused, uncertain, waiting, not_taken), report (path), and files: file, id, sha256, size, outcome (delivered, refused, uncertain, waiting, not_taken), reason, status, attempts, duplicate, added, first_try, last_try, decided, findings (of the look into the file: code, severity, entry, element, line). Times are RFC 3339 or "".

With --watch it prints one such object a file, on a line of its own.`

// Run implements the command.
func (c *deliverSendCmd) Run(e *env) error {
	switch {
	case c.Watch != "" && (len(c.Files) > 0 || c.Build || c.DryRun || !c.Wait):
		return &exitError{exitUsage, "--watch goes without files, --build, --dry-run and --no-wait"}
	case c.Watch == "" && len(c.Files) == 0:
		return &exitError{exitUsage, "give the files to deliver, or --watch DIR; see wiebelt deliver --help"}
	case c.MaxAge < 0:
		return &exitError{exitUsage, "--max-age: a time such as 4h"}
	}
	p, err := e.deliverPlace()
	if err != nil {
		return err
	}
	sources, err := c.sources(p)
	if err != nil {
		return err
	}
	if c.DryRun {
		return c.dryRun(e, p, sources)
	}
	h := &hubs{p: p, log: slog.New(slog.DiscardHandler)}
	defer h.close()
	if _, err := h.to(c.intermediary(p)); err != nil {
		return &exitError{exitFailed, "not set up: " + strings.TrimPrefix(detailOf(err), "not set up: ")}
	}
	o := p.options()
	o.Hub, o.Check = h.to, outbox.Inspect(c.Strict)
	o.Uncertain, o.Duplicate = cmp.Or(c.Uncertain, o.Uncertain), cmp.Or(c.Duplicate, o.Duplicate)
	run := &delivery{e: e, p: p, cmd: c}
	o.Progress = run.progress
	if run.b, err = p.open(e, o); err != nil {
		return err
	}
	defer func() { _ = run.b.Close() }()
	if c.Watch != "" {
		return run.watch()
	}
	return run.send(sources)
}

func (c *deliverSendCmd) intermediary(p deliverPlace) string {
	return cmp.Or(c.Intermediary, p.s.Hub.Intermediary)
}

func detailOf(err error) string {
	var l *contact.LookupError
	if errors.As(err, &l) {
		return l.Detail
	}
	return err.Error()
}

// dryRun checks and tells, and keeps nothing.
func (c *deliverSendCmd) dryRun(e *env, p deliverPlace, sources []outbox.Source) error {
	check := checker(outbox.Inspect(c.Strict))
	var all []deliverFile
	refused := 0
	for _, s := range sources {
		f := deliverFile{File: s.Path, Outcome: "waiting"}
		if err := tryFile(e.ctx, s, p.dirs.Run, check, &f); err != nil {
			f.refuse(p, err)
			refused++
		}
		all = append(all, f)
		if !c.JSON {
			word := p.lang.T(text.DeliveryWouldSend)
			if f.Outcome != "waiting" {
				word = p.lang.T(text.DeliveryState(f.Outcome)) + ": " + f.Why
			} else if mind := f.mind(p.lang); mind != "" {
				word += "; " + mind
			}
			fmt.Fprintf(e.out, "%s: %s\n", oneLine(f.File), oneLine(word))
		}
		if e.ctx.Err() != nil {
			return e.ctx.Err()
		}
	}
	if c.JSON {
		if err := json.NewEncoder(e.out).Encode(map[string]any{"files": all}); err != nil {
			return err
		}
	}
	if refused > 0 {
		return &exitError{exitRefused, ""}
	}
	return nil
}
