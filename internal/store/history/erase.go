package history

import (
	"context"
	"database/sql"
	"errors"
	"fmt"
	"os"
	"time"

	"wiebelt/internal/store/sqlitefile"
)

// maxCalls limits how many calls a flood can leave. It is more than a switchboard gets in a year.
const maxCalls = 250_000

// Purge deletes what is older than the days to keep, including a damaged file that was
// put aside, and all calls but the newest maxCalls. Open does so, and Put once an hour.
func (s *Store) Purge(ctx context.Context) error {
	s.dbMu.RLock()
	defer s.dbMu.RUnlock()
	return s.purge(ctx)
}

func (s *Store) purge(ctx context.Context) error {
	now := s.now()
	s.mu.Lock()
	s.lastPurge = now
	s.mu.Unlock()
	if s.db == nil {
		return s.removeLeftovers()
	}
	var limit time.Time
	if s.days != AllDays {
		limit = now.AddDate(0, 0, -s.days)
	}
	if err := s.erase(ctx, false, `DELETE FROM calls WHERE rang < ? OR id <= (SELECT max(id) FROM calls) - ?`, sqlitefile.Micros(limit), maxCalls); err != nil {
		return err
	}
	if fi, err := os.Stat(s.asidePath()); err == nil && fi.ModTime().Before(limit) {
		return remove(s.asidePath())
	}
	return nil
}

// DeleteAll deletes every call, and a damaged file put aside.
func (s *Store) DeleteAll(ctx context.Context) error {
	s.dbMu.RLock()
	defer s.dbMu.RUnlock()
	switch {
	case s.db == nil && s.State().Fault == FaultNewer:
		return during("erase from", ErrNewer)
	case s.db == nil:
		return s.removeFiles()
	}
	if err := s.erase(ctx, true, `DELETE FROM calls`); err != nil {
		return err
	}
	if s.fileReplaced() { // the log may still be here
		return s.removeFiles()
	}
	return remove(s.asidePath())
}

// DeleteNumber deletes the calls of a number, in the form of Entry.Number. It also deletes
// a damaged file put aside, since nobody can tell whose calls are in it.
func (s *Store) DeleteNumber(ctx context.Context, number string) error {
	return s.deleteWhere(ctx, `number = ? AND number <> ''`, number)
}

// DeleteOlder deletes the calls that rang before t, and a damaged file put aside.
func (s *Store) DeleteOlder(ctx context.Context, t time.Time) error {
	return s.deleteWhere(ctx, `rang < ?`, sqlitefile.Micros(t))
}

func (s *Store) deleteWhere(ctx context.Context, which string, arg any) error {
	s.dbMu.RLock()
	defer s.dbMu.RUnlock()
	if err := remove(s.asidePath()); err != nil {
		return during("erase from", err)
	}
	if s.db == nil {
		return s.notOpenError()
	}
	return s.erase(ctx, true, `DELETE FROM calls WHERE `+which, arg)
}

// RemovePerson removes the person from a call: "not this contact". Only the
// name stays, to show who it is not. It returns the call as it was, or ErrGone.
func (s *Store) RemovePerson(ctx context.Context, id int64) (was Entry, err error) {
	err = s.change(ctx, func(tx *sql.Tx, _ Keep) error {
		if was, err = get(ctx, tx, id); err != nil {
			return err
		}
		now := was.withoutFile()
		now.rejectedBy = rejectedByHand
		return rewrite(ctx, tx, now)
	})
	return was, s.emptyLogAfter(ctx, err)
}

// Remove deletes a call and returns it for Restore, or ErrGone.
func (s *Store) Remove(ctx context.Context, id int64) (was Entry, err error) {
	err = s.change(ctx, func(tx *sql.Tx, _ Keep) error {
		was, err = orGone(scan(tx.QueryRowContext(ctx, `DELETE FROM calls WHERE id = ? RETURNING `+readColumns, id)))
		return err
	})
	return was, s.emptyLogAfter(ctx, err)
}

// emptyLogAfter empties the log after a removal whose result was
// err. If somebody keeps reading, the log is emptied later.
func (s *Store) emptyLogAfter(ctx context.Context, err error) error {
	if err == nil {
		s.dbMu.RLock()
		defer s.dbMu.RUnlock()
		if s.db != nil {
			err = s.emptyLog(ctx)
		}
		if errors.Is(err, sqlitefile.ErrLogBusy) {
			return nil
		}
	}
	return during("erase from", err)
}

// during adds to an error what was being done.
func during(what string, err error) error {
	if err != nil {
		return fmt.Errorf("%s call history: %w", what, err)
	}
	return nil
}

// notOpenError returns why nothing can be deleted from
// a file that is not open; nil if there is no file.
func (s *Store) notOpenError() error {
	if _, err := os.Stat(s.path); errors.Is(err, os.ErrNotExist) {
		return nil
	}
	return during("erase from", errFileNotOpen)
}

func (s *Store) forgetPersons(ctx context.Context) error {
	none := true
	if err := sqlitefile.Tx(ctx, s.db, func(tx *sql.Tx) error {
		es, err := sqlitefile.Rows(scan)(tx.QueryContext(ctx, `SELECT `+readColumns+` FROM calls
			WHERE name || contact_id || relation_number || link || via || taken_by <> '' OR number LIKE '`+nameMark+`_%'`))
		if err != nil {
			return err
		}
		for _, e := range es {
			now := e.onlyNumber()
			if now == e {
				continue // only colleagues' numbers
			}
			none = false
			if err := rewrite(ctx, tx, now); err != nil {
				return err
			}
		}
		return nil
	}); err != nil || none {
		return err
	}
	return s.emptyLog(ctx)
}

// erase runs a statement that deletes something. With always, it empties the log even if there
// was nothing left to delete: somebody may have been reading when it was deleted.
func (s *Store) erase(ctx context.Context, always bool, statement string, args ...any) error {
	r, err := s.db.ExecContext(ctx, statement, args...)
	if err != nil {
		return during("erase from", err)
	}
	n, err := r.RowsAffected()
	if err != nil || n == 0 && !always {
		return err
	}
	if err := s.emptyLog(ctx); err != nil {
		return during("erase from", err)
	}
	return s.countMissed(ctx)
}

// emptyLog empties the write-ahead log, where deleted data would remain.
func (s *Store) emptyLog(ctx context.Context) error { return sqlitefile.EmptyLog(ctx, s.db) }
