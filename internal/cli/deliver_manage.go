package cli

import (
	"cmp"
	"errors"
	"fmt"
	"slices"
	"time"

	"wiebelt/internal/core/displaytext"
	"wiebelt/internal/delivery/outbox"
	"wiebelt/internal/text"
)

// withOutbox opens the outbox for a command that manages it.
func (e *env) withOutbox(do func(deliverContext, *outbox.Outbox) error) (err error) {
	p, err := e.prepareDeliver()
	if err != nil {
		return err
	}
	b, err := p.open(e, p.options())
	if err != nil {
		return err
	}
	defer func() { err = errors.Join(err, b.Close()) }()
	if err := b.Recover(e.ctx); err != nil { // a full disk, perhaps: its content can still be shown
		fmt.Fprintln(e.err, "wiebelt:", oneLine(p.troubleError(err).Error()))
	}
	return p.troubleError(do(p, b))
}

// itemErrors lists what can be wrong with an item, most specific first.
var itemErrors = []struct {
	is   error
	code int
	says text.Key
}{
	{outbox.ErrNoItem, exitNotFound, text.DeliveryNoItem}, {outbox.ErrUndecided, exitFailed, text.DeliveryUndecided},
	{outbox.ErrDuplicate, exitFailed, text.DeliveryTwin}, {outbox.ErrNoCopy, exitFailed, text.DeliveryNoCopy},
	{outbox.ErrState, exitFailed, text.DeliveryOtherState},
}

// itemError returns an error that names the item.
func itemError(id string, err error) error {
	for _, e := range itemErrors {
		if errors.Is(err, e.is) {
			return exitError(e.code, e.says, id)
		}
	}
	return err
}

// ids returns the full ids of items from given prefixes.
func (e *env) ids(b *outbox.Outbox, given ...string) (ids []string, err error) {
	for _, id := range given {
		it, err := b.Get(e.ctx, id)
		if err != nil {
			return nil, itemError(id, err)
		}
		ids = append(ids, it.ID)
	}
	return ids, nil
}

type deliverListCmd struct {
	All  bool
	JSON bool `name:"json"`
}

type deliverListed struct {
	deliverFile
	NextTry      string `json:"next_try"`
	Intermediary string `json:"intermediary"`
	Note         string `json:"note"`
	HasCopy      bool   `json:"kept"` // our copy exists
}

func newListed(it outbox.Item) deliverListed {
	x := deliverListed{deliverFile: deliverFile{File: it.Path}, NextTry: stamp(it.NextTry), Intermediary: it.Intermediary, Note: it.Note, HasCopy: it.HasCopy}
	x.setItem(it)
	x.Outcome = string(it.State)
	return x
}

func (c *deliverListCmd) Run(e *env) error {
	return e.withOutbox(func(p deliverContext, b *outbox.Outbox) error {
		s, err := b.Snapshot(e.ctx)
		if err != nil {
			return err
		}
		more := -len(s.Items)
		for _, n := range s.Counts {
			more += n
		}
		items := slices.DeleteFunc(s.Items, func(it outbox.Item) bool { return !c.All && it.State == outbox.Delivered })
		if c.JSON {
			all := []deliverListed{}
			for _, it := range items {
				all = append(all, newListed(it))
			}
			return e.printJSON(map[string]any{"hold": s.Queue.HoldReason, "paused": s.Queue.PauseReason, "working": s.Working,
				"counts": s.Counts, "more": more, "items": all})
		}
		if s.Queue.HoldReason != "" {
			fmt.Fprintln(e.err, p.holdText(s.Queue.HoldReason))
		}
		w := e.table()
		for _, it := range items {
			when := cmp.Or(it.Decided, it.Added)
			fmt.Fprintf(w, "%s\t%s\t%s\t%s\t%s\n", it.ID, p.lang.T(text.DeliveryState(string(it.State))), when.Local().Format("02-01-2006 15:04"),
				displaytext.Truncate(it.Name, 60), p.reasonText(string(it.Reason), it.Status))
		}
		if more > 0 {
			fmt.Fprintln(e.err, p.lang.N(text.DeliveryWindowMore, more))
		}
		return w.Flush()
	})
}

type deliverRetryCmd struct {
	All bool
	IDs []string `arg:"" optional:"" name:"id"`
}

func (c *deliverRetryCmd) Run(e *env) error {
	return e.withOutbox(func(p deliverContext, b *outbox.Outbox) error {
		ids, err := e.ids(b, c.IDs...)
		if err == nil && c.All {
			var all []string
			all, err = b.Retriable(e.ctx)
			ids = append(all, ids...)
		}
		if err != nil {
			return err
		}
		for _, id := range ids {
			switch _, err := b.Retry(e.ctx, id); {
			case err == nil:
				fmt.Fprintln(e.out, id)
			case !c.All || !errors.Is(err, outbox.ErrState) && !errors.Is(err, outbox.ErrNoItem) && !errors.Is(err, outbox.ErrDuplicate):
				return itemError(id, err)
			} // else another process delivers and was quicker, or has delivered it as another file
		}
		if err := b.Release(e.ctx); err != nil {
			return err
		}
		waiting, err := b.Undecided(e.ctx)
		switch {
		case err != nil || len(waiting) == 0:
			return err
		case !b.Busy():
			return exitError(exitUncertain, text.DeliveryNobody)
		}
		fmt.Fprintln(e.err, p.lang.T(text.DeliverySomebody))
		return nil
	})
}

type deliverForgetCmd struct {
	Delivered bool
	Force     bool
	IDs       []string `arg:"" optional:"" name:"id"`
}

func (c *deliverForgetCmd) Run(e *env) error {
	return e.withOutbox(func(p deliverContext, b *outbox.Outbox) error {
		if !c.Delivered && len(c.IDs) == 0 {
			return usageError(text.DeliveryGiveIDs)
		}
		ids, err := e.ids(b, c.IDs...)
		for _, id := range ids {
			if err := b.Forget(e.ctx, id, c.Force); err != nil {
				return itemError(id, err)
			}
		}
		n := 0
		if err == nil && c.Delivered {
			n, err = b.ForgetDelivered(e.ctx)
		}
		if err != nil {
			return err
		}
		_, err = fmt.Fprintln(e.out, len(c.IDs)+n)
		return err
	})
}

type deliverReceiptCmd struct {
	JSON bool   `name:"json"`
	ID   string `arg:""`
}

func (c *deliverReceiptCmd) Run(e *env) error {
	return e.withOutbox(func(p deliverContext, b *outbox.Outbox) error {
		it, err := b.Get(e.ctx, c.ID)
		if err != nil {
			return itemError(c.ID, err)
		}
		all, err := b.Receipts(e.ctx, it.ID)
		if err != nil {
			return err
		}
		if c.JSON {
			return c.json(e, it, all)
		}
		fmt.Fprintf(e.out, "%s  %s\nsha256 %s\n%s", it.ID, displaytext.Truncate(it.Path, 1000), it.SHA256, p.lang.T(text.DeliveryState(string(it.State))))
		if why := p.reasonText(string(it.Reason), it.Status); why != "" {
			fmt.Fprintf(e.out, ": %s", why)
		}
		if it.Note != "" {
			fmt.Fprintf(e.out, " (%s)", displaytext.Truncate(it.Note, 500))
		}
		fmt.Fprintln(e.out)
		for _, r := range all {
			body := displaytext.Truncate(r.Body, 4096)
			if r.Truncated {
				body += " […]"
			}
			fmt.Fprintf(e.out, "%d  %s  %s  %s\n", r.TryNumber, r.Ended.Local().Format(time.DateTime), p.reasonText(string(r.Reason),
				r.Status), body)
		}
		return nil
	})
}

func (c *deliverReceiptCmd) json(e *env, it outbox.Item, all []outbox.Receipt) error {
	type receipt struct {
		N         int    `json:"n"`
		Began     string `json:"began"`
		Ended     string `json:"ended"`
		Status    int    `json:"status"`
		Class     string `json:"class"`
		Reason    string `json:"reason"`
		Body      string `json:"body"`
		Truncated bool   `json:"cut"` // body is only a part of the hub's answer
		SHA256    string `json:"sha256"`
	}
	x := struct {
		deliverListed
		Receipts []receipt `json:"receipts"`
	}{newListed(it), []receipt{}}
	for _, r := range all {
		x.Receipts = append(x.Receipts, receipt{r.TryNumber, stamp(r.Began), stamp(r.Ended), r.Status, r.Class, string(r.Reason), r.Body, r.Truncated, it.SHA256})
	}
	return e.printJSON(x)
}

type deliverResolveCmd struct {
	Delivered bool   `xor:"what" required:""`
	Again     bool   `xor:"what" required:""`
	Note      string `required:"" placeholder:"TEXT"`
	ID        string `arg:""`
}

func (c *deliverResolveCmd) Run(e *env) error {
	return e.withOutbox(func(_ deliverContext, b *outbox.Outbox) error {
		it, err := b.Get(e.ctx, c.ID)
		if err == nil {
			it, err = b.Resolve(e.ctx, it.ID, c.Delivered, c.Note)
		}
		if err != nil {
			return itemError(c.ID, err)
		}
		_, err = fmt.Fprintln(e.out, it.ID, it.State)
		return err
	})
}

type deliverDrainCmd struct {
	For    time.Duration `placeholder:"1h"`
	JSON   bool          `name:"json"`
	Report string        `placeholder:"DIR" type:"path"`
}

func (c *deliverDrainCmd) Run(e *env) error {
	p, err := e.prepareDeliver()
	if err != nil {
		return err
	}
	if c.For < 0 {
		return usageError(text.DeliveryBadTime, "--for")
	}
	return (&deliverSendCmd{Wait: true, JSON: c.JSON, Report: c.Report}).withDelivery(e, p, func(r *delivery) error { return r.drain(c.For) })
}
