package outbox

import (
	"context"
	"database/sql"
	"errors"
	"time"

	"github.com/gofrs/flock"

	"wiebelt/internal/core/wake"
	"wiebelt/internal/hub"
	"wiebelt/internal/store/sqlitefile"
)

// answerTimeout is how long a request sent in full may continue
// after ctx has ended, since its answer is worth waiting for.
const answerTimeout = 10 * time.Second

// result is what to record about a request for one of its items.
type result struct {
	id      string
	outcome outcome
	receipt Receipt
}

// Work runs the worker: it sends what is due until ctx ends, or until stop
// is closed and the current request has ended; a nil stop is never closed.
// It returns ErrBusy at once if another worker is running. Trouble with the
// disk does not end it: it is reported in Snapshot, and the worker retries.
func (b *Outbox) Work(ctx context.Context, stop <-chan struct{}) error {
	l := b.lock()
	if err := acquire(ctx, l); ctx.Err() != nil && err != nil {
		return nil
	} else if err != nil {
		return err
	}
	defer func() { _ = l.Unlock() }()
	defer b.setTrouble(nil)
	ready := false
	for {
		var again bool
		var wait time.Duration
		err := error(nil)
		if !ready {
			err = b.recover(ctx)
			ready = err == nil
		}
		if err == nil {
			again, wait, err = b.step(ctx)
		}
		if ctx.Err() != nil {
			return nil
		}
		if t := (*Trouble)(nil); errors.As(err, &t) {
			b.setTrouble(t)
			wait = b.o.Tick
		} else if err != nil {
			return err
		} else {
			b.setTrouble(nil)
		}
		select {
		case <-stop:
			return nil
		default:
		}
		if again {
			continue
		}
		// Short timers only: a long one may or may not run while the computer sleeps, and
		// other processes add items.
		select {
		case <-ctx.Done():
		case <-stop:
		case <-b.wake:
		case <-time.After(max(min(wait, b.o.Tick), time.Millisecond)):
		}
	}
}

// acquire takes the worker's lock. Busy also holds it briefly, so a single failure means nothing.
func acquire(ctx context.Context, l *flock.Flock) error {
	for wait := time.Millisecond; ; wait *= 2 {
		switch got, err := l.TryLock(); {
		case err != nil:
			return troubleOf(err)
		case got:
			return nil
		case wait > 32*time.Millisecond:
			return ErrBusy
		}
		if err := wake.Pause(ctx, wait); err != nil {
			return err
		}
	}
}

// WorkWhenFree is Work, but waits its turn while another worker is running.
func (b *Outbox) WorkWhenFree(ctx context.Context, stop <-chan struct{}) error {
	for {
		if err := b.Work(ctx, stop); !errors.Is(err, ErrBusy) {
			return err
		}
		select {
		case <-ctx.Done():
			return nil
		case <-stop:
			return nil
		case <-time.After(b.o.Tick):
		}
	}
}

func (b *Outbox) setTrouble(t *Trouble) {
	b.mu.Lock()
	was := b.trouble
	b.trouble = t
	b.mu.Unlock()
	if t.kind() == was.kind() {
		return
	}
	if t != nil {
		b.o.Log.Error("outbox", "trouble", t.Kind)
	}
	b.notifyWatchers()
}

// recover decides the items that the last worker left behind.
func (b *Outbox) recover(ctx context.Context) error {
	return b.tx(ctx, func(tx *sql.Tx) error {
		if err := b.decideInterrupted(ctx, tx); err != nil {
			return err
		}
		// Whoever starts a worker may have fixed what held the queue.
		return writeQueue(ctx, tx, Queue{})
	})
}

// Recover decides the items of a worker that ended in the middle of a request: each
// may have been delivered, or waits again. It does nothing while a worker is running.
func (b *Outbox) Recover(ctx context.Context) error {
	l := b.lock()
	if alone, err := l.TryLock(); err != nil || !alone {
		return troubleOf(err)
	}
	defer func() { _ = l.Unlock() }()
	return b.tx(ctx, func(tx *sql.Tx) error { return b.decideInterrupted(ctx, tx) })
}

func (b *Outbox) decideInterrupted(ctx context.Context, tx *sql.Tx) error {
	now := b.o.Now()
	left, err := itemsWhere(ctx, tx, "state = ?", Sending)
	if err != nil {
		return err
	}
	for _, it := range left {
		o := outcome{class: classUnsent, reason: Interrupted}
		if it.FullyRead {
			o = outcome{class: classUnknown, reason: Interrupted}
		}
		began := it.LastTry
		it, _ = decide(it, o, now, b.rules())
		if err := updateItem(ctx, tx, it); err != nil {
			return err
		}
		if err := addReceipt(ctx, tx, it.ID, Receipt{Began: began, Ended: now, Class: string(o.class), Reason: o.reason}); err != nil {
			return err
		}
	}
	return nil
}

// step records pending results, and sends what is due in one request. again means
// that there may be more to do at once; wait is how long there is nothing to do.
func (b *Outbox) step(ctx context.Context) (again bool, wait time.Duration, err error) {
	if len(b.pending) > 0 {
		if err := b.record(ctx); err != nil {
			return false, 0, err
		}
	}
	if err := b.verifyFile(); err != nil {
		return false, 0, err
	}
	b.purgeHourly(ctx)
	now := b.o.Now()
	items, wait, err := b.next(ctx, now)
	if err != nil || len(items) == 0 {
		return false, wait, err
	}
	b.send(ctx, items)
	if err := b.record(ctx); err != nil {
		return false, 0, err
	}
	return true, 0, nil
}

// next takes the items for the next request from the queue.
func (b *Outbox) next(ctx context.Context, now time.Time) (items []Item, wait time.Duration, err error) {
	wait = b.o.Tick
	t := sqlitefile.Micros(now)
	// After the clock was set back, an item is due: times written under another clock
	// mean nothing. Once the item was tried under this one, only next_try counts.
	const due = "state = ? AND (next_try <= ? OR last_try > ? OR last_try = 0 AND added > ?)"
	var any bool // checked without a lock: an idle worker blocks nobody
	err = b.db.QueryRowContext(ctx, "SELECT EXISTS (SELECT 1 FROM items WHERE "+due+") OR EXISTS ("+selectLate+")", Waiting, t, t, t, t).Scan(&any)
	if err != nil || !any {
		return nil, wait, asTrouble(ctx, err)
	}
	err = b.tx(ctx, func(tx *sql.Tx) error {
		if err := giveUpLate(ctx, tx, now); err != nil {
			return err
		}
		q, err := readQueue(ctx, tx)
		if err != nil {
			return err
		}
		open, rest := q.maySend(now)
		if !open {
			wait = rest
			return nil
		}
		limit := b.policy().ItemsPerRequest
		if q.HoldReason != "" || q.PauseReason != "" {
			limit = 1 // a probe
		}
		all, err := itemsWhere(ctx, tx, due+" ORDER BY next_try, id LIMIT ?", Waiting, t, t, t, limit)
		if err != nil || len(all) == 0 {
			return err
		}
		if _, err := b.o.fs.Stat(b.spoolDir()); err != nil {
			return troubleOf(err)
		}
		for _, it := range all {
			if len(items) > 0 && (it.sendAlone || items[0].sendAlone || it.Intermediary != items[0].Intermediary) {
				break
			}
			it = beginRequest(it, now)
			if err := updateItem(ctx, tx, it); err != nil {
				return err
			}
			items = append(items, it)
		}
		return nil
	})
	return items, wait, err
}

// selectLate selects the waiting items whose deadline has passed, without reading all that wait.
const selectLate = "SELECT id FROM items INDEXED BY items_late WHERE state = 'waiting' AND deadline > 0 AND deadline <= ?"

// giveUpLate gives up the items that are too late: they waited while the queue was on hold or
// nothing ran.
func giveUpLate(ctx context.Context, tx *sql.Tx, now time.Time) error {
	late, err := itemsWhere(ctx, tx, "id IN ("+selectLate+")", sqlitefile.Micros(now))
	for _, it := range late {
		it.Reason = GaveUp
		err = errors.Join(err, updateItem(ctx, tx, it.asRefused(now)))
	}
	if err == nil && len(late) > 0 {
		err = endIdleHold(ctx, tx)
	}
	return err
}

// endIdleHold ends a hold with nothing left to try, whose end no request would find out.
func endIdleHold(ctx context.Context, tx *sql.Tx) error {
	_, err := tx.ExecContext(ctx, "UPDATE queue SET held = '', since = 0, until = 0"+
		" WHERE NOT EXISTS (SELECT 1 FROM items WHERE state = ?)", Waiting)
	return err
}

// send sends items in one request and leaves the results in b.pending.
func (b *Outbox) send(ctx context.Context, items []Item) {
	uploads := make([]*upload, len(items))
	list := make([]hub.Item, len(items))
	// A request sent in full continues for a while
	// after ctx ends; recording its result always does.
	during, end := context.WithCancel(context.WithoutCancel(ctx))
	defer end()
	for i, it := range items {
		uploads[i] = &upload{b: b, ctx: during, id: it.ID, crc: it.crc, size: it.Size}
		list[i] = hub.Item{Open: uploads[i].Open, Size: it.Size}
	}
	release := context.AfterFunc(ctx, func() {
		for _, p := range uploads {
			if !p.fullyRead.Load() {
				end()
				return
			}
		}
		t := time.AfterFunc(answerTimeout, end)
		context.AfterFunc(during, func() { t.Stop() })
	})
	var r hub.Receipt
	to, err := b.o.Hub(items[0].Intermediary)
	if err == nil {
		r, err = to.Deliver(during, list)
	}
	release()
	ended := during.Err() != nil
	whole := make([]bool, len(items))
	for i, p := range uploads {
		whole[i] = p.fullyRead.Load()
	}
	now := b.o.Now()
	for i, o := range classifyAll(r, err, whole, ended) {
		b.pending = append(b.pending, result{items[i].ID, o, Receipt{Began: items[i].LastTry, Ended: now, Status: o.status,
			Class: string(o.class), Reason: o.reason, Body: r.Answer, Truncated: r.Truncated || r.Broken}})
		b.o.Log.Info("outbox: request ended", "item", items[i].ID, "class", string(o.class), "status", o.status)
	}
}

// record records the results of a request. It continues after ctx
// has ended, since the hub's answer cannot be requested again.
func (b *Outbox) record(ctx context.Context) error {
	ctx = context.WithoutCancel(ctx)
	var gone []string
	err := b.tx(ctx, func(tx *sql.Tx) error {
		q, err := readQueue(ctx, tx)
		if err != nil {
			return err
		}
		var strongest effect // a request is a single event for the queue
		var why Reason
		for _, r := range b.pending {
			it, err := itemByID(ctx, tx, r.id)
			if errors.Is(err, ErrNoItem) {
				continue // forgotten before this could be recorded
			}
			if err != nil {
				return err
			}
			if err := addReceipt(ctx, tx, it.ID, r.receipt); err != nil {
				return err
			}
			if it.State == Delivered || sqlitefile.Micros(it.LastTry) != sqlitefile.Micros(r.receipt.Began) {
				continue // somebody else has continued with it: our result decides nothing any more
			}
			it, e := decide(it, r.outcome, r.receipt.Ended, b.rules())
			if it.State == Delivered && b.policy().KeepSent == 0 || r.outcome.reason == CopyMissing {
				it.HasCopy = false
				gone = append(gone, it.ID)
			}
			if err := updateItem(ctx, tx, it); err != nil {
				return err
			}
			if e.weight() > strongest.weight() {
				strongest, why = e, r.outcome.reason
			}
		}
		return writeQueue(ctx, tx, q.apply(strongest, why, b.o.Now(), b.rules()))
	})
	if err != nil {
		return err
	}
	b.pending = nil
	for _, id := range gone {
		_ = b.removeCopy(id) // any remains are swept later
	}
	return nil
}
