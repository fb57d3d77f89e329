// Package outboxworker runs the outbox in the resident: it delivers its items, adds
// the files given to the delivery window, answers that window, and waits its turn
// while a command delivers.
//
// It owns the open outbox, the files not in it yet, and the delivery clients; all under
// the lock of Worker, whose Run owns every goroutine. It imports config/fromsettings
// and resident/request; the tray, the windows and the current settings are
// functions passed to it.
package outboxworker

import (
	"context"
	"log/slog"
	"os"
	"path/filepath"
	"sync"
	"time"

	"wiebelt/internal/config/fromsettings"
	"wiebelt/internal/config/profile"
	"wiebelt/internal/config/settings"
	"wiebelt/internal/core/wake"
	"wiebelt/internal/delivery/outbox"
	"wiebelt/internal/health"
	"wiebelt/internal/instance/windowapi"
	"wiebelt/internal/text"
)

const (
	// boxTick is how often changes by others are checked: an idle resident has
	// next to nothing to do.
	boxTick = 5 * time.Second
	// boxAgain is the wait after a failure of the outbox.
	boxAgain = 5 * time.Second
	// newsEvery is the interval of progress messages to windows.
	newsEvery = 250 * time.Millisecond
)

// Params configures a Worker. The functions may be called from any goroutine
// and must not block.
type Params struct {
	Dirs     profile.Dirs
	Settings func() *settings.Settings // the current ones
	Language func() text.Language
	OnState  func(health.Delivery)      // receives the state of the outbox after every check
	Send     func(kind string, msg any) // to the open windows
	Log      *slog.Logger
}

// Worker is the outbox in the resident. On a computer that never delivered it opens
// nothing. It is safe for concurrent use; Run owns the goroutines.
type Worker struct {
	p           Params
	dir         string
	wake        chan struct{} // signals Run to check what is wanted
	changes     chan struct{} // there is something to report
	intakeReady chan struct{} // there is a file to add
	senders     *fromsettings.Senders
	stopOutbox  func()     // ends work on the open outbox, nil if there is none; Run's own
	opening     sync.Mutex // held while opening the outbox

	mu             sync.Mutex
	box            *outbox.Outbox // nil until it is needed; stays open until Close
	release        bool           // the queue may continue
	openFault      string         // kind of trouble opening it
	notice         string         // what has happened to it, as a sentence
	lost           int            // files lost with a removed folder; reported until dismissed
	last           *outbox.Snapshot
	unsentProgress *windowapi.Progress // not reported yet
	dirty          bool                // last or intake has changed since it was reported
	intake         []*candidate        // not in the outbox yet, newest first
	count          int                 // number of candidates so far
}

// New returns the Worker of a profile.
func New(p Params) *Worker {
	return &Worker{p: p, dir: fromsettings.OutboxFolder(p.Dirs), wake: make(chan struct{}, 1), changes: make(chan struct{}, 1), intakeReady: make(chan struct{}, 1),
		senders: &fromsettings.Senders{Dirs: p.Dirs, Settings: func() settings.Hub { return p.Settings().Hub }}}
}

// TriggerCheck triggers a check of what is wanted, and whether somebody else created an outbox: it
// must be called every few seconds. It never blocks.
func (d *Worker) TriggerCheck() { wake.Up(d.wake) }

// Run delivers until ctx ends.
func (d *Worker) Run(ctx context.Context) {
	var work sync.WaitGroup
	defer d.senders.Close()
	defer work.Wait()
	defer func() {
		if d.stopOutbox != nil {
			d.stopOutbox()
		}
	}()
	work.Go(func() { d.sendChanges(ctx) })
	work.Go(func() { d.processIntake(ctx) })
	for {
		d.abandon(ctx)
		if box, err := d.open(ctx, false); err == nil && box != nil && d.stopOutbox == nil {
			d.runOutbox(ctx, box)
		}
		d.resumeQueue(ctx)
		select {
		case <-ctx.Done():
			return
		case <-d.wake:
		}
	}
}

// runOutbox works on and watches the outbox until ctx ends or d.stopOutbox is called.
func (d *Worker) runOutbox(ctx context.Context, box *outbox.Outbox) {
	ctx, end := context.WithCancel(ctx)
	var work sync.WaitGroup
	work.Go(func() { d.forever(ctx, func() error { return box.WorkWhenFree(ctx, nil) }) })
	work.Go(func() { d.forever(ctx, func() error { return box.Watch(ctx, d.setSnapshot) }) })
	d.stopOutbox = func() { end(); work.Wait() }
}

// forever repeats do until ctx ends.
func (d *Worker) forever(ctx context.Context, do func() error) {
	for ctx.Err() == nil {
		err := do()
		if ctx.Err() != nil {
			return
		}
		d.p.Log.Error("the outbox failed", "why", err)
		_ = wake.Pause(ctx, boxAgain)
	}
}

// open returns the outbox, opened if it exists or is needed; nil if it
// does not exist or fails.
func (d *Worker) open(ctx context.Context, needed bool) (*outbox.Outbox, error) {
	d.opening.Lock()
	defer d.opening.Unlock()
	if box := d.current(); box != nil {
		return box, nil
	}
	if _, err := os.Stat(filepath.Join(d.dir, outbox.DatabaseName)); err != nil && !needed {
		return nil, nil
	}
	box, err := outbox.Open(ctx, d.options())
	d.mu.Lock()
	defer d.mu.Unlock()
	if err != nil {
		if ctx.Err() == nil {
			if kind := outbox.TroubleKind(err); kind != d.openFault { // it is retried repeatedly
				d.p.Log.Error("the outbox cannot be opened", "why", err)
				d.openFault = kind
			}
			d.p.OnState(health.Delivery{Trouble: d.openFault})
		}
		return nil, err
	}
	d.box, d.openFault = box, ""
	if box.AsidePath() != "" {
		d.notice = d.p.Language().T(text.DeliveryAside)
	}
	return box, nil
}

// Close closes the outbox once it is no longer used.
func (d *Worker) Close() {
	d.mu.Lock()
	defer d.mu.Unlock()
	if d.box == nil {
		return
	}
	if err := d.box.Close(); err != nil {
		d.p.Log.Warn("outbox", "why", err)
	}
}

// current returns the outbox, nil if it is not open.
func (d *Worker) current() *outbox.Outbox {
	d.mu.Lock()
	defer d.mu.Unlock()
	return d.box
}

func (d *Worker) options() outbox.Options {
	return outbox.Options{Dir: d.dir, Hub: d.senders.Client, Check: outbox.Inspect(false), Policy: fromsettings.DeliveryPolicy(d.p.Settings()),
		Progress: d.progress, Tick: boxTick, Log: d.p.Log}
}

// SettingsChanged applies other settings: the cause of a hold may be fixed.
func (d *Worker) SettingsChanged(s *settings.Settings) {
	if d == nil {
		return
	}
	if box := d.current(); box != nil {
		box.Configure(fromsettings.DeliveryPolicy(s))
	}
	d.Recheck()
	d.changed()
}

// Recheck must be called when the cause of a hold may be gone.
func (d *Worker) Recheck() {
	if d == nil {
		return
	}
	d.senders.Renew()
	d.mu.Lock()
	d.release = true
	d.mu.Unlock()
	d.TriggerCheck()
}

func (d *Worker) resumeQueue(ctx context.Context) {
	d.mu.Lock()
	box, due := d.box, d.release
	d.release = false
	d.mu.Unlock()
	if box == nil || !due {
		return
	}
	q, err := box.Queue(ctx)
	if err == nil && q.HoldReason != "" {
		err = box.Release(ctx)
	}
	if err != nil && ctx.Err() == nil {
		d.p.Log.Warn("outbox", "why", err)
	}
}

// setSnapshot takes over the current state of the outbox.
func (d *Worker) setSnapshot(s *outbox.Snapshot) {
	listed := make(map[string]bool, len(s.Items))
	for _, it := range s.Items {
		listed[it.ID] = true
	}
	d.mu.Lock()
	if d.last != nil && s.At.Before(d.last.At) && d.last.At.Sub(s.At) < time.Minute {
		d.mu.Unlock()
		return // a later one came first; if much later, the clock was set back
	}
	d.last = s
	d.settle(listed, s.At)
	d.mu.Unlock()
	d.report()
	d.changed()
}

// refresh reads the outbox after a change of our own.
func (d *Worker) refresh(ctx context.Context) {
	if box := d.current(); box != nil {
		if s, err := box.Snapshot(ctx); err == nil && d.current() == box {
			d.setSnapshot(s)
		}
	}
}

// abandon drops an outbox whose folder was removed, so that a new one can take its place,
// and reports how many items were lost.
func (d *Worker) abandon(ctx context.Context) {
	box := d.current()
	if box == nil || !box.Gone() {
		return
	}
	if d.stopOutbox != nil {
		d.stopOutbox()
		d.stopOutbox = nil
	}
	// If the removed file is still readable, this is newer than the last snapshot.
	now, _ := box.Snapshot(ctx)
	d.mu.Lock()
	if now == nil {
		now = d.last
	}
	n := 0
	if now != nil {
		n = now.Counts[outbox.Waiting] + now.Counts[outbox.Sending] + now.Counts[outbox.Uncertain]
	}
	d.box, d.last = nil, nil
	d.settle(nil, time.Now())
	if d.lost += n; d.lost > 0 {
		d.notice = d.p.Language().N(text.DeliveryLost, d.lost)
	}
	d.mu.Unlock()
	_ = box.Close() // its file is gone
	d.p.Log.Error("the folder of the outbox was removed", "undelivered", n)
	d.report()
	d.changed()
}

// report tells the tray what needs attention in deliveries.
func (d *Worker) report() {
	d.mu.Lock()
	f := health.Delivery{Trouble: d.openFault, Lost: d.lost}
	if s := d.last; s != nil {
		f.HoldReason, f.Uncertain = string(s.Queue.HoldReason), s.Counts[outbox.Uncertain]
		if s.Trouble != "" {
			f.Trouble = s.Trouble
		}
	}
	d.mu.Unlock()
	d.p.OnState(f)
}

func (d *Worker) progress(id string, sent, size int64) {
	d.mu.Lock()
	d.unsentProgress = &windowapi.Progress{ID: id, Sent: sent, Size: size}
	d.mu.Unlock()
	wake.Up(d.changes)
}

func (d *Worker) changed() {
	d.mu.Lock()
	d.dirty = true
	d.mu.Unlock()
	wake.Up(d.changes)
}

// sendChanges sends changes and progress to windows, a few times a second.
func (d *Worker) sendChanges(ctx context.Context) {
	for {
		select {
		case <-ctx.Done():
			return
		case <-d.changes:
		}
		d.mu.Lock()
		sent, changed := d.unsentProgress, d.dirty
		d.unsentProgress, d.dirty = nil, false
		d.mu.Unlock()
		if sent != nil {
			d.p.Send(windowapi.KindDelivery, windowapi.Delivery{Progress: sent})
		}
		if changed {
			for _, part := range d.parts() {
				d.p.Send(windowapi.KindDelivery, part)
			}
		}
		if wake.Pause(ctx, newsEvery) != nil {
			return
		}
	}
}
