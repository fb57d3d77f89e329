package outbox

import (
	"context"
	"database/sql"
	"errors"
	"time"

	"wiebelt/internal/core/call"
	"wiebelt/internal/store/sqlitefile"
)

func (b *Outbox) change(ctx context.Context, id string, do func(*sql.Tx, *Item) error) (Item, error) {
	var it Item
	err := b.tx(ctx, func(tx *sql.Tx) error {
		var err error
		if it, err = itemByID(ctx, tx, id); err != nil {
			return err
		}
		if err := do(tx, &it); err != nil {
			return err
		}
		return updateItem(ctx, tx, it)
	})
	if err == nil {
		b.Wake()
	}
	return it, err
}

// reset makes the item wait as if it had never been tried; only its attempts remain.
func (it *Item) reset() {
	it.State, it.Reason, it.NextTry, it.Decided, it.Deadline = Waiting, NoReason, time.Time{}, time.Time{}, time.Time{}
	it.FirstTry, it.LastTry, it.Tries, it.unknownAttempts, it.oddAttempts = time.Time{}, time.Time{}, 0, 0, 0
}

// Retry sends a waiting or refused item as soon as possible, a refused one as if never
// tried. It returns ErrState if the item is in another state, ErrNoCopy if its copy is
// missing, and ErrDuplicate if the same file has been or is about to be delivered.
func (b *Outbox) Retry(ctx context.Context, id string) (Item, error) {
	return b.change(ctx, id, func(tx *sql.Tx, it *Item) error {
		if it.State == Refused && b.policy().Duplicate != DuplicateSend {
			if _, found, err := duplicateOf(ctx, tx, *it); err != nil {
				return err
			} else if found {
				return ErrDuplicate
			}
		}
		switch {
		case it.State == Refused && !it.HasCopy:
			return ErrNoCopy
		case it.State == Refused:
			it.reset()
		case it.State == Waiting:
			it.NextTry = time.Time{}
		default:
			return ErrState
		}
		return nil
	})
}

// Retriable returns the IDs of all items that Retry accepts, oldest first.
func (b *Outbox) Retriable(ctx context.Context) ([]string, error) {
	return b.ids(ctx, "state = ? OR state = ? AND kept = 1", Waiting, Refused)
}

// Undecided returns the IDs of all items waiting or being sent, oldest first.
func (b *Outbox) Undecided(ctx context.Context) ([]string, error) {
	return b.ids(ctx, "state IN (?, ?)", Waiting, Sending)
}

func (b *Outbox) ids(ctx context.Context, where string, args ...any) ([]string, error) {
	all, err := sqlitefile.Rows(scanID)(b.db.QueryContext(ctx, "SELECT id FROM items WHERE "+where+" ORDER BY id", args...))
	return all, asTrouble(ctx, err)
}

func scanID(row sqlitefile.Row) (id string, err error) {
	err = row.Scan(&id)
	return id, err
}

// Release lifts a hold or a pause of the queue: the next item is tried at once, also if
// the hub asked to send it later. If the hub is still busy, the queue pauses again.
func (b *Outbox) Release(ctx context.Context) error {
	err := b.tx(ctx, func(tx *sql.Tx) error {
		_, err := tx.ExecContext(ctx, "UPDATE items SET next_try = 0 WHERE state = ? AND status IN (429, 503)", Waiting)
		return errors.Join(err, writeQueue(ctx, tx, Queue{}))
	})
	b.Wake()
	return err
}

// maxNote limits the length of a note, in bytes.
const maxNote = 500

// Resolve decides an item that may have been delivered: either it
// was, or it is sent again. The note says who knows that, and how.
func (b *Outbox) Resolve(ctx context.Context, id string, delivered bool, note string) (Item, error) {
	it, err := b.change(ctx, id, func(_ *sql.Tx, it *Item) error {
		if it.State != Uncertain {
			return ErrState
		}
		if !delivered && !it.HasCopy {
			return ErrNoCopy
		}
		it.Note = call.CleanText(note, maxNote)
		if !delivered {
			it.reset()
			return nil
		}
		*it = it.finish(Delivered, b.o.Now())
		it.Reason = ResolvedByPerson
		if b.policy().KeepSent == 0 {
			it.HasCopy = false
		}
		return nil
	})
	if err == nil && !it.HasCopy {
		_ = b.removeCopy(id) // any remains are swept later
	}
	return it, err
}

// Forget deletes an item, its receipts and our copy of the file. It returns ErrState
// while the item is being sent, and ErrUndecided if it is waiting or may have been
// delivered, unless force allows losing it. The checksum of a delivered item is kept.
func (b *Outbox) Forget(ctx context.Context, id string, force bool) error {
	err := b.tx(ctx, func(tx *sql.Tx) error {
		it, err := itemByID(ctx, tx, id)
		if err != nil {
			return err
		}
		switch it.State {
		case Sending:
			return ErrState
		case Waiting, Uncertain:
			if !force {
				return ErrUndecided
			}
		}
		return errors.Join(forget(ctx, tx, "id = ?", id), endIdleHold(ctx, tx))
	})
	if err != nil {
		return err
	}
	return errors.Join(b.removeCopy(id), b.emptyLog(ctx))
}

// forget deletes items and keeps the checksums of delivered ones.
func forget(ctx context.Context, tx *sql.Tx, where string, args ...any) error {
	_, err := tx.ExecContext(ctx, "INSERT OR REPLACE INTO past (sha256, intermediary, added, decided) SELECT sha256, intermediary, added, decided FROM items WHERE state = '"+
		string(Delivered)+"' AND "+where+" ORDER BY id", args...)
	if err == nil {
		_, err = tx.ExecContext(ctx, "DELETE FROM items WHERE "+where, args...)
	}
	return err
}

// pastItem returns the item of the same file, without an ID, if
// it was delivered and then forgotten; otherwise sql.ErrNoRows.
func pastItem(ctx context.Context, tx *sql.Tx, it Item) (Item, error) {
	var added, decided int64
	err := tx.QueryRowContext(ctx, "SELECT added, decided FROM past WHERE "+sameFile, it.SHA256, it.Intermediary).Scan(&added, &decided)
	it.ID, it.State, it.HasCopy, it.NextTry, it.Deadline = "", Delivered, false, time.Time{}, time.Time{}
	it.Added, it.Decided = sqlitefile.Time(added), sqlitefile.Time(decided)
	return it, err
}

// emptyLog empties the write-ahead log, which would otherwise keep deleted
// data. It is no error if others keep reading: the log is then emptied later.
func (b *Outbox) emptyLog(ctx context.Context) error {
	err := sqlitefile.EmptyLog(ctx, b.db)
	if errors.Is(err, sqlitefile.ErrLogBusy) {
		return nil
	}
	return asTrouble(ctx, err)
}

// Get returns an item by its ID or a unique prefix of it, or ErrNoItem.
func (b *Outbox) Get(ctx context.Context, id string) (Item, error) {
	if it, err := itemByID(ctx, b.db, id); err == nil || len(id) < 8 {
		return it, asTrouble(ctx, err)
	}
	all, err := itemsWhere(ctx, b.db, "id >= ? AND id < ? LIMIT 2", id, id+"g")
	if err != nil {
		return Item{}, asTrouble(ctx, err)
	}
	if len(all) != 1 {
		return Item{}, ErrNoItem
	}
	return all[0], nil
}

// ForgetDelivered deletes everything delivered except its checksums, and returns
// the number of items.
func (b *Outbox) ForgetDelivered(ctx context.Context) (int, error) {
	var gone []Item
	err := b.tx(ctx, func(tx *sql.Tx) error {
		var err error
		if gone, err = itemsWhere(ctx, tx, "state = ?", Delivered); err != nil {
			return err
		}
		return forget(ctx, tx, "state = ?", Delivered)
	})
	if err != nil {
		return 0, err
	}
	for _, it := range gone {
		if it.HasCopy {
			err = errors.Join(err, b.removeCopy(it.ID))
		}
	}
	return len(gone), errors.Join(err, b.emptyLog(ctx))
}
