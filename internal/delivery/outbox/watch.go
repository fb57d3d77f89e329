package outbox

import (
	"context"
	"encoding/json"
	"fmt"
	"time"

	"wiebelt/internal/core/wake"
	"wiebelt/internal/store/sqlitefile"
)

// Snapshot is the outbox at one moment. It is immutable.
type Snapshot struct {
	At      time.Time
	Queue   Queue
	Trouble string // of the worker in this process; "" if there is none
	Working bool   // a worker is running, here or elsewhere
	Counts  map[State]int
	Items   []Item // all undecided or uncertain ones, then the newest others, at most MaxItems
}

// MaxItems limits the items in a Snapshot.
const MaxItems = 2000

// Snapshot reads the outbox.
func (b *Outbox) Snapshot(ctx context.Context) (*Snapshot, error) {
	s := &Snapshot{At: b.o.Now(), Counts: map[State]int{}, Working: b.Busy(), Trouble: b.workerTrouble().kind()}
	// Separate statements, each consistent in itself: a snapshot is for display.
	var err error
	if s.Queue, err = b.Queue(ctx); err != nil {
		return nil, err
	}
	if s.Items, err = itemsWhere(ctx, b.db, "state IN (?, ?, ?) ORDER BY id DESC LIMIT ?", Waiting, Sending, Uncertain, MaxItems); err != nil {
		return nil, asTrouble(ctx, err)
	}
	others, err := itemsWhere(ctx, b.db, "+state IN (?, ?) ORDER BY id DESC LIMIT ?", Delivered, Refused, MaxItems-len(s.Items))
	if err != nil {
		return nil, asTrouble(ctx, err)
	}
	s.Items = append(s.Items, others...)
	_, err = sqlitefile.Rows(func(row sqlitefile.Row) (none struct{}, err error) {
		var state State
		var n int
		err = row.Scan(&state, &n)
		s.Counts[state] = n
		return none, err
	})(b.db.QueryContext(ctx, "SELECT state, count(*) FROM items GROUP BY state"))
	return s, asTrouble(ctx, err)
}

// Queue returns the state common to all items.
func (b *Outbox) Queue(ctx context.Context) (Queue, error) {
	q, err := readQueue(ctx, b.db)
	return q, asTrouble(ctx, err)
}

// Watch delivers a snapshot now and after every change by anybody, until ctx ends. Changes
// in quick succession are combined.
func (b *Outbox) Watch(ctx context.Context, each func(*Snapshot)) error {
	return b.changes(ctx, func() (bool, error) {
		s, err := b.Snapshot(ctx)
		if err == nil {
			each(s)
		}
		return false, err
	})
}

// combinePeriod is the period over which changes are combined,
// so that a busy queue is not read for every row.
const combinePeriod = 250 * time.Millisecond

// changes calls do now and after every change, until it returns true. Changes by other
// processes are checked for at every tick.
func (b *Outbox) changes(ctx context.Context, do func() (enough bool, err error)) error {
	var last string
	tick := time.Tick(b.o.Tick)
	for {
		enough, changed := false, b.nextChange()
		mark, err := b.fingerprint(ctx)
		if err == nil && mark != last {
			last = mark
			enough, err = do()
		}
		if ctx.Err() != nil || enough {
			return nil
		}
		if err != nil {
			return err
		}
		select {
		case <-ctx.Done():
			return nil
		case <-tick:
		case <-changed:
			if wake.Pause(ctx, min(combinePeriod, b.o.Tick)) != nil {
				return nil
			}
		}
	}
}

// fingerprint returns a string that differs after every change visible in a snapshot.
func (b *Outbox) fingerprint(ctx context.Context) (string, error) {
	var others, own int64
	if err := b.db.QueryRowContext(ctx, "SELECT data_version, total_changes() FROM pragma_data_version").Scan(&others, &own); err != nil {
		return "", asTrouble(ctx, err)
	}
	return fmt.Sprint(others, own, b.workerTrouble().kind(), b.Busy()), nil
}

// Items returns the items with the given IDs, in that order; unknown IDs are omitted.
func (b *Outbox) Items(ctx context.Context, ids []string) ([]Item, error) {
	list, _ := json.Marshal(ids) // never fails
	all, err := itemsWhere(ctx, b.db, "id IN (SELECT value FROM json_each(?))", string(list))
	if err != nil {
		return nil, asTrouble(ctx, err)
	}
	byID := make(map[string]Item, len(all))
	for _, it := range all {
		byID[it.ID] = it
	}
	found := make([]Item, 0, len(ids))
	for _, id := range ids {
		if it, ok := byID[id]; ok {
			found = append(found, it)
		}
	}
	return found, nil
}

// Follow delivers the items with the given IDs and the queue, now and after every change by
// anybody, until each returns true or ctx ends.
func (b *Outbox) Follow(ctx context.Context, ids []string, each func([]Item, Queue, *Trouble) (enough bool)) error {
	return b.changes(ctx, func() (bool, error) {
		items, err := b.Items(ctx, ids)
		if err != nil {
			return false, err
		}
		q, err := b.Queue(ctx)
		if err != nil {
			return false, err
		}
		return each(items, q, b.workerTrouble()), nil
	})
}
