package outbox

import (
	"context"
	"database/sql"
	"errors"
	"os"
	"path/filepath"
	"strings"
	"time"

	"wiebelt/internal/store/sqlitefile"
)

// Retention periods.
const (
	keepReceipts = 400 * 24 * time.Hour
	keepBodies   = 30 * 24 * time.Hour
	purgeEvery   = time.Hour
	strayAfter   = 24 * time.Hour // for copies without a row
)

// purgeHourly removes expired data once an hour. Failures are retried an hour later.
func (b *Outbox) purgeHourly(ctx context.Context) {
	now := b.o.Now()
	if since := now.Sub(b.lastPurge); since >= 0 && since < purgeEvery {
		return
	}
	b.lastPurge = now
	if err := b.purge(ctx); err != nil {
		b.o.Log.Warn("outbox: purge", "why", err)
	}
}

// purge removes copies, receipts, checksums, reports and a damaged database put aside whose
// retention has ended. It never removes items that are undecided or may have been delivered.
func (b *Outbox) purge(ctx context.Context) error {
	now := b.o.Now()
	daysAgo := func(days int) int64 {
		return sqlitefile.Micros(now.Add(-time.Duration(days) * 24 * time.Hour))
	}
	var gone []string
	var rows int64 // rows whose contents were removed
	err := b.tx(ctx, func(tx *sql.Tx) (err error) {
		gone, err = sqlitefile.Rows(scanID)(tx.QueryContext(ctx, `UPDATE items SET kept = 0 WHERE kept = 1
			AND (state = ? AND decided <= ? OR state = ? AND decided <= ?) RETURNING id`,
			Delivered, daysAgo(b.policy().KeepSent), Refused, daysAgo(b.policy().KeepRefused)))
		if err != nil {
			return err
		}
		for _, old := range []struct {
			statement string
			kept      time.Duration
		}{
			{"UPDATE receipts SET body = '' WHERE body <> '' AND ended < ?", keepBodies},
			{"DELETE FROM past WHERE decided < ?", keepReceipts},
			{"DELETE FROM items WHERE state IN ('" + string(Delivered) + "', '" + string(Refused) + "') AND kept = 0 AND decided < ?", keepReceipts},
		} {
			r, err := tx.ExecContext(ctx, old.statement, sqlitefile.Micros(now.Add(-old.kept)))
			if err != nil {
				return err
			}
			n, err := r.RowsAffected()
			if err != nil {
				return err
			}
			rows += n
		}
		return nil
	})
	if err != nil {
		return err
	}
	for _, id := range gone {
		err = errors.Join(err, b.removeCopy(id))
	}
	if rows > 0 {
		err = errors.Join(err, b.emptyLog(ctx))
	}
	return errors.Join(err, b.sweep(ctx, now), removeBefore(now.Add(-keepReceipts), filepath.Join(b.o.Dir, ReportsName, "report-*")),
		removeBefore(now.Add(-keepBodies), b.dbPath()+".damaged")) // it has bodies, and nobody can tell whose
}

// sweep removes what interrupted programs left in the spool.
func (b *Outbox) sweep(ctx context.Context, now time.Time) error {
	names, err := b.o.fs.ReadDir(b.spoolDir())
	if err != nil {
		if isMissing(err) {
			return nil
		}
		return troubleOf(err)
	}
	for _, e := range names {
		info, err := e.Info()
		if err != nil || !info.Mode().IsRegular() || now.Sub(info.ModTime()) < strayAfter {
			continue
		}
		id, isZIP := strings.CutSuffix(e.Name(), ".zip")
		if isZIP {
			it, err := itemByID(ctx, b.db, id)
			if err == nil && it.HasCopy {
				continue
			}
			if err != nil && !errors.Is(err, ErrNoItem) {
				return asTrouble(ctx, err)
			}
		} else if !strings.HasSuffix(e.Name(), ".part") {
			continue
		}
		if err := b.o.fs.Remove(filepath.Join(b.spoolDir(), e.Name())); err != nil && !isMissing(err) {
			return troubleOf(err)
		}
	}
	return nil
}

// removeBefore removes the files that fit a pattern and were last written before limit.
func removeBefore(limit time.Time, pattern string) error {
	names, err := filepath.Glob(pattern)
	if err != nil {
		return nil // the folder's name contains [: nothing is found
	}
	for _, name := range names {
		if info, err := os.Lstat(name); err == nil && info.Mode().IsRegular() && info.ModTime().Before(limit) {
			if err := os.Remove(name); err != nil && !isMissing(err) {
				return troubleOf(err)
			}
		}
	}
	return nil
}
