package history

import (
	"context"
	"database/sql"
	"errors"
	"fmt"
	"io/fs"
	"os"
	"path/filepath"
	"strings"
	"sync"
	"time"

	"modernc.org/sqlite"
	sqlite3 "modernc.org/sqlite/lib"
)

// purgeEvery is how often Put looks for entries that have become too old.
const purgeEvery = time.Hour

// Store is the history as the resident has it: the only one that writes. Safe
// for concurrent use.
type Store struct {
	db    *sql.DB // nil with KeepOff and after a failed Configure
	path  string
	keep  Keep
	days  int
	now   func() time.Time
	aside string
	using sync.RWMutex // held for reading by whoever uses db, keep or days

	mu     sync.Mutex
	purged time.Time
}

// Open opens the history at path, creating or migrating it, and applies keep and
// days to what is already there: entries older than days go, with KeepNumbers
// the names go too, with KeepOff the file itself. A damaged file is put aside
// (see SetAside) and a new one begun; a file of a newer version is left alone
// and reported as ErrNewer. Calls that were on when the last program ended are
// marked over, as far as is known how. days below 1 count as 1; now is the clock.
func Open(path string, keep Keep, days int, now func() time.Time) (*Store, error) {
	s := &Store{path: path, keep: keep, days: max(days, 1), now: now}
	if err := s.begin(context.Background(), true); err != nil {
		return nil, err
	}
	return s, nil
}

// Configure changes what is kept and for how long, and applies it to what is
// there already, as Open does. After an error nothing is kept until it is called
// again.
func (s *Store) Configure(ctx context.Context, keep Keep, days int) error {
	s.using.Lock()
	defer s.using.Unlock()
	if days = max(days, 1); keep == s.keep && days == s.days {
		return nil
	}
	if s.db != nil {
		if err := s.db.Close(); err != nil {
			return fmt.Errorf("close call history: %w", err)
		}
		s.db = nil
	}
	s.keep, s.days = keep, days
	return s.begin(ctx, false)
}

// begin opens the file as keep and days ask. At the first time calls that were
// on when the last program ended are marked over.
func (s *Store) begin(ctx context.Context, first bool) error {
	switch s.keep {
	case KeepOff:
		return s.removeFiles()
	case KeepNumbers, KeepFull:
	default:
		return fmt.Errorf("open call history: unknown value %q for what to keep", s.keep)
	}
	err := s.open(ctx)
	if damaged(err) {
		if err = s.putAside(); err == nil {
			err = s.open(ctx)
		}
	}
	if err != nil {
		return fmt.Errorf("open call history: %w", err)
	}
	if s.keep == KeepNumbers {
		_, err = s.erase(ctx, `UPDATE calls SET name = '', contact_id = '', relation_number = '', link = ''
			WHERE name || contact_id || relation_number || link <> ''`)
	}
	if err == nil && first {
		_, err = s.db.ExecContext(ctx, `UPDATE calls SET result = iif(answered <> 0, ?, ?) WHERE result = ?`,
			ResultAnswered, ResultUnknown, ResultLive)
	}
	if err == nil {
		err = s.purge(ctx)
	}
	if err != nil {
		_ = s.db.Close() // the error that matters is the one above
		s.db = nil
		return fmt.Errorf("open call history: %w", err)
	}
	return nil
}

func (s *Store) open(ctx context.Context) error {
	if err := os.MkdirAll(filepath.Dir(s.path), 0o700); err != nil {
		return err
	}
	// SQLite would make it readable to others; its side files take over the
	// rights of this one.
	f, err := os.OpenFile(s.path, os.O_RDWR|os.O_CREATE, 0o600)
	if err != nil {
		return err
	}
	if err := f.Close(); err != nil {
		return err
	}
	// FULL: an acknowledged entry also survives a power cut. busy_timeout comes
	// first, the others already need the file.
	name, err := dsn(s.path, "_pragma=busy_timeout(5000)&_pragma=journal_mode(WAL)&_pragma=synchronous(FULL)"+
		"&_pragma=secure_delete(ON)&_txlock=immediate")
	if err != nil {
		return err
	}
	db, err := sql.Open("sqlite", name)
	if err != nil {
		return err
	}
	db.SetMaxOpenConns(1)
	err = check(ctx, db)
	if err == nil {
		err = migrate(ctx, db)
	}
	if err != nil {
		_ = db.Close() // the error that matters is the one above
		return err
	}
	s.db = db
	return nil
}

var errDamaged = errors.New("damaged file")

func check(ctx context.Context, db *sql.DB) error {
	var said string
	if err := db.QueryRowContext(ctx, "PRAGMA quick_check(1)").Scan(&said); err != nil {
		return err
	}
	if said != "ok" {
		return errDamaged // what it said may quote the contents
	}
	return nil
}

func damaged(err error) bool {
	if errors.Is(err, errDamaged) {
		return true
	}
	var e *sqlite.Error
	if !errors.As(err, &e) {
		return false
	}
	code := e.Code() & 0xff
	return code == sqlite3.SQLITE_CORRUPT || code == sqlite3.SQLITE_NOTADB
}

// sideFiles are what SQLite keeps beside the file.
func (s *Store) sideFiles() []string { return []string{s.path + "-wal", s.path + "-shm"} }

func (s *Store) asidePath() string { return s.path + ".damaged" }

// putAside keeps the newest damaged file only, so that personal data cannot
// pile up; Purge removes it when its days are over.
func (s *Store) putAside() error {
	if err := os.Rename(s.path, s.asidePath()); err != nil {
		return err
	}
	s.aside = s.asidePath()
	return remove(s.sideFiles()...) // a log of the old file must not be played into the new one
}

func (s *Store) removeFiles() error {
	return remove(append(s.sideFiles(), s.path, s.asidePath())...)
}

func remove(paths ...string) error {
	var all error
	for _, p := range paths {
		if err := os.Remove(p); err != nil && !errors.Is(err, fs.ErrNotExist) {
			all = errors.Join(all, err)
		}
	}
	return all
}

// SetAside gives the path of the damaged file that Open put aside, "" if the
// file was sound. It is for a notice to the user.
func (s *Store) SetAside() string { return s.aside }

// Put writes an entry: a new one if its ID is 0, else over the one with that ID.
// It returns when the entry is safe on disk. What Keep does not allow is left
// out, and a withheld number never has a person; with KeepOff nothing happens
// and the ID is 0. An ID that was deleted meanwhile gives ErrGone.
func (s *Store) Put(ctx context.Context, e Entry) (int64, error) {
	s.using.RLock()
	defer s.using.RUnlock()
	if s.db == nil {
		return 0, nil
	}
	if s.keep != KeepFull || e.Number == "" {
		e = e.withoutPerson()
	}
	id, err := s.put(ctx, e)
	if err != nil {
		return 0, fmt.Errorf("write call history: %w", err)
	}
	s.mu.Lock()
	due := s.now().Sub(s.purged) >= purgeEvery
	s.mu.Unlock()
	if due {
		// The entry is safe; what could not be purged now is in an hour.
		_ = s.purge(ctx)
	}
	return id, nil
}

func (s *Store) put(ctx context.Context, e Entry) (int64, error) {
	marks := strings.Repeat(", ?", len(e.values()))[2:]
	if e.ID == 0 {
		r, err := s.db.ExecContext(ctx, `INSERT INTO calls (`+columns+`) VALUES (`+marks+`)`, e.values()...)
		if err != nil {
			return 0, err
		}
		return r.LastInsertId()
	}
	r, err := s.db.ExecContext(ctx, `UPDATE calls SET (`+columns+`) = (`+marks+`) WHERE id = ?`,
		append(e.values(), e.ID)...)
	if err != nil {
		return 0, err
	}
	n, err := r.RowsAffected()
	if err != nil {
		return 0, err
	}
	if n == 0 {
		return 0, ErrGone
	}
	return e.ID, nil
}

// Get gives the entry with an ID, or ErrGone.
func (s *Store) Get(ctx context.Context, id int64) (Entry, error) {
	s.using.RLock()
	defer s.using.RUnlock()
	if s.db == nil {
		return Entry{}, ErrGone
	}
	e, err := scan(s.db.QueryRowContext(ctx, `SELECT id, `+columns+` FROM calls WHERE id = ?`, id))
	if errors.Is(err, sql.ErrNoRows) {
		return Entry{}, ErrGone
	}
	if err != nil {
		return Entry{}, fmt.Errorf("read call history: %w", err)
	}
	return e, nil
}

// Purge deletes what is older than the days to keep, a damaged file that was put
// aside included. Open does it, and Put once an hour.
func (s *Store) Purge(ctx context.Context) error {
	s.using.RLock()
	defer s.using.RUnlock()
	return s.purge(ctx)
}

func (s *Store) purge(ctx context.Context) error {
	now := s.now()
	s.mu.Lock()
	s.purged = now
	s.mu.Unlock()
	if s.db == nil {
		return nil
	}
	limit := now.AddDate(0, 0, -s.days)
	if _, err := s.erase(ctx, `DELETE FROM calls WHERE rang < ?`, micros(limit)); err != nil {
		return err
	}
	if fi, err := os.Stat(s.asidePath()); err == nil && fi.ModTime().Before(limit) {
		return remove(s.asidePath())
	}
	return nil
}

// DeleteAll deletes every call, and a damaged file that was put aside.
func (s *Store) DeleteAll(ctx context.Context) error {
	s.using.RLock()
	defer s.using.RUnlock()
	if s.db == nil {
		return s.removeFiles()
	}
	if _, err := s.erase(ctx, `DELETE FROM calls`); err != nil {
		return err
	}
	return remove(s.asidePath())
}

// DeleteNumber deletes the calls of a number, in the form that Entry.Number has,
// and tells how many there were.
func (s *Store) DeleteNumber(ctx context.Context, number string) (int, error) {
	s.using.RLock()
	defer s.using.RUnlock()
	if s.db == nil {
		return 0, nil
	}
	return s.erase(ctx, `DELETE FROM calls WHERE number = ?`, number)
}

// erase runs a statement that takes something away, tells how many entries it
// touched, and empties the write-ahead log: secure_delete overwrites the pages,
// but their old contents would stay in the log.
func (s *Store) erase(ctx context.Context, statement string, args ...any) (int, error) {
	r, err := s.db.ExecContext(ctx, statement, args...)
	if err != nil {
		return 0, fmt.Errorf("erase from call history: %w", err)
	}
	n, err := r.RowsAffected()
	if err != nil || n == 0 {
		return 0, err
	}
	var busy, pages, moved int
	err = s.db.QueryRowContext(ctx, "PRAGMA wal_checkpoint(TRUNCATE)").Scan(&busy, &pages, &moved)
	if err != nil {
		return int(n), fmt.Errorf("erase from call history: %w", err)
	}
	return int(n), nil
}

// Close closes the file. The Store cannot be used afterwards.
func (s *Store) Close() error {
	s.using.RLock()
	defer s.using.RUnlock()
	if s.db == nil {
		return nil
	}
	return s.db.Close()
}
