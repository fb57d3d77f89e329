package cli

import (
	"cmp"
	"context"
	"errors"
	"fmt"
	"path/filepath"
	"slices"
	"sync/atomic"
	"time"

	"wiebelt/internal/config/fromsettings"
	"wiebelt/internal/config/settings"
	"wiebelt/internal/delivery/outbox"
	"wiebelt/internal/filetrust"
	"wiebelt/internal/text"
)

// delivery is one run of the command.
type delivery struct {
	e   *env
	p   deliverContext
	cmd *deliverSendCmd
	b   *outbox.Outbox

	hub     atomic.Pointer[settings.Hub] // for senders, on the worker's goroutine too
	senders *fromsettings.Senders
	bar     *deliverBar

	files     []deliverFile
	started   time.Time
	outboxErr error // of the outbox; problems with a file are in files
}

// send puts the files into the outbox and, unless told otherwise, waits
// until they are decided.
func (r *delivery) send(sources []outbox.Source) error {
	r.started = time.Now()
	if !r.cmd.Wait {
		r.add(sources)
		return r.reportHandedOver()
	}
	return r.deliver(func(ctx context.Context) error {
		r.add(sources)
		return r.awaitDecisions(ctx)
	})
}

// drain sends what waits in the outbox, until nothing does or the limit has passed.
func (r *delivery) drain(limit time.Duration) error {
	r.started = time.Now()
	return r.deliver(func(ctx context.Context) error {
		if limit > 0 {
			var end context.CancelFunc
			ctx, end = context.WithTimeout(ctx, limit)
			defer end()
		}
		known := map[string]bool{}
		for ctx.Err() == nil {
			ids, err := r.b.Undecided(ctx)
			var items []outbox.Item
			if err == nil {
				items, err = r.b.Items(ctx, slices.DeleteFunc(ids, func(id string) bool { return known[id] }))
			}
			if ctx.Err() != nil {
				break
			}
			if err != nil || len(items) == 0 {
				return err
			}
			for _, it := range items {
				known[it.ID] = true
				f := deliverFile{File: it.Path}
				f.setItem(it)
				r.files = append(r.files, f)
			}
			if err := r.awaitDecisions(ctx); err != nil {
				return err
			}
		}
		return nil
	})
}

// deliver works on the outbox, or waits for its turn, while do runs. If it cannot
// work, it cancels do.
func (r *delivery) deliver(do func(context.Context) error) error {
	ctx, cancel := context.WithCancel(r.e.ctx)
	defer cancel()
	// The user may have fixed what held the queue.
	if err := r.b.Release(ctx); err != nil {
		return r.p.troubleError(err)
	}
	stop := make(chan struct{})
	worked := make(chan error, 1)
	go func() {
		err := r.b.WorkWhenFree(ctx, stop)
		if err != nil {
			cancel()
		}
		worked <- err
	}()
	err := do(ctx)
	close(stop)
	return r.finish(cmp.Or(<-worked, err))
}

func (r *delivery) add(sources []outbox.Source) {
	seen := map[string]bool{} // items of this run
	for _, s := range sources {
		f := deliverFile{File: s.Path}
		r.outboxErr = cmp.Or(r.outboxErr, r.e.ctx.Err())
		if r.outboxErr != nil {
			f.Outcome = notTaken
			r.files = append(r.files, f)
			continue
		}
		a, err := r.b.Add(r.e.ctx, s)
		switch {
		case err == nil:
			f.setAdded(a)
			// An item that was waiting may have been sent by this run meanwhile.
			earlier := a.Item.State == outbox.Delivered && a.Item.Decided.Before(r.started)
			f.alreadyDelivered = a.Duplicate && (earlier || seen[a.Item.ID])
			f.decidedEarly = a.Item.State == outbox.Delivered
			seen[a.Item.ID] = true
		case errors.Is(err, outbox.ErrDuplicate):
			f.setAdded(a)
			f.decidedEarly, f.Outcome, f.Reason = true, string(outbox.Refused), "duplicate"
			f.Why = r.duplicateText(a.Item)
		case errors.Is(err, outbox.ErrRefused):
			f.refuse(r.p, err)
		default:
			r.outboxErr = err
			f.Outcome = notTaken
		}
		if a.Duplicate && err == nil && (f.alreadyDelivered || a.Item.State != outbox.Delivered) {
			fmt.Fprintf(r.e.err, "%s: %s\n", oneLine(f.File), r.duplicateText(a.Item))
		}
		r.files = append(r.files, f)
	}
}

// duplicateText says since when the same file has been in the outbox, and in which state.
func (r *delivery) duplicateText(it outbox.Item) string {
	state, when := it.State, it.Added
	switch state {
	case outbox.Delivered, outbox.Uncertain:
		when = it.Decided
	default:
		state = outbox.Waiting
	}
	return r.p.lang.T(text.DeliveryEarlier(string(state)), when.Local().Format("02-01-2006 15:04:05"))
}

// reportHandedOver finishes --no-wait.
func (r *delivery) reportHandedOver() error {
	end, code := r.p.troubleError(r.outboxErr), exitDone
	switch n := countOf(r.files); {
	case end != nil:
		code = exitFailed
	case n.NotTaken > 0:
		code, end = exitFailed, &failure{code: exitFailed}
	case n.Refused > 0:
		code, end = exitRefused, &failure{code: exitRefused}
	case n.Waiting > 0 && !r.b.Busy():
		code, end = exitUncertain, exitError(exitUncertain, text.DeliveryNobody)
	}
	if r.cmd.JSON {
		if err := r.e.printJSON(r.report(code, "")); err != nil {
			return err
		}
	} else {
		for _, f := range r.files {
			if f.ID != "" || f.alreadyDelivered {
				fmt.Fprintf(r.e.out, "%s  %s\n", cmp.Or(f.ID, "-"), oneLine(f.File))
			} else {
				fmt.Fprintf(r.e.err, "%s: %s\n", oneLine(f.File), oneLine(f.text(r.p)))
			}
		}
	}
	return end
}

// diskTimeout is how long the command waits for a failing disk.
const diskTimeout = time.Minute

var errHeld = errors.New("on hold")

// awaitDecisions waits until all files are decided. It returns errHeld if the queue is put on hold
// first, or the trouble if it lasts too long.
func (r *delivery) awaitDecisions(ctx context.Context) error {
	var ids []string
	var total int64
	for _, f := range r.files {
		if f.ID != "" && !f.decidedEarly {
			ids = append(ids, f.ID)
			total += f.Size
		}
	}
	r.bar.begin(r.p.lang.T(text.DeliveryProgress), total)
	defer r.bar.end()
	said := outbox.Reason("")
	var troubled time.Time
	var failed error
	// Follow does not report trouble that persists: check again every second.
	for ctx.Err() == nil {
		enough := false
		turn, end := context.WithTimeout(ctx, time.Second)
		err := r.b.Follow(turn, ids, func(items []outbox.Item, q outbox.Queue, t *outbox.Trouble) bool {
			left := 0
			for _, it := range items {
				if !it.State.IsFinal() {
					left++
				}
			}
			r.bar.updateItems(items)
			switch {
			case left == 0:
				enough = true
			case q.HoldReason != "":
				enough, failed = true, errHeld
			case t != nil:
				if troubled.IsZero() {
					troubled = time.Now()
					r.bar.printLine("wiebelt: " + r.p.lang.DeliveryTrouble(t.Kind))
				} else if time.Since(troubled) > diskTimeout {
					enough, failed = true, t
				}
			default:
				troubled = time.Time{}
			}
			if q.PauseReason != "" && q.PauseReason != said {
				said = q.PauseReason
				r.bar.printLine("wiebelt: " + r.p.lang.T(text.DeliveryWaits, r.p.reasonText(string(said), 0)))
			}
			return enough
		})
		end()
		if err != nil {
			return err
		}
		if enough {
			return failed
		}
	}
	return nil
}

// finish counts and reports the outcomes, and returns the exit code as an error.
func (r *delivery) finish(followed error) error {
	held := outbox.Reason("")
	// Even if the command was stopped, read what became of the files.
	ctx := context.WithoutCancel(r.e.ctx)
	if q, err := r.b.Queue(ctx); err == nil {
		held = q.HoldReason
	}
	var ids []string
	for _, f := range r.files {
		ids = append(ids, f.ID)
	}
	items, err := r.b.Items(ctx, ids)
	if err != nil {
		return r.p.troubleError(err)
	}
	r.update(items)
	n := countOf(r.files)
	code := n.code(held != "")
	if code != exitHold {
		held = ""
	}
	if err := r.finishReport(code, n, held); err != nil {
		return err
	}
	return r.exitError(code, held, followed)
}

func (r *delivery) finishReport(code int, n deliverCount, held outbox.Reason) error {
	report := r.report(code, held)
	path, err := "", error(nil)
	if len(r.files) > 0 {
		path, err = writeReport(cmp.Or(r.cmd.Report, filepath.Join(r.p.dir(), outbox.ReportsName)), r.started, &report)
	}
	if err != nil {
		fmt.Fprintf(r.e.err, "wiebelt: %s: %s\n", r.p.lang.T(text.DeliveryNoReport), oneLine(filetrust.WithoutPath(err).Error()))
	}
	if r.cmd.JSON {
		return r.e.printJSON(report)
	}
	r.reportProblems()
	fmt.Fprintln(r.e.out, n.line(r.p.lang))
	if n.Uncertain > 0 {
		fmt.Fprintln(r.e.err, r.p.lang.T(text.DeliveryResolve))
	}
	if path != "" {
		fmt.Fprintln(r.e.err, r.p.lang.T(text.DeliveryReport, path))
	}
	return nil
}

// exitError returns the error with which the command ends.
func (r *delivery) exitError(code int, held outbox.Reason, followed error) error {
	var t *outbox.Trouble
	switch {
	case code == exitHold:
		return &failure{code, errors.New(r.p.holdText(held))}
	case errors.As(r.outboxErr, &t), errors.As(followed, &t):
		return &failure{cmp.Or(code, exitFailed), errors.New(r.p.lang.DeliveryTrouble(t.Kind))}
	case r.outboxErr != nil && !errors.Is(r.outboxErr, context.Canceled):
		return &failure{exitFailed, r.outboxErr}
	case followed != nil && !errors.Is(followed, errHeld):
		return &failure{cmp.Or(code, exitFailed), followed}
	case code != exitDone:
		return &failure{code: code}
	}
	return nil
}

// maxReported is how many files are named on the screen.
const maxReported = 20

// reportProblems names the files that were not delivered, then what is odd about the others.
func (r *delivery) reportProblems() {
	r.printEach(func(f *deliverFile) string {
		if f.Outcome == string(outbox.Delivered) {
			return ""
		}
		return f.text(r.p)
	})
	r.printEach(func(f *deliverFile) string {
		if f.Duplicate || f.Outcome == string(outbox.Refused) || f.Outcome == notTaken {
			return "" // already reported
		}
		return f.warning(r.p.lang)
	})
}

// printEach prints a line for every file for which say returns one.
func (r *delivery) printEach(say func(*deliverFile) string) {
	named := 0
	for i := range r.files {
		what := say(&r.files[i])
		if what == "" {
			continue
		}
		if named++; named <= maxReported {
			fmt.Fprintf(r.e.err, "%s: %s\n", oneLine(r.files[i].File), oneLine(what))
		}
	}
	if named > maxReported {
		fmt.Fprintln(r.e.err, r.p.lang.N(text.DeliveryMore, named-maxReported))
	}
}
