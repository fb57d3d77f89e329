package outboxworker

import (
	"context"
	"errors"
	"os"
	"path/filepath"
	"slices"
	"strconv"
	"time"

	"wiebelt/internal/core/call"
	"wiebelt/internal/core/wake"
	"wiebelt/internal/delivery/folderwatch"
	"wiebelt/internal/delivery/outbox"
	"wiebelt/internal/instance/windowapi"
	"wiebelt/internal/resident/request"
)

// maxCandidates limits the files that wait to be added, or are listed as not added.
const maxCandidates = 2000

// Codes of problems with given files, in addition to those of package outbox.
const (
	codeNoFiles = "no_files" // a folder without ZIP files
	codeTooMany = "too_many"
)

// candidate is a file given to the window that is not in the outbox: not yet, or not at
// all. Its fields are guarded by Worker.mu.
type candidate struct {
	id        string
	path      string
	duplicate string // what happens if it was delivered before; "" asks
	queued    bool   // not processed by processIntake yet
	row       windowapi.DeliveryFile
	takenAt   time.Time // when it was added, as row says; later snapshots have it
}

func (d *Worker) offer(paths []string) {
	d.mu.Lock()
	now := time.Now()
	for _, p := range paths {
		d.queue(p, now)
	}
	d.mu.Unlock()
	wake.Up(d.intakeReady)
	d.changed()
}

// queue adds a candidate for a path; d.mu must be held.
func (d *Worker) queue(path string, now time.Time) {
	d.count++
	c := &candidate{id: "n" + strconv.Itoa(d.count), path: path, queued: true}
	c.row = windowapi.DeliveryFile{ID: c.id, Name: request.Truncate(call.CleanText(filepath.Base(path), 255)), State: windowapi.DeliveryAdding, Added: now}
	switch {
	case len(d.intake) == maxCandidates:
		c.queued, c.path = false, ""
		c.row.State, c.row.Reason = string(outbox.Refused), codeTooMany
	case len(d.intake) > maxCandidates:
		return // reported once
	}
	d.intake = append([]*candidate{c}, d.intake...)
}

// processIntake adds the given files one after another until ctx ends.
func (d *Worker) processIntake(ctx context.Context) {
	for ctx.Err() == nil {
		c := d.oldest()
		if c == nil {
			select {
			case <-ctx.Done():
			case <-d.intakeReady:
			}
			continue
		}
		d.addFile(ctx, c)
		d.changed()
	}
}

func (d *Worker) oldest() *candidate {
	d.mu.Lock()
	defer d.mu.Unlock()
	for _, c := range slices.Backward(d.intake) {
		if c.queued {
			c.queued = false
			return c
		}
	}
	return nil
}

func (d *Worker) addFile(ctx context.Context, c *candidate) {
	info, err := os.Stat(c.path)
	if err == nil && info.IsDir() {
		d.folder(c)
		return
	}
	if err == nil {
		d.mu.Lock()
		c.row.Size = info.Size()
		d.mu.Unlock()
	}
	box, err := d.open(ctx, true)
	if err != nil {
		d.mu.Lock()
		defer d.mu.Unlock()
		c.row.State, c.row.Reason = windowapi.DeliveryNotTaken, outbox.TroubleKind(err)
		return
	}
	d.TriggerCheck() // it has to be delivered
	how, question := c.duplicate, false
	if how == "" {
		if how = d.p.Settings().Delivery.Duplicate; how != outbox.DuplicateSend && how != outbox.DuplicateRefuse {
			how, question = outbox.DuplicateRefuse, true
		}
	}
	a, err := box.Add(ctx, outbox.Source{Path: c.path, Intermediary: d.p.Settings().Hub.Intermediary, Duplicate: how})
	var r *outbox.RefusedError
	d.mu.Lock()
	defer d.mu.Unlock()
	switch {
	case err == nil:
		c.row.Item, c.row.State, c.takenAt = a.Item.ID, string(a.Item.State), time.Now()
	case ctx.Err() != nil:
	case errors.Is(err, outbox.ErrDuplicate):
		c.row.State, c.row.Reason, c.row.EarlierState = string(outbox.Refused), "duplicate", string(a.Item.State)
		if c.row.EarlierTime = a.Item.Added; a.Item.State == outbox.Delivered {
			c.row.EarlierTime = a.Item.Decided
		}
		if question {
			c.row.State = windowapi.DeliveryQuestion
		}
	case errors.As(err, &r):
		c.row.State, c.row.Reason, c.row.Findings = string(outbox.Refused), r.Code, firstFindings(r.Findings)
	default:
		c.row.State, c.row.Reason = windowapi.DeliveryNotTaken, outbox.TroubleKind(err)
	}
}

// folder replaces a folder's candidate by the ZIP files directly in it.
func (d *Worker) folder(c *candidate) {
	found, err := folderwatch.ZIPs(c.path)
	d.mu.Lock()
	defer d.mu.Unlock()
	for _, path := range found {
		d.queue(path, c.row.Added)
	}
	switch {
	case len(found) > 0:
		d.intake = slices.DeleteFunc(d.intake, func(o *candidate) bool { return o == c })
	case err != nil:
		c.row.State, c.row.Reason = string(outbox.Refused), "unreadable"
	default:
		c.row.State, c.row.Reason = string(outbox.Refused), codeNoFiles
	}
}

// settle drops the candidates that the outbox lists by now; d.mu must be held.
func (d *Worker) settle(listed map[string]bool, at time.Time) {
	d.intake = slices.DeleteFunc(d.intake, func(c *candidate) bool {
		return c.row.Item != "" && (listed[c.row.Item] || at.After(c.takenAt))
	})
}

// requeue queues a candidate once more; false if there is none with that ID, or
// it is being processed.
func (d *Worker) requeue(id, duplicate string) bool {
	d.mu.Lock()
	defer d.mu.Unlock()
	for _, c := range d.intake {
		if c.id != id || c.path == "" || c.queued || c.row.Item != "" || c.row.State == windowapi.DeliveryAdding {
			continue
		}
		c.duplicate, c.queued = duplicate, true
		c.row = windowapi.DeliveryFile{ID: id, Name: c.row.Name, Size: c.row.Size, Added: c.row.Added, State: windowapi.DeliveryAdding}
		wake.Up(d.intakeReady)
		return true
	}
	return false
}

// drop removes a candidate, unless it is being processed.
func (d *Worker) drop(id string) bool {
	d.mu.Lock()
	defer d.mu.Unlock()
	n := len(d.intake)
	d.intake = slices.DeleteFunc(d.intake, func(c *candidate) bool {
		return c.id == id && (c.queued || c.row.State != windowapi.DeliveryAdding)
	})
	return len(d.intake) < n
}
