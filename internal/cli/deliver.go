package cli

import (
	"cmp"
	"errors"
	"fmt"
	"time"

	"wiebelt/internal/config/fromsettings"
	"wiebelt/internal/config/settings"
	"wiebelt/internal/delivery/outbox"
	"wiebelt/internal/hub"
	"wiebelt/internal/text"
)

// Exit codes of deliver.
const (
	exitRefused   = 5
	exitUncertain = 6
	exitHold      = 7
)

type deliverCmd struct {
	Send    deliverSendCmd    `cmd:"" default:"withargs"`
	List    deliverListCmd    `cmd:""`
	Drain   deliverDrainCmd   `cmd:""`
	Retry   deliverRetryCmd   `cmd:""`
	Forget  deliverForgetCmd  `cmd:""`
	Receipt deliverReceiptCmd `cmd:""`
	Resolve deliverResolveCmd `cmd:""`
	Service deliverServiceCmd `cmd:""`
}

type deliverSendCmd struct {
	Wait         bool   `default:"true" negatable:""`
	JSON         bool   `name:"json"`
	Intermediary string `placeholder:"NAME"`
	Build        bool
	DryRun       bool `name:"dry-run"`
	Strict       bool
	Uncertain    string        `enum:"hold,retry," default:""`
	Duplicate    string        `enum:"skip,send,refuse," default:""`
	MaxAge       time.Duration `name:"max-age" placeholder:"4h"`
	Report       string        `placeholder:"DIR" type:"path"`
	Watch        string        `placeholder:"DIR" type:"path"`
	Files        []string      `arg:"" optional:"" sep:"none"`
}

// Run implements the command.
func (c *deliverSendCmd) Run(e *env) error {
	p, err := e.prepareDeliver()
	if err != nil {
		return err
	}
	switch {
	case c.Watch != "" && (len(c.Files) > 0 || c.Build || c.DryRun || !c.Wait):
		return usageError(text.DeliveryWatchAlone)
	case c.Watch == "" && len(c.Files) == 0:
		return usageError(text.DeliveryGiveFiles)
	case c.MaxAge < 0:
		return usageError(text.DeliveryBadTime, "--max-age")
	case !hub.ValidIntermediary(c.Intermediary):
		return usageError(text.DeliveryBadBox, c.Intermediary)
	}
	sources, err := c.sources(p)
	if err != nil {
		return err
	}
	if c.DryRun {
		return c.dryRun(e, p, sources)
	}
	err = c.withDelivery(e, p, func(r *delivery) error {
		if _, err := r.senders.Client(c.intermediary(p)); err != nil {
			if c.intermediary(p) == "" {
				return exitError(exitFailed, text.DeliveryNoBox)
			}
			return exitError(exitFailed, text.DeliveryNotSetUp, cmp.Or(lookupDetail(err), err.Error()))
		}
		if c.Watch != "" {
			return r.watch()
		}
		return r.send(sources)
	})
	if errors.Is(err, errNewer) {
		return runNewest()
	}
	return err
}

// withDelivery opens the outbox, delivers with do and closes it.
func (c *deliverSendCmd) withDelivery(e *env, p deliverContext, do func(*delivery) error) error {
	run := &delivery{e: e, p: p, cmd: c, bar: &deliverBar{w: e.err}}
	run.hub.Store(&p.s.Hub)
	run.senders = &fromsettings.Senders{Dirs: p.dirs, Settings: func() settings.Hub { return *run.hub.Load() }}
	defer run.senders.Close()
	o := p.options()
	o.Hub, o.Check, o.Progress = run.senders.Client, outbox.Inspect(c.Strict), run.bar.progress
	o.Policy = c.policy(p)
	var err error
	if run.b, err = p.open(e, o); err != nil {
		return err
	}
	defer func() { _ = run.b.Close() }()
	return do(run)
}

// policy returns the settings' delivery policy, as overridden by the command's flags.
func (c *deliverSendCmd) policy(p deliverContext) outbox.Policy {
	all := fromsettings.DeliveryPolicy(p.s)
	all.Uncertain, all.Duplicate = cmp.Or(c.Uncertain, all.Uncertain), cmp.Or(c.Duplicate, all.Duplicate)
	return all
}

func (c *deliverSendCmd) intermediary(p deliverContext) string {
	return cmp.Or(c.Intermediary, p.s.Hub.Intermediary)
}

// dryRun checks and reports, and keeps nothing.
func (c *deliverSendCmd) dryRun(e *env, p deliverContext, sources []outbox.Source) error {
	var all []deliverFile
	for _, s := range sources {
		f := deliverFile{File: s.Path, Outcome: "waiting"}
		var err error
		if f.Size, f.Findings, err = outbox.DryRun(e.ctx, s, p.dirs.Run, outbox.Inspect(c.Strict)); err != nil {
			f.refuse(p, err)
		}
		all = append(all, f)
		if !c.JSON {
			word := p.lang.T(text.DeliveryWouldSend)
			if f.Outcome != "waiting" {
				word = f.text(p)
			} else if warning := f.warning(p.lang); warning != "" {
				word += "; " + warning
			}
			fmt.Fprintf(e.out, "%s: %s\n", oneLine(f.File), oneLine(word))
		}
		if e.ctx.Err() != nil {
			return e.ctx.Err()
		}
	}
	if c.JSON {
		if err := e.printJSON(map[string]any{"files": all}); err != nil {
			return err
		}
	}
	n := countOf(all)
	n.Waiting = 0 // nothing is in the outbox
	if code := n.code(false); code != exitDone {
		return &failure{code: code}
	}
	return nil
}
