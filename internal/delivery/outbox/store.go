package outbox

import (
	"context"
	"crypto/sha256"
	"database/sql"
	"errors"
	"io"
	"os"
	"strings"
	"time"

	"wiebelt/internal/store/sqlitefile"
)

// tx changes the database atomically. Its error is a *Trouble unless do returned
// another one of this package.
func (b *Outbox) tx(ctx context.Context, do func(*sql.Tx) error) error {
	if err := b.verifyFile(); err != nil {
		return err
	}
	err := sqlitefile.Tx(ctx, b.db, do)
	if err == nil {
		b.notifyWatchers()
	}
	return asTrouble(ctx, err)
}

// asTrouble returns err as a *Trouble, unless it is one of this package's or ctx's.
func asTrouble(ctx context.Context, err error) error {
	switch {
	case err == nil, errors.Is(err, ErrNoItem), errors.Is(err, ErrState), errors.Is(err, ErrUndecided), errors.Is(err, ErrRefused):
		return err
	case ctx.Err() != nil:
		return ctx.Err()
	}
	return troubleOf(err)
}

// verifyFile verifies that the database is still the opened file:
// one that was removed would accept everything and keep nothing.
func (b *Outbox) verifyFile() error {
	info, err := os.Stat(b.dbPath())
	if err == nil && !os.SameFile(info, b.info) {
		err = os.ErrNotExist
	}
	if err != nil {
		return troubleOf(err)
	}
	return nil
}

func updateItem(ctx context.Context, tx *sql.Tx, it Item) error {
	done, err := tx.ExecContext(ctx, "UPDATE items SET ("+columns+") = ("+placeholders+") WHERE id = ?", append(it.fields(), it.ID)...)
	if err != nil {
		return err
	}
	if n, err := done.RowsAffected(); err != nil || n == 0 {
		return errors.Join(err, ErrNoItem)
	}
	return nil
}

func insertItem(ctx context.Context, tx *sql.Tx, it Item) error {
	_, err := tx.ExecContext(ctx, "INSERT INTO items (id, "+columns+") VALUES (?, "+placeholders+")", append([]any{it.ID}, it.fields()...)...)
	return err
}

// itemByID returns an item by its ID, or ErrNoItem.
func itemByID(ctx context.Context, q sqlitefile.Querier, id string) (Item, error) {
	it, err := scanItem(q.QueryRowContext(ctx, "SELECT id, "+columns+" FROM items WHERE id = ?", id))
	if errors.Is(err, sql.ErrNoRows) {
		err = ErrNoItem
	}
	return it, err
}

func itemsWhere(ctx context.Context, q sqlitefile.Querier, where string, args ...any) ([]Item, error) {
	return sqlitefile.Rows(scanItem)(q.QueryContext(ctx, "SELECT id, "+columns+" FROM items WHERE "+where, args...))
}

const queueColumns = "held, since, until, paused, began, resume, pauses"

func (q *Queue) fields() []any {
	return []any{&q.HoldReason, sqlitefile.MicrosOf(&q.HeldSince), sqlitefile.MicrosOf(&q.ProbeAt), &q.PauseReason,
		sqlitefile.MicrosOf(&q.PausedSince), sqlitefile.MicrosOf(&q.ResumeAt), &q.pauses}
}

func readQueue(ctx context.Context, from sqlitefile.Querier) (q Queue, err error) {
	err = from.QueryRowContext(ctx, "SELECT "+queueColumns+" FROM queue").Scan(q.fields()...)
	return q, err
}

func writeQueue(ctx context.Context, tx *sql.Tx, q Queue) error {
	_, err := tx.ExecContext(ctx, "UPDATE queue SET ("+queueColumns+") = (?, ?, ?, ?, ?, ?, ?)", q.fields()...)
	return err
}

// setFullyRead records, before the last piece is sent, that the
// client was given all of an item, or that sending starts over.
func (b *Outbox) setFullyRead(ctx context.Context, id string, whole bool) error {
	return b.tx(ctx, func(tx *sql.Tx) error {
		_, err := tx.ExecContext(ctx, "UPDATE items SET whole = ? WHERE id = ? AND state = ?", whole, id, Sending)
		return err
	})
}

// Receipt is the result of one request with an item.
type Receipt struct {
	TryNumber    int // number of the try
	Began, Ended time.Time
	Status       int    // HTTP status; 0 if there was no answer
	Class        string // safe, done, unknown, permanent, hold, conflict, later, odd, local, unread, split, cut
	Reason       Reason
	Body         string // the hub's answer, cleaned and truncated; removed after 30 days
	Truncated    bool   // Body is incomplete
}

const receiptColumns = "n, began, ended, status, class, reason, body, cut"

func (r *Receipt) fields() []any {
	return []any{&r.TryNumber, sqlitefile.MicrosOf(&r.Began), sqlitefile.MicrosOf(&r.Ended), &r.Status, &r.Class, &r.Reason,
		&r.Body, &r.Truncated}
}

// maxReceipts limits the receipts of an item: the first one, and the newest.
const maxReceipts = 50

func addReceipt(ctx context.Context, tx *sql.Tx, id string, r Receipt) error {
	if err := tx.QueryRowContext(ctx, "SELECT coalesce(max(n), 0) + 1 FROM receipts WHERE item = ?", id).Scan(&r.TryNumber); err != nil {
		return err
	}
	r.Body = strings.ToValidUTF8(r.Body, "")
	_, err := tx.ExecContext(ctx, "INSERT INTO receipts (item, "+receiptColumns+") VALUES (?, ?, ?, ?, ?, ?, ?, ?, ?)",
		append([]any{id}, r.fields()...)...)
	if err != nil || r.TryNumber <= maxReceipts {
		return err
	}
	_, err = tx.ExecContext(ctx, "DELETE FROM receipts WHERE item = ? AND n > 1 AND n <= ?", id, r.TryNumber-maxReceipts+1)
	return err
}

// Receipts returns an item's receipts, oldest first.
func (b *Outbox) Receipts(ctx context.Context, id string) ([]Receipt, error) {
	all, err := sqlitefile.Rows(func(row sqlitefile.Row) (r Receipt, err error) {
		err = row.Scan(r.fields()...)
		return r, err
	})(b.db.QueryContext(ctx, "SELECT "+receiptColumns+" FROM receipts WHERE item = ? ORDER BY n", id))
	return all, asTrouble(ctx, err)
}

// spoolItems lists the spool's files after the database was lost. Whether they were
// delivered is unknown.
func (b *Outbox) spoolItems() ([]Item, error) {
	names, err := b.o.fs.ReadDir(b.spoolDir())
	if isMissing(err) {
		return nil, nil
	}
	if err != nil {
		return nil, err
	}
	now := b.o.Now()
	var all []Item
	for _, e := range names {
		id, isZIP := strings.CutSuffix(e.Name(), ".zip")
		if !isZIP || !e.Type().IsRegular() {
			continue
		}
		it, err := b.checksum(id)
		if err != nil {
			return nil, err
		}
		it.ID, it.Name, it.Added, it.Reason, it.HasCopy = id, e.Name(), now, Recovered, true
		all = append(all, it.finish(Uncertain, now))
	}
	return all, nil
}

func (b *Outbox) checksum(id string) (Item, error) {
	f, err := b.o.fs.Open(b.spoolPath(id))
	if err != nil {
		return Item{}, err
	}
	w := &spoolWriter{w: io.Discard, ctx: context.Background(), sum: sha256.New()}
	_, err = io.Copy(w, f)
	return w.item(), errors.Join(err, f.Close())
}
