package history

import (
	"context"
	"database/sql"
	"errors"
	"fmt"
	"os"
	"strings"

	"wiebelt/internal/store/sqlitefile"
)

// Put writes an entry: a new one if its ID is 0, else over the one with that ID.
// It returns when the entry is safe on disk. What Keep does not allow is left
// out, and a withheld number never has a person; with KeepOff nothing happens
// and the ID is 0. An ID that was deleted meanwhile gives ErrGone.
//
// An entry ticks off the missed calls before it that have its number.
func (s *Store) Put(ctx context.Context, e Entry) (id int64, err error) {
	err = s.change(ctx, func(tx *sql.Tx, keep Keep) error {
		switch {
		case keep != KeepFull:
			e = e.onlyNumber()
		case e.Number == "":
			e = e.withoutPerson()
		}
		id, err = s.put(ctx, tx, e)
		return err
	})
	if err != nil {
		return 0, fmt.Errorf("write call history: %w", err)
	}
	s.mu.Lock()
	s.last = max(s.last, id)
	due := id != 0 && s.now().Sub(s.purged) >= purgeEvery
	s.mu.Unlock()
	if due {
		_ = s.Purge(ctx) // the entry is safe; what could not be purged now is in an hour
	}
	return id, nil
}

func (s *Store) put(ctx context.Context, tx *sql.Tx, e Entry) (int64, error) {
	marks := strings.Repeat(", ?", len(e.values()))[2:]
	if e.ID == 0 {
		off := offNot
		if e.TakenOff {
			e, off = e.withoutFile(), offAsPut
		}
		r, err := tx.ExecContext(ctx, `INSERT INTO calls (`+columns+`, handled, taken_off) VALUES (`+marks+`, ?, ?)`,
			append(e.values(), sqlitefile.Micros(e.Handled), off)...)
		if err != nil {
			return 0, err
		}
		if e.ID, err = r.LastInsertId(); err != nil {
			return 0, err
		}
	} else {
		was, err := scan(tx.QueryRowContext(ctx, `SELECT `+all+` FROM calls WHERE id = ?`, e.ID))
		if errors.Is(err, sql.ErrNoRows) {
			return 0, ErrGone
		}
		if err != nil {
			return 0, err
		}
		e.Handled = was.Handled
		off := offNot
		switch {
		case was.off == offByHand:
			e.Name, off = was.Name, offByHand
			e = e.withoutFile()
		case e.TakenOff:
			e, off = e.withoutFile(), offAsPut
		}
		if _, err := tx.ExecContext(ctx, `UPDATE calls SET (`+columns+`, taken_off) = (`+marks+`, ?) WHERE id = ?`,
			append(e.values(), off, e.ID)...); err != nil {
			return 0, err
		}
	}
	return e.ID, s.tickOff(ctx, tx, e)
}

// Who said that a person is not the caller.
const (
	offNot    = 0
	offByHand = 1 // TakeOff
	offAsPut  = 2 // Put, which can take it back
)

// tickOff ticks off the missed calls before e that have its number, and e itself
// if such a call came after it: reports can come late.
func (s *Store) tickOff(ctx context.Context, tx *sql.Tx, e Entry) error {
	if !e.OneCaller() {
		return nil
	}
	now, rang := sqlitefile.Micros(s.now()), sqlitefile.Micros(e.Rang)
	_, err := tx.ExecContext(ctx, `UPDATE calls SET handled = ? WHERE `+notTickedOff+` AND number = ? AND rang < ?`, now, e.Number, rang)
	if err == nil && e.Open() {
		_, err = tx.ExecContext(ctx, `UPDATE calls SET handled = ? WHERE id = ? AND EXISTS
			(SELECT 1 FROM calls WHERE number = ? AND rang > ?)`, now, e.ID, e.Number, rang)
	}
	return err
}

const (
	notTickedOff = `result = 'missed' AND outgoing = 0 AND handled = 0`
	tickedOff    = `result = 'missed' AND outgoing = 0 AND handled <> 0`
)

// Looked writes what a lookup said of the caller of a call, from e, and nothing
// else: the call may have gone on while the hub was asked. ErrGone comes back
// where the call is gone or has another caller by now.
func (s *Store) Looked(ctx context.Context, e Entry) error {
	err := s.change(ctx, func(tx *sql.Tx, keep Keep) error {
		now, err := scan(tx.QueryRowContext(ctx, `SELECT `+all+` FROM calls WHERE id = ?`, e.ID))
		if errors.Is(err, sql.ErrNoRows) || err == nil && now.Number != e.Number {
			return ErrGone
		}
		if err != nil {
			return err
		}
		now.Matches, now.Outcome = e.Matches, e.Outcome
		if !now.TakenOff {
			now.Name, now.ContactID, now.RelationNumber, now.Link = e.Name, e.ContactID, e.RelationNumber, e.Link
		}
		if now.Number == "" || keep != KeepFull {
			now = now.withoutPerson()
		}
		_, err = tx.ExecContext(ctx, `UPDATE calls SET name = ?, contact_id = ?, relation_number = ?, link = ?, matches = ?, outcome = ?, find = ? WHERE id = ?`,
			now.Name, now.ContactID, now.RelationNumber, now.Link, now.Matches, now.Outcome, now.find(), now.ID)
		return err
	})
	if err != nil {
		return fmt.Errorf("write call history: %w", err)
	}
	return nil
}

// SetPerson says who called: somebody has chosen him, or takes "not this contact"
// back. It writes the person of e and nothing else, ErrGone as for Looked.
func (s *Store) SetPerson(ctx context.Context, e Entry) error {
	err := s.change(ctx, func(tx *sql.Tx, keep Keep) error {
		now, err := scan(tx.QueryRowContext(ctx, `SELECT `+all+` FROM calls WHERE id = ?`, e.ID))
		if errors.Is(err, sql.ErrNoRows) || err == nil && now.Number != e.Number {
			return ErrGone
		}
		if err != nil || now.Number == "" || keep != KeepFull {
			return err
		}
		now.Name, now.ContactID, now.RelationNumber, now.Link = e.Name, e.ContactID, e.RelationNumber, e.Link
		_, err = tx.ExecContext(ctx, `UPDATE calls SET name = ?, contact_id = ?, relation_number = ?, link = ?, find = ?, taken_off = ? WHERE id = ?`,
			now.Name, now.ContactID, now.RelationNumber, now.Link, now.find(), offNot, now.ID)
		return err
	})
	if err != nil {
		return fmt.Errorf("write call history: %w", err)
	}
	return nil
}

// Handle ticks off a missed call.
func (s *Store) Handle(ctx context.Context, id int64) error {
	return s.handle(ctx, "id = ?", id)
}

// Reopen takes back that a missed call was ticked off.
func (s *Store) Reopen(ctx context.Context, id int64) error {
	err := s.change(ctx, func(tx *sql.Tx, _ Keep) error {
		_, err := tx.ExecContext(ctx, `UPDATE calls SET handled = 0 WHERE `+tickedOff+` AND id = ?`, id)
		return err
	})
	if err != nil {
		return fmt.Errorf("write call history: %w", err)
	}
	return nil
}

// HandleNumber ticks off every missed call with a number, in the form that
// Entry.Number has: whoever opens the file of a caller is dealing with him.
func (s *Store) HandleNumber(ctx context.Context, number string) error {
	if number == "" {
		return nil
	}
	return s.handle(ctx, "number = ?", number)
}

func (s *Store) handle(ctx context.Context, which string, arg any) error {
	err := s.change(ctx, func(tx *sql.Tx, _ Keep) error {
		_, err := tx.ExecContext(ctx, `UPDATE calls SET handled = ? WHERE `+notTickedOff+` AND `+which, sqlitefile.Micros(s.now()), arg)
		return err
	})
	if err != nil {
		return fmt.Errorf("write call history: %w", err)
	}
	return nil
}

// change runs f in a transaction and notes how that went. A file that is damaged
// or was taken away is replaced first. With KeepOff nothing happens.
func (s *Store) change(ctx context.Context, f func(*sql.Tx, Keep) error) error {
	opened, err := s.once(ctx, f)
	if !s.guest && (sqlitefile.Damaged(err) || errors.Is(err, errMoved) || errors.Is(err, errClosed)) {
		if err = s.renew(ctx, opened, err); err == nil {
			_, err = s.once(ctx, f)
		}
	}
	s.note(err)
	return err
}

// once tells for which opening of the file it is speaking.
func (s *Store) once(ctx context.Context, f func(*sql.Tx, Keep) error) (opened int, err error) {
	s.using.RLock()
	defer s.using.RUnlock()
	s.mu.Lock()
	opened = s.opened
	s.mu.Unlock()
	if s.shut {
		return opened, errShut
	}
	if s.keep == KeepOff {
		return opened, nil
	}
	if s.db == nil {
		return opened, errClosed
	}
	// Where a file in use can be deleted, SQLite would go on writing into what
	// nobody can find any more.
	if now, err := os.Stat(s.path); err != nil || !os.SameFile(now, s.was) {
		return opened, errMoved
	}
	if _, err := os.Stat(s.path + "-wal"); err != nil {
		return opened, errMoved
	}
	if err := sqlitefile.Tx(ctx, s.db, func(tx *sql.Tx) error { return f(tx, s.keep) }); err != nil {
		return opened, err
	}
	return opened, s.count(ctx)
}

// renew opens the file anew after why, unless somebody else has done so since.
func (s *Store) renew(ctx context.Context, opened int, why error) error {
	s.using.Lock()
	defer s.using.Unlock()
	s.mu.Lock()
	done, soon, fault := s.opened != opened, s.now().Sub(s.tried) < againEvery, s.state.Fault
	s.mu.Unlock()
	if done {
		return nil
	}
	if s.shut {
		return errShut
	}
	if errors.Is(why, errClosed) && soon && fault != FaultNone {
		return faultError(fault) // a disk that is full is not full of hope
	}
	moved := false
	if errors.Is(why, errMoved) {
		now, err := os.Stat(s.path)
		moved = err != nil || !os.SameFile(now, s.was) // not only its log, which closing writes into it
	}
	if !moved && s.db != nil {
		_ = s.clean(ctx) // where only the log went, we are the last to have it
	}
	s.close()
	if moved {
		_ = remove(sqlitefile.Sides(s.path)...) // those of the file that is gone
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

// faultError is the error of a fault that still holds.
type faultError Fault

func (f faultError) Error() string { return "not tried again yet: " + string(f) }

// Get gives the entry with an ID, or ErrGone.
func (s *Store) Get(ctx context.Context, id int64) (Entry, error) {
	s.using.RLock()
	defer s.using.RUnlock()
	if s.db == nil {
		return Entry{}, ErrGone
	}
	e, err := scan(s.db.QueryRowContext(ctx, `SELECT `+all+` FROM calls WHERE id = ?`, id))
	if errors.Is(err, sql.ErrNoRows) {
		return Entry{}, ErrGone
	}
	if err != nil {
		return Entry{}, fmt.Errorf("read call history: %w", err)
	}
	return e, nil
}
