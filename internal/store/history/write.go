package history

import (
	"context"
	"database/sql"
	"errors"
	"os"
	"strings"
	"time"

	"wiebelt/internal/softphone/registry"
	"wiebelt/internal/store/sqlitefile"
)

// PrepareShutdown is for shutting down: entries put from now on are safe on disk
// once Close has returned nil, so that only Close waits for a slow disk.
func (s *Store) PrepareShutdown(ctx context.Context) error {
	return s.withFile(func(db *sql.DB) error {
		_, err := db.ExecContext(ctx, "PRAGMA synchronous = NORMAL")
		return err
	})
}

// Put writes an entry: a new one if its ID is 0, else over the one with that ID.
// It returns when the entry is safe on disk. What Keep does not allow is left
// out, and a withheld number never has a person; with KeepOff nothing happens and the ID is
// 0, with KeepPaused it stays what it was. If the ID was deleted meanwhile, the error is
// ErrGone.
//
// If somebody was spoken to in the call, or was called back, the entry
// ticks off the missed calls before it that have its number. A caller
// who is already known stays if e names nobody, unless e says PersonRejected.
func (s *Store) Put(ctx context.Context, e Entry) (id int64, err error) {
	err = s.change(ctx, func(tx *sql.Tx, keep Keep) error {
		if keep == KeepPaused {
			id = e.ID
			return nil
		}
		id, err = s.put(ctx, tx, e.limitedTo(keep))
		return err
	})
	if err != nil {
		return 0, during("write", err)
	}
	s.mu.Lock()
	due := id != 0 && s.now().Sub(s.lastPurge) >= purgeEvery
	s.mu.Unlock()
	if due {
		_ = s.Purge(ctx) // the entry is safe; purging is retried in an hour
	}
	return id, nil
}

// PutMissed writes calls that rang while Wiebelt was not running: all or, with an error,
// none; with KeepOff and KeepPaused it returns ErrOff. Calls already stored are skipped, so that they may
// be reported again, with slightly different times.
func (s *Store) PutMissed(ctx context.Context, all []Entry) error {
	off := true
	err := s.write(ctx, func(tx *sql.Tx, keep Keep) error {
		off = false
		var fresh []Entry
		for _, e := range all {
			e.Kind = KindWhileOff
			e = e.limitedTo(keep)
			known := false
			rang, near := sqlitefile.Micros(e.Rang), sameCallWithin.Microseconds()
			if err := tx.QueryRowContext(ctx, `SELECT EXISTS (SELECT 1 FROM calls WHERE number = ? AND kind IN (?, ?) AND rang BETWEEN ? AND ?)`,
				e.Number, KindWhileOff, registry.Relay, rang-near, rang+near).Scan(&known); err != nil {
				return err
			}
			if !known {
				fresh = append(fresh, e)
			}
		}
		for _, e := range fresh {
			if _, err := s.put(ctx, tx, e); err != nil {
				return err
			}
		}
		return nil
	})
	if err == nil && off {
		return ErrOff
	}
	return err
}

// sameCallWithin is how far apart the times of one call may be if
// Wiebelt saw it ring before it ended, or if it is reported again.
const sameCallWithin = 2 * time.Second

// limitedTo returns what may be kept of an entry.
func (e Entry) limitedTo(keep Keep) Entry {
	switch {
	case keep != KeepFull:
		return e.onlyNumber()
	case e.Number == "":
		return e.withoutPerson()
	}
	return e
}

// Who said that a person is not the caller:
const (
	notRejected    = 0
	rejectedByHand = 1 // RemovePerson
	rejectedByPut  = 2 // Put, which may undo it
)

func (s *Store) put(ctx context.Context, tx *sql.Tx, e Entry) (int64, error) {
	was := Entry{HandledAt: e.HandledAt}
	if e.ID != 0 {
		var err error
		if was, err = get(ctx, tx, e.ID); err != nil {
			return 0, err
		}
	}
	if e.knowsLess(was) {
		e.Matches, e.Outcome, e.PersonRejected = was.Matches, was.Outcome, was.PersonRejected
		e.setPerson(was)
	}
	e.HandledAt, e.rejectedBy = was.HandledAt, notRejected
	switch {
	case was.rejectedBy == rejectedByHand && was.Number == e.Number:
		e.Name, e.rejectedBy = was.Name, rejectedByHand
		e = e.withoutFile()
	case e.PersonRejected:
		e.rejectedBy = rejectedByPut
		e = e.withoutFile()
	}
	if e.ID != 0 {
		if err := rewrite(ctx, tx, e); err != nil {
			return 0, err
		}
		return e.ID, s.tickOff(ctx, tx, e)
	}
	r, err := tx.ExecContext(ctx, `INSERT INTO calls (`+writtenColumns+`) VALUES (`+placeholders(e.written())+`)`, e.written()...)
	if err == nil {
		e.ID, err = r.LastInsertId()
	}
	if err != nil {
		return 0, err
	}
	s.mu.Lock()
	s.last = max(s.last, e.ID)
	s.mu.Unlock()
	return e.ID, s.tickOff(ctx, tx, e)
}

// knowsLess reports whether e knows less about its caller than was
// does: the hub does not answer when the card is shown again, or
// the caller was chosen before, on the card or in the calls window.
func (e Entry) knowsLess(was Entry) bool {
	switch {
	case e.Number != was.Number, was.Outcome == OutcomeFailed, was.Outcome == "":
		return false
	case e.Outcome == OutcomeFailed:
		return true
	}
	return !e.PersonRejected && e == e.withoutFile() && was != was.withoutFile()
}

// Restore puts back an entry removed by Remove, under its ID. What Keep no longer allows is
// left out; with KeepOff and KeepPaused nothing happens.
func (s *Store) Restore(ctx context.Context, e Entry) error {
	return s.write(ctx, func(tx *sql.Tx, keep Keep) error {
		values := append([]any{e.ID}, e.limitedTo(keep).written()...)
		_, err := tx.ExecContext(ctx, `INSERT OR IGNORE INTO calls (id, `+writtenColumns+`) VALUES (`+placeholders(values)+`)`, values...)
		return err
	})
}

func rewrite(ctx context.Context, tx *sql.Tx, e Entry) error {
	_, err := tx.ExecContext(ctx, `UPDATE calls SET (`+writtenColumns+`) = (`+placeholders(e.written())+`) WHERE id = ?`, append(e.written(), e.ID)...)
	return err
}

func placeholders(values []any) string { return strings.Repeat(", ?", len(values))[2:] }

// tickOff ticks off the missed calls before e that have its number, if e dealt with
// their caller, and e itself if such a call came after it: reports can come late.
func (s *Store) tickOff(ctx context.Context, tx *sql.Tx, e Entry) (err error) {
	now, rang := sqlitefile.Micros(s.now()), sqlitefile.Micros(e.Rang)
	switch {
	case !e.OneCaller():
	case e.reachesCaller():
		_, err = tx.ExecContext(ctx, `UPDATE calls SET handled = ? WHERE `+notTickedOff+` AND number = ? AND rang < ?`, now, e.Number, rang)
	case e.Open():
		_, err = tx.ExecContext(ctx, `UPDATE calls SET handled = ? WHERE id = ? AND EXISTS
			(SELECT 1 FROM calls WHERE number = ? AND rang > ? AND `+reachedCallerSQL+`)`, now, e.ID, e.Number, rang)
	}
	return err
}

// reachesCaller reports whether the call dealt with its
// caller: somebody spoke to them, or called them back.
func (e Entry) reachesCaller() bool {
	return e.Outgoing || !e.Answered.IsZero() || e.Result == ResultAnswered || e.Result == ResultAnsweredElsewhere
}

const (
	reachedCallerSQL = `(outgoing OR answered <> 0 OR result IN ('` + ResultAnswered + `', '` + ResultAnsweredElsewhere + `'))`
	notTickedOff     = `result = 'missed' AND outgoing = 0 AND handled = 0`
	tickedOff        = `result = 'missed' AND outgoing = 0 AND handled <> 0`
)

// PutLookup writes a lookup's result for a call's caller, from e, and nothing else:
// the call may have continued meanwhile. It returns ErrGone if the call is gone or
// now has another caller.
func (s *Store) PutLookup(ctx context.Context, e Entry) error {
	return s.updatePerson(ctx, e, func(now *Entry, keep Keep) bool {
		now.Matches, now.Outcome = e.Matches, e.Outcome
		if !now.PersonRejected {
			now.setPerson(e)
		}
		if now.Number == "" || keep != KeepFull {
			*now = now.withoutPerson()
		}
		return true
	})
}

// SetPerson sets the caller after the user has chosen one, or undone "not
// this contact". It writes only e's person, and returns ErrGone like PutLookup.
func (s *Store) SetPerson(ctx context.Context, e Entry) error {
	return s.updatePerson(ctx, e, func(now *Entry, keep Keep) bool {
		now.setPerson(e)
		now.rejectedBy = notRejected
		return now.Number != "" && keep == KeepFull
	})
}

// updatePerson applies set to what is kept about a call's caller, unless set returns false.
func (s *Store) updatePerson(ctx context.Context, e Entry, set func(now *Entry, keep Keep) bool) error {
	return s.write(ctx, func(tx *sql.Tx, keep Keep) error {
		now, err := get(ctx, tx, e.ID)
		if err != nil {
			return err
		}
		if now.Number != e.Number {
			return ErrGone
		}
		if !set(&now, keep) {
			return nil
		}
		return rewrite(ctx, tx, now)
	})
}

func (e *Entry) setPerson(from Entry) {
	e.Name, e.ContactID, e.RelationNumber, e.Link = from.Name, from.ContactID, from.RelationNumber, from.Link
}

// Handle ticks off a missed call.
func (s *Store) Handle(ctx context.Context, id int64) error {
	return s.update(ctx, `handled = ? WHERE `+notTickedOff+` AND id = ?`, sqlitefile.Micros(s.now()), id)
}

// UndoHandle undoes ticking off a missed call.
func (s *Store) UndoHandle(ctx context.Context, id int64) error {
	return s.update(ctx, `handled = 0 WHERE `+tickedOff+` AND id = ?`, id)
}

// HandleNumber ticks off every missed call with a number, in the form of Entry.Number:
// whoever opens a caller's file is dealing with them.
func (s *Store) HandleNumber(ctx context.Context, number string) error {
	if number == "" {
		return nil
	}
	return s.update(ctx, `handled = ? WHERE `+notTickedOff+` AND number = ?`, sqlitefile.Micros(s.now()), number)
}

func (s *Store) update(ctx context.Context, statement string, args ...any) error {
	return s.write(ctx, func(tx *sql.Tx, _ Keep) error {
		_, err := tx.ExecContext(ctx, `UPDATE calls SET `+statement, args...)
		return err
	})
}

// write is change, unless paused, with errors that name the operation.
func (s *Store) write(ctx context.Context, f func(*sql.Tx, Keep) error) error {
	return during("write", s.change(ctx, func(tx *sql.Tx, keep Keep) error {
		if keep == KeepPaused {
			return nil
		}
		return f(tx, keep)
	}))
}

// change runs f in a transaction and notes the result. A file that is damaged or was
// removed is replaced first. With KeepOff nothing is written.
func (s *Store) change(ctx context.Context, f func(*sql.Tx, Keep) error) error {
	opened, err := s.attempt(ctx, f)
	if !s.secondary && (sqlitefile.IsDamaged(err) || errors.Is(err, errFileGone) || errors.Is(err, errFileNotOpen)) {
		if err = s.renew(ctx, opened, err); err == nil {
			_, err = s.attempt(ctx, f)
		}
	}
	s.recordResult(err)
	return err
}

// attempt runs f once; opened identifies the file it used.
func (s *Store) attempt(ctx context.Context, f func(*sql.Tx, Keep) error) (opened int, err error) {
	s.dbMu.RLock()
	defer s.dbMu.RUnlock()
	s.mu.Lock()
	opened = s.openAttempts
	s.mu.Unlock()
	switch {
	case s.closed:
		return opened, errStoreClosed
	case s.keep == KeepOff:
		return opened, s.removeLeftovers()
	case s.db == nil:
		return opened, errFileNotOpen
	case s.fileReplaced():
		return opened, errFileGone
	}
	if _, err := os.Stat(s.path + "-wal"); err != nil {
		return opened, errFileGone
	}
	if err := sqlitefile.Tx(ctx, s.db, func(tx *sql.Tx) error { return f(tx, s.keep) }); err != nil {
		return opened, err
	}
	return opened, s.countMissed(ctx)
}

// renew reopens the file because of why, unless that was done meanwhile.
func (s *Store) renew(ctx context.Context, opened int, why error) error {
	s.dbMu.Lock()
	defer s.dbMu.Unlock()
	s.mu.Lock()
	done, soon, fault := s.openAttempts != opened, s.now().Sub(s.lastTried) < reopenInterval, s.state.Fault
	s.mu.Unlock()
	if done {
		return nil
	}
	if s.closed {
		return errStoreClosed
	}
	if errors.Is(why, errFileNotOpen) && soon && fault != FaultNone {
		return faultError(fault) // a full disk does not recover within moments
	}
	moved := errors.Is(why, errFileGone) && s.fileReplaced() // not only its log, which closing writes into it
	if !moved && s.db != nil {
		_ = s.emptyLog(ctx) // if only the log is gone, ours is the last copy
	}
	s.close()
	if moved {
		_ = remove(sqlitefile.SideFiles(s.path)...) // of the removed file
	}
	if err := s.begin(ctx); err != nil {
		return err
	}
	if moved {
		s.mu.Lock()
		s.state.Notice = NoticeGone
		s.mu.Unlock()
	}
	return nil
}

// fileReplaced reports whether our file was replaced or removed. On systems where a file
// in use can be deleted, SQLite would keep writing to one that nobody can find any more.
func (s *Store) fileReplaced() bool {
	now, err := os.Stat(s.path)
	return err != nil || !os.SameFile(now, s.openedInfo)
}

// faultError is the error of a persisting fault.
type faultError Fault

func (f faultError) Error() string { return "not tried again yet: " + string(f) }
