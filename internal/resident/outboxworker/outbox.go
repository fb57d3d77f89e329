// Package outboxworker is the outbox as the resident has it: it delivers what is in
// there, takes the files that the delivery window gives, answers that window, and
// waits its turn while a command delivers.
//
// It owns the open outbox, the files that are not in it yet, and the clients that
// deliver; all under the lock of Worker, whose Run owns every goroutine. It
// imports config/fromsettings and resident/request; the tray, the windows and the
// settings that hold are functions that it is made with.
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
	// boxTick is how often changes by others are looked for: an idle resident has
	// next to nothing to do.
	boxTick = 5 * time.Second
	// boxAgain is the wait after the outbox failed.
	boxAgain = 5 * time.Second
	// newsEvery is how often windows are told how far it is.
	newsEvery = 250 * time.Millisecond
)

// Params is what deliveries are made with. The functions may be called from any
// goroutine and must not block.
type Params struct {
	Dirs     profile.Dirs
	Settings func() *settings.Settings // that hold now
	Language func() text.Language
	Told     func(health.Delivery)      // is told how the outbox is, whenever it was looked at
	Send     func(kind string, msg any) // to the windows that are open
	Log      *slog.Logger
}

// Worker is the outbox in the resident. Nothing is opened on a computer that
// never delivered. Its methods may be called from anywhere; Run owns the
// goroutines.
type Worker struct {
	p       Params
	dir     string
	wake    chan struct{} // Run looks at what is wanted
	news    chan struct{} // there is something to tell
	todo    chan struct{} // there is a file to take
	senders *fromsettings.Senders
	leave   func()     // ends the work at the outbox that is open, nil while nobody works there; Run's own
	opening sync.Mutex // held while the outbox is opened

	mu      sync.Mutex
	box     *outbox.Outbox // nil until it is needed; stays open until Close
	release bool           // the queue may go on
	opened  string         // kind of trouble with opening it
	notice  string         // what has happened to it, as a sentence
	lost    int            // files that went with a folder that was removed; told until notice is taken away
	last    *outbox.Snapshot
	sent    windowapi.Progress
	told    bool         // sent was
	another bool         // last, or intake, is another one than was told
	intake  []*candidate // not in the outbox yet, newest first
	count   int          // of candidates ever
}

// New is the outbox of a profile.
func New(p Params) *Worker {
	return &Worker{p: p, dir: fromsettings.OutboxFolder(p.Dirs), wake: make(chan struct{}, 1), news: make(chan struct{}, 1), todo: make(chan struct{}, 1), told: true,
		senders: &fromsettings.Senders{Dirs: p.Dirs, Settings: func() settings.Hub { return p.Settings().Hub }}}
}

// Look has Run look at what is wanted, and whether somebody else made an outbox: it is
// to be called every few seconds. It never blocks.
func (d *Worker) Look() { wake.Up(d.wake) }

// Run delivers until ctx ends.
func (d *Worker) Run(ctx context.Context) {
	var work sync.WaitGroup
	defer d.senders.Close()
	defer work.Wait()
	defer func() {
		if d.leave != nil {
			d.leave()
		}
	}()
	work.Go(func() { d.tell(ctx) })
	work.Go(func() { d.takeIn(ctx) })
	for {
		d.abandon(ctx)
		if box, err := d.open(ctx, false); err == nil && box != nil && d.leave == nil {
			d.tend(ctx, box)
		}
		d.goOn(ctx)
		select {
		case <-ctx.Done():
			return
		case <-d.wake:
		}
	}
}

// forever does what should only end with ctx.
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

// open is the outbox, opened if it is there, or needed; nil if it is not, or does not
// work.
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
			if kind := outbox.KindOf(err); kind != d.opened { // it is tried again and again
				d.p.Log.Error("the outbox cannot be opened", "why", err)
				d.opened = kind
			}
			d.p.Told(health.Delivery{Trouble: d.opened})
		}
		return nil, err
	}
	d.box, d.opened = box, ""
	if box.SetAside() != "" {
		d.notice = d.p.Language().T(text.DeliveryAside)
	}
	return box, nil
}

// Close closes the outbox once nobody uses it any more.
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

// current is the outbox, nil while it is not open.
func (d *Worker) current() *outbox.Outbox {
	d.mu.Lock()
	defer d.mu.Unlock()
	return d.box
}

func (d *Worker) options() outbox.Options {
	return outbox.Options{Dir: d.dir, Hub: d.senders.Client, Check: outbox.Inspect(false), Policy: fromsettings.DeliveryPolicy(d.p.Settings()),
		Progress: d.progress, Tick: boxTick, Log: d.p.Log}
}

// SettingsChanged makes other settings hold: what held the queue may be mended.
func (d *Worker) SettingsChanged(s *settings.Settings) {
	if d == nil {
		return
	}
	if box := d.current(); box != nil {
		if err := box.Configure(fromsettings.DeliveryPolicy(s)); err != nil {
			d.p.Log.Error("deliveries", "why", err)
		}
	}
	d.Recheck()
	d.changed()
}

// Recheck is called when what holds the queue may be no more.
func (d *Worker) Recheck() {
	if d == nil {
		return
	}
	d.senders.Renew()
	d.mu.Lock()
	d.release = true
	d.mu.Unlock()
	d.Look()
}

// goOn lets a queue go on that was held.
func (d *Worker) goOn(ctx context.Context) {
	d.mu.Lock()
	box, due := d.box, d.release
	d.release = false
	d.mu.Unlock()
	if box == nil || !due {
		return
	}
	q, err := box.Queue(ctx)
	if err == nil && q.Held != "" {
		err = box.Release(ctx)
	}
	if err != nil && ctx.Err() == nil {
		d.p.Log.Warn("outbox", "why", err)
	}
}

// saw takes over how the outbox is now.
func (d *Worker) saw(s *outbox.Snapshot) {
	listed := make(map[string]bool, len(s.Items))
	for _, it := range s.Items {
		listed[it.ID] = true
	}
	d.mu.Lock()
	if d.last != nil && s.At.Before(d.last.At) && d.last.At.Sub(s.At) < time.Minute {
		d.mu.Unlock()
		return // a later one came first; by more, the clock was put back
	}
	d.last = s
	d.settle(listed, s.At)
	d.mu.Unlock()
	d.report()
	d.changed()
}

// refresh looks at the outbox after a change of our own.
func (d *Worker) refresh(ctx context.Context) {
	if box := d.current(); box != nil {
		if s, err := box.Snapshot(ctx); err == nil && d.current() == box {
			d.saw(s)
		}
	}
}

// progress is the worker's.
func (d *Worker) progress(id string, sent, size int64) {
	d.mu.Lock()
	d.sent, d.told = windowapi.Progress{ID: id, Sent: sent, Size: size}, false
	d.mu.Unlock()
	wake.Up(d.news)
}

// changed has windows told how it is now.
func (d *Worker) changed() {
	d.mu.Lock()
	d.another = true
	d.mu.Unlock()
	wake.Up(d.news)
}

// tell tells windows of changes and of progress, a few times a second.
func (d *Worker) tell(ctx context.Context) {
	for {
		select {
		case <-ctx.Done():
			return
		case <-d.news:
		}
		d.mu.Lock()
		sent, told, another := d.sent, d.told, d.another
		d.told, d.another = true, false
		d.mu.Unlock()
		if !told {
			d.p.Send(windowapi.KindDelivery, windowapi.Delivery{Progress: &sent})
		}
		if another {
			for _, part := range d.parts() {
				d.p.Send(windowapi.KindDelivery, part)
			}
		}
		if wake.Pause(ctx, newsEvery) != nil {
			return
		}
	}
}
