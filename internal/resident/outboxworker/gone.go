package outboxworker

import (
	"context"
	"sync"
	"time"

	"wiebelt/internal/delivery/outbox"
	"wiebelt/internal/health"
	"wiebelt/internal/text"
)

// runOutbox works on and watches the outbox until ctx ends or d.leave is called.
func (d *Worker) runOutbox(ctx context.Context, box *outbox.Outbox) {
	ctx, end := context.WithCancel(ctx)
	var work sync.WaitGroup
	work.Go(func() { d.forever(ctx, func() error { return box.Join(ctx, nil) }) })
	work.Go(func() { d.forever(ctx, func() error { return box.Watch(ctx, d.setSnapshot) }) })
	d.leave = func() { end(); work.Wait() }
}

// abandon drops an outbox whose folder was removed, so that a new one can take its place,
// and reports how many items were lost.
func (d *Worker) abandon(ctx context.Context) {
	box := d.current()
	if box == nil || !box.Gone() {
		return
	}
	if d.leave != nil {
		d.leave()
		d.leave = nil
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

// dismiss removes the notice.
func (d *Worker) dismiss() {
	d.mu.Lock()
	d.notice, d.lost = "", 0
	d.mu.Unlock()
	d.report()
}

// report tells the tray what needs attention in deliveries.
func (d *Worker) report() {
	d.mu.Lock()
	f := health.Delivery{Trouble: d.opened, Lost: d.lost}
	if s := d.last; s != nil {
		f.Held, f.Uncertain = string(s.Queue.Held), s.Counts[outbox.Uncertain]
		if s.Trouble != "" {
			f.Trouble = s.Trouble
		}
	}
	d.mu.Unlock()
	d.p.Told(f)
}
